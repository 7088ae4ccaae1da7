"""A conversation by way of topics: a platform here, and a responder in a worker, beside it or elsewhere."""

import asyncio
import os
import signal
import subprocess
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from asof.cli.terminal import Person, Terminal
from asof.runtime import clock
from asof.service.conversation import Incoming, Outgoing, message_of
from asof.service.service import Service
from asof.service.topic_conversation import TopicConversation
from asof.settings import Settings
from asof_process import launcher
from asof_streams.conversation import ConversationBegun, ReplyGiven
from asof_streams.errors import InvalidInput
from asof_streams.instants import SECOND
from asof_streams.kafka.topics import create
from asof_streams.polling import looks
from discord_bot import running_bot
from discord_server import ALICE, GENERAL, GUILD, FakeDiscord, discord_server
from http_server import Server
from kafka_worker import Running, World, until
from patience import SECONDS
from reply_server import replying
from responders import Chat, holds

Start = Callable[..., Running]
GONE = "Zanzibarquo"


@pytest.fixture
def chat(world: World, tmp_path: Path) -> Chat:
    return Chat(world, tmp_path)


def begin(chat: Chat, start: Start, name: str) -> Running:
    """Start a worker; return it once its responder answers what is said from then on."""
    running = start(chat.world, name)
    until(lambda: any(isinstance(one, ConversationBegun) for one in chat.events()), running)
    return running


Talking = tuple[TopicConversation, Service]


@asynccontextmanager
async def talking(chat: Chat, now: Callable[[], int] = clock.system) -> AsyncIterator[Talking]:
    settings = Settings(data=chat.root / "platform", embedder="none", **chat.world.settings())
    with (
        Service(settings, lambda: None, lambda _: None, lambda _: None) as service,
        TopicConversation(service, settings, now=now) as conversation,
    ):
        yield conversation, service


def said(text: str, id_: str, **more: Any) -> Incoming:
    fields = {"kind": "message", "group": "g", "author": "1", "name": "ana"} | more
    return Incoming(external_id=id_, text=text, at=clock.system(), **fields)


async def some(ask: Callable[[], Awaitable[list[Outgoing]]]) -> list[Outgoing]:
    """Ask until there is something."""
    for pause in looks(SECONDS):
        if found := await ask():
            return found
        await asyncio.sleep(pause)
    raise AssertionError("nothing came")


async def until_known(conversation: TopicConversation, group: str, *objects: str) -> None:
    """Wait until these are what is believed of a group."""
    for pause in looks(SECONDS):
        if sorted(fact.sentence.split()[-1] for fact in await conversation.known(group)) == sorted(objects):
            return
        await asyncio.sleep(pause)
    raise AssertionError(await conversation.known(group))


@pytest.mark.parametrize("worker", ["platform", "elsewhere"])
def test_a_platform_gets_each_answer_once_and_tells_what_it_sent(chat: Chat, start: Start, worker: str) -> None:
    async def talk() -> None:
        async with talking(chat) as (conversation, service):
            [answer] = await conversation.take(said("I live in Rome.", "m1"))
            assert (answer.action, answer.to, answer.group) == ("reply", "m1", "g")
            assert await conversation.take(said("I live in Rome.", "m1")) == [], "the platform tells it again"
            assert await conversation.sent(answer, "b1", clock.system())
            assert not await conversation.sent(answer, "b2", clock.system())
            assert not await conversation.sent(Outgoing("reply", "unknown", "", "m1", "g"), "b3", clock.system())

            [salute] = await conversation.take(said("Too long.", "m2", reply_to="b1"))
            assert (salute.action, salute.to, salute.text) == ("react", "m2", "🫡")
            [noted] = await conversation.take(said("My goal is to run a marathon.", "m3"))
            assert noted.text == "Noted 🌟"
            assert not await conversation.sent(noted, "b4", clock.system()), "an acknowledgement is no turn"
            undone = await conversation.take(said("🗑️", "", kind="reaction", reply_to="m2"))
            assert [one.action for one in undone] == ["unreact", "unreact"]

            end = (await service.take([])).start
            assert await conversation.take(said("I live in Oslo.", "unknown", kind="edit")) == []
            assert await conversation.take(said("", "unknown", kind="deletion", author="")) == []
            assert await conversation.take(said("🗑️", "", kind="reaction", reply_to="unknown")) == []
            assert (await service.take([])).start == end, "nothing of that is sent"
            await conversation.take(said("I live in Oslo.", "m1", kind="edit"))
            [answer] = await conversation.take(said("Where do I live?", "m4"))
            await until_known(conversation, "g", "Oslo", "marathon")
            assert await conversation.resume() == []
            assert await conversation.due(clock.system()) == []

    running = begin(chat, start, worker)
    asyncio.run(talk())
    running.stop()


