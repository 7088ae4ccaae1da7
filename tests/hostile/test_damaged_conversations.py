"""A flipped bit of what a bot knows of its conversations is reported and repaired, or it changes nothing of it."""

import asyncio
import random
import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

import asof
from asof.runtime.conversation_inspection import check_conversations
from asof.runtime.conversation_log import ConversationLog
from asof.runtime.integrity import Check, verify
from asof.runtime.layout import DirectoryLayout
from asof.runtime.repair import repair
from asof.settings import Settings
from asof_streams.conversation import CheckinScheduled
from asof_streams.errors import DamagedLog, DamagedView
from asof_streams.sqlite_log import SqliteLog
from conversing import NOW, platform, settings_of
from effort import tries

PROJECTION = "projection conversations.db"
GROUPS = "erased", "guild"


async def talk(directory: Path, *groups: str) -> None:
    """Have in each group a conversation with some of everything, then forget the first group."""
    async with platform(settings_of(directory)) as here:
        for here.group in groups:
            await here.talk("I live in Rome.")
            await here.react("👍", f"m{here.number}")
            await here.say("My goal is to run a marathon.")
            await here.say("I work at Acme.")
            await here.edit(here.number, "I work at Globex.")
            await here.say("My friend Bo is sad.")
            await here.delete(here.number)
        await here.learned()
        await here.conversation.forget(groups[0])


