"""Conversations under attack: models that hang, gush and garble, messages out of order, and users in a hurry."""

import asyncio
import json
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import replace
from pathlib import Path
from threading import Event

import pytest

import asof
from asof.runtime.conversation_log import ConversationLog
from asof.runtime.layout import DirectoryLayout
from asof.service.conversation import Incoming
from asof_agents.conversation.templates import APOLOGY
from asof_streams.instants import SECOND
from asof_streams.sqlite_log import SqliteLog
from conversing import NOW, Platform, platform, settings_of
from patience import wait_until
from reply_server import ReplyServer, replying

Told = Callable[[Platform], Awaitable[None]]


@pytest.fixture
def server() -> Iterator[ReplyServer]:
    with replying() as server:
        yield server


def run(directory: Path, server: ReplyServer, told: Told, **more: object) -> None:
    async def main() -> None:
        settings = settings_of(directory, model_url=server.url, model_name="m", model_key="k", **more)
        async with platform(settings) as here:
            await told(here)

    asyncio.run(main())


def turns(directory: Path, group: str = "guild") -> list[str]:
    with asof.open(directory, embedder="hash") as memory:
        return [turn.content for turn in memory.episodes(group_id=group)]


def recent(directory: Path, group: str = "guild") -> list[int]:
    """Return the positions of the turns that the next reply is shown."""
    with ConversationLog(DirectoryLayout(directory), beside=True) as log:
        log.follow()
        return [turn.position for turn in log.store.recent_turns(group, 1_000, 32)]


def logged(directory: Path) -> int:
    """Return how many messages are on their log."""
    with SqliteLog(directory / "messages.sqlite") as log:
        return log.end()


class Held:
    """A model that answers nobody whose message has a word, until it is let go."""

    def __init__(self, server: ReplyServer, word: str) -> None:
        self.asked, self.gate, self._word, self._answer = Event(), Event(), word, server.answer
        server.answer = self._answering  # type: ignore[method-assign]

    def _answering(self, asked: dict[str, object]) -> tuple[int, str]:
        if self._word in json.dumps(asked["messages"]):
            self.asked.set()
            self.gate.wait()
        return self._answer(asked)

    async def reached(self) -> None:
        """Wait until it is asked."""
        await asyncio.to_thread(self.asked.wait)


# What a model answers.


@pytest.mark.parametrize(
    "said",
    [
        (200, "[" * 100_000),
        (200, '{"choices": [{"message": {"content": ' + "[" * 100_000),
        (200, "\xff\xfe"),
        (200, "null"),
        (302, ""),
        '{"reply": "\\ud800", "next_proactive_in_minutes": null}',
        '{"reply": "\\ud800 NEXT_PROACTIVE_IN_MINUTES: 4", "next_proactive_in_minutes": 1e999}',
        "[" * 100_000,
        '{"reply": "x", "next_proactive_in_minutes": -5}',
    ],
    ids=str,
)
def test_whatever_a_model_answers_there_is_a_reply_and_the_next_message_is_answered(
    tmp_path: Path, server: ReplyServer, said: str | tuple[int, str]
) -> None:
    async def told(here: Platform) -> None:
        server.says = [said]
        assert await here.talk("I live in Rome.")
        assert await here.talk("Are you there?") == "Thank you for telling me."
        await here.learned()

    run(tmp_path, server, told)

    assert len(turns(tmp_path)) == 4


def test_a_reply_without_end_is_cut_and_is_a_turn(tmp_path: Path, server: ReplyServer) -> None:
    async def told(here: Platform) -> None:
        server.says = ["word 🌟 " * 200_000]
        text = await here.talk("I live in Rome.")
        assert text.startswith("word 🌟 word")
        assert len(text) <= 20_000
        await here.learned()
        assert await here.talk("Are you there?") == "Thank you for telling me."

    run(tmp_path, server, told)

    assert len(turns(tmp_path)) == 4


def test_a_prompt_has_a_bounded_length_however_long_the_messages_are(tmp_path: Path, server: ReplyServer) -> None:
    async def told(here: Platform) -> None:
        for number in range(3):
            await here.talk(f"Message {number} begins. " + "It was so. " * 30_000 + f"Message {number} ends.")
        assert await here.talk("Are you there?") == "Thank you for telling me."

    run(tmp_path, server, told)

    assert "Message 0 begins" in server.prompts[-1]
    assert "Message 2 begins" in server.prompts[2]
    assert max(map(len, server.prompts)) < 60_000


def test_a_user_cannot_fill_in_the_template_of_a_prompt(tmp_path: Path, server: ReplyServer) -> None:
    trap = "{context} {current_message} {0} {} {{semantic_facts}} %s $context {episodic_context.__class__}"

    async def told(here: Platform) -> None:
        await here.talk("I live in Canaryville.")
        await here.learned()
        await here.talk(trap)
        await here.talk("Are you there?")

    run(tmp_path, server, told)

    assert server.prompts[1].count(trap) == 1
    assert server.prompts[2].count(trap) >= 1


# Many at a time.


