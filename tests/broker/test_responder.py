"""The responder: it answers messages on the replies topic, each at most once, whatever happens to it."""

import signal
import threading
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest

import asof
import killed_responder
from asof.kafka.topic_rewrite import TopicRewrite
from asof.operations.kafka import create_topics
from asof.runtime.child_process import ChildProcess
from asof.runtime.layout import DirectoryLayout
from asof.runtime.prompt_registry import prompts
from asof.service.topic_responder import ResponderPartition
from asof.settings import Settings
from asof_agents.conversation.prompts import BUILT_IN, MAIN
from asof_streams.conversation import CheckinSent, ConversationBegun, ReplyErased, ReplyGiven, ReplySent
from asof_streams.episodic import GroupErased
from asof_streams.errors import InvalidInput, NotFound, UnavailableError, WriterBusy
from asof_streams.events import Draft, Event
from asof_streams.ids import derive
from asof_streams.instants import SECOND
from asof_streams.kafka.envelope import Claim, event, read
from asof_streams.kafka.partitioning import partition_of
from asof_streams.kafka.topics import Topics
from asof_streams.messages import RedactionRequest
from asof_streams.sqlite_log import SqliteLog
from kafka_worker import Running, World, until
from openai_server import started
from patience import SECONDS
from reply_server import ReplyServer, replying
from responders import NOW, Chat, Reply
from sealed_world import Sealed

Start = Callable[..., Running]
MINUTE = 60 * SECOND
GONE = "Zanzibarquo"


@pytest.fixture
def chat(world: World, tmp_path: Path) -> Chat:
    return Chat(world, tmp_path)


# Answers.


def test_a_message_is_answered_once_and_nothing_that_was_said_before_the_first_responder(chat: Chat) -> None:
    chat.say("I live in Bern.", "m0")
    with chat.responder() as responder:
        assert chat.events() == [ConversationBegun(position=1)]
        chat.say("I live in Rome.", "m1")
        chat.answer(responder)
        assert chat.answered() == ["m1"]
    with chat.responder("elsewhere") as responder:
        assert chat.answered() == ["m1"]
        chat.say("I like tea.", "m2")
        chat.say("I like tea.", "m2")  # the platform tells it again
        chat.answer(responder)
    with chat.responder():
        assert chat.answered() == ["m1", "m2"]


def test_a_reply_is_made_of_what_was_learned_and_its_record_names_the_message_that_it_answers(chat: Chat) -> None:
    with chat.responder():
        chat.say("I live in Rome.", "m1")
    chat.learn()
    with chat.responder() as responder:
        offset = chat.say("Where do I live?", "m2") - 1
        chat.answer(responder)

    assert "Rome" in chat.given()[-1].content
    raw = next(
        raw
        for raw in chat.world.records(chat.world.topics.replies)
        if b"Where" not in (raw.value or b"") and b'"m2"' in (raw.value or b"")
    )
    headers = dict(raw.headers)
    assert (raw.key, headers["ce_source"], headers["ce_type"]) == (b"g", b"/asof/conversation", b"reply.given")
    assert (int(headers["ce_offset"]), int(headers["ce_cause"])) == (offset, 1)
    assert int(headers["ce_checkpointoffset"]) == offset + 1


def test_a_reply_by_template_waits_until_what_was_said_before_it_is_learned(chat: Chat) -> None:
    with chat.responder(patience=SECONDS) as responder:
        chat.say("I live in Rome.", "m1")
        chat.answer(responder)
        end = chat.say("Where do I live?", "m2")

        def is_followed() -> bool:
            responder.ingest([])
            return responder.offset == end

        until(is_followed)
        assert chat.answered() == ["m1"]
        chat.learn("elsewhere")  # the responder's own directory copies what is learned there
        chat.answer(responder)

    assert chat.answered() == ["m1", "m2"]
    assert "Rome" in chat.given()[-1].content


