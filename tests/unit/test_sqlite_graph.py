"""How a graph's file is opened, written and given back: what a writer keeps never differs from what is in it."""

import sqlite3
import threading
from pathlib import Path

import pytest

from asof_projections.graph.sqlite_store import checkpoints
from asof_projections.graph.sqlite_store.store import SqliteGraph
from asof_projections.model.rows import Moment
from asof_streams.episodic import GroupErased
from asof_streams.errors import ContractError
from asof_streams.events import Event
from semantic_story import Story, entity, fact

LOG = "semantic.main"


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "graph.db"


def told(*events: Event) -> Story:
    story = Story()
    story.tell(*events)
    return story


def write(store: SqliteGraph, story: Story) -> None:
    """Apply what a store does not have, and commit it."""
    store.apply(story.records)
    store.commit(len(story.records), b"head")


def pragmas(store: SqliteGraph, *names: str) -> list[object]:
    return [store._db.execute(f"PRAGMA {name}").fetchone()[0] for name in names]


def test_a_writer_waits_for_no_disk_and_seldom_moves_its_log_into_the_file(path: Path) -> None:
    asked = "synchronous", "cache_size", "wal_autocheckpoint"
    with SqliteGraph(path, LOG, writable=True) as writer, SqliteGraph(path, LOG) as reader:
        assert pragmas(writer, *asked) == [1, -32_768, 65_536]
        assert pragmas(reader, "cache_size") == [-65_536]
    path.unlink()
    with SqliteGraph(path, LOG, writable=True) as writer:
        with writer.bulk():
            assert pragmas(writer, "synchronous", "journal_mode", "cache_size") == [0, "off", -65_536]
        assert pragmas(writer, *asked) == [1, -32_768, 65_536]


def test_a_file_that_is_refused_is_closed_at_once(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    SqliteGraph(path, LOG, writable=True).close()
    opened: list[sqlite3.Connection] = []
    connect = sqlite3.connect

    def noted(*given: object, **more: object) -> sqlite3.Connection:
        opened.append(connect(*given, **more))  # type: ignore[call-overload]
        return opened[-1]

    monkeypatch.setattr(sqlite3, "connect", noted)
    with pytest.raises(ContractError):
        SqliteGraph(path, "semantic.other")

    assert len(opened) == 1
    with pytest.raises(sqlite3.ProgrammingError, match="closed"):
        opened[0].execute("SELECT 1")


def test_a_store_of_one_record_is_known_not_to_be_empty(path: Path) -> None:
    story = told(entity("Ana"))
    with SqliteGraph(path, LOG, writable=True) as store:
        write(store, story)
    story.tell(fact("f", "Ana", "likes", value="tea"))
    with SqliteGraph(path, LOG, writable=True) as store:
        write(store, story)

        assert store.fact("f") is not None


def test_what_is_told_instead_of_what_was_rolled_back_is_found_and_the_other_is_not(path: Path) -> None:
    now = Moment(1, None)
    with SqliteGraph(path, LOG, writable=True) as store:
        store.apply(told(entity("Ana"), fact("f", "Ana", "likes", value="tea")).records)
        assert list(store.live("g", now)) == [1]
        store.rollback()
        write(store, told(entity("Bo"), entity("Ana"), fact("g", "Bo", "likes", value="tea", sentence="beta")))

        assert list(store.live("g", now)) == [2]
        assert [number for number, _ in store.text("beta", "g", now, 9)] == [2]


def test_what_another_writer_erased_after_a_bulk_load_is_not_taken_to_be_there(path: Path) -> None:
    story = told(entity("Ana"))
    with SqliteGraph(path, LOG, writable=True) as store:
        with store.bulk():
            write(store, story)
        story.tell(GroupErased())
        with SqliteGraph(path, LOG, writable=True) as other:
            write(other, story)
        story.tell(entity("Ana"))
        write(store, story)

        assert store.entity("id-Ana") is not None


def test_a_store_is_closed_when_no_checkpoint_is_running(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    waited_for: list[threading.Thread] = []

    class Noted(threading.Thread):
        def join(self, timeout: float | None = None) -> None:
            super().join(timeout)
            waited_for.append(self)

    monkeypatch.setattr(checkpoints, "_WAL_BYTES", 1)
    monkeypatch.setattr(checkpoints, "Thread", Noted)
    story = Story()
    story.tell(entity("Ana"))
    with SqliteGraph(path, LOG, writable=True) as store:
        write(store, story)
        assert waited_for == []

    assert len(waited_for) == 1
