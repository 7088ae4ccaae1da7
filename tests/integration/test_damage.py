"""A damaged log is found, or the damage changes nothing: every byte, every length, records moved about."""

import re
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from asof_streams.episodic import EpisodeRecorded, GroupErased, MessageParked
from asof_streams.errors import DamagedLog
from asof_streams.events import Draft
from asof_streams.messages import ErasureRequest, Message
from asof_streams.sqlite_log import SqliteLog
from effort import tries

STRIDE = tries(7, nightly=1)  # of the bytes that are flipped


def said(group: str, content: str) -> Message:
    return Message(group_id=group, content=content, role_type="user")


class Seen(NamedTuple):
    """All that anyone can read from a log, and all that its next writer would go on from."""

    records: list[Any]
    end: int
    checkpoint: int
    heads: list[bytes]
    groups: dict[str, int]
    term: int


def see(path: Path) -> Seen:
    with SqliteLog(path) as log:
        assert log.verify() == log.end()
        with closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as raw:
            groups = dict(raw.execute("SELECT grp, recorded_at FROM groups"))
            term = raw.execute("SELECT term FROM head").fetchone()[0]
        heads = [log.head(position) for position in range(log.end() + 1)]
        return Seen(list(log.read()), log.end(), log.checkpoint(), heads, groups, term)


def shrink(path: Path) -> None:
    """Give a closed log small pages, so that there are fewer bytes to flip."""
    with closing(sqlite3.connect(path, isolation_level=None)) as raw:
        raw.execute("PRAGMA journal_mode = DELETE")
        raw.execute("PRAGMA page_size = 512")
        raw.execute("VACUUM")
        raw.execute("PRAGMA journal_mode = WAL")


def checkpoint(path: Path) -> None:
    """Move the write-ahead log of an open log into its file."""
    with closing(sqlite3.connect(path)) as raw:
        raw.execute("PRAGMA wal_checkpoint(TRUNCATE)")


def without_leftovers(path: Path) -> None:
    for suffix in ("-wal", "-shm", "-journal"):
        Path(f"{path}{suffix}").unlink(missing_ok=True)


@pytest.fixture
def messages(tmp_path: Path) -> Path:
    path = tmp_path / "messages.sqlite"
    with SqliteLog(path, writable=True) as log:
        log.accept([said("ana", f"message {i} of ana") for i in range(3)], clock=1_000)
        log.accept([said("bo", "a message of bo"), ErasureRequest(group_id="bo"), said("bo", "later")], clock=2_000)
        log.accept([said("ana", "long " * 150)], clock=3_000)  # on overflow pages
        log.erase("bo", before=4)
    shrink(path)
    return path


@pytest.fixture
def episodic(tmp_path: Path) -> Path:
    path = tmp_path / "episodic.sqlite"
    with SqliteLog(path, writable=True) as log:
        for cause in range(4):
            episode = EpisodeRecorded(
                episode_id=f"e{cause}",
                name="n",
                source="text",
                source_description="",
                role="",
                role_type="",
                body="b" * 20,
                content_length=20,
                valid_at=cause,
            )
            events = [episode, MessageParked(reason="none"), GroupErased()]
            drafts = [Draft("g", cause, cause, place, 3, event) for place, event in enumerate(events)]
            log.append(drafts, checkpoint=cause + 1)
    shrink(path)
    return path


@pytest.mark.parametrize("mask", [0x01, 0xFF])
@pytest.mark.parametrize("kind", ["messages", "episodic"])
def test_every_flipped_byte_is_harmless_or_found(kind: str, mask: int, request: pytest.FixtureRequest) -> None:
    path: Path = request.getfixturevalue(kind)
    whole = path.read_bytes()
    before = see(path)
    found: list[str] = []
    harmless = 0
    for offset in range(0, len(whole), STRIDE):
        without_leftovers(path)
        path.write_bytes(whole[:offset] + bytes([whole[offset] ^ mask]) + whole[offset + 1 :])
        try:
            after = see(path)
        except DamagedLog as error:
            found.append(str(error))
        else:
            assert after == before, f"the flip at {offset} changed what is read, unnoticed"
            harmless += 1

    assert [what for what in found if not re.search(r"position \d+", what)] == []
    assert len(found) > len(whole) / STRIDE / 4
    assert harmless > 0  # the places that SQLite does not use


