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


def best(lists: Sequence[NDArray[np.int64]], holding: Holding, limit: int) -> list[tuple[int, float]]:
    """Return (number, score) of the best facts, best first; equal scores by number.

    lists: the numbers of the facts that have each word of a query. holding: the facts that count.
    """
    count = len(holding.numbers)
    weights = np.zeros(count)
    for having in lists:
        places = holding.places[having[: np.searchsorted(having, len(holding.places))]]
        places = places[places >= 0]
        weights[places] += word_weight(len(places), count)  # more than 0, also of a word that all have
    found = np.flatnonzero(weights > 0)  # numpy counts numbers that are not 0 six times as slowly
    if not len(found):
        return []
    scores = bm25(weights[found], holding.words[found], _USUAL)
    if len(found) > limit:  # those that may be among the best, equal ones included
        chosen = np.flatnonzero(scores >= np.partition(scores, -limit)[-limit])
        found, scores = found[chosen], scores[chosen]
    first = np.lexsort((found, -scores))[:limit]
    return list(zip(holding.numbers[found[first]].tolist(), scores[first].tolist(), strict=True))
