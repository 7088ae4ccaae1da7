"""A damaged log says from which position on it cannot be trusted, and gives nothing that was not written."""

import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from asof_streams.errors import DamagedLog
from asof_streams.messages import Message
from asof_streams.sqlite_log import SqliteLog
from asof_streams.sqlite_records import Head, Records

COUNT = 20


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "messages.sqlite"
    with SqliteLog(path, writable=True) as log:
        log.accept([Message(group_id="ana", content=f"{n}", role_type="user") for n in range(COUNT)], clock=1)
    return path


def change(path: Path, script: str) -> None:
    with closing(sqlite3.connect(path, isolation_level=None)) as raw:
        raw.executescript(script)


def overwrite(path: Path, table: str) -> None:
    """Overwrite the first page of a table."""
    with closing(sqlite3.connect(path)) as raw:
        [page] = raw.execute("SELECT rootpage FROM sqlite_schema WHERE name = ?", (table,)).fetchone()
        [size] = raw.execute("PRAGMA page_size").fetchone()
    with path.open("r+b") as file:
        file.seek((page - 1) * size)
        file.write(b"\xff" * size)


@pytest.mark.parametrize(
    "script",
    [
        "CREATE TABLE more (n INTEGER)",
        "ALTER TABLE groups ADD COLUMN more TEXT",
        "UPDATE head SET position = position + 1",
        "UPDATE head SET checkpoint = checkpoint + 1",
        "DELETE FROM head",
        "INSERT INTO head SELECT * FROM head",
    ],
)
def test_a_log_with_other_tables_or_another_end_cannot_be_trusted_from_its_beginning(path: Path, script: str) -> None:
    change(path, script)

    with pytest.raises(DamagedLog, match=r"position 0\b"), SqliteLog(path) as log:
        log.end()


def test_what_is_no_log_at_all_cannot_be_trusted_from_its_beginning(path: Path) -> None:
    path.write_bytes(b"no log" * 2_000)

    with pytest.raises(DamagedLog, match=r"position 0\b"):
        SqliteLog(path)


READINGS: dict[str, Callable[[SqliteLog], object]] = {
    "head": SqliteLog.end,
    "groups": SqliteLog.groups,
    "tellings": lambda log: log.caused_by(0),
}


@pytest.mark.parametrize("table", READINGS)
def test_where_a_table_that_tells_of_all_records_cannot_be_read_none_can_be_trusted(path: Path, table: str) -> None:
    change(path, "CREATE TABLE tellings (position INTEGER PRIMARY KEY) STRICT; PRAGMA wal_checkpoint(TRUNCATE)")
    overwrite(path, table)

    with SqliteLog(path) as log, pytest.raises(DamagedLog, match=r"position 0\b.*cannot be read"):
        READINGS[table](log)


@pytest.mark.parametrize(
    ("script", "position", "reason"),
    [
        ("DELETE FROM log WHERE position = 7", 7, "it is missing"),
        (f"DELETE FROM log WHERE position >= {COUNT - 2}", COUNT - 2, "it is missing"),
        ("UPDATE log SET payload = NULL, salt = NULL WHERE position = 7", 7, "its payload is missing"),
        ("UPDATE log SET payload = x'7b' WHERE position = 7", 7, "it is not what was written"),
        *(
            (f"UPDATE log SET grp = CAST(x'ff' AS TEXT) WHERE position IN ({n}, {COUNT - 1})", n, "cannot be read")
            for n in (0, 7, COUNT - 1)
        ),
    ],
)
def test_a_record_that_cannot_be_trusted_is_told_by_its_position_and_those_before_it_are_read(
    path: Path, script: str, position: int, reason: str
) -> None:
    change(path, script)

    with SqliteLog(path) as log:
        with pytest.raises(DamagedLog, match=rf"position {position}\b.*{reason}"):
            list(log.read())
        assert [record.position for record in log.read(0, position)] == list(range(position))


def put_head(path: Path, position: int, hash_: bytes) -> None:
    """Let a log end at a position, with the row that says so as it would be written."""
    with SqliteLog(path, writable=True) as log, closing(sqlite3.connect(path)) as raw, raw:
        Records(path, raw).put_head(Head(position, hash_, log.checkpoint(), log.term))


def test_an_empty_log_with_the_end_of_another_history_is_found(tmp_path: Path) -> None:
    path = tmp_path / "messages.sqlite"
    SqliteLog(path, writable=True).close()
    put_head(path, 0, b"x" * 32)

    with SqliteLog(path) as log, pytest.raises(DamagedLog, match=r"position 0\b.*the log ended with"):
        log.verify()


def test_records_beyond_the_end_and_an_end_of_another_history_are_found(path: Path) -> None:
    with SqliteLog(path) as log:
        shorter = log.head(COUNT - 1)
    put_head(path, COUNT, b"x" * 32)
    with SqliteLog(path) as log, pytest.raises(DamagedLog, match=rf"position {COUNT - 1}\b.*the log ended with"):
        log.verify()

    put_head(path, COUNT - 1, shorter)
    with SqliteLog(path) as log, pytest.raises(DamagedLog, match=rf"position {COUNT - 1}\b.*beyond the log's end"):
        log.verify()


@pytest.mark.parametrize(
    ("script", "reason"),
    [
        ("CREATE TABLE tellings (position INTEGER PRIMARY KEY) STRICT; INSERT INTO tellings VALUES (3)", "told again"),
        ("UPDATE groups SET recorded_at = recorded_at + 1", "last recorded times"),
        ("INSERT INTO groups VALUES ('nobody', 1)", "last recorded times"),
    ],
)
def test_what_is_said_beside_the_records_and_is_not_so_is_found(path: Path, script: str, reason: str) -> None:
    change(path, script)

    with SqliteLog(path) as log, pytest.raises(DamagedLog, match=rf"position {COUNT}\b.*{reason}"):
        log.verify()


def test_damage_of_the_file_around_the_records_is_found(path: Path) -> None:
    with path.open("r+b") as file:
        file.seek(36)  # how many pages are free
        file.write((5).to_bytes(4))

    with SqliteLog(path) as log, pytest.raises(DamagedLog, match=rf"position {COUNT}\b.*the file around them is not"):
        log.verify()


def test_content_whose_key_was_destroyed_is_passed_over_and_is_told_of_where_it_was_changed(tmp_path: Path) -> None:
    path = tmp_path / "messages.sqlite"
    with SqliteLog(path, writable=True) as log:
        secret = Message(group_id="ana", content="CANARY", role_type="user", suppress_content=True)
        log.accept([secret, secret.model_copy(update={"content": "b", "suppress_content": False})], clock=1)
        assert [record.position for record in log.read()] == [0, 1]
    for key in path.with_suffix(".keys").iterdir():
        key.unlink()

    with SqliteLog(path) as log:
        assert [record.position for record in log.read()] == [1]
    change(path, "UPDATE log SET payload = CAST(payload || x'00' AS BLOB) WHERE position = 0")
    with SqliteLog(path) as log, pytest.raises(DamagedLog, match=r"position 0\b.*not what was written"):
        list(log.read())
