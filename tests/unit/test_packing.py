"""Columns of the SQLite graph that are stored in fewer bytes than they are read in."""

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from asof_projections.graph.sqlite_store import packing, schema
from asof_projections.graph.sqlite_store.packing import PACKED, pack_id, pack_statement
from asof_projections.graph.sqlite_store.store import SqliteGraph
from asof_streams.episodic import EpisodeRecorded
from asof_streams.instants import INF
from asof_streams.messages import FactStatement
from semantic_story import SECOND, Story, entity, fact

UUID = "2f579557-e92b-5582-9c55-a30a10d1f728"
EMPTY = (0, 0, "", "fact", "", "", "")  # an episode without words
PARTS = st.sampled_from([part for part, _ in packing._PARTS] + [sign for _, sign in packing._PARTS])


def read(stored: str | bytes, stored_id: str | bytes = "e", column: str = "body") -> str:
    """Return a column of an episode as a query reads it."""
    with closing(sqlite3.connect(":memory:")) as db:
        db.executescript(schema.script("episodic"))
        db.execute(f"INSERT INTO episodes VALUES (1{', ?' * 12})", (stored_id, *EMPTY, stored, 0, 0, 0))
        return str(db.execute(f"SELECT {column} FROM episodes").fetchone()[0])


@given(st.lists(PARTS | st.text(st.characters(exclude_categories=["Cs"]))).map("".join))
def test_any_body_is_read_as_it_was_said(body: str) -> None:
    assert read(pack_statement(body)) == body


def test_a_structured_fact_is_stored_in_less_than_half_the_bytes_of_its_json() -> None:
    said = {"group_id": "g", "subject": "Ana", "relation": "lives_in", "object": "Rome", "valid_at": 1}
    body = FactStatement(**said).encode().decode()

    stored = pack_statement(body)

    assert isinstance(stored, bytes)
    assert 2 * len(stored) < len(body)
    assert read(stored) == body


def test_a_body_with_a_sign_that_no_json_has_is_stored_as_it_is() -> None:
    assert pack_statement('{"group_id":"\x02') == '{"group_id":"\x02'


def test_a_uuid_is_stored_as_its_bytes_and_read_as_its_text() -> None:
    stored = pack_id(UUID)

    assert isinstance(stored, bytes)
    assert stored.hex() == UUID.replace("-", "")
    assert read("", stored, "uuid") == UUID


@pytest.mark.parametrize(
    "own", ["e", "", f"g\x1f{UUID}", UUID.upper(), UUID.replace("-", ""), f"{UUID}0", f"{UUID}\n", "é" * 16]
)
def test_an_id_in_any_other_form_is_stored_as_it_is(own: str) -> None:
    assert pack_id(own) == own
    assert read("", own, "uuid") == own


def test_times_that_most_rows_have_are_not_stored_and_others_are(tmp_path: Path) -> None:
    said = {"name": "", "source": "message", "source_description": "", "role": "Ana", "role_type": "user"}
    story = Story()
    now = story.tell(entity("Ana"), entity("Rome")) + SECOND
    for number, (at, end) in enumerate(((now, None), (3, 7))):
        story.tell(
            EpisodeRecorded(episode_id=f"e{number}", body="I", content_length=1, valid_at=at, **said),
            fact(f"f{number}", "Ana", "likes", "Rome", (2, end), said_at=at),
        )
    with SqliteGraph(tmp_path / "graph.db", "semantic.main", writable=True) as store:
        store.apply(story.records)
        assert store._rows("SELECT valid_at, valid_at_packed FROM episodes") == [(now, None), (3, 3)]
        assert store._rows("SELECT said_at, said_at_packed FROM facts") == [(now, None), (3, 3)]
        assert store._rows("SELECT stated_to, stated_to_packed FROM facts") == [(INF, None), (7, 7)]


def test_the_columns_of_a_digest_are_those_that_are_read() -> None:
    with closing(sqlite3.connect(":memory:")) as db, closing(sqlite3.connect(":memory:")) as plain:
        db.executescript(schema.script("episodic"))
        plain.executescript(schema.TABLES)
        for (table,) in plain.execute("SELECT name FROM sqlite_schema WHERE type = 'table'").fetchall():
            names = [name for (name,) in db.execute("SELECT name FROM pragma_table_xinfo(?)", (table,))]
            expected = [name for (name,) in plain.execute("SELECT name FROM pragma_table_xinfo(?)", (table,))]
            assert [name for name in names if not name.endswith(PACKED)] == expected
