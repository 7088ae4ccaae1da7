"""The file of a store is looked at as it is: each kind of damage is told, and rows are compared by what they say."""

import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from asof_projections.graph.sqlite_store import inspection
from asof_projections.graph.sqlite_store.store import SqliteGraph
from asof_streams.errors import DamagedView
from asof_streams.semantic import RelationDeclared
from semantic_story import Story, entity, fact


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A store with a fact, and a relation that was declared."""
    story = Story()
    story.tell(
        entity("Ana"), RelationDeclared(relation="likes", cardinality="one"), fact("f", "Ana", "likes", value="1")
    )
    made = tmp_path / "graph.db"
    with SqliteGraph(made, "semantic.main", writable=True) as store:
        store.apply(story.records)
        store.commit(len(story.records), b"head")
    return made


def change(path: Path, script: str) -> None:
    with closing(sqlite3.connect(path, isolation_level=None)) as db:
        db.executescript(script)


def test_a_store_is_copied_with_what_is_in_its_log_and_neither_file_is_changed(tmp_path: Path) -> None:
    """As after a crash: nobody has the store open, and the last one moved nothing into the file."""
    story = Story()
    story.tell(entity("Ana"))
    left = tmp_path / "left" / "graph.db"
    left.parent.mkdir()
    with SqliteGraph(tmp_path / "graph.db", "semantic.main", writable=True) as store:
        store.apply(story.records)
        store.commit(1, b"head")
        for name in ("graph.db", "graph.db-wal"):
            shutil.copy(tmp_path / name, left.parent / name)
    before = [file.read_bytes() for file in (left, left.with_name("graph.db-wal"))]

    inspection.copy_store(left, tmp_path / "copy.db")

    assert [file.read_bytes() for file in (left, left.with_name("graph.db-wal"))] == before
    with SqliteGraph(tmp_path / "copy.db", "semantic.main") as copy:
        assert copy.position() == 1


FAULTS = {
    "an index in another order": (
        """PRAGMA writable_schema = ON;
        UPDATE sqlite_schema SET sql = replace(sql, '(s, relation, vf)', '(relation, s, vf)')
            WHERE name = 'now_subject'""",
        "its pages or indexes do not agree",
    ),
    "a trigger": (
        "CREATE TRIGGER t AFTER INSERT ON facts BEGIN DELETE FROM versions; END",
        "statements in it that asof did not make",
    ),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_what_is_wrong_with_a_file_is_told(path: Path, fault: str) -> None:
    inspection.check_file(path, path)
    script, reason = FAULTS[fault]
    change(path, script)

    with pytest.raises(DamagedView, match=reason):
        inspection.check_file(path, path)


def test_a_relation_is_compared_by_its_name_whatever_number_it_has(path: Path) -> None:
    before = inspection.content_of(path, path)
    change(path, "UPDATE relations SET n = n + 99; UPDATE facts SET relation = relation + 99")
    change(path, "UPDATE versions SET relation = relation + 99")

    assert inspection.content_of(path, path) == before
    change(path, "UPDATE relations SET name = 'hates'")
    assert inspection.content_of(path, path) != before


def test_what_was_declared_of_another_relation_is_not_the_same(path: Path) -> None:
    before = inspection.content_of(path, path)
    change(path, "UPDATE cardinalities SET relation = 'hates'")

    assert inspection.content_of(path, path) != before
