"""The bot speaks first: once, when it is due, never in the quiet hours of the user's zone, and it is a turn."""

import asyncio
from pathlib import Path

import asof
from asof.runtime.conversation_log import ConversationLog
from asof.runtime.layout import DirectoryLayout
from asof_streams.conversation import CheckinScheduled
from asof_streams.instants import parse
from conversing import NOW, Platform, platform, settings_of

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