def test_what_a_platform_that_was_killed_did_not_get_is_given_by_the_next_once(chat: Chat, start: Start) -> None:
    async def lose() -> None:
        async with talking(chat) as (conversation, service):
            await conversation.take(said("I like tea.", "m1"))
            await service.take([message_of(said("I like jam.", "m2"))])

    async def resume() -> None:
        async with talking(chat) as (conversation, _):
            given = await some(conversation.resume)
            assert [answer.to for answer in given] == ["m2"]
            assert await conversation.resume() == []
        async with talking(chat) as (conversation, _):
            assert await conversation.resume() == []

    running = begin(chat, start, "worker")
    asyncio.run(lose())
    until(lambda: chat.answered() == ["m1", "m2"], running)
    asyncio.run(resume())
    running.stop()


def test_a_check_in_is_handed_out_once_and_answers_given_before_the_first_start_are_not(
    world: World, tmp_path: Path
) -> None:
    async def hand_out(chat: Chat, expected: int) -> None:
        async with talking(chat, lambda: chat.now) as (conversation, _):
            found = await some(lambda: conversation.due(chat.now)) if expected else []
            assert [(one.action, one.group, one.text) for one in found] == [("checkin", "g", "How was it?")] * expected
            assert await conversation.due(chat.now) == []

    with replying() as model:
        chat = Chat(world, tmp_path, model_url=model.url, model_name="fake")
        model.says = ['{"reply": "Good luck!", "next_proactive_in_minutes": 60}', "How was it?"]
        asyncio.run(hand_out(chat, 0))
        with chat.responder() as responder:
            chat.say("I have an exam.", "m1")
            chat.answer(responder)
            chat.now += 61 * 60 * SECOND
            chat.answer(responder)
        chat.learn()
        asyncio.run(hand_out(chat, 1))
        asyncio.run(hand_out(chat, 0))


def test_whoever_is_forgotten_is_in_no_file_of_the_platform(chat: Chat, start: Start) -> None:
    async def talk() -> None:
        async with talking(chat) as (conversation, _):
            await conversation.take(said(f"I live in {GONE}.", "m1", group="whole"))
            await conversation.take(said(f"I live in {GONE}.", "m1", group="part"))
            await conversation.take(said("I like tea.", "m2", group="part", author="2", name="ben"))
            [first] = await conversation.take(said("I am back.", "m3", group="part"))
            await conversation.sent(first, "b1", clock.system())
            await until_known(conversation, "part", GONE, "tea")
            for number in count():  # the responder's own copy may be a moment behind this one
                [answer] = await conversation.take(said("Where do I live?", f"w{number}", group="part"))
                if GONE in answer.text:
                    break
            assert "conversation.sqlite" in "".join(holds(chat.root / "platform", GONE))

            whole = await conversation.forget("whole")
            part = await conversation.forget("part", "1")

            assert whole.messages is None
            assert part.messages == 4 + number
            assert await conversation.known("whole") == ()
            await until_known(conversation, "part", "tea")
            until(lambda: not holds(chat.root / "platform", GONE))  # the copy of answers follows the responder
            assert await conversation.expire("part", clock.system()) == 1
            assert await conversation.known("part") == ()

    running = begin(chat, start, "worker")
    asyncio.run(talk())
    running.stop()


def test_a_chat_in_a_terminal_on_kafka_is_answered_by_a_worker_and_shows_what_its_group_learned(
    chat: Chat, start: Start
) -> None:
    worker = begin(chat, start, "elsewhere")
    settings = {"data": str(chat.root / "platform"), "embedder": "none", **chat.world.settings()}
    environment = {**os.environ} | {f"ASOF_{name.upper()}": value for name, value in settings.items()}
    chat.say("I live in Oslo.", "m0", group="another")

    told = subprocess.run(
        launcher("chat", "--name", "Ana", "--group", "g"),
        input="I live in Rome.\nWhere do I live?\n/what-do-you-know\n/forget-me\nyes\n/quit\n",
        capture_output=True,
        text=True,
        env=environment,
        check=False,
    )

    assert told.returncode == 0, told.stderr
    kept, remembered, remembered_fact = told.stdout.splitlines()
    assert kept.startswith("asof: I have kept this.")
    assert remembered.startswith("asof: This is what I remember.")
    assert remembered_fact == "- Ana lives in Rome"
    assert f"the group g of {chat.world.topics.messages} on {chat.world.connection.bootstrap}" in " ".join(
        told.stderr.split()
    )
    assert "began: Ana lives in Rome" in told.stderr
    assert "Oslo" not in told.stderr + told.stdout, "it is another group's"
    assert "Erased 4 messages of the group g" in told.stderr, "two of each"
    worker.stop()


