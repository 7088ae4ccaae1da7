"""What a graph has committed is copied into its file meanwhile, and not by a commit."""

import sqlite3
import time
from collections.abc import Iterator
from contextlib import closing
from itertools import pairwise
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


def _log_bytes(store: SqliteGraph) -> int:
    return store.path.with_name(f"{store.path.name}-wal").stat().st_size


def _written(store: SqliteGraph, story: Story, count: int) -> Iterator[int]:
    """Commit entities one by one, each once no checkpoint is running; yield how many there are now."""
    for number in range(len(story.records), len(story.records) + count):
        story.tell(entity(f"Ana {number}"))
        store.apply(story.records[number:])
        store.commit(number + 1, b"head")
        store._checkpoints.wait()
        yield number + 1


def test_what_was_committed_is_copied_into_the_file_once_the_log_is_long(tmp_path, monkeypatch):
    monkeypatch.setattr(checkpoints, "_WAL_BYTES", 200_000)
    with SqliteGraph(tmp_path / "graph.db", "semantic.main", writable=True) as store:
        for count in _written(store, Story(), 60):
            is_long = _log_bytes(store) > 200_000
            assert _in_file(store.path, tmp_path / "copy.db") == (count if is_long else 0)
            if is_long:
                break
        assert is_long


def test_a_log_never_gets_much_longer_than_its_bound(tmp_path, monkeypatch):
    monkeypatch.setattr(checkpoints, "_WAL_BYTES", 200_000)
    with SqliteGraph(tmp_path / "graph.db", "semantic.main", writable=True) as store:
        lengths = [_log_bytes(store) for _ in _written(store, Story(), 100)]

    assert 200_000 < max(lengths) < 400_000
    assert lengths[-1] < 400_000
    assert sum(after < before for before, after in pairwise(lengths)) >= 2  # it was cut, and again


def test_a_log_of_commits_that_are_longer_than_its_bound_has_two_of_them_at_most(tmp_path, monkeypatch):
    monkeypatch.setattr(checkpoints, "_WAL_BYTES", 50_000)
    story, lengths = Story(), []
    with SqliteGraph(tmp_path / "graph.db", "semantic.main", writable=True) as store:
        for number in range(12):
            story.tell(*(entity(f"Ana {number} {each}") for each in range(300)))
            store.apply(story.records[300 * number :])
            store.commit(300 * (number + 1), b"head")
            store._checkpoints.wait()
            lengths.append(_log_bytes(store))

    assert min(lengths) > 50_000
    assert max(lengths[6:]) <= max(lengths[:6])


def test_the_log_of_a_file_behind_a_link_is_copied_too(tmp_path, monkeypatch):
    monkeypatch.setattr(checkpoints, "_WAL_BYTES", 200_000)
    link, file = tmp_path / "graph.db", tmp_path / "elsewhere.db"
    SqliteGraph(file, "semantic.main", writable=True).close()
    link.symlink_to(file)
    with SqliteGraph(link, "semantic.main", writable=True) as store:
        for _ in _written(store, Story(), 60):
            pass

        assert _in_file(file, tmp_path / "copy.db") > 0


def test_what_is_committed_while_one_runs_is_copied_behind_it(tmp_path, monkeypatch):
    monkeypatch.setattr(checkpoints, "_WAL_BYTES", 200_000)
    begun, go_on = Event(), Event()
    run = checkpoints.Checkpoints._run

    def held(running):
        run(running)
        begun.set()
        go_on.wait()

    monkeypatch.setattr(checkpoints.Checkpoints, "_run", held)
    story = Story()
    with SqliteGraph(tmp_path / "graph.db", "semantic.main", writable=True) as store:
        monkeypatch.setattr(store._checkpoints, "wait", lambda: None)
        writing = _written(store, story, 1_000)
        while not begun.is_set():
            next(writing)
        length = _log_bytes(store)
        while _log_bytes(store) < length + 500_000:  # however long it gets, there is one at a time
            at_last = next(writing)
        assert _in_file(store.path, tmp_path / "copy.db") < at_last
        go_on.set()
        monkeypatch.undo()
        store._checkpoints.wait()
        at_last = next(writing)
        assert _in_file(store.path, tmp_path / "copy.db") == at_last
        length = _log_bytes(store)
        next(writing)
        assert _log_bytes(store) < length  # it began anew


def test_a_file_that_is_in_use_is_copied_into_later(tmp_path, monkeypatch):
    monkeypatch.setattr(checkpoints, "_WAL_BYTES", 200_000)
    story = Story()
    with SqliteGraph(tmp_path / "graph.db", "semantic.main", writable=True) as store:
        reader = sqlite3.connect(store.path, isolation_level=None)
        reader.execute("BEGIN")
        reader.execute("SELECT count(*) FROM entities").fetchone()
        for _ in _written(store, story, 60):
            assert _in_file(store.path, tmp_path / "copy.db") == 0
        begun_anyhow = store._checkpoints._begun_at
        reader.close()
        for count in _written(store, story, 60):  # noqa: B007 - the count when it was copied
            if found := _in_file(store.path, tmp_path / "copy.db"):
                break

        assert begun_anyhow > 200_000
        assert found == count


def test_a_vacuum_waits_for_one_that_is_going_on_and_leaves_no_byte_beside_the_file(tmp_path, monkeypatch):
    monkeypatch.setattr(checkpoints, "_WAL_BYTES", 1)
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
