"""Hybrid search: facts by the words and the meaning of a query, as of a moment; entities by similar names.

A hit's score is `0.6 words + 0.4 meaning`: BM25 as a share of the best hit's, and the cosine. Over the turns of long
conversations this finds more of the evidence than either part alone. Reciprocal rank fusion drops the distances between
hits, and finds less than words alone (bench/search_fusion.py). Both parts search only the facts that hold and are known
at the moment, so no good hit is lost behind facts that do not count.
"""

from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from itertools import islice
from typing import Final

import numpy as np

from asof_projections.embedding.ports import Embedder, Vectors
from asof_projections.model.answers import Hit, Scores
from asof_projections.model.queries import FactSearchQuery
from asof_projections.model.rows import EntityRow, Moment
from asof_projections.ports import BeliefStore
from asof_projections.queries.consistent_read import consistent_read
from asof_projections.retrieval.center import hop_of, nearness, steps_from_center
from asof_projections.retrieval.question import content_words
from asof_projections.vectors.ports import Ids, LiveFacts, VectorIndex

WORDS: Final = 0.6  # the weight of words; the rest is that of meaning
_CANDIDATES: Final = 3  # of each part, for each hit wanted
_CANDIDATES_LEAST: Final = 50


class Search:
    """Searches the facts of one generation; without an embedder, by words alone."""

    def __init__(
        self, beliefs: BeliefStore, embedder: Embedder | None = None, index: VectorIndex | None = None
    ) -> None:
        self._beliefs = beliefs
        self._meaning = None if embedder is None or index is None else (embedder, index)

    @consistent_read
    def search(self, query: FactSearchQuery, at: Moment) -> list[Hit]:
        """Return the best facts as of a moment, best first; of equal scores the fact asserted first.

        With a centre, of those that fit the facts fewest steps away from it come first.
        """
        text, group, limit = query.query, query.group, query.limit
        pool = max(_CANDIDATES * limit, _CANDIDATES_LEAST)
        with ThreadPoolExecutor(1) as beside:
            vectors = self._meaning and beside.submit(self._meaning[0].embed, [text])  # while words are looked up
            steps = steps_from_center(self._beliefs, query, at)
            near = None if query.hops is None else sorted(steps)
            among = self._beliefs.numbers(query, at, near) if query.is_filtered else None
            bm25 = dict(self._beliefs.text(content_words(text), group, at, pool, among))
        best = max(bm25.values(), default=1.0)
        words = {number: score / best for number, score in bm25.items()}
        meaning: dict[int, float] = {}
        scores = dict(words)
        if self._meaning and vectors:
            facts = LiveFacts(group, at, lambda: self._beliefs.live(group, at)) if among is None else among
            meaning = self._cosines(self._meaning[1], vectors.result()[0], pool, facts, words)
            both = words.keys() | meaning.keys()
            scores = {n: WORDS * words.get(n, 0.0) + (1 - WORDS) * meaning.get(n, 0.0) for n in both}
        ranked = sorted(scores, key=lambda n: (-scores[n], n))
        size = pool if steps else limit
        hits = (
            Hit.of(  # where a clock is lifted, the last version
                facts[-1],
                round(scores[number], 6),
                Scores(_rounded(words.get(number)), _rounded(meaning.get(number))),
                hop_of(facts[-1], steps),
            )
            for start in range(0, len(ranked), size)
            for number, facts in self._beliefs.facts_numbered(ranked[start : start + size], at).items()
        )
        return list(islice(sorted(hits, key=nearness) if steps else hits, limit))

    def _cosines(
        self, index: VectorIndex, vector: Vectors, pool: int, among: LiveFacts | Ids, also: Iterable[int]
    ) -> dict[int, float]:
        """Return the cosines of the nearest of some facts and of those that words found, by number."""
        nearest = dict(index.search(vector, pool, among))
        rest = np.array([number for number in also if number not in nearest], np.int64)
        return nearest | dict(index.search(vector, len(rest), rest))


class NameSearch:
    """Finds entities by similar names, as of a known moment."""

    def __init__(self, beliefs: BeliefStore, embedder: Embedder, index: VectorIndex) -> None:
        self._beliefs = beliefs
        self._embedder = embedder
        self._index = index

    @consistent_read
    def like(self, query: str, known: int | None, group: str | None = None, *, limit: int = 10) -> list[EntityRow]:
        """Return the entities with the most similar names, nearest first; at most `limit`."""
        [vector] = self._embedder.embed([query])
        among = self._beliefs.names_known(group, known)
        nearest = self._index.search(
            vector, _CANDIDATES * limit, among=among
        )  # an entity may have several of the names
        return self._beliefs.named([number for number, _ in nearest])[:limit]


def _rounded(part: float | None) -> float | None:
    return None if part is None else round(part, 6)