class Effects:
    """A screen that keeps what began to be believed."""

    def __init__(self) -> None:
        self.began: list[str] = []

    def say(self, outgoing: Outgoing) -> None:
        """Nobody listens."""

    def note(self, text: str) -> None:
        """Nobody reads."""

    def learned(self, effect: Any) -> None:
        self.began += [belief.fact for belief in effect.began]


def test_a_terminal_waits_for_nothing_that_is_said_in_other_groups(chat: Chat) -> None:
    screen = Effects()

    async def talk() -> None:
        async with talking(chat) as (conversation, service):
            terminal = Terminal(service, conversation, Person("g", "1", "ana"), screen, clock.system)
            await terminal.begin()
            chat.say("I like jam.", "m1", "another")
            chat.say("I live in Rome.", "m2")
            chat.learn("elsewhere")
            chat.say("I like figs.", "m3", "another")  # nobody learns from it
            await until_known(conversation, "g", "Rome")
            await asyncio.wait_for(terminal.learn(), SECONDS)
            await asyncio.wait_for(terminal.learn(), SECONDS)

    asyncio.run(talk())

    assert screen.began == ["ana lives in Rome"]


def test_the_routes_of_a_service_on_kafka_talk_by_way_of_the_topics(chat: Chat, start: Start) -> None:
    running = begin(chat, start, "worker")
    environment = {f"ASOF_{name.upper()}": value for name, value in chat.world.settings().items()}
    server = Server(chat.root / "served", **environment)
    try:
        told = {"group_id": "g", "kind": "message", "external_id": "m1", "author_id": "1", "content": "I live in Rome."}
        answer = server.client.post("/v1/conversation/incoming", json=told)
        assert answer.status_code == 200, answer.text
        [outgoing] = answer.json()["outgoing"]
        assert (outgoing["action"], outgoing["to"]) == ("reply", "m1")
        sent = {"group_id": "g", "id": outgoing["id"], "external_id": "b1"}
        assert server.client.post("/v1/conversation/sent", json=sent).json() == {"turn": True}
        assert server.client.post("/v1/conversation/sent", json=sent).json() == {"turn": False}
        assert server.client.post("/v1/conversation/due", json={"group_id": "g"}).json() == {"outgoing": []}
        prompt = {"prompt": "MAIN_CONVERSATION", "template": "Arr: {current_message}"}
        written = server.client.post("/v1/prompts", json=prompt).raise_for_status().json()
        assert server.client.get("/v1/prompts").json() == written
        assert [one["template"] for one in written["prompts"] if one["active"]][1:] == [prompt["template"]]
    finally:
        server.end(signal.SIGKILL)
    [given] = [one for one in chat.events() if isinstance(one, ReplyGiven)]
    until(lambda: any(getattr(one, "external_id", None) == "b1" for one in chat.events()), running)
    assert given.reply_id == outgoing["id"]


@contextmanager
def fresh_discord() -> Iterator[FakeDiscord]:
    """Run a stand-in for Discord whose clock is right: a responder answers what is fresh."""
    with discord_server() as server:
        server.start_ms = clock.system() // 1_000
        yield server


def test_a_bot_on_discord_talks_by_way_of_the_topics(chat: Chat, start: Start) -> None:
    running = begin(chat, start, "worker")
    with (
        fresh_discord() as server,
        running_bot(server, chat.root / "platform", topics=chat.world.settings()) as bot,
    ):
        bot.command(ALICE, "remember-me")
        message = server.say(ALICE, "I live in Rome.")
        bot.handled()
        [answer] = server.sent
        assert answer["message_reference"]["message_id"] == message
        for pause in looks(SECONDS):  # the responder's own copy may be a moment behind this one
            server.say(ALICE, "Where do I live?")
            bot.handled()
            if "Rome" in server.sent[-1]["content"]:
                break
            time.sleep(pause)
        assert "Rome" in server.sent[-1]["content"]
        bot.command(ALICE, "forget-me")
        assert bot.do(lambda: bot.conversation.known(f"discord-{GUILD}-{GENERAL}")) == ()
    running.stop()


def test_where_no_content_is_kept_there_is_no_conversation_on_topics(world: World, tmp_path: Path) -> None:
    asyncio.run(create(world.connection, world.topics, ["main"], replies=True))
    settings = Settings(data=tmp_path / "data", embedder="none", suppress_content=True, **world.settings())
    with (
        Service(settings, lambda: None, lambda _: None, lambda _: None) as service,
        pytest.raises(InvalidInput, match="have content kept"),
    ):
        TopicConversation(service, settings)
