"""Hybrid search: facts by the words and the meaning of a query, as of a moment; entities by similar names.

A hit's score is `0.6 words + 0.4 meaning`: BM25 as a share of the best hit's, and the cosine. Over the turns of long
conversations this finds more of the evidence than either part alone. Reciprocal rank fusion drops the distances between
hits, and finds less than words alone (bench/search_fusion.py). Both parts search only the facts that hold and are known
at the moment, so no good hit is lost behind facts that do not count.

Beside its score each hit has the probability that it answers, by other signals (fact_signals.py) and a calibration. It
decides what is left out, not what comes first.
"""

from collections.abc import Callable, Iterable, Sequence
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from asof_projections.embedding.ports import Embedder, Vectors
from asof_projections.model.answers import Hit, Scores
from asof_projections.model.queries import FactSearchQuery
from asof_projections.model.rows import EntityRow, FactRow, Moment
from asof_projections.ports import BeliefStore
from asof_projections.queries.consistent_read import consistent_read
from asof_projections.retrieval import fact_signals
from asof_projections.retrieval.center import hop_of, nearness, steps_from_center
from asof_projections.retrieval.chained_questions import Chain, ChainedQuestions
from asof_projections.retrieval.precision import within_slots
from asof_projections.retrieval.profile import calibrations
from asof_projections.retrieval.question import content_words
from asof_projections.retrieval.relations import RelationVectors
from asof_projections.vectors.ports import Ids, LiveFacts, VectorIndex

WORDS: Final = 0.6  # the weight of words; the rest is that of meaning
_CANDIDATES: Final = 3  # of each part, for each hit wanted
_CANDIDATES_LEAST: Final = 50
_NOBODY: Final = fact_signals.SIGNALS.index("nobody_named")


class FactCandidates(NamedTuple):
    """The facts that a search weighs, best first: the last version of each, its score and parts, and its signals."""

    facts: list[FactRow]
    scores: list[float]
    words: list[float | None]  # BM25, as a share of the best
    cosines: list[float | None]
    signals: NDArray[np.float64]
    by_words: NDArray[np.bool]  # which have no vector of the model of the calibration


class _Scored(NamedTuple):
    """The facts that words and meaning find, by number."""

    ranked: list[int]  # the best, best first
    scores: dict[int, float]
    words: dict[int, float]  # BM25, as a share of the best
    meaning: dict[int, float]  # cosines
    vector: Vectors | None  # of the question


class _Weighed(NamedTuple):
    """The facts that a search chooses from, each with the least probability of one that is found by default."""

    own: list[tuple[Hit, float]]
    further: list[tuple[Hit, float]] | None  # of the questions that it leads to; None: it leads to none
    through_person: bool  # whether what answers those takes the place of the rest