def test_nothing_overtakes_a_message_of_its_group_that_waits_for_what_was_said_before_it(chat: Chat) -> None:
    with chat.responder(patience=SECONDS) as responder:
        chat.say("I live in Rome.", "m1")
        chat.answer(responder)
        chat.reply_as_bot(chat.given()[0].content, "b1", "m1")
        chat.say("Where do I live?", "m2")
        chat.say("Too long.", "m3", reply_to="b1")
        for number in range(4, 9):
            chat.say("Where do I live?", f"m{number}")
        until(lambda: responder.ingest([]) or responder.offset == 9)  # type: ignore[func-returns-value]
        chat.learn("elsewhere")
        chat.answer(responder)

    assert chat.answered() == [f"m{number}" for number in range(1, 9)]


def test_goals_feedback_and_undoing_are_acknowledged_and_what_a_platform_took_is_noted(chat: Chat) -> None:
    with chat.responder() as responder:
        chat.say("I like tea.", "m1")
        chat.answer(responder)
        chat.reply_as_bot(chat.given()[0].content, "b1", "m1")
        chat.say("Too long.", "m2", reply_to="b1")
        chat.say("My goal is to run a marathon.", "m3")
        chat.answer(responder)
        chat.say("🗑️", "r1", kind="reaction", external_id=None, reply_to="m2")
        chat.answer(responder)

    assert [reply[:2] for reply in chat.given()] == [
        *[("reply", "m1"), ("react", "m2"), ("reply", "m3")],
        *[("unreact", "m2"), ("unreact", "m2")],
    ]
    [sent] = [one for one in chat.events() if isinstance(one, ReplySent)]
    assert sent == ReplySent(reply_id=derive("reply", "g", 0, 0), external_id="b1")


def test_only_messages_of_users_in_a_conversation_that_are_fresh_are_answered(chat: Chat) -> None:
    with chat.responder() as responder:
        chat.say("I like tea.", "m1", kind=None)
        chat.reply_as_bot("Hello.", "b1", None)
        chat.say("I like jam.", "m2")
        chat.say("I like figs.", "m3")
        chat.now += 16 * MINUTE
        chat.say("I like rice.", "m4")
        chat.answer(responder)
    with chat.responder():
        assert chat.answered() == ["m4"]


@pytest.fixture
def model() -> Iterator[ReplyServer]:
    with replying() as server:
        yield server


def test_a_check_in_is_given_once_when_it_is_due_and_its_turn_is_known(
    world: World, tmp_path: Path, model: ReplyServer
) -> None:
    chat = Chat(world, tmp_path, model_url=model.url, model_name="fake")
    model.says = ['{"reply": "Good luck!", "next_proactive_in_minutes": 60}']

    def checkins() -> list[CheckinSent]:
        return [one for one in chat.events() if isinstance(one, CheckinSent)]

    with chat.responder() as responder:
        chat.say("I have an exam.", "m1")
        chat.answer(responder)
        chat.now += 59 * MINUTE
        chat.answer(responder)
        assert checkins() == []
        chat.now += 2 * MINUTE
        chat.answer(responder)
        [given] = checkins()
        chat.reply_as_bot("How was it?", "b1", None)
        chat.answer(responder)
    with chat.responder("elsewhere") as responder:
        chat.answer(responder)

    assert checkins() == [given]
    assert [one.reply_id for one in chat.events() if isinstance(one, ReplySent)] == [given.checkin_id]


class Held(ReplyServer):
    """Says nothing to a message that asks it to wait, until it is let go."""

    def __init__(self) -> None:
        super().__init__()
        self.waiting = threading.Event()
        self.let_go = threading.Event()

    def answer(self, asked: dict[str, Any]) -> tuple[int, str]:
        if "Please wait." in asked["messages"][-1]["content"]:
            self.waiting.set()
            self.let_go.wait(SECONDS)
        return super().answer(asked)


def test_groups_are_answered_beside_each_other_and_each_in_its_order(world: World, tmp_path: Path) -> None:
    with started(Held()) as model:
        chat = Chat(world, tmp_path, model_url=model.url, model_name="fake")
        with chat.responder() as responder:
            chat.say("Please wait.", "slow", "a")
            chat.say("I like tea.", "behind", "a")
            chat.say("I like jam.", "quick", "b")
            until(lambda: responder.ingest([]) or "quick" in chat.answered())  # type: ignore[func-returns-value]
            assert chat.answered() == ["quick"]
            model.let_go.set()
            chat.answer(responder)

    assert chat.answered() == ["quick", "slow", "behind"]


