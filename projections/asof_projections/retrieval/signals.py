"""The signals of a search over turns: each a column over the candidates, from 0 to 1, to be weighed by a profile.

All of them are computed from the turns that are known at the moment that is asked about, and from no others: document
frequencies, mean length and the extremes too. So an answer as of an earlier moment is the answer that was given then.
"""

from collections.abc import Sequence
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from asof_projections.bm25 import bm25, word_weight
from asof_projections.graph.ports import Turns
from asof_projections.retrieval.question import Question

Column = NDArray[np.float64]
Places = NDArray[np.int64]

SIGNALS: Final = (
    "words", "meaning", "meaning_squared", "words_after", "words_before", "meaning_after", "meaning_before",
    "words_two_away", "meaning_two_away", "speaker_named", "date_named", "tells_when", "asks", "length",
    "session", "session_coverage", "coverage_near", "coverage_around", "coverage", "words_and_meaning",
    "speaker_and_meaning",
)  # fmt: skip
OF_MEANING: Final = frozenset(name for name in SIGNALS if "meaning" in name)
_BEST_OF_SESSION: Final = 5
_YEAR_ALONE: Final = 0.3
_LONG: Final = 6.0  # log of the characters of a long turn


class Matches(NamedTuple):
    """The words of a question in turns: a row of `has` for each word, a column for each turn."""

    has: NDArray[np.bool]
    weights: NDArray[np.float32]  # of the words: inverse document frequencies among these turns
    sums: NDArray[np.float32]  # of the weights of the words that each turn has

    @classmethod
    def of(cls, places: Sequence[Places], count: int) -> "Matches":
        """Return the matches of words that stand at some places of so many."""
        having = np.array([len(theirs) for theirs in places], np.float32)
        weights = word_weight(having, count).astype(np.float32)
        has, sums = np.zeros((len(places), count), np.bool), np.zeros(count, np.float32)
        for row, theirs, weight in zip(has, places, weights, strict=True):
            row[theirs] = True
            sums[theirs] += weight
        return cls(has, weights, sums)

    def coverage(self, has: NDArray[np.bool]) -> Column:
        """Return the weight of the words in each column, as a share of the question's words."""
        return (self.weights @ has.astype(np.float32)).astype(np.float64) / max(float(self.weights.sum()), 1e-9)


def words_of(matches: Matches, turns: Turns) -> Column:
    """Return BM25 of every turn: 0 of the many that have none of the words."""
    scores = np.zeros(len(turns.n))
    matched = np.flatnonzero(matches.sums > 0)
    if len(matched):
        sums = matches.sums[matched].astype(np.float64)
        scores[matched] = bm25(sums, turns.words[matched], turns.mean_words)
    return scores


class Near:
    """Reads what stands beside candidates, at most two turns away and within their session."""

    def __init__(self, session: Places, candidates: Places) -> None:
        self._candidates = candidates
        self._beside = {steps: self._places(session, steps) for steps in (1, -1, 2, -2)}

    def _places(self, session: Places, steps: int) -> tuple[Places, NDArray[np.bool]]:
        """Return the places so many turns after the candidates, and whether each is there."""
        places = self._candidates + steps
        beside = places.clip(0, len(session) - 1)
        return beside, (places == beside) & (session[beside] == session[self._candidates])

    def at(self, column: NDArray[np.floating], steps: int) -> NDArray[np.floating]:
        """Return the values so many turns after the candidates; 0 where there is none."""
        beside, is_there = self._beside[steps]
        return np.where(is_there, column[beside], 0)

    def coverages(self, matches: Matches) -> list[Column]:
        """Return the coverage of the question by each candidate, with the turns beside it, and with those two away."""
        has = matches.has[:, self._candidates]
        coverages = [matches.coverage(has)]
        for step in (1, 2):
            for beside, is_there in (self._beside[step], self._beside[-step]):
                has |= matches.has[:, beside] & is_there
            coverages.append(matches.coverage(has))
        return coverages


def date_named(question: Question, said: NDArray[np.int64]) -> Column:
    """Return how well the day of each turn fits the months and years that a question names."""
    months = said.astype("datetime64[us]").astype("datetime64[M]").astype(np.int64)
    in_year = np.isin(1970 + months // 12, sorted(question.years))
    if question.months:
        in_month = np.isin(1 + months % 12, sorted(question.months))
        return np.asarray(in_month & (in_year | (not question.years)), np.float64)
    return np.asarray(_YEAR_ALONE * in_year, np.float64)


def session_signals(session: Places, score: Column, matches: Matches, candidates: Places) -> tuple[Column, Column]:
    """Return, for each candidate, the mean of its session's best and the coverage of the question by its session.

    Both count candidates alone. The mean is a share of the best session's.
    """
    _, of = np.unique(session[candidates], return_inverse=True)
    order = np.lexsort((-score, of))
    starts = np.flatnonzero(np.r_[True, np.diff(of[order]) != 0])
    rank = np.arange(len(order)) - np.repeat(starts, np.diff(np.r_[starts, len(order)]))
    best = np.bincount(of[order], np.where(rank < _BEST_OF_SESSION, score[order], 0)) / _BEST_OF_SESSION
    has = np.logical_or.reduceat(matches.has[:, candidates[order]], starts, axis=1)
    return (best / max(float(best.max()), 1e-9))[of], matches.coverage(has)[of]


def columns(
    question: Question,
    turns: Turns,
    matches: Matches,
    words: Column,
    cosines: Column,
    candidates: Places,
) -> Column:
    """Return the signals of the candidates: a row for each, in the order of SIGNALS.

    words: BM25 of every turn, as a share of the best. cosines: of every turn; NaN, where it is not known.
    """
    session = turns.sessions
    near = Near(session, candidates)
    meaning = _spread(cosines, candidates)
    w, m = words[candidates], meaning[candidates]
    named = np.array([speaker in question.named for speaker in turns.speakers], np.bool)
    speaker = named[turns.speaker[candidates]].astype(np.float64)
    when = turns.tells_time[candidates] * float(question.asks_when)
    of_session, session_coverage = session_signals(session, (w + m) / 2, matches, candidates)
    coverage, coverage_near, coverage_around = near.coverages(matches)
    return np.stack(
        [
            w, m, m**2, near.at(words, 1), near.at(words, -1), near.at(meaning, 1), near.at(meaning, -1),
            (near.at(words, 2) + near.at(words, -2)) / 2, (near.at(meaning, 2) + near.at(meaning, -2)) / 2,
            speaker, date_named(question, turns.said[candidates]), when,
            turns.asks[candidates], np.log1p(turns.characters[candidates]) / _LONG, of_session, session_coverage,
            coverage_near, coverage_around, coverage, w * m, speaker * m,
        ],
        axis=1,
    )  # fmt: skip


def _spread(cosines: Column, candidates: Places) -> Column:
    """Return cosines spread from 0, the least of a candidate, to 1, the most; 0 where there is none."""
    spread = np.zeros(len(cosines))
    of = cosines[candidates]
    if not np.isnan(of).all():
        least, most = float(np.nanmin(of)), float(np.nanmax(of))
        known = np.flatnonzero(~np.isnan(cosines))
        spread[known] = ((cosines[known] - least) / max(most - least, 1e-9)).clip(0, 1)
    return spread