class Search:
    """Searches the facts of one generation; without an embedder, by words alone."""

    def __init__(
        self,
        beliefs: BeliefStore,
        embedder: Embedder | None = None,
        index: VectorIndex | None = None,
        relations: RelationVectors | None = None,
    ) -> None:
        self._beliefs = beliefs
        self._meaning = None if embedder is None or index is None else (embedder, index)
        is_calibrated = embedder is not None and embedder.model_id == calibrations().embedder
        self._relations = (relations or RelationVectors(embedder)) if embedder and is_calibrated else None

    @consistent_read
    def search(self, query: FactSearchQuery, at: Moment) -> list[Hit]:
        """Return the best facts as of a moment that probably answer, best first.

        Of equal scores those that hold or end later come first, then the fact asserted first. With a centre, of those
        that fit the facts fewest steps away from it come first. Of a single-valued slot there are two claims at most.
        Beside what holds at the moment there is what happened before, and what is planned for later. A question that
        asks through a person is asked about whom it leads to: what answers that takes the place of the rest, unless a
        least probability was asked for. One that names two relations finds that beside the rest.
        """
        return _selected(query, self._weigh(query, at), self._beliefs.single)

    @consistent_read
    def search_and_tell(self, query: FactSearchQuery, at: Moment) -> tuple[list[Hit], frozenset[str]]:
        """Return what `search` does, and the ids that it would return if no least probability was asked for."""
        weighed = self._weigh(query, at)
        hits = _selected(query, weighed, self._beliefs.single)
        by_default = query.model_copy(update={"min_probability": None})
        probable = hits if query.min_probability is None else _selected(by_default, weighed, self._beliefs.single)
        return hits, frozenset(hit.uuid for hit in probable)

    @consistent_read
    def rank(self, query: FactSearchQuery, at: Moment) -> list[Hit]:
        """Return what `search` does where the least probability is 0, without the probabilities, which take long."""
        at = at._replace(deeds=True)
        steps = steps_from_center(self._beliefs, query, at)
        further = [query.model_copy(update={"query": chain.question}) for chain in self._chains(query, at)]
        hits = [hit for each in (*further, query) for hit in self._ranked(each, at, steps)]
        return (_best_of_each(hits) if further else sorted(hits, key=nearness))[: query.limit]

    def _ranked(self, query: FactSearchQuery, at: Moment, steps: dict[str, int]) -> list[Hit]:
        """Return the facts of the best scores, in no particular order: as many as are wanted, and their equals."""
        found = self._score(query, at, steps)
        scores = {number: round(found.scores[number], 6) for number in found.ranked}
        last = _last_wanted([*scores.values()], query, steps)
        first = [number for number in found.ranked if scores[number] >= last]
        facts = self._facts(first, at)
        if len(facts) < len(first):  # some do not count: others take their places
            facts = self._facts(found.ranked, at)
        return [
            Hit.of(
                fact,
                scores[fact.number],
                None,
                Scores(_rounded(found.words.get(fact.number)), _rounded(found.meaning.get(fact.number))),
                hop_of(fact, steps),
            )
            for fact in facts
        ]

    def _chains(self, query: FactSearchQuery, at: Moment) -> list[Chain]:
        """Return the questions that a question leads to; of several groups none: nothing leads from one to another."""
        if query.groups is None or len(query.groups) != 1:
            return []
        return ChainedQuestions(self._beliefs, query.group, at).of(query.query)

    def _weigh(self, query: FactSearchQuery, at: Moment) -> "_Weighed":
        at = at._replace(deeds=True)
        steps = steps_from_center(self._beliefs, query, at)
        chains = self._chains(query, at)
        asked = [query.model_copy(update={"query": chain.question}) for chain in chains]
        return _Weighed(
            self._probable(query, at, steps),
            [hit for each in asked for hit in self._probable(each, at, steps)] if chains else None,
            any(chain.through_person for chain in chains),
        )

    def _probable(self, query: FactSearchQuery, at: Moment, steps: dict[str, int]) -> list[tuple[Hit, float]]:
        """Return facts, each with the least probability of one that is found by default."""
        found = self._candidates(query, at, steps)
        chances, least = _probabilities(found)
        if self._meaning and not self._relations:
            least = [0.0] * len(least)  # words alone say too little of what another model found
        asked = query.min_probability
        last = _last_wanted(found.scores, query, steps)
        return [
            (
                Hit.of(row, round(score, 6), chance, Scores(_rounded(words), _rounded(cosine)), hop_of(row, steps)),
                enough,
            )
            for row, score, words, cosine, chance, enough in zip(*found[:4], chances, least, strict=True)
            if chance >= enough or (asked is not None and chance >= asked and round(score, 6) >= last)
        ]

    @consistent_read
    def candidates(self, query: FactSearchQuery, at: Moment) -> FactCandidates:
        """Return what a search weighs."""
        at = at._replace(deeds=True)
        return self._candidates(query, at, steps_from_center(self._beliefs, query, at))

    def _score(self, query: FactSearchQuery, at: Moment, steps: Iterable[str]) -> "_Scored":
        text, group = query.query, query.group
        pool = max(_CANDIDATES * query.limit, _CANDIDATES_LEAST)
        near = None if query.hops is None else sorted(steps)
        among = self._beliefs.numbers(query, at, near) if query.is_filtered else None
        bm25 = dict(self._beliefs.text(content_words(text), group, at, pool, among))
        best = max(bm25.values(), default=1.0)
        words = {number: score / best for number, score in bm25.items()}
        meaning: dict[int, float] = {}
        scores = dict(words)
        vector = None
        if self._meaning:
            embedder, index = self._meaning
            [vector] = embedder.embed([text])
            live = LiveFacts(group, at, lambda: self._beliefs.live(group, at)) if among is None else among
            meaning = self._cosines(index, vector, pool, live, words)
            both = words.keys() | meaning.keys()
            scores = {n: WORDS * words.get(n, 0.0) + (1 - WORDS) * meaning.get(n, 0.0) for n in both}
        return _Scored(sorted(scores, key=lambda n: (-scores[n], n))[:pool], scores, words, meaning, vector)

    def _facts(self, numbers: Sequence[int], at: Moment) -> list[FactRow]:
        """Return the facts with some numbers, in their order: of each a version that is known still, if it has one."""
        versions = self._beliefs.facts_numbered(numbers, at).values()
        return [max(reversed(rows), key=lambda row: row.known_to) for rows in versions]

    def _candidates(self, query: FactSearchQuery, at: Moment, steps: Iterable[str]) -> FactCandidates:
        found = self._score(query, at, steps)
        facts = self._facts(found.ranked, at)
        numbers = [fact.number for fact in facts]
        cosines, relations, by_words = np.zeros(len(facts)), np.zeros(len(facts)), np.ones(len(facts), np.bool)
        if self._relations and found.vector is not None:
            cosines = np.array([found.meaning.get(number, 0.0) for number in numbers])
            relations = self._relations.cosines(found.vector, [fact.relation for fact in facts])
            by_words = np.array([number not in found.meaning for number in numbers], np.bool)
        signals = fact_signals.columns(
            query.query, facts, cosines, relations, lambda name: self._beliefs.meant(query.group, name, at.known)
        )
        said, meant = ([values.get(number) for number in numbers] for values in (found.words, found.meaning))
        return FactCandidates(facts, [found.scores[number] for number in numbers], said, meant, signals, by_words)

    def _cosines(
        self, index: VectorIndex, vector: Vectors, pool: int, among: LiveFacts | Ids, also: Iterable[int]
    ) -> dict[int, float]:
        """Return the cosines of the nearest of some facts and of those that words found, by number."""
        nearest = dict(index.search(vector, pool, among))
        rest = np.array([number for number in also if number not in nearest], np.int64)
        cosines = index.cosines(vector, rest)
        has = ~np.isnan(cosines)
        return nearest | dict(zip(rest[has].tolist(), cosines[has].tolist(), strict=True))


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


