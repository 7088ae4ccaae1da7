"""What a graph has committed is copied into its file meanwhile, and not by a commit."""

import sqlite3
from contextlib import closing
from pathlib import Path

from asof_projections.graph import checkpoints
from asof_projections.graph.sqlite import SqliteGraph
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