def test_each_partition_is_answered_on_its_own(bootstrap: str, prefix: str, tmp_path: Path) -> None:
    with World(bootstrap, prefix, 2) as world:
        chats = [Chat(world, tmp_path, partition=number) for number in range(2)]
        groups = {partition_of(group, 2): group for group in "abcdefgh"}
        assert groups.keys() == {0, 1}
        for chat in chats:
            with chat.responder() as responder:
                chat.say("I like tea.", f"m{chat.partition}", groups[chat.partition])
                chat.answer(responder)
                chat.say("I like jam.", "astray", groups[1 - chat.partition])
                chat.answer(responder)

        assert [chat.answered() for chat in chats] == [["m0"], ["m1"]]


def test_answers_on_encrypted_topics_can_be_read_with_the_keys_alone(
    bootstrap: str, prefix: str, tmp_path: Path
) -> None:
    with Sealed(bootstrap, prefix, tmp_path) as world:
        chat = Chat(world, tmp_path, keys=tmp_path / "keys")
        with chat.responder() as responder:
            talk(chat, responder)
        world.work("data")
        with chat.responder() as responder:
            ask_where(chat, responder)
            assert chat.on_replies(GONE) == []
            chat.world.send([{"group_id": "gone"}], ce_type=b"erasure.requested")
            chat.answer(responder)
        with chat.responder("afresh"), SqliteLog(DirectoryLayout(tmp_path / "afresh").conversation) as log:
            replies = [one.event for one in log.read() if isinstance(one.event, ReplyGiven)]
        assert [reply.to for reply in replies] == ["stays-1", "stays-2"]
        assert "Rome" in replies[-1].content


def test_a_prompt_that_is_changed_on_kafka_is_used_with_the_next_message_by_every_responder(
    world: World, tmp_path: Path, model: ReplyServer
) -> None:
    chat = Chat(world, tmp_path, model_url=model.url, model_name="fake")
    kafka = {"kafka": world.connection.bootstrap, "kafka_prefix": world.topics.prefix}
    beside = partial(asof.open, tmp_path / "beside", embedder="none", **kafka)

    def ask(responder: ResponderPartition, id_: str) -> None:
        chat.say("Hello.", id_)
        chat.answer(responder)

    with chat.responder() as responder, beside() as memory:
        ask(responder, "m1")
        memory.register_prompt(MAIN, "Arr: {current_message}", temperature=0.2)
        ask(responder, "m2")
        memory.register_prompt(MAIN, "Not yet: {current_message}", active=False)
        ask(responder, "m3")
        with pytest.raises(InvalidInput):
            memory.register_prompt(MAIN, "It shows no message.")
        with pytest.raises(NotFound):
            memory.activate_prompt(MAIN, 9)
        memory.activate_prompt(MAIN, 3)
        versions = memory.activate_prompt(MAIN, 3)  # it is so already
    with chat.responder("elsewhere") as responder, beside() as memory:
        ask(responder, "m4")
        memory.activate_prompt(MAIN, 1)
        ask(responder, "m5")

    assert model.prompts[1:4] == ["Arr: Hello.", "Arr: Hello.", "Not yet: Hello."]
    assert all("You talk with somebody" in prompt for prompt in (model.prompts[0], model.prompts[4]))
    given = [event.prompt_version for event in chat.events() if isinstance(event, ReplyGiven)]
    assert given == [1, 2, 2, 3, 1]
    mine = [one for one in versions if one.prompt == MAIN]
    assert [(one.version, one.active, one.temperature) for one in mine] == [
        (1, False, 0.7),
        (2, False, 0.2),
        (3, True, 0.2),
    ]
    assert [one.registered_at is None for one in mine] == [True, False, False]


def test_the_prompts_of_a_copy_are_those_of_asof_and_asking_for_them_writes_nothing(chat: Chat) -> None:
    with chat.responder():
        pass
    places = DirectoryLayout(chat.root / "data")
    places.conversations.unlink()

    assert [prompt.registered_at for prompt in prompts(places)] == [None] * len(BUILT_IN)
    assert not places.conversations.exists()


# Crashes and takeovers.


