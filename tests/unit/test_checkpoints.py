"""What a graph has committed is copied into its file meanwhile, and not by a commit."""

import sqlite3
import time
from contextlib import closing
from pathlib import Path
from threading import Event

from asof_projections.graph.sqlite_store import checkpoints
from asof_projections.graph.sqlite_store.store import SqliteGraph
from asof_streams.episodic import GroupErased
from semantic_story import Story, entity


def _in_file(path: Path, copy: Path) -> int:
    """Return how many entities the file has without what is beside it."""
    copy.write_bytes(path.read_bytes())
    with closing(sqlite3.connect(copy)) as db:
        found: int = db.execute("SELECT count(*) FROM entities").fetchone()[0]
        return found


def test_what_was_committed_is_copied_into_the_file_once_it_is_much(tmp_path, monkeypatch):
    monkeypatch.setattr(checkpoints, "_EVERY", 10)
    story = Story()
    with SqliteGraph(tmp_path / "graph.db", "semantic.main", writable=True) as store:
        copied = []
        for number in range(25):
            story.tell(entity(f"Ana {number}"))
            store.apply(story.records[number:])
            store.commit(number + 1, b"head")
            store._checkpoints.wait()
            copied.append(_in_file(store.path, tmp_path / "copy.db"))

    assert copied == [0] * 10 + [11] * 10 + [21] * 5


def test_a_file_that_is_in_use_is_copied_into_later(tmp_path, monkeypatch):
    monkeypatch.setattr(checkpoints, "_EVERY", 10)
    story = Story()
    with SqliteGraph(tmp_path / "graph.db", "semantic.main", writable=True) as store:
        reader = sqlite3.connect(store.path, isolation_level=None)
        reader.execute("BEGIN")
        reader.execute("SELECT count(*) FROM entities").fetchone()
        for number in range(25):
            if number == 15:
                reader.close()
            story.tell(entity(f"Ana {number}"))
            store.apply(story.records[number:])
            store.commit(number + 1, b"head")
            store._checkpoints.wait()

        assert _in_file(store.path, tmp_path / "copy.db") == 21


def test_a_vacuum_waits_for_one_that_is_going_on_and_leaves_no_byte_beside_the_file(tmp_path, monkeypatch):
    monkeypatch.setattr(checkpoints, "_EVERY", 1)
    done = Event()

    def long(_):
        time.sleep(0.2)
        done.set()

    monkeypatch.setattr(checkpoints.Checkpoints, "_run", long)
    story = Story()
    with SqliteGraph(tmp_path / "graph.db", "semantic.main", writable=True) as store:
        for number, event in enumerate([entity("Ana"), entity("Bo"), GroupErased()]):
            story.tell(event)
            store.apply(story.records[number:])
            store.commit(number + 1, b"head")
        assert store.vacuum()

        assert done.is_set()  # while one goes on, SQLite refuses another at once
        assert b"Ana" not in store.path.read_bytes()
