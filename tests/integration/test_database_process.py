"""A graph that another process writes is the one that this process would have written, whoever asks how much."""

import os
import signal
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Literal, cast

import pytest

import asof
from asof.api.memory import Memory
from asof.runtime import database_process, generation_build, read_ahead
from asof.runtime.build_file import BuildFile
from asof.runtime.database_process import DatabaseProcess, start_process
from asof_streams.errors import BuildStopped, DamagedView, StorageFailed
from asof_streams.semantic import FactAsserted
from asof_streams.sqlite_log import SqliteLog

TOLD = ["I live in Rome.", "I work at Initech.", "My sister Maria works at Acme.", "I moved to Berlin in March 2024."]


@pytest.fixture
def memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Memory]:
    """A memory of chat and of structured facts, whose builds fill their graphs in bulk."""
    monkeypatch.setattr(generation_build, "IN_BULK", 0)
    monkeypatch.setattr(read_ahead, "_FIRST", 3)  # so that another process reads the rest
    with asof.open(tmp_path / "memory", embedder="none") as opened:
        for day in range(10, 28):
            opened.add(TOLD[day % 4], role="Ana", timestamp=f"2024-05-{day}T09:00:00Z")
            opened.state_fact(subject="Ben", relation="lives_in", object=f"Town {day}", valid_at=f"2024-05-{day}")
            opened.state_fact(subject="Ben", relation="likes", object=f"Game {day % 5}", valid_at=f"2024-05-{day}")
        opened.state_fact(op="end", ref="chess", invalid_at="2024-06-01")  # parked: there is no such fact yet
        opened.state_fact(ref="chess", subject="Ben", relation="plays", object="chess", valid_at="2024-05-01")
        opened.retry()
        yield opened


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "some.db"
    with closing(sqlite3.connect(path)) as db:
        db.execute("CREATE TABLE rows (n INTEGER PRIMARY KEY, name TEXT NOT NULL)")
    return path


def content(memory: Memory, name: str) -> list[str]:
    with closing(sqlite3.connect(memory._session.places.graph(name))) as db:
        return [line for line in db.iterdump() if 'INSERT INTO "meta"' not in line]


@pytest.mark.parametrize("source", ["mentions", "episodes"])
@pytest.mark.parametrize("few", [0, 60, 1_000_000], ids=["taken over", "taken over later", "left"])
def test_a_graph_is_the_same_whether_another_process_writes_all_of_it_or_less(
    memory: Memory, monkeypatch: pytest.MonkeyPatch, few: int, source: Literal["mentions", "episodes"]
) -> None:
    taken: list[bool] = []
    close = DatabaseProcess.close

    def note(self: DatabaseProcess) -> None:
        taken.append(self._here is not None)
        close(self)

    monkeypatch.setattr(DatabaseProcess, "close", note)
    monkeypatch.setattr(database_process, "_FEW", few)
    monkeypatch.setattr(database_process, "_ROWS", 1_000)
    memory.rebuild("elsewhere", input=source)
    monkeypatch.setattr(generation_build, "start_process", lambda _: None)
    memory.rebuild("here", input=source)

    assert taken == [few < 1_000_000]
    assert memory.digest("elsewhere") == memory.digest("here")
    assert source == "episodes" or memory.digest("elsewhere") == memory.digest("main")
    assert content(memory, "elsewhere") == content(memory, "here")
    assert [check for check in memory.verify() if not check.ok] == []


def test_a_build_that_stopped_and_goes_on_is_the_same_words_included(
    memory: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    memory.rebuild("whole")
    asked = iter([False, True])
    with monkeypatch.context() as stopping:
        stopping.setattr(BuildFile, "is_to_stop", lambda _: next(asked))
        with pytest.raises(BuildStopped):
            memory.rebuild("stopped")
    with SqliteLog(memory._session.places.semantic("stopped")) as log:
        assert any(isinstance(record.event, FactAsserted) for record in log.read())
    memory.rebuild("stopped")

    assert memory.digest("stopped") == memory.digest("whole")
    assert [check for check in memory.verify() if not check.ok] == []


def test_what_was_written_is_there_once_it_is_closed(file: Path) -> None:
    db = DatabaseProcess(file)
    db.execute("BEGIN IMMEDIATE")
    assert db.in_transaction
    db.executemany("INSERT INTO rows VALUES (?, ?)", [(n, str(n)) for n in range(1_000)])
    assert list(db.execute("SELECT count(*), max(n) FROM rows WHERE n < :n", {"n": 500})) == [(500, 499)]
    db.execute("COMMIT")
    assert not db.in_transaction
    db.execute("UPDATE rows SET name = ? WHERE n = ?", ("none", 7))
    db.close()
    with closing(sqlite3.connect(file)) as read:
        assert read.execute("SELECT count(*), max(name) FROM rows").fetchone() == (1_000, "none")


def test_an_open_transaction_and_the_settings_are_taken_over(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    db = DatabaseProcess(file)
    db.execute("PRAGMA cache_size = -1234")
    db.execute("BEGIN IMMEDIATE")
    db.execute("INSERT INTO rows VALUES (1, 'Ana')")
    monkeypatch.setattr(database_process, "_FEW", 0)
    assert db.execute("SELECT name FROM rows").fetchall() == [("Ana",)]
    assert db.in_transaction
    assert db.execute("PRAGMA cache_size").fetchone() == (-1234,)
    db.execute("INSERT INTO rows VALUES (2, 'Ben')")
    db.execute("COMMIT")
    db.close()
    with closing(sqlite3.connect(file)) as read:
        assert read.execute("SELECT name FROM rows ORDER BY n").fetchall() == [("Ana",), ("Ben",)]


def test_an_error_of_a_statement_is_raised_once_somebody_waits_for_it(file: Path) -> None:
    db = DatabaseProcess(file)
    db.execute("INSERT INTO rows VALUES (1, NULL)")
    with pytest.raises(RuntimeError, match="IntegrityError"):
        db.execute("SELECT 1")
    db.close()


def test_a_file_that_is_damaged_is_named(tmp_path: Path) -> None:
    path = tmp_path / "damaged.db"
    path.write_bytes(b"This is no database." * 500)
    db = DatabaseProcess(path)
    with pytest.raises(DamagedView, match=r"damaged\.db"):
        db.close()


def test_a_process_that_was_killed_is_told_of(file: Path) -> None:
    db = DatabaseProcess(file)
    db.execute("SELECT 1")
    os.kill(db._child.pid, signal.SIGKILL)
    with pytest.raises(StorageFailed, match=r"some\.db: the process that writes it has ended"):
        db.execute("SELECT 1")
    db.close()


def test_what_cannot_be_sent_ends_the_process_instead_of_being_left_out(file: Path) -> None:
    db = DatabaseProcess(file)
    db.execute("INSERT INTO rows VALUES (1, 'Ana')")
    db._outbox.put(cast("bytes", lambda: None))  # which no process can be sent
    with pytest.raises(StorageFailed, match=r"some\.db: the process that writes it has ended"):
        db.execute("SELECT 1")
    db.close()


def test_a_process_that_cannot_be_started_is_none(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise OSError

    monkeypatch.setattr(database_process, "ChildProcess", refuse)
    assert start_process(file) is None