def answer_all(chat: Chat, step: str | None = None) -> int:
    """Run a responder in a process until it has answered all, or is killed at a step; return how it ended."""
    names = chat.world.connection.bootstrap, chat.world.topics.prefix
    responder = ChildProcess(killed_responder.answer, *names, chat.root / "data", step)
    code = responder.wait()
    responder.close()
    return code


@pytest.mark.parametrize("step", killed_responder.STEPS)
def test_a_message_is_answered_once_and_learned_once_wherever_the_responder_is_killed(chat: Chat, step: str) -> None:
    assert answer_all(chat) == 0
    chat.say("I live in Rome.", "m1", timestamp=None)

    assert answer_all(chat, step) == -signal.SIGKILL
    assert answer_all(chat) == 0

    assert chat.answered() == ["m1"]
    chat.learn()
    with asof.open(chat.root / "data", embedder="none") as memory:
        assert [episode.content for episode in memory.episodes(group_id="g")] == ["I live in Rome."]
        assert [fact.object for fact in memory.facts(group_id="g")] == ["Rome"]
        assert [check for check in memory.verify() if not check.ok] == []


def test_a_responder_that_was_deposed_answers_nothing_more(chat: Chat) -> None:
    with chat.responder("old") as old:
        with chat.responder("new") as new:
            chat.say("I live in Rome.", "m1")
            with pytest.raises(WriterBusy):
                chat.answer(old)
            chat.answer(new)
            assert chat.answered() == ["m1"]
        chat.say("I like tea.", "m2")
        with pytest.raises(WriterBusy):
            chat.answer(old)
    assert chat.answered() == ["m1"]
    with chat.responder("old"):
        assert chat.answered() == ["m1", "m2"]