def test_those_whom_a_model_lets_wait_keep_nobody_else_waiting(tmp_path: Path, server: ReplyServer) -> None:
    held = Held(server, "Hang")

    async def told(here: Platform) -> None:
        waiting = [
            asyncio.create_task(
                here.conversation.take(Incoming("message", f"g{number}", "m1", "1", "eve", "Hang on.", NOW))
            )
            for number in range(40)
        ]
        await held.reached()
        assert await here.talk("I live in Rome.") == "Thank you for telling me."
        held.gate.set()
        answers = [answer.text for [answer] in await asyncio.gather(*waiting)]
        assert answers == ["Thank you for telling me."] * 40

    run(tmp_path, server, told)


def test_what_is_said_while_a_model_thinks_is_on_the_log_at_once_and_answered_after_it(
    tmp_path: Path, server: ReplyServer
) -> None:
    held = Held(server, "first")

    async def told(here: Platform) -> None:
        first = asyncio.create_task(here.say("I am the first."))
        await held.reached()
        second = asyncio.create_task(here.say("I am number two."))
        await asyncio.to_thread(wait_until, lambda: logged(tmp_path) == 2)
        assert not first.done()
        assert not second.done()
        held.gate.set()
        assert len(await first) == len(await second) == 1

    run(tmp_path, server, told)

    assert turns(tmp_path) == ["I am the first.", "I am number two."]


def test_a_message_that_is_deleted_before_its_answer_gets_none(tmp_path: Path, server: ReplyServer) -> None:
    held = Held(server, "Vanish")

    async def told(here: Platform) -> None:
        said = here.incoming("Vanish with me.")
        asked = asyncio.create_task(here.conversation.take(said))
        await held.reached()
        assert await here.conversation.take(replace(said, kind="deletion", text="")) == []
        held.gate.set()
        assert await asked == []
        assert await here.conversation.take(said) == []  # it is told again
        await here.learned()
        await here.talk("Are you there?")
        await here.learned()

    run(tmp_path, server, told)

    assert turns(tmp_path) == ["Are you there?", "Thank you for telling me."]
    assert "Vanish" not in server.prompts[-1]


def test_an_edit_of_a_message_that_is_being_answered_counts_from_the_next_answer_on(
    tmp_path: Path, server: ReplyServer
) -> None:
    held = Held(server, "to answer:\\nI live in Rome.")

    async def told(here: Platform) -> None:
        said = here.incoming("I live in Rome.")
        asked = asyncio.create_task(here.conversation.take(said))
        await held.reached()
        edit = replace(said, kind="edit", text="I live in Oslo.", at=said.at + SECOND)
        assert await here.conversation.take(edit) == []
        held.gate.set()
        [answer] = await asked
        await here.send(answer)
        await here.learned()
        await here.talk("Are you there?")

    run(tmp_path, server, told)

    assert "Rome" not in server.prompts[-1]
    assert "alice: I live in Oslo." in server.prompts[-1]


def test_one_message_that_is_delivered_many_times_at_once_is_answered_once(tmp_path: Path, server: ReplyServer) -> None:
    async def told(here: Platform) -> None:
        for text in ("I live in Rome.", "My goal is to become a cook"):
            said = here.incoming(text)
            answers = await asyncio.gather(*(here.conversation.take(said) for _ in range(8)))
            assert len([one for answer in answers for one in answer]) == 1
        await here.learned()

    run(tmp_path, server, told)

    assert turns(tmp_path) == ["I live in Rome."]


# What is taken back leaves no trace.


def test_what_is_deleted_is_in_no_later_prompt_nor_is_what_the_bot_answered_to_it(
    tmp_path: Path, server: ReplyServer
) -> None:
    async def told(here: Platform) -> None:
        server.says = ["So you live in Canaryville!", "Fine.", "Canaryville it is."]
        said = here.incoming("I live in Canaryville.")
        [answer] = await here.conversation.take(said)
        await here.send(answer)
        await here.talk("I work at Acme.")
        late = here.incoming("Canaryville is small.")
        [unsent] = await here.conversation.take(late)
        await here.conversation.take(replace(said, kind="deletion", text=""))
        await here.conversation.take(replace(late, kind="deletion", text=""))
        await here.send(unsent)  # the platform had sent it by then
        await here.learned()
        assert await here.talk("Where do I live?") == "Thank you for telling me."

    run(tmp_path, server, told)

    assert "Canaryville" not in server.prompts[-1]
    assert turns(tmp_path) == ["I work at Acme.", "Fine.", "Where do I live?", "Thank you for telling me."]
    with asof.open(tmp_path, embedder="hash") as memory:
        assert any("Canaryville" in str(event.data) for event in memory.events("episodic"))


