"""A log that another process reads ahead is as this one reads it, whatever becomes of the other."""

import os
import signal
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from itertools import islice
from pathlib import Path

import pytest

import asof
from asof.runtime import read_ahead
from asof.runtime.child_process import ChildProcess
from asof.runtime.read_ahead import ReadAhead
from asof_streams.errors import DamagedLog
from asof_streams.events import Record
from asof_streams.sqlite_log import SqliteLog


@pytest.fixture(scope="module")
def directory(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A memory of chat, of structured facts and of a group that was erased."""
    directory = tmp_path_factory.mktemp("memory")
    with asof.open(directory, embedder="none") as memory:
        for day in range(10, 28):
            memory.add("My sister Maria works at Acme.", role="Ana", timestamp=f"2024-05-{day}T09:00:00Z")
            memory.state_fact(subject="Ben", relation="lives_in", object=f"Town {day}", valid_at=f"2024-05-{day}")
            memory.state_fact(subject="Ben", relation="weighs", object=day, qualifiers={"unit": "kg"}, group_id="b")
        memory.erase("b")
    return directory


@pytest.fixture
def log(directory: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[SqliteLog]:
    """Its episodic log, of which little is read here before the other process is ready."""
    monkeypatch.setattr(read_ahead, "_FIRST", 3)
    monkeypatch.setattr(read_ahead, "_CHUNK", 4)
    with SqliteLog(directory / "episodic.sqlite") as opened:
        yield opened


def alike(records: list[Record], log: SqliteLog, start: int = 0, stop: int | None = None) -> bool:
    read = list(log.read(start, stop))
    return records == read and [one.event.encode() for one in records] == [one.event.encode() for one in read]


def test_what_is_read_ahead_is_what_the_log_has(log: SqliteLog) -> None:
    with closing(ReadAhead(log)) as ahead:
        records = list(ahead.read(0, log.end()))
        assert alike(records, log)
        assert any("statement" in record.event.__dict__ for record in records)  # so they came from there
        assert alike(list(ahead.read(5, log.end() - 1)), log, 5, log.end() - 1)
        assert alike(list(ahead.read(7, 9)), log, 7, 9)
        assert list(ahead.read(9, 9)) == []


@pytest.mark.parametrize("read", [0, 1, 3, 4, 9, 40])
def test_where_the_other_process_is_killed_this_one_reads_on(log: SqliteLog, read: int) -> None:
    with closing(ReadAhead(log)) as ahead:
        records = ahead.read(0, log.end())
        some = [next(records), *islice(records, read)]
        assert ahead._child is not None
        os.kill(ahead._child.pid, signal.SIGKILL)
        assert alike([*some, *records], log)


def test_where_no_other_process_can_be_started_this_one_reads(log: SqliteLog, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise OSError

    monkeypatch.setattr(read_ahead, "ChildProcess", refuse)
    with closing(ReadAhead(log)) as ahead:
        assert alike(list(ahead.read(0, log.end())), log)


def test_damage_is_met_at_its_position(directory: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(read_ahead, "_FIRST", 3)
    path = tmp_path / "episodic.sqlite"
    with closing(sqlite3.connect(directory / "episodic.sqlite")) as db, closing(sqlite3.connect(path)) as copy:
        db.backup(copy)
        copy.execute("DELETE FROM log WHERE position = 21")
        copy.commit()
    with SqliteLog(path) as log, closing(ReadAhead(log)) as ahead, pytest.raises(DamagedLog, match="position 21 on"):
        list(ahead.read(0, log.end()))


def test_a_read_that_is_given_up_leaves_no_process(log: SqliteLog) -> None:
    ahead = ReadAhead(log)
    records = ahead.read(0, log.end())
    next(records)
    first = ahead._child
    assert isinstance(first, ChildProcess)
    assert alike(list(ahead.read(2, log.end())), log, 2)  # another read ends the one before
    assert first.ended
    ahead.close()
    ahead.close()