def test_a_log_cut_short_at_any_length_is_found(messages: Path) -> None:
    whole = messages.read_bytes()
    for length in {*range(0, len(whole), 37), *range(0, len(whole), 512), len(whole) - 1}:
        without_leftovers(messages)
        messages.write_bytes(whole[:length])

        with pytest.raises(DamagedLog, match=r"position \d+"):
            see(messages)


TAMPERED = {
    "the last record removed": ("DELETE FROM log WHERE position = 6", 6),
    "a record removed": ("DELETE FROM log WHERE position = 2", 2),
    "all records removed": ("DELETE FROM log", 0),
    "a record added": (
        "INSERT INTO log SELECT 7, grp, 1, 1, 1, 1, 1, type, 1, hash, salt, seal, payload FROM log WHERE position = 6",
        7,
    ),
    "a record before the first": ("UPDATE log SET position = -1 WHERE position = 0", 0),
    "a record doubled": (
        """
        UPDATE log SET position = 100 + position WHERE position > 1;
        INSERT INTO log SELECT 2, grp, recorded_at, cause, place, size, term, type, version, hash, salt, seal, payload
            FROM log WHERE position = 1;
        UPDATE log SET position = position - 99 WHERE position > 100
        """,
        2,
    ),
    "two records swapped": (
        """
        UPDATE log SET position = 99 WHERE position = 1;
        UPDATE log SET position = 1 WHERE position = 2;
        UPDATE log SET position = 2 WHERE position = 99
        """,
        1,
    ),
    "another group": ("UPDATE log SET grp = 'bo' WHERE position = 2", 2),
    "another time": ("UPDATE log SET recorded_at = recorded_at + 1 WHERE position = 2", 2),
    "another cause": ("UPDATE log SET cause = 0 WHERE position = 2", 2),
    "another place": ("UPDATE log SET place = 1 WHERE position = 2", 2),
    "another size": ("UPDATE log SET size = 2 WHERE position = 2", 2),
    "another term": ("UPDATE log SET term = 9 WHERE position = 2", 2),
    "another type": ("UPDATE log SET type = 'fact.stated' WHERE position = 2", 2),
    "another version": ("UPDATE log SET version = version - 1 WHERE position = 2", 2),
    "another content": ("UPDATE log SET payload = CAST(replace(payload, 'ana', 'ann') AS BLOB) WHERE position = 2", 2),
    "content put back after erasure": ("UPDATE log SET payload = x'7b7d', salt = x'00' WHERE position = 3", 3),
    "content gone": ("UPDATE log SET payload = NULL WHERE position = 2", 2),
    "content and salt gone": ("UPDATE log SET payload = NULL, salt = NULL, seal = x'00' WHERE position = 2", 2),
    "another hash": ("UPDATE log SET hash = zeroblob(32) WHERE position = 2", 2),
    "a group's time set back": ("UPDATE groups SET recorded_at = 1 WHERE grp = 'ana'", 7),
    "a group forgotten": ("DELETE FROM groups WHERE grp = 'ana'", 7),
    "a group invented": ("INSERT INTO groups VALUES ('cy', 1)", 7),
    "the end moved back": ("UPDATE head SET position = 6", 0),
    "the checkpoint moved": ("UPDATE head SET checkpoint = 5", 0),
    "the term lowered": ("UPDATE head SET term = 0", 0),
    "no head": ("DELETE FROM head", 0),
    "two heads": ("INSERT INTO head SELECT * FROM head", 0),
    "a column more": ("ALTER TABLE log ADD COLUMN extra TEXT", 0),
    "no table": ("DROP TABLE groups", 0),
}


@pytest.mark.parametrize("what", TAMPERED)
def test_records_moved_or_changed_are_found_with_their_position(what: str, messages: Path) -> None:
    script, position = TAMPERED[what]
    with closing(sqlite3.connect(messages, isolation_level=None)) as raw:
        raw.executescript(script)

    with pytest.raises(DamagedLog, match=rf"position {position}\b"):
        see(messages)


