"""Words find what BM25 over every fact finds, where some have rarer words than others; and only what holds."""

import sqlite3
from collections.abc import Iterator
from random import Random

import pytest

from asof_projections.graph.sqlite_store.bm25 import best
from asof_projections.graph.sqlite_store.schema import INDEXES, TABLES
from asof_projections.model.rows import Window
from asof_streams.instants import INF, NEG

LARGE, SMALL = 1, 2
FACTS = {LARGE: 12_000, SMALL: 300}  # the small one is scored as a whole
ALWAYS = Window(NEG, INF, NEG, INF)
EVERY_SCORE = """SELECT w.rowid, -w.rank FROM sentence_words w WHERE sentence_words MATCH ?
    AND w.rank MATCH 'bm25(1.0, 0.0)' ORDER BY w.rank, w.rowid LIMIT ?"""


@pytest.fixture(scope="module")
def db() -> Iterator[sqlite3.Connection]:
    """Sentences of five words, of which the first are frequent and the last rare; one in a hundred holds beyond 10."""
    drawn = Random(1)
    words = [f"word{n}" for n in range(3_000)]
    shares = [1 / (n + 1) for n in range(3_000)]
    with sqlite3.connect(":memory:") as made:
        made.executescript(TABLES)
        made.execute(f"CREATE {INDEXES['version_fact']}")
        for number in range(sum(FACTS.values())):
            group = LARGE if number < FACTS[LARGE] else SMALL
            sentence = " ".join(drawn.choices(words, shares, k=5))
            given = {"n": number, "grp": group, "sentence": sentence, "vt": 10 if number % 100 else INF}
            made.execute(
                """INSERT INTO facts VALUES (:n, :n, :grp, 0, 0, 0, :sentence, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, NULL, NULL,
                '', NULL, NULL, NULL, 0)""",
                given,
            )
            made.execute("INSERT INTO versions VALUES (:n, :n, :grp, 0, 0, 0, 0, :vt, 0, 9, 0, NULL)", given)
        made.execute("INSERT INTO sentence_words (rowid, sentence, grp) SELECT n, sentence, grp FROM sentences")
        yield made


@pytest.mark.parametrize("group", [LARGE, SMALL, None])
@pytest.mark.parametrize("words", [["word0", "word1", "word700"], ["word40", "word0", "word2", "word90", "word2500"]])
def test_the_best_are_those_of_bm25_over_every_fact(
    db: sqlite3.Connection, words: list[str], group: int | None
) -> None:
    within = "" if group is None else f'grp : "g{group}" AND '
    every = db.execute(EVERY_SCORE, (f"{within}sentence : ({' OR '.join(words)})", 5)).fetchall()

    found = best(db, words, group, ALWAYS, 5)

    assert len(found) == 5
    assert found == [(number, pytest.approx(score)) for number, score in every]


@pytest.mark.parametrize("group", [LARGE, SMALL, None])
def test_what_holds_is_found_behind_any_number_of_facts_that_do_not(db: sqlite3.Connection, group: int | None) -> None:
    having = {n for n, _ in best(db, ["word0"], group, ALWAYS, 100_000)}
    assert len(having) > (4_000 if group != SMALL else 100)

    later = best(db, ["word0"], group, Window(10, 10, NEG, INF), 20)
    never = best(db, ["word0"], group, Window(10, 10, 9, 9), 20)

    holding = {n for n in having if n % 100 == 0}
    assert {n for n, _ in later} <= holding
    assert len(later) == min(20, len(holding)) > 0
    assert never == []
