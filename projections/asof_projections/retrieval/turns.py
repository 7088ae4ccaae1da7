"""Search over turns: candidates by words and by meaning, signals of each, and a profile that weighs them."""

from collections.abc import Sequence
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from asof_projections.embedding.ports import Embedder
from asof_projections.graph.ports import Turns
from asof_projections.model.answers import EpisodeHit, Hit, Scores
from asof_projections.model.queries import FactSearchQuery
from asof_projections.ports import TurnStore
from asof_projections.retrieval import signals
from asof_projections.retrieval.precision import probable_places
from asof_projections.retrieval.profile import Profile, calibrations, profile
from asof_projections.retrieval.question import Question
from asof_projections.vectors.ports import VectorIndex


class TurnCandidates(NamedTuple):
    """The turns that a search weighs: their numbers, a row of signals for each, and what words and meaning say."""

    numbers: NDArray[np.int64]
    signals: NDArray[np.float64]
    by_meaning: bool
    words: NDArray[np.float64]  # BM25, as a share of the best
    cosines: NDArray[np.float64]  # NaN: it has no vector


_NONE: Final = TurnCandidates(
    np.zeros(0, np.int64), np.zeros((0, len(signals.SIGNALS))), False, np.zeros(0), np.zeros(0)
)


class EpisodeSearch:
    """Searches the turns of an episodic graph; without an embedder, by words alone."""

    def __init__(self, episodes: TurnStore, embedder: Embedder | None = None, index: VectorIndex | None = None) -> None:
        self._episodes = episodes
        self._meaning = None if embedder is None or index is None else (embedder, index)

    def search(
        self, query: FactSearchQuery, facts: Sequence[Hit] = (), weights: Profile | None = None
    ) -> list[EpisodeHit]:
        """Return the turns known at a moment that fit a question best, best first; of equals the one said first.

        Behind them come those that say some facts, in the order of the log, where they are not among the best. Where
        the query has filters of facts, they alone are there. So they are where even the best probably does not answer.
        """
        weights = weights or profile()
        says: dict[str, list[str]] = {}
        for fact in facts:
            for episode in fact.episodes:
                says.setdefault(episode, []).append(fact.uuid)
        begun = self._episodes.begin_read()
        try:
            turns = self._episodes.turns(query.groups, query.known)
            found = self._weigh(query.query, turns, 0 if query.is_about_facts else weights.pool)
            scores = weights.scores(found.signals, by_meaning=found.by_meaning)
            chances, least = weights.probabilities(scores, by_meaning=found.by_meaning)
            order = np.lexsort((found.numbers, -scores))[: query.limit]
            if query.min_probability is None and self._is_unlike(found):
                order = order[:0]
            best = found.numbers[probable_places(order, chances, query.min_probability, least)].tolist()
            said = np.array(sorted(self._episodes.turn_numbers(list(says))), np.int64)
            sources = turns.n[turns.places(said)].tolist()
            rows = self._episodes.episodes_numbered([*dict.fromkeys([*best, *sources])])
        finally:
            if begun:
                self._episodes.end_read()
        place = {number: at for at, number in enumerate(found.numbers.tolist())}
        hits = []
        for number, row in rows.items():
            at = place.get(number)
            score = None if at is None else round(float(scores[at]), 6)
            chance = None if at is None or np.isnan(chances[at]) else float(chances[at])
            parts = Scores(None, None) if at is None else Scores(_part(found.words[at]), _part(found.cosines[at]))
            hits.append(EpisodeHit.of(row, score, chance, parts, tuple(says.get(row.uuid, ()))))
        return hits

    def _is_unlike(self, found: TurnCandidates) -> bool:
        """Whether no candidate has a word of the question, nor is near it in meaning: the best is best of nothing."""
        of = calibrations()
        if not found.by_meaning or self._meaning is None or self._meaning[0].model_id != of.embedder:
            return False
        return not found.words.any() and bool(np.nanmax(found.cosines) < of.unlike)

    def candidates(self, text: str, groups: Sequence[str] | None, known: int, pool: int) -> TurnCandidates:
        """Return what a search weighs, in the order of the log: a pool by words, and as many by meaning."""
        return self._weigh(text, self._episodes.turns(groups, known), pool)

    def _weigh(self, text: str, turns: Turns, pool: int) -> TurnCandidates:
        question = Question.of(text, turns.names)
        if not pool or not len(turns.n):
            return _NONE
        matches = self._matches(question.words, turns)
        words = signals.words_of(matches, turns)
        cosines, nearest = np.full(len(turns.n), np.nan), np.empty(0, np.int64)
        if self._meaning:
            embedder, index = self._meaning
            [vector] = embedder.embed([question.text])
            found = index.search(vector, pool, turns.n)
            nearest = turns.places(np.array([number for number, _ in found], np.int64))
            cosines[nearest] = [cosine for _, cosine in found]
        best = np.argpartition(-words, pool - 1)[:pool] if len(words) > pool else np.arange(len(words))
        chosen = np.unique(np.concatenate([best[words[best] > 0], nearest]))
        if self._meaning:  # the cosines of what words found, and of what stands beside candidates
            beside = np.zeros(len(turns.n), np.bool)
            for step in range(-2, 3):
                beside[(chosen + step).clip(0, len(turns.n) - 1)] = True
            beside[nearest] = False
            rest = np.flatnonzero(beside)
            cosines[rest] = index.cosines(vector, turns.n[rest])
        if not len(chosen):
            return _NONE
        words /= max(float(words.max(initial=0)), 1e-9)
        rows = signals.columns(question, turns, matches, words, cosines, chosen)
        return TurnCandidates(turns.n[chosen], rows, bool(len(nearest)), words[chosen], cosines[chosen])

    def _matches(self, words: Sequence[str], turns: Turns) -> signals.Matches:
        places = [turns.places(numbers) for numbers in self._episodes.having(words, turns)]
        return signals.Matches.of(places, len(turns.n))


def merged(found: Sequence[Sequence[EpisodeHit]], facts: Sequence[Hit], limit: int) -> list[EpisodeHit]:
    """Return the best of answers about several groups, and behind them the episodes of the facts that are left."""
    left = {fact.uuid for fact in facts}
    every = [hit for each in found for hit in each]
    best = sorted((hit for hit in every if hit.score is not None), key=lambda hit: -(hit.score or 0))[:limit]
    return best + [hit for hit in every if hit not in best and left.intersection(hit.facts)]


def _part(value: float) -> float | None:
    return None if np.isnan(value) or value == 0 else round(float(value), 6)
