"""Replies by a language model: what it is shown, what the user is shown, and what becomes of its failures."""

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import replace
from pathlib import Path
from threading import Event

import pytest

import asof
from asof_agents.conversation.templates import APOLOGY
from asof_projections.conversation.store import ConversationStore
from asof_streams.conversation import CheckinCancelled, CheckinScheduled, ReplyGiven
from asof_streams.instants import SECOND
from asof_streams.sqlite_log import SqliteLog
from conversing import NOW, Platform, platform, settings_of
from reply_server import ReplyServer, Said, replying


@pytest.fixture
def server() -> Iterator[ReplyServer]:
    with replying() as server:
        yield server


def run(directory: Path, server: ReplyServer, told: Callable[[Platform], Awaitable[None]], **more: object) -> None:
    async def main() -> None:
        settings = settings_of(directory, model_url=server.url, model_name="m", model_key="k", **more)
        async with platform(settings) as here:
            await told(here)

    asyncio.run(main())


def events(directory: Path) -> list[object]:
    with SqliteLog(directory / "conversation.sqlite") as log:
        return [record.event for record in log.read()]


def test_a_model_is_shown_the_turns_before_and_what_is_known(tmp_path: Path, server: ReplyServer) -> None:
    async def told(here: Platform) -> None:
        server.says = ["Rome is lovely.", "In Rome, as far as I know."]
        assert await here.talk("I live in Rome.") == "Rome is lovely."
        await here.learned()
        assert await here.talk("Where do I live?") == "In Rome, as far as I know."

    run(tmp_path, server, told)

    prompt = server.prompts[1]
    assert "alice: I live in Rome.\nassistant: Rome is lovely." in prompt
    assert "- alice lives in Rome" in prompt
    assert prompt.count("Where do I live?") == 1
    assert (server.requests[1]["temperature"], server.requests[1]["max_tokens"]) == (0.7, 512)
    given = [event for event in events(tmp_path) if isinstance(event, ReplyGiven)]
    with asof.open(tmp_path, embedder="hash") as memory:
        [fact] = memory.facts(group_id="guild")
    assert [(one.prompt, one.prompt_version, one.failure) for one in given] == [("MAIN_CONVERSATION", 1, None)] * 2
    assert (given[1].turns, given[1].facts, given[1].answers) == ((0, 1), (fact.uuid,), 2)


def test_a_model_is_shown_what_was_true_at_the_time_that_a_message_asks_about(
    tmp_path: Path, server: ReplyServer
) -> None:
    async def told(here: Platform) -> None:
        await here.say("I lived in Oslo from 2010 to 2014.")
        await here.say("I have lived in Rome since 2015.")
        await here.learned()
        await here.say("Where did I live in 2012?")

    run(tmp_path, server, told)

    facts = server.prompts[-1].partition("Facts that fit the message:\n")[2].partition("\n\n")[0]
    assert facts.startswith("(of the time that the message names, in 2012 (2012-01-01 to 2012-12-31))\n")
    assert "alice lives in Oslo, from 2010-01-01, until 20" in facts
    assert "Rome" not in facts


@pytest.mark.parametrize("structured", [True, False])
def test_a_check_in_is_scheduled_and_replaces_the_one_before(
    tmp_path: Path, server: ReplyServer, structured: bool
) -> None:
    server.structured = structured
    asked = ['{"reply": "Hi.", "next_proactive_in_minutes": 180}', '{"reply": "Hi.", "next_proactive_in_minutes": 5}']
    server.says = [*asked] if structured else [f"Hi.\nNEXT_PROACTIVE_IN_MINUTES: {minutes}" for minutes in (180, 5)]

    async def told(here: Platform) -> None:
        assert await here.talk("Hello.") == "Hi."
        assert await here.talk("Hello again.") == "Hi."

    run(tmp_path, server, told)

    scheduled = [event for event in events(tmp_path) if isinstance(event, CheckinScheduled)]
    assert [one.due_at - NOW for one in scheduled] == [180 * 60 * SECOND, 5 * 60 * SECOND]
    assert [event.checkin_id for event in events(tmp_path) if isinstance(event, CheckinCancelled)] == [
        scheduled[0].checkin_id
    ]
    with ConversationStore(tmp_path / "conversations.db") as store:
        assert [one.checkin_id for one in store.scheduled()] == [scheduled[1].checkin_id]


