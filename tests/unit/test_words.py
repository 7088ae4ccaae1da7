"""Words find what BM25 over the facts that hold finds, whatever else is there."""

import sqlite3
from collections.abc import Iterator
from math import log
from random import Random

import numpy as np
import pytest

from asof_projections.graph.sqlite_store.bm25 import best
from asof_projections.graph.sqlite_store.schema import TABLES

LARGE, SMALL = 1, 2
FACTS = {LARGE: 12_000, SMALL: 300}


@pytest.fixture(scope="module")
def sentences() -> dict[int, str]:
    """Sentences of four to six words, of which the first are frequent and the last rare."""
    drawn = Random(1)
    words = [f"word{n}" for n in range(3_000)]
    shares = [1 / (n + 1) for n in range(3_000)]
    return {n: " ".join(drawn.choices(words, shares, k=drawn.choice((4, 5, 6)))) for n in range(sum(FACTS.values()))}


@pytest.fixture(scope="module")
def db(sentences: dict[int, str]) -> Iterator[sqlite3.Connection]:
    with sqlite3.connect(":memory:") as made:
        made.executescript(TABLES)
        for number, sentence in sentences.items():
            group = LARGE if number < FACTS[LARGE] else SMALL
            made.execute(
                """INSERT INTO facts VALUES (:n, :n, :grp, 0, 0, 0, :sentence, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, NULL, NULL,
                '', NULL, NULL, NULL, 0)""",
                {"n": number, "grp": group, "sentence": sentence},
            )
        made.execute("INSERT INTO sentence_words (rowid, sentence, grp) SELECT n, sentence, grp FROM sentences")
        yield made


def of(group: int | None) -> range:
    return {LARGE: range(12_000), SMALL: range(12_000, 12_300), None: range(12_300)}[group]


@pytest.mark.parametrize("group", [LARGE, SMALL, None])
@pytest.mark.parametrize("words", [["word0", "word1", "word700"], ["word40", "word0", "word2", "word90", "word2500"]])
def test_the_best_are_those_of_bm25_over_the_facts_that_hold(
    db: sqlite3.Connection, sentences: dict[int, str], words: list[str], group: int | None
) -> None:
    holding = [n for n in of(group) if n % 3]
    rarity = {w: log((len(holding) + 1) / (sum(w in sentences[n].split() for n in holding) + 0.5)) for w in words}
    scores = {
        n: sum(rarity[w] for w in {*words} & {*said}) * 2.2 / (1 + 1.2 * (0.25 + 0.75 * len(said) / 5))
        for n in holding
        if (said := sentences[n].split())
    }
    expected = sorted(scores, key=lambda n: (-scores[n], n))[:5]

    found = best(db, words, group, np.array(holding), 5)

    assert found == [(n, pytest.approx(scores[n])) for n in expected]


@pytest.mark.parametrize("group", [LARGE, SMALL, None])
def test_what_holds_is_found_among_any_number_of_facts_that_do_not(
    db: sqlite3.Connection, sentences: dict[int, str], group: int | None
) -> None:
    having = {n for n in of(group) if "word0" in sentences[n].split()}
    assert len(having) > (4_000 if group != SMALL else 100)
    holding = np.array([n for n in of(group) if n % 100 == 0])

    found = best(db, ["word0"], group, holding, 20)

    assert {n for n, _ in found} <= having & {*holding.tolist()}
    assert len(found) == min(20, len(having & {*holding.tolist()})) > 0
    assert best(db, ["word0"], group, np.array([], np.int64), 20) == []
    assert best(db, ["nothing"], group, holding, 20) == []
