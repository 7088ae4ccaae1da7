"""The bot speaks first: once, when it is due, never in the quiet hours of the user's zone, and it is a turn."""

import asyncio
import threading
from pathlib import Path
from typing import Any

import pytest

import asof
from asof.runtime.conversation_log import ConversationLog
from asof.runtime.layout import DirectoryLayout
from asof_agents.conversation.templates import GREETING
from asof_streams.conversation import CheckinScheduled, CheckinSent
from asof_streams.instants import SECOND, parse
from asof_streams.sqlite_log import SqliteLog
from conversing import NOW, Platform, platform, settings_of
from openai_server import started
from reply_server import ReplyServer, Said, replying

DUE = parse("2025-01-15T13:30:00Z")
NIGHT_IN_TOKYO = DUE
MORNING_IN_TOKYO = parse("2025-01-15T23:00:00Z")


def schedule(directory: Path, name: str, *, group: str = "guild", position: int = 0, due_at: int = DUE) -> None:
    with ConversationLog(DirectoryLayout(directory), beside=True) as log:
        event = CheckinScheduled(checkin_id=name, answers=position, due_at=due_at)
        assert log.append(group, position, [event], NOW)


async def due(here: Platform, at: int = DUE, group: str | None = None) -> list[str]:
    return [outgoing.id for outgoing in await here.conversation.due(at, group)]


def test_a_check_in_is_sent_once_over_restarts_and_clocks_that_are_put_back(tmp_path: Path) -> None:
    async def main() -> None:
        async with platform(settings_of(tmp_path)) as here:
            await here.talk("I live in Rome.")
            schedule(tmp_path, "first")
            assert await due(here, DUE - 1) == []
            assert await due(here) == ["first"]
            assert await due(here) == []
        async with platform(settings_of(tmp_path)) as here:
            assert await due(here, NOW) == []
            assert await due(here, DUE + 1) == []

    asyncio.run(main())


def test_a_newer_check_in_replaces_the_one_before_it(tmp_path: Path) -> None:
    async def main() -> None:
        async with platform(settings_of(tmp_path)) as here:
            await here.talk("I live in Rome.")
            schedule(tmp_path, "first")
            schedule(tmp_path, "second", due_at=DUE + 1)
            assert await due(here) == []
            assert await due(here, DUE + 1) == ["second"]

    asyncio.run(main())


def test_no_check_in_is_sent_in_the_quiet_hours_of_its_groups_zone(tmp_path: Path) -> None:
    with asof.open(tmp_path, embedder="hash") as memory:
        memory.state_timezone("Asia/Tokyo", group_id="guild")

    async def main() -> None:
        async with platform(settings_of(tmp_path)) as here:
            await here.talk("I live in Tokyo.")
            await here.learned()
            schedule(tmp_path, "first", position=1)
            assert await due(here, NIGHT_IN_TOKYO) == []
            assert await due(here, MORNING_IN_TOKYO) == ["first"]
        async with platform(settings_of(tmp_path, quiet_hours="07:00-09:00")) as here:
            schedule(tmp_path, "second", position=1)
            assert await due(here, MORNING_IN_TOKYO) == []
            assert await due(here, NIGHT_IN_TOKYO) == ["second"]

    asyncio.run(main())


def test_a_check_in_that_was_sent_is_a_turn_that_nobody_asked_for(tmp_path: Path) -> None:
    async def main() -> None:
        async with platform(settings_of(tmp_path)) as here:
            await here.talk("I live in Rome.")
            schedule(tmp_path, "first")
            [check_in] = await here.conversation.due(DUE)
            assert (check_in.action, check_in.to) == ("checkin", None)
            await here.send(check_in)
            await here.conversation.sent(check_in, "again", DUE)
            await here.learned()

    asyncio.run(main())
    with ConversationLog(DirectoryLayout(tmp_path), beside=True) as log:
        log.follow()
        turns = log.store.recent_turns("guild", 99, 10)
    assert [(turn.is_bot, turn.is_proactive) for turn in turns] == [(False, False), (True, False), (True, True)]


def test_a_platform_sends_the_check_ins_of_its_own_group_alone(tmp_path: Path) -> None:
    async def main() -> None:
        async with platform(settings_of(tmp_path)) as here:
            await here.talk("I live in Rome.")
            schedule(tmp_path, "first")
            assert await due(here, group="other") == []
            assert await due(here, group="guild") == ["first"]

    asyncio.run(main())


def test_an_erased_group_gets_no_check_in(tmp_path: Path) -> None:
    async def main() -> None:
        async with platform(settings_of(tmp_path)) as here:
            await here.talk("I live in Rome.")
            schedule(tmp_path, "first")
            await here.conversation.forget("guild")
            assert await due(here) == []

    asyncio.run(main())


def sent(directory: Path) -> list[CheckinSent]:
    with SqliteLog(directory / "conversation.sqlite") as log:
        return [record.event for record in log.read() if isinstance(record.event, CheckinSent)]