def test_feedback_and_goals_are_in_no_prompt_context_search_or_count_and_undone_they_are_in_history_alone(
    tmp_path: Path, server: ReplyServer
) -> None:
    async def told(here: Platform) -> None:
        await here.talk("I live in Rome.")
        bot = f"m{here.number}"
        await here.say("Qfeedback, please.", to=bot)
        feedback = f"m{here.number}"
        [noted] = await here.say("My goal is to see Qgoal")
        await here.send(noted)
        await here.learned()
        await here.talk("What about Qfeedback and Qgoal?")
        await here.react("🗑️", feedback)
        await here.learned()

    run(tmp_path, server, told)

    assert "Qfeedback" not in server.prompts[-1].partition("The message to answer:")[0]
    assert "Qgoal" not in server.prompts[-1].partition("What you remember:")[0]
    with asof.open(tmp_path, embedder="hash") as memory:
        said = [turn.content for turn in memory.episodes(group_id="guild")]
        assert len(said) == 4
        assert not any(word in text for text in said for word in ("Qfeedback, please", "see Qgoal", "Noted"))
        assert "Qfeedback, please" not in memory.context("What about Qfeedback?", group_id="guild").text
        assert memory.feedback(group_id="guild") == []
        assert any("Qfeedback" in str(event.data) for event in memory.events("episodic"))


# Out of order.


def test_edits_that_come_in_the_wrong_order_leave_the_latest_text(tmp_path: Path, server: ReplyServer) -> None:
    async def told(here: Platform) -> None:
        said = here.incoming("I live in Rome.")
        await here.conversation.take(said)
        for text, after in (("I live in Oslo.", 9), ("I live in Bern.", 5)):
            await here.conversation.take(replace(said, kind="edit", text=text, at=said.at + after * SECOND))
        await here.learned()
        await here.talk("Are you there?")

    run(tmp_path, server, told)

    assert turns(tmp_path)[0] == "I live in Oslo."
    assert "alice: I live in Oslo." in server.prompts[-1]
    assert "Bern" not in server.prompts[-1]


def test_a_turn_that_is_edited_into_a_goal_is_a_turn_no_more_and_the_other_way_round(
    tmp_path: Path, server: ReplyServer
) -> None:
    async def told(here: Platform) -> None:
        turn, goal = here.incoming("I like Rome."), here.incoming("My goal is to cook")
        for said, text in ((turn, "My goal is to sing"), (goal, "I like Oslo.")):
            await here.conversation.take(said)
            await here.conversation.take(replace(said, kind="edit", text=text, at=said.at + SECOND))
        await here.learned()
        await here.talk("Are you there?")

    run(tmp_path, server, told)

    conversation = server.prompts[-1].partition("What you remember:")[0]
    assert "alice: I like Oslo." in conversation
    assert "sing" not in conversation
    assert turns(tmp_path)[0] == "I like Oslo."


def test_changes_of_messages_that_come_before_them_or_of_others_change_nothing(
    tmp_path: Path, server: ReplyServer
) -> None:
    async def told(here: Platform) -> None:
        said = here.incoming("I live in Rome.")
        for kind in ("edit", "deletion"):
            assert await here.conversation.take(replace(said, kind=kind, text="I live in Bern.")) == []
        assert await here.react("🗑️", said.external_id) == []
        [answer] = await here.conversation.take(said)
        bot = await here.send(answer)
        for author in ("111", "222"):
            assert await here.react("🗑️", said.external_id, author=author) == []
            assert await here.react("🗑️", bot, author=author) == []
        assert await here.conversation.take(replace(said, group="other", kind="deletion", text="")) == []
        assert not await here.conversation.sent(replace(answer, group="other"), "stolen", NOW)
        await here.learned()

    run(tmp_path, server, told)

    assert turns(tmp_path) == ["I live in Rome.", "Thank you for telling me."]
    assert turns(tmp_path, "other") == []


def test_a_clock_that_is_put_back_loses_no_turn_and_answers_none_twice(tmp_path: Path, server: ReplyServer) -> None:
    async def told(here: Platform) -> None:
        await here.talk("I live in Rome.")
        here.now = NOW - 10**6 * SECOND
        assert await here.talk("I work at Acme.") == "Thank you for telling me."
        here.now = NOW + 10**6 * SECOND
        assert await here.talk("Are you there?") == "Thank you for telling me."
        assert await here.conversation.resume() == []

    run(tmp_path, server, told)

    assert len(turns(tmp_path)) == 6
    assert "Rome" in server.prompts[-1]
    assert "Acme" in server.prompts[-1]


# Two groups.


def test_a_group_is_shown_nothing_of_another(tmp_path: Path, server: ReplyServer) -> None:
    async def told(here: Platform) -> None:
        await here.talk("I live in Canaryville.")
        bot = f"m{here.number}"
        await here.say("Say Canaryville more often.", to=bot)
        await here.say("My goal is to leave Canaryville")
        await here.learned()
        here.group = "other"
        assert await here.say("This is no reply of yours.", to=bot) != []
        await here.talk("Where do I live, and what is my goal?")
        assert await here.conversation.known("other") == ()

    run(tmp_path, server, told)

    assert "Canaryville" in server.prompts[0]
    assert all("Canaryville" not in prompt for prompt in server.prompts[1:])
    assert len(server.prompts) == 3
    assert recent(tmp_path, "other") != []
    assert APOLOGY not in turns(tmp_path, "other")