def _last_wanted(scores: Sequence[float], query: FactSearchQuery, steps: Iterable[str]) -> float:
    """Return the least score of a fact that a query for improbable facts, too, returns; scores: best first.

    Otherwise facts of any score may be returned: some before them are improbable, of a full slot, or further away.
    """
    if query.min_probability != 0 or steps or len(scores) <= query.limit:
        return float("-inf")
    return round(scores[query.limit - 1], 6)


def _selected(query: FactSearchQuery, weighed: _Weighed, single: Callable[[str, str], bool]) -> list[Hit]:
    """Return the best facts that are as probable as a query asks, best first."""
    asked = query.min_probability

    def enough(among: Iterable[tuple[Hit, float]]) -> list[Hit]:
        return [hit for hit, least in among if (hit.probability or 0.0) >= (least if asked is None else asked)]

    hits = enough(weighed.own)
    if weighed.further is not None:
        further = enough(weighed.further)
        takes_place = asked is None and weighed.through_person
        hits = _best_of_each([*further, *(() if further and takes_place else hits)])
    hits.sort(key=nearness)
    if asked != 0:
        hits = within_slots(hits, single)
    return hits[: query.limit]


def _probabilities(found: FactCandidates) -> tuple[list[float], list[float]]:
    """Return for each candidate how probably it answers, and the least probability of one that does by default."""
    of = calibrations()
    said, meant = (each.probabilities(found.signals, fact_signals.SIGNALS) for each in (of.facts_by_words, of.facts))
    least = np.where(found.by_words, of.facts_by_words.least, of.facts.least)
    nobody = found.signals[:, _NOBODY] == 1  # as in "Where do I live?"
    least[nobody] = np.where(found.by_words, 0, of.nobody_named)[nobody]
    return np.where(found.by_words, said, meant).round(4).tolist(), least.tolist()


def _best_of_each(hits: Iterable[Hit]) -> list[Hit]:
    """Return each fact once, as it was found best."""
    best: dict[str, Hit] = {}
    for hit in sorted(hits, key=nearness):
        best.setdefault(hit.uuid, hit)
    return list(best.values())


def _rounded(part: float | None) -> float | None:
    return None if part is None else round(part, 6)