def test_a_model_words_a_check_in_of_what_is_known_when_it_is_sent(tmp_path: Path) -> None:
    async def main(server: ReplyServer) -> None:
        async with platform(settings_of(tmp_path, model_url=server.url, model_name="m")) as here:
            await here.talk("I live in Rome.")
            schedule(tmp_path, "first")
            await here.talk("I work at Acme.")
            await here.learned()
            server.says = ["How was your day at Acme?\nNEXT_PROACTIVE_IN_MINUTES: 5"]
            [check_in] = await here.conversation.due(DUE)
            assert (check_in.action, check_in.text) == ("checkin", "How was your day at Acme?")
            await here.send(check_in)
            assert await due(here) == []
        async with platform(settings_of(tmp_path, model_url=server.url, model_name="m")) as here:
            assert await due(here, DUE + 3600 * SECOND) == []  # it is said once, and asks for no other
            await here.learned()

    with replying() as server:
        asyncio.run(main(server))
    with asof.open(tmp_path, embedder="hash") as memory:
        assert [turn.content for turn in memory.episodes(group_id="guild")][-1] == "How was your day at Acme?"
    prompt = server.prompts[-1]
    assert len(server.prompts) == 3
    assert "write again by yourself" in prompt
    assert "alice: I live in Rome.\nassistant: Thank you for telling me.\nalice: I work at Acme." in prompt
    assert "- alice works at Acme" in prompt
    [event] = sent(tmp_path)
    assert (event.prompt, event.prompt_version, event.failure) == ("CHECK_IN", 1, None)
    assert event.model is not None


def test_the_prompt_of_check_ins_is_replaced_at_run_time(tmp_path: Path) -> None:
    async def main(server: ReplyServer) -> None:
        async with platform(settings_of(tmp_path, model_url=server.url, model_name="m")) as here:
            await here.talk("I live in Rome.")
            schedule(tmp_path, "first")
            with asof.open(tmp_path, embedder="hash") as beside:
                beside.register_prompt("CHECK_IN", "Ask as a pirate. They said:\n{episodic_context}", temperature=0.1)
            assert await due(here) == ["first"]

    with replying() as server:
        asyncio.run(main(server))
    asked = server.requests[-1]
    assert server.prompts[-1].startswith("Ask as a pirate. They said:\nalice: I live in Rome.\n")
    assert (asked["temperature"], asked["max_tokens"]) == (0.1, 256)
    assert [(event.prompt_version, event.failure) for event in sent(tmp_path)] == [(2, None)]


@pytest.mark.parametrize(
    ("said", "failure"), [((500, "{}"), "status 500"), ('{"reply": ""}', "empty"), (None, "declined")], ids=str
)
def test_where_the_model_fails_a_check_in_is_a_greeting_sent_once(tmp_path: Path, said: Said, failure: str) -> None:
    async def main(server: ReplyServer) -> None:
        async with platform(settings_of(tmp_path, model_url=server.url, model_name="m")) as here:
            await here.talk("I live in Rome.")
            schedule(tmp_path, "first")
            server.says = [said]
            assert [check_in.text for check_in in await here.conversation.due(DUE)] == [GREETING]
            assert await due(here) == []

    with replying() as server:
        asyncio.run(main(server))
    assert [(event.content, event.failure) for event in sent(tmp_path)] == [(GREETING, failure)]


def test_of_a_check_in_no_words_are_kept_where_no_content_is(tmp_path: Path) -> None:
    async def main(server: ReplyServer) -> None:
        async with platform(settings_of(tmp_path, suppress_content=True, model_url=server.url, model_name="m")) as here:
            await here.talk("I live in Rome.")
            schedule(tmp_path, "first")
            server.says = ["How is Rome?"]
            assert [check_in.text for check_in in await here.conversation.due(DUE)] == ["How is Rome?"]

    with replying() as server:
        asyncio.run(main(server))
    assert [event.content for event in sent(tmp_path)] == [""]


class Waiting(ReplyServer):
    """Says what it is told to check in with once it may, and all else at once."""

    def __init__(self) -> None:
        super().__init__()
        self.is_asked, self.may_answer = threading.Event(), threading.Event()

    def answer(self, asked: dict[str, Any]) -> tuple[int, str]:
        if "write again by yourself" in asked["messages"][-1]["content"]:
            self.is_asked.set()
            self.may_answer.wait()
        return super().answer(asked)


def test_what_is_erased_while_a_check_in_is_worded_is_not_said_by_it(tmp_path: Path) -> None:
    async def main(server: Waiting) -> None:
        async with platform(settings_of(tmp_path, model_url=server.url, model_name="m")) as here:
            await here.talk("I live in Rome.")
            for answer in await here.say("I live in Oslo.", author="222", name="bob"):
                await here.send(answer)
            schedule(tmp_path, "first")
            wording = asyncio.create_task(due(here))
            await asyncio.to_thread(server.is_asked.wait)
            await here.conversation.forget("guild", "222")
            server.may_answer.set()
            assert await wording == []
            assert await due(here) == ["first"]

    with started(Waiting()) as server:
        asyncio.run(main(server))
    assert len(sent(tmp_path)) == 1
    asked = [prompt for prompt in server.prompts if "write again by yourself" in prompt]
    assert {"Oslo" in prompt for prompt in asked} == {False, True}
