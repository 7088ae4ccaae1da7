"""A store that is filled in bulk: what is told during the load and after it is found as in any other."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from asof_projections.graph.sqlite_store import inspection
from asof_projections.graph.sqlite_store.store import SqliteGraph
from asof_projections.model.rows import Moment
from semantic_story import Story, entity, fact, unasserted

NOW = Moment(1, None)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "graph.db"


@pytest.fixture
def store(path: Path) -> Iterator[SqliteGraph]:
    with SqliteGraph(path, "semantic.main", writable=True) as opened:
        yield opened


@pytest.fixture
def story() -> Story:
    told = Story()
    told.tell(entity("Ana"), fact("f", "Ana", "likes", value="1", sentence="alpha"))
    return told


def add(store: SqliteGraph, story: Story, word: str) -> None:
    story.tell(fact(word, "Ana", "likes", value=word, sentence=word))
    store.apply(story.records)


def found(store: SqliteGraph, *words: str) -> list[int]:
    return [len(store.text(word, "g", NOW, 9)) for word in words]


def test_what_is_told_after_a_bulk_load_is_shown_and_found_by_words(store, story, path) -> None:
    with store.bulk():
        store.apply(story.records)
        store.commit(len(story.records), b"")
    add(store, story, "beta")
    store.commit(len(story.records), b"")

    with SqliteGraph(path, "semantic.main") as reader:
        assert found(reader, "alpha", "beta") == [1, 1]
        assert reader.position() == len(story.records)


@pytest.mark.parametrize("begin", [SqliteGraph.begin_words, SqliteGraph.answer_handlers])
def test_words_are_found_during_a_bulk_load_once_that_is_asked_for(store, story, path, begin) -> None:
    with store.bulk():
        store.apply(story.records)
        store.index_words()
        begin(store)
        add(store, story, "beta")
        store.index_words()
        indexed = store._db.execute("SELECT count(*) FROM sentence_words('alpha OR beta')").fetchone()
        store.commit(len(story.records), b"")
    store.close()

    assert indexed == (2,)
    inspection.check_file(path, path)


def test_what_is_committed_during_a_bulk_load_is_shown_at_its_end_alone(store, story, path) -> None:
    with store.bulk():
        store.apply(story.records)
        store.commit(len(story.records), b"")
        assert store._db.in_transaction
    assert not store._db.in_transaction
    assert store._db.execute("PRAGMA journal_mode").fetchone() == ("wal",)
    with SqliteGraph(path, "semantic.main") as reader:
        assert found(reader, "alpha") == [1]


def test_a_store_is_closed_at_the_end_of_its_block(path) -> None:
    with SqliteGraph(path, "semantic.main", writable=True) as store:
        pass

    with pytest.raises(Exception, match="closed database"):
        store.position()


def test_a_fact_that_was_read_in_its_slot_is_not_looked_up_to_be_changed(store, story) -> None:
    store.apply(story.records)
    store.commit(len(story.records), b"")
    store.read_slot("g", "id-Ana", "likes", None)
    story.tell(unasserted("f", (0, 5)))
    statements: list[str] = []
    store._db.set_trace_callback(statements.append)
    store.apply(story.records)

    assert [said for said in statements if "FROM facts" in said] == []