FAILURES: list[tuple[Said, str]] = [
    ((500, "{}"), "status 500"),
    ((200, "no JSON"), "malformed"),
    ((200, "{}"), "malformed"),
    (None, "declined"),
    ('{"reply": ""}', "empty"),
    ('{"reply": nul', "empty"),
    ('{"wrong": "Hello."}', "empty"),
]


def test_whatever_a_model_says_the_user_gets_an_answer_and_the_message_is_learned_from(
    tmp_path: Path, server: ReplyServer
) -> None:
    async def told(here: Platform) -> None:
        for said, _ in FAILURES:
            server.says = [said]
            assert await here.talk("I live in Rome.") == APOLOGY
        server.latency = 2.0
        assert await here.talk("I work at Acme.") == APOLOGY
        server.latency = 0.0
        assert await here.talk("Are you there?") == "Thank you for telling me."
        server.says = ['{"reply": "Hel']  # it may say no more
        assert await here.talk("Are you still there?") == "Hel…"

    run(tmp_path, server, told, model_timeout=0.5)

    failures = [event.failure for event in events(tmp_path) if isinstance(event, ReplyGiven)]
    assert failures == [*(failure for _, failure in FAILURES), "timeout", None, None]
    with asof.open(tmp_path, embedder="hash") as memory:
        assert {fact.object for fact in memory.facts(group_id="guild")} == {"Rome", "Acme"}


def test_a_model_that_is_away_is_apologized_for(tmp_path: Path) -> None:
    with replying() as server:
        pass  # nobody listens there any more

    async def told(here: Platform) -> None:
        assert await here.talk("I live in Rome.") == APOLOGY

    run(tmp_path, server, told)


def test_no_answer_waits_for_what_was_said_before_to_be_learned(tmp_path: Path, server: ReplyServer) -> None:
    gate = Event()
    server.reads = gate.wait

    async def told(here: Platform) -> None:
        for number in range(4):
            assert await here.talk(f"I live in Rome, and this is message {number}.") == "Thank you for telling me."
        assert here.service.worker.next == 0  # not one of them is learned from
        gate.set()
        await here.learned()
        assert here.service.worker.next == 8

    try:
        run(tmp_path, server, told, extractor="model")
    finally:
        gate.set()

    with asof.open(tmp_path, embedder="hash") as memory:
        assert len(memory.episodes(group_id="guild")) == 8


def test_a_model_is_not_shown_what_was_edited_or_deleted_before_that_is_learned_from(
    tmp_path: Path, server: ReplyServer
) -> None:
    gate = Event()
    server.reads = gate.wait
    gate.set()
    goals = ["My goal is to learn Latin."]

    async def told(here: Platform) -> None:
        numbers = {}
        for text in ("I live in Oslo.", "My sister Ida likes saffron.", "My brother Ben likes jazz.", *goals):
            await here.say(text)
            numbers[text] = here.number
        for number in range(20):  # more than the recent turns
            await here.conversation.take(replace(here.incoming(f"Message {number}."), is_bot=True))
        await here.learned()
        await here.say("Where do I live, what do Ida and Ben like, and what is my goal?")
        gate.clear()
        await here.edit(numbers["I live in Oslo."], "I live in Bergen.")
        await here.delete(numbers["My sister Ida likes saffron."])
        await here.react("🗑️", f"m{numbers[goals[0]]}")
        learned = here.service.worker.next
        await here.say("Where do I live, what do Ida and Ben like, and what is my goal?")
        assert here.service.worker.next == learned
        gate.set()

    try:
        run(tmp_path, server, told, extractor="both")
    finally:
        gate.set()

    before, after = [prompt for prompt in server.prompts if "The message to answer:" in prompt][-2:]
    old = ("lives in Oslo", "I live in Oslo", "saffron", "learn Latin")
    assert [words for words in old if words not in before] == []
    assert [words for words in (*old, "Oslo") if words in after] == []
    assert [words for words in ("I live in Bergen.", "Ben likes jazz") if words not in after] == []