async def talk_in_confidence(directory: Path) -> None:
    async with platform(settings_of(directory, suppress_content=True)) as here:
        await here.talk("I live in Oslo.")
        await here.learned()


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A conversation with some of everything, and another one that was erased."""
    directory = tmp_path_factory.mktemp("whole") / "data"
    asyncio.run(talk(directory, *GROUPS))
    with asof.open(directory, embedder="none") as memory:
        memory.register_prompt("MAIN_CONVERSATION", "As a pirate: {current_message}")
        memory.register_prompt("MAIN_CONVERSATION", "As a poet: {current_message}", active=False)
    with ConversationLog(DirectoryLayout(directory), beside=True) as log:
        log.follow()
        said = log.store.recent_turns("guild", 1_000, 1)[0].position
        assert log.append("guild", said, [CheckinScheduled(checkin_id="c", answers=said, due_at=NOW)], NOW)
    return directory


def known(directory: Path) -> list[str]:
    """Return what a bot that is started knows of its conversations."""
    with ConversationLog(DirectoryLayout(directory)) as log:
        log.follow()
        store = log.store
        return [
            *map(repr, store.prompts()),
            *(repr(store.message_at(position)) for position in range(log.followed())),
            *(repr(store.answers_to(position)) for position in range(log.followed())),
            *(repr(store.recent_turns(group, 1_000, 100)) for group in GROUPS),
            *(repr(store.changes(group, 100)) for group in GROUPS),
            *(repr(store.message(group, f"m{number}")) for group in GROUPS for number in range(100)),
            repr([store.begun, store.groups(), log.unanswered(), store.scheduled(), store.sent_turns(0)]),
        ]


def damage(directory: Path) -> dict[str, str]:
    return {check.what: check.found for check in verify(DirectoryLayout(directory)) if not check.ok}


def repaired(directory: Path) -> list[Check]:
    return repair(DirectoryLayout(directory), Settings(data=directory, embedder="none"))


def flips(content: bytes, count: int) -> Iterator[bytes]:
    """Yield a file with a flipped bit, again and again, mostly where the file is used."""
    chance = random.Random(len(content))
    used = [at for at, byte in enumerate(content) if byte]
    for _ in range(count):
        at = chance.choice(used)
        yield content[:at] + bytes([content[at] ^ 1 << chance.randrange(8)]) + content[at + 1 :]


def test_what_a_bot_knows_is_whole_whatever_was_erased_edited_and_suppressed(whole: Path, tmp_path: Path) -> None:
    data = Path(shutil.copytree(whole, tmp_path / "data"))
    with asof.open(data, embedder="none") as memory:
        assert memory.erase("guild", phrase="marathon").done
    asyncio.run(talk_in_confidence(data))
    places = DirectoryLayout(data)
    with ConversationLog(places) as log:
        log.follow()

    assert {check.what: check.ok for check in verify(places)}[PROJECTION]
    assert repaired(data) == []


def test_a_flipped_bit_of_the_projection_is_reported_and_repaired_or_a_bot_knows_the_same(
    whole: Path, tmp_path: Path
) -> None:
    expected = known(Path(shutil.copytree(whole, tmp_path / "expected")))
    reported = 0
    for number, content in enumerate(flips((whole / "conversations.db").read_bytes(), tries(24, nightly=1_500))):
        data = tmp_path / str(number)
        shutil.copytree(whole, data)
        (data / "conversations.db").write_bytes(content)
        try:
            check_conversations(DirectoryLayout(data))
        except DamagedView:
            reported += 1
            assert [(check.what, check.ok) for check in repaired(data)] == [(PROJECTION, True)]
        assert known(data) == expected
        shutil.rmtree(data)
    assert reported > 0


ROWS = {
    "another prompt": "UPDATE active_prompts SET version = 3",
    "another template": "UPDATE prompts SET template = 'As a liar: {current_message}'",
    "a message that waits for an answer": "UPDATE messages SET awaits_reply = 1 WHERE is_bot",
    "a message that is gone": "DELETE FROM messages WHERE external_id IS NOT NULL",
    "an answer that was not given": "DELETE FROM replies",
    "another beginning": "UPDATE meta SET value = value + 1 WHERE key = 'begun'",
    "messages that were not followed": "UPDATE meta SET value = value - 1 WHERE key = 'messages'",
    "more than there is": "UPDATE meta SET value = value + 1000 WHERE key = 'log'",
    "an index that is gone": "DROP INDEX messages_to_answer",
    "a table that is gone": "DROP TABLE checkins",
    "another version": "UPDATE meta SET value = 1 WHERE key = 'version'",
}


@pytest.mark.parametrize("what", ROWS)
def test_a_row_that_was_changed_is_reported_and_repaired(whole: Path, tmp_path: Path, what: str) -> None:
    expected = known(Path(shutil.copytree(whole, tmp_path / "expected")))
    data = Path(shutil.copytree(whole, tmp_path / "data"))
    with closing(sqlite3.connect(data / "conversations.db")) as db, db:
        db.executescript(ROWS[what])

    assert list(damage(data)) == [PROJECTION]
    assert str(data / "conversations.db") in damage(data)[PROJECTION]
    assert [(check.what, check.ok) for check in repaired(data)] == [(PROJECTION, True)]
    assert known(data) == expected
    assert damage(data) == {}


@pytest.mark.parametrize("log", ["messages", "conversation"])
def test_what_a_bot_knows_stays_where_a_log_of_it_is_damaged(whole: Path, tmp_path: Path, log: str) -> None:
    data = Path(shutil.copytree(whole, tmp_path / "data"))
    before = (data / "conversations.db").read_bytes()
    with closing(sqlite3.connect(data / f"{log}.sqlite")) as db, db:
        db.execute("DELETE FROM log WHERE position = 1")

    assert {f"log {log}", PROJECTION} <= set(damage(data))
    assert f"log {log}" in {check.what for check in repaired(data) if not check.ok}
    assert (data / "conversations.db").read_bytes() == before


def test_a_flipped_bit_of_the_log_is_reported_or_a_bot_knows_the_same(whole: Path, tmp_path: Path) -> None:
    expected = known(Path(shutil.copytree(whole, tmp_path / "expected")))
    reported = 0
    for number, content in enumerate(flips((whole / "conversation.sqlite").read_bytes(), tries(16, nightly=1_000))):
        data = tmp_path / str(number)
        shutil.copytree(whole, data)
        (data / "conversation.sqlite").write_bytes(content)
        (data / "conversations.db").unlink()  # so that all of the log is read
        try:
            with SqliteLog(data / "conversation.sqlite") as log:
                log.verify()
            assert known(data) == expected
        except DamagedLog:
            reported += 1
        shutil.rmtree(data)
    assert reported > 0
