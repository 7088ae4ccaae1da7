"""The text of a structured fact is stored in fewer bytes than it is read in."""

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from asof_projections.graph.sqlite_store import schema, statement_codec
from asof_projections.graph.sqlite_store.statement_codec import STORED, pack_statement
from asof_projections.graph.sqlite_store.store import SqliteGraph
from asof_streams.episodic import EpisodeRecorded
from asof_streams.messages import FactStatement
from semantic_story import Story

EMPTY = ("e", 0, 0, "", "fact", "", "", "")  # an episode without words
SAID = {"name": "", "source": "fact", "source_description": "", "role": "", "role_type": "", "content_length": 0}
UUID = "2f579557-e92b-5582-9c55-a30a10d1f728"
PARTS = st.sampled_from([part for part, _ in statement_codec._PARTS] + [sign for _, sign in statement_codec._PARTS])


def read(stored: str | bytes) -> str:
    """Return the body of an episode as a query reads it."""
    with closing(sqlite3.connect(":memory:")) as db:
        db.executescript(schema.script("episodic"))
        db.execute(f"INSERT INTO episodes VALUES (1{', ?' * 12})", (*EMPTY, stored, 0, 0, 0))
        return str(db.execute("SELECT body FROM episodes").fetchone()[0])


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


@pytest.mark.parametrize("object_", ["\U0001fae8", "\u200d", "\xa0"])
def test_which_bodies_are_packed_does_not_depend_on_the_version_of_python(object_: str) -> None:
    body = f'{{"group_id":"g","op":"assert","subject":"{object_}"}}'

    assert isinstance(pack_statement(body), bytes)
    assert read(pack_statement(body)) == body


def test_structured_facts_are_read_as_they_were_said_whatever_their_words_and_ids(tmp_path: Path) -> None:
    words = ["\x01\n\x7f", "Zoë ☕", "a\u2028b\u00a0c", '"', "\\u0001", '","object":"', '\x02","relation":"']
    ids = [UUID, UUID.upper(), UUID.replace("-", ""), "e", "", "\x01é", "'"]
    bodies = [
        FactStatement(group_id="g", subject=word, relation="likes", object=word).encode().decode() for word in words
    ]
    story = Story()
    for own, body in zip(ids, bodies, strict=True):
        story.tell(EpisodeRecorded(episode_id=own, body=body, valid_at=5, **SAID))

    with SqliteGraph(tmp_path / "episodes.db", "episodic", writable=True) as store:
        store.apply(story.records)
        assert [(episode.uuid, episode.body) for episode in store.episodes(None)] == list(zip(ids, bodies, strict=True))


def test_the_text_of_a_structured_fact_is_stored_packed_and_that_of_a_message_is_not(tmp_path: Path) -> None:
    body = FactStatement(group_id="g", subject="Ana", relation="likes", object="Rome").encode().decode()
    story = Story()
    for source in ("fact", "message"):
        story.tell(EpisodeRecorded(episode_id=source, body=body, valid_at=5, **SAID | {"source": source}))

    with SqliteGraph(tmp_path / "episodes.db", "episodic", writable=True) as store:
        store.apply(story.records)
        assert store._rows("SELECT source, typeof(body_packed) FROM episodes") == [
            ("fact", "blob"),
            ("message", "text"),
        ]


def test_a_body_with_a_sign_that_no_json_has_is_stored_as_it_is() -> None:
    assert pack_statement('{"group_id":"\x02') == '{"group_id":"\x02'


def test_the_columns_of_a_digest_are_those_that_are_read() -> None:
    with closing(sqlite3.connect(":memory:")) as db, closing(sqlite3.connect(":memory:")) as plain:
        db.executescript(schema.script("episodic"))
        plain.executescript(schema.TABLES)
        for (table,) in plain.execute("SELECT name FROM sqlite_schema WHERE type = 'table'").fetchall():
            names = [name for (name,) in db.execute("SELECT name FROM pragma_table_xinfo(?)", (table,))]
            expected = [name for (name,) in plain.execute("SELECT name FROM pragma_table_xinfo(?)", (table,))]
            assert [name for name in names if name != STORED] == expected
