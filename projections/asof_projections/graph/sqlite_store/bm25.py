"""BM25 over the sentences of the facts that hold at a moment, and over no others.

FTS5 finds which facts have a word, but its own scores are not used: they count the facts of all groups and of all
times. Then another group's words would show through a score, and an answer as of an earlier known moment would not be
the one that was given then. Sentences are short and seldom repeat a word, so a word counts once, however often a
sentence has it; and long is what is longer than a length that never changes.
"""

from collections.abc import Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

from asof_projections.bm25 import bm25, word_weight
from asof_projections.graph.sqlite_store.version_cache import Holding

_USUAL: Final = 5.0  # words of a sentence
_OF_A_BYTE: Final = 8  # words of a query
_STEPS: Final = 4_000  # in which scores are counted


def best(lists: Sequence[NDArray[np.int64]], holding: Holding, limit: int) -> list[tuple[int, float]]:
    """Return (number, score) of the best facts, best first; equal scores by number.

    lists: the numbers of the facts that have each word of a query. holding: the facts that count.
    """
    held = [having for having in (_held(each, holding) for each in lists) if len(having)]
    if not held:
        return []
    found, sums = _sums(held, holding)
    scores = bm25(sums, holding.words[found], _USUAL)
    if len(found) > limit:
        chosen = _greatest(scores, limit)
        found, scores = found[chosen], scores[chosen]
    first = np.lexsort((found, -scores))[:limit]
    return list(zip(found[first].tolist(), scores[first].tolist(), strict=True))


def _held(having: NDArray[np.int64], holding: Holding) -> NDArray[np.int64]:
    """Return those of some facts, ascending, that count."""
    having = having[: np.searchsorted(having, len(holding.has))]
    return having[holding.has[having]]


def _sums(lists: Sequence[NDArray[np.int64]], holding: Holding) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Return the facts that have a word, ascending, and the summed weights of the words that each has.

    Which words a fact has is noted in one byte for eight of them, and 256 sums are all that there are of these.
    """
    rows = -(-len(lists) // _OF_A_BYTE)
    words = np.zeros((rows, len(holding.has)), np.uint8)
    sums = [np.zeros(1) for _ in range(rows)]  # by byte
    for place, having in enumerate(lists):
        row, bit = divmod(place, _OF_A_BYTE)
        words[row][having] |= 1 << bit
        weight = word_weight(len(having), len(holding.numbers))  # more than 0, also of a word that all have
        sums[row] = np.concatenate([sums[row], sums[row] + weight])
    found = np.flatnonzero(np.bitwise_or.reduce(words) != 0)
    total = sums[0][words[0][found]]
    for row in range(1, rows):
        total += sums[row][words[row][found]]
    return found, total


def _greatest(scores: NDArray[np.float64], limit: int) -> NDArray[np.int64]:
    """Return the places of so many of the greatest scores, and of few others: all of the least step that is needed.

    To count them by steps takes a third of the time of a partition.
    """
    steps = (scores * (_STEPS / scores.max())).astype(np.int64)
    at_least = np.cumsum(np.bincount(steps)[::-1])[::-1]  # how many are on a step or above it
    return np.flatnonzero(steps >= np.flatnonzero(at_least >= limit)[-1])
