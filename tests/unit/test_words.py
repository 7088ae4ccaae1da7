"""Words find what BM25 over the facts that are searched finds: those of a group, or of all, that hold at a moment."""

from collections.abc import Iterator
from math import log
from random import Random

import numpy as np
import pytest

from asof_projections.graph.sqlite_store.bm25 import best
from asof_projections.graph.sqlite_store.store import SqliteGraph
from asof_projections.graph.sqlite_store.version_cache import Holding
from asof_projections.model.rows import Moment
from asof_streams.episodic import GroupErased
from semantic_story import Story, entity, fact

WORDS = [f"word{n}" for n in range(300)]
SHARES = [1 / (n + 1) for n in range(300)]
QUERIES = (
    ["word0", "word1", "word70"],
    ["word40", "word0", "word2", "word9", "word250"],
    ["word299"],
    [f"word{n}" for n in range(0, 40, 2)],
)
ALWAYS = Moment(None, None)


def sentences(drawn: Random) -> Iterator[str]:
    """Sentences of two to eight words, of which the first are frequent and the last rare."""
    while True:
        yield " ".join(drawn.choices(WORDS, SHARES, k=drawn.randint(2, 8)))


class Told:
    """A store of facts, and what each says."""

    def __init__(self, store: SqliteGraph) -> None:
        self.store = store
        self.story = Story()
        self.texts: dict[str, dict[int, str]] = {"large": {}, "small": {}}
        self._sentences = sentences(Random(1))
        self.story.tell(entity("large"), group="large")
        self.story.tell(entity("small"), group="small")

    def tell(self, group: str, count: int, *holds: tuple[int, int | None]) -> None:
        for _ in range(count):
            sentence, number = next(self._sentences), len(self.story.records)
            self.story.tell(fact(f"f{number}", group, f"r{number}", group, *holds, sentence=sentence), group=group)
            self.texts[group][number] = sentence
        self.commit()

    def commit(self) -> None:
        self.store.apply(self.story.records[self.store.position() :])
        self.store.commit(len(self.story.records), b"")


@pytest.fixture
def told(tmp_path) -> Iterator[Told]:
    with SqliteGraph(tmp_path / "graph.db", "semantic.main", writable=True) as store:
        told = Told(store)
        told.tell("large", 300)
        told.tell("small", 60)
        yield told


def expected(texts: dict[int, str], words: list[str], limit: int) -> list[tuple[int, float]]:
    has = {number: set(text.split()) for number, text in texts.items()}
    weights = {word: log((len(texts) + 1) / (sum(word in of for of in has.values()) + 0.5)) for word in words}
    scores = {
        number: sum(weights[word] for word in words if word in has[number])
        * 2.2
        / (1 + 1.2 * (0.25 + 0.75 * len(text.split()) / 5))
        for number, text in texts.items()
        if has[number] & {*words}
    }
    return sorted(scores.items(), key=lambda each: (-each[1], each[0]))[:limit]


def assert_same(found: list[tuple[int, float]], wanted: list[tuple[int, float]]) -> None:
    assert [score for _, score in found] == pytest.approx([score for _, score in wanted])
    assert [number for number, _ in found] == [number for number, _ in wanted]


@pytest.mark.parametrize("words", QUERIES)
def test_the_best_are_those_of_bm25_over_the_facts_of_the_group(told: Told, words: list[str]) -> None:
    every = told.texts["large"] | told.texts["small"]

    for group, texts in (("large", told.texts["large"]), ("small", told.texts["small"]), (None, every)):
        for limit in (5, 10_000):
            assert_same(told.store.text(" ".join(words), group, ALWAYS, limit), expected(texts, words, limit))


def test_what_came_since_is_found_with_what_was_there(told: Told) -> None:
    for words in QUERIES:
        told.store.text(" ".join(words), "large", ALWAYS, 5)
        told.tell("large", 20)

        assert_same(told.store.text(" ".join(words), "large", ALWAYS, 50), expected(told.texts["large"], words, 50))


def test_words_as_of_an_earlier_known_moment_score_as_they_did_then(told: Told) -> None:
    then = Moment(None, told.story.records[-1].recorded_at)
    given = [
        told.store.text(" ".join(words), group, then, 20) for words in QUERIES for group in ("large", "small", None)
    ]
    told.story.tell(entity("Bo"))
    told.tell("large", 100)

    again = [
        told.store.text(" ".join(words), group, then, 20) for words in QUERIES for group in ("large", "small", None)
    ]

    assert again == given != []


def test_only_facts_that_hold_count(told: Told) -> None:
    before = told.texts["small"].copy()
    told.tell("small", 200, (0, 5))
    later, early = Moment(9, None), Moment(1, None)

    assert_same(told.store.text("word0 word7", "small", later, 30), expected(before, ["word0", "word7"], 30))
    assert_same(
        told.store.text("word0 word7", "small", early, 300), expected(told.texts["small"], ["word0", "word7"], 300)
    )


def test_an_erased_group_is_found_no_more_and_counts_for_nothing(told: Told) -> None:
    told.store.text("word0 word7", None, ALWAYS, 5)
    told.story.tell(GroupErased(), group="large")
    told.commit()

    assert_same(told.store.text("word0 word7", None, ALWAYS, 99), expected(told.texts["small"], ["word0", "word7"], 99))


def test_the_frequencies_are_those_among_the_facts_that_are_searched(told: Told) -> None:
    some = np.array(sorted(told.texts["large"])[::7], np.int64)

    found = told.store.text("word0 word7", "large", ALWAYS, 99, some)

    texts = {number: told.texts["large"][number] for number in some.tolist()}
    assert_same(found, expected(texts, ["word0", "word7"], 99))


@pytest.mark.parametrize("limit", [1, 2, 9, 10, 100])
def test_the_best_of_many_are_the_first_of_all_in_their_order(limit: int) -> None:
    chance = np.random.default_rng(limit)
    has = chance.random(600) < 0.7
    holding = Holding.of(has, chance.integers(1, 30, 600).astype(np.int32))
    lists = [np.flatnonzero(chance.random(600) < rate) for rate in (0.5, 0.3, 0.1, *[0.02] * 8)]
    every = best(lists, holding, 600)

    assert len({score for _, score in every}) > 20
    assert [score for _, score in every] == sorted((score for _, score in every), reverse=True)
    assert best(lists, holding, limit) == every[:limit]