def test_two_responders_never_have_one_directory(chat: Chat, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("asof.service.topic_responder.PATIENCE", 0.0)
    with chat.responder(), pytest.raises(WriterBusy), chat.responder():
        pass


def test_workers_answer_each_message_once_while_one_is_killed_and_another_takes_over(chat: Chat, start: Start) -> None:
    first = start(chat.world, "first")
    until(lambda: any(isinstance(one, ConversationBegun) for one in chat.events()), first)
    for number in range(3):
        chat.say("I like tea.", f"m{number}", group=f"g{number}", timestamp=None)
    until(chat.answered, first)
    second = start(chat.world, "second")
    chat.say("I like jam.", "m3", timestamp=None)
    first.kill()
    chat.say("I like rice.", "m4", timestamp=None)

    until(lambda: len(chat.answered()) == 5, second)
    again = start(chat.world, "first")
    chat.say("I like figs.", "m5", timestamp=None)
    until(lambda: len(chat.answered()) == 6, again)

    assert sorted(chat.answered()) == [f"m{number}" for number in range(6)]


def test_a_worker_runs_a_responder_where_there_is_a_topic_for_it_and_says_so_in_its_health(
    world: World, start: Start, tmp_path: Path
) -> None:
    refused = start(world, "refused", ("worker", "--agents", "responder"))
    assert refused.wait() == 1
    assert "asof topics create --replies" in refused.said()

    made, findings = create_topics(
        Settings(data=tmp_path / "data", **world.settings()), [], partitions=None, replication=None, replies=True
    )
    assert made == [world.topics.replies]
    assert [one for one in findings if one.severity == "error"] == []

    running = start(world, "answering", ("worker", "--agents", "responder"))
    until((running.data / "responders.json").exists, running)
    chat = Chat(world, tmp_path)
    until(chat.events, running)
    chat.say("I like tea.", "m1", timestamp=None)
    until(lambda: chat.answered() == ["m1"], running)
    running.stop()


def test_a_worker_that_keeps_no_content_answers_nothing(chat: Chat, start: Start) -> None:
    refused = start(chat.world, "refused", ("worker", "--agents", "responder"), suppress_content="true")
    assert refused.wait() == 2
    assert "have content kept" in refused.said()


# What others write.


def test_a_forged_answer_is_passed_over(chat: Chat, caplog: pytest.LogCaptureFixture) -> None:
    world, topic = chat.world, chat.world.topics.replies
    with chat.responder() as responder:
        chat.say("I live in Rome.", "m1")
        forged = ReplyGiven(reply_id=derive("reply", "g", 0, 0), answers=0, content=GONE, to="m1")
        [claim] = [found for found in map(read, world.records(topic)) if isinstance(found, Claim)]
        for term, writer in ((claim.term, "another"), (claim.term + 1, claim.writer), (claim.term, "")):
            world.send_raw(topic, [event("conversation", 1, Draft("g", NOW, 0, 0, 1, forged), term, 1, writer, 0, 1)])
        chat.answer(responder)
    with chat.responder("elsewhere"):
        assert chat.answered() == ["m1"]
        assert GONE not in chat.given()[0].content
    assert "records that no worker wrote are passed over" in caplog.text


# Erasure.


def talk(chat: Chat, responder: ResponderPartition) -> None:
    """Let two groups tell of something, and be answered with it: one that is erased, and one that stays."""
    for group in ("gone", "stays"):
        chat.say(f"I live in {GONE if group == 'gone' else 'Rome'}.", f"{group}-1", group)
    chat.answer(responder)


def ask_where(chat: Chat, responder: ResponderPartition) -> None:
    chat.say("Where do I live?", "gone-2", "gone")
    chat.say("Where do I live?", "stays-2", "stays")
    chat.answer(responder)


def rewrite(chat: Chat) -> Chat:
    """Rewrite the topics; return the chat on the new ones."""
    target = Topics(f"{chat.world.topics.prefix}-2")
    TopicRewrite(chat.world.client, chat.world.topics, target).run()
    world = object.__new__(World)
    world.__dict__ |= chat.world.__dict__ | {"topics": target}
    other = object.__new__(Chat)
    other.__dict__ |= chat.__dict__ | {"world": world, "root": chat.root / "rewritten"}
    return other


def expect_gone(chat: Chat, left: list[str]) -> None:
    """See that what was erased is in no file, nor on topics that are rewritten, and that nothing is answered again."""
    assert GONE not in "".join(reply.content for reply in chat.given() if reply.to in left)
    with chat.responder("afresh") as responder:
        chat.forget(responder, GONE)
    chat.learn()
    other = rewrite(chat)
    assert other.on_replies(GONE) == []
    before = chat.answered()
    with other.responder():
        assert other.answered() == [to for to in before if to in left]
    assert other.in_files(GONE) == set()


def test_an_erasure_of_a_group_reaches_its_answers_in_files_and_on_rewritten_topics(chat: Chat) -> None:
    with chat.responder() as responder:
        talk(chat, responder)
    chat.learn()
    with chat.responder() as responder:
        ask_where(chat, responder)
        assert chat.on_replies(GONE)
        chat.world.send([{"group_id": "gone"}], ce_type=b"erasure.requested")
        chat.say("I like tea.", "gone-3", "gone")
        chat.answer(responder)
    chat.learn()

    assert [one for one in chat.events() if isinstance(one, GroupErased)] == [GroupErased()]
    expect_gone(chat, ["stays-1", "stays-2", "gone-3"])


def test_a_redaction_reaches_the_answers_to_what_it_erases_and_those_that_it_erases(chat: Chat) -> None:
    with chat.responder() as responder:
        talk(chat, responder)
    chat.learn()
    with chat.responder() as responder:
        ask_where(chat, responder)
        assert chat.on_replies(GONE)
        place = next(reply.content for reply in chat.given() if GONE in reply.content)
        chat.reply_as_bot(place, "b1", "gone-2", "gone")
        positions = [0, 4]  # what the user said, and the turn of the bot that repeats it
        chat.world.send([{"group_id": "gone", "positions": positions}], ce_type=RedactionRequest.type.encode())
        chat.answer(responder)
    chat.learn()

    [erased] = [one for one in chat.events() if isinstance(one, ReplyErased)]
    assert erased.answers == (0, 2)
    with SqliteLog(DirectoryLayout(chat.root / "data").conversation) as log:
        left = [one.event.to for one in log.read() if isinstance(one.event, ReplyGiven)]
    assert left == ["stays-1", "stays-2"]
    expect_gone(chat, left)


def test_a_reply_that_is_worded_while_what_it_is_made_of_is_erased_is_worded_again(
    world: World, tmp_path: Path
) -> None:
    with started(Held()) as model:
        chat = Chat(world, tmp_path, model_url=model.url, model_name="fake")
        model.says = ["Good to know.", f"In {GONE}.", "I do not know."]
        with chat.responder() as responder:
            chat.say(f"I live in {GONE}.", "m1")
            chat.answer(responder)
            chat.say("Please wait. Where do I live?", "m2")
            responder.ingest([])
            assert model.waiting.wait(SECONDS)
            chat.world.send([{"group_id": "g", "positions": [0]}], ce_type=RedactionRequest.type.encode())
            until(lambda: any(isinstance(one, ReplyErased) for one in ingested(chat, responder)))
            model.let_go.set()
            chat.answer(responder)

    assert chat.given()[-1] == ("reply", "m2", "I do not know.")
    assert chat.on_replies(GONE) == []


def test_a_message_whose_answer_was_erased_alone_is_not_answered_again(world: World, tmp_path: Path) -> None:
    with started(Held()) as model:
        chat = Chat(world, tmp_path, model_url=model.url, model_name="fake")
        with chat.responder() as responder:
            chat.say("Please wait.", "slow", "a")  # what comes after it is above the checkpoint
            chat.say("I like tea.", "quick", "b")
            until(lambda: any(reply.to == "quick" for reply in given_by(chat, responder)))
            chat.reply_as_bot("Thank you.", "b1", "quick", "b")
            chat.world.send([{"group_id": "b", "positions": [2]}], ce_type=RedactionRequest.type.encode())
            until(lambda: any(isinstance(one, ReplyErased) for one in ingested(chat, responder)))
        model.let_go.set()
        with chat.responder("afresh"):
            assert chat.answered() == ["quick", "slow"]


def given_by(chat: Chat, responder: ResponderPartition) -> list[Reply]:
    responder.ingest([])
    return chat.given()


def ingested(chat: Chat, responder: ResponderPartition) -> list[Event]:
    responder.ingest([])
    return chat.events()


@pytest.mark.parametrize("step", ["the message is known", "the reply is to be sent", "the reply is on the topic alone"])
def test_an_erasure_is_told_once_and_done_wherever_the_responder_is_killed(chat: Chat, step: str) -> None:
    assert answer_all(chat) == 0
    chat.say(f"I live in {GONE}.", "m1", timestamp=None)
    assert answer_all(chat) == 0
    chat.learn()
    chat.say("Where do I live?", "m2", timestamp=None)
    assert answer_all(chat) == 0
    assert chat.on_replies(GONE)
    chat.world.send([{"group_id": "g"}], ce_type=b"erasure.requested")
    chat.say("I like tea.", "m3", timestamp=None)

    assert answer_all(chat, step) == -signal.SIGKILL
    assert answer_all(chat) == 0
    chat.learn()

    assert [one for one in chat.events() if isinstance(one, GroupErased)] == [GroupErased()]
    assert chat.answered() == ["m1", "m2", "m3"]
    with chat.responder() as responder:
        assert chat.answered() == ["m1", "m2", "m3"]
        chat.forget(responder, GONE)


def test_a_rewrite_of_the_topics_keeps_the_prompts(chat: Chat, tmp_path: Path) -> None:
    def beside(world: World) -> asof.Memory:
        kafka = {"kafka": world.connection.bootstrap, "kafka_prefix": world.topics.prefix}
        return asof.open(tmp_path / world.topics.prefix, embedder="none", **kafka)

    with chat.responder() as responder, beside(chat.world) as memory:
        before = memory.register_prompt(MAIN, "Arr: {current_message}")
        talk(chat, responder)
    chat.learn()
    with beside(rewrite(chat).world) as memory:
        after = memory.prompts()
    assert [(one.prompt, one.version, one.active, one.template) for one in after] == [
        (one.prompt, one.version, one.active, one.template) for one in before
    ]


def test_topics_are_rewritten_once_the_responder_has_answered_all(chat: Chat) -> None:
    with chat.responder():
        pass
    chat.say("I live in Rome.", "m1")
    chat.learn()
    with pytest.raises(UnavailableError, match="replies"):
        rewrite(chat)