def test_a_record_whose_content_is_gone_is_not_taken_for_an_erased_one(messages: Path) -> None:
    with closing(sqlite3.connect(messages, isolation_level=None)) as raw:
        raw.execute("UPDATE log SET payload = NULL WHERE position = 2")

    with SqliteLog(messages) as log, pytest.raises(DamagedLog, match=r"position 2\b"):
        list(log.read())


def test_what_stands_before_the_damage_can_still_be_read(messages: Path) -> None:
    with SqliteLog(messages) as log:
        whole = list(log.read(0, 2))
    with closing(sqlite3.connect(messages, isolation_level=None)) as raw:
        raw.execute("DELETE FROM log WHERE position = 2")

    with SqliteLog(messages) as log:
        assert list(log.read(0, 2)) == whole


def test_a_log_in_the_place_of_another_is_found(messages: Path) -> None:
    other = messages.rename(messages.with_name("episodic.sqlite"))

    with SqliteLog(other) as log, pytest.raises(DamagedLog, match="position 0"):
        log.verify()


def test_records_of_another_log_of_the_same_name_and_length_are_found(messages: Path, tmp_path: Path) -> None:
    (tmp_path / "other").mkdir()
    with SqliteLog(tmp_path / "other" / messages.name, writable=True) as other:
        other.accept([said("ana", str(number)) for number in range(7)], clock=1)
    with closing(sqlite3.connect(messages, isolation_level=None)) as raw:
        raw.execute("ATTACH ? AS other", (str(other.path),))
        raw.executescript("DELETE FROM log; INSERT INTO log SELECT * FROM other.log")

    with SqliteLog(messages) as log, pytest.raises(DamagedLog, match=r"position 6\b"):
        log.verify()


def test_what_only_a_writer_would_trip_over_is_found_too(messages: Path) -> None:
    whole = bytearray(messages.read_bytes())
    whole[39] ^= 1  # SQLite's header: one free page, where there is none
    messages.write_bytes(whole)

    with SqliteLog(messages) as log, pytest.raises(DamagedLog, match=r"position 7\b.*the file around them"):
        log.verify()


def test_a_stale_write_ahead_log_gives_an_earlier_whole_state_or_is_found(tmp_path: Path) -> None:
    path = tmp_path / "messages.sqlite"
    wal = Path(f"{path}-wal")
    states: list[list[Any]] = [[]]
    stale: list[bytes] = []
    with SqliteLog(path, writable=True) as log:
        for round_ in range(6):
            log.accept([said("ana", f"{round_} {i}" + "x" * 300) for i in range(20)], clock=round_)
            states.append(list(log.read()))
            stale.append(wal.read_bytes())
            if round_ % 2:
                checkpoint(path)
    main = path.read_bytes()

    for old in stale:
        without_leftovers(path)
        path.write_bytes(main)
        wal.write_bytes(old)
        try:
            seen = see(path)
        except DamagedLog:
            continue
        assert seen.records in states


def test_a_write_ahead_log_of_another_file_is_found(tmp_path: Path) -> None:
    with SqliteLog(tmp_path / "a.sqlite", writable=True) as log:
        log.accept([said("ana", "x" * 300) for _ in range(30)], clock=1)
        foreign = Path(f"{log.path}-wal").read_bytes()
    with SqliteLog(tmp_path / "b.sqlite", writable=True) as log:
        log.accept([said("bo", "y" * 500) for _ in range(50)], clock=1)
        checkpoint(log.path)
    Path(f"{log.path}-wal").write_bytes(foreign)

    with pytest.raises(DamagedLog):
        see(log.path)


def test_damage_found_while_writing_stops_the_writer(messages: Path) -> None:
    with closing(sqlite3.connect(messages, isolation_level=None)) as raw:
        raw.execute("UPDATE head SET position = 3")

    with pytest.raises(DamagedLog):
        SqliteLog(messages, writable=True)
