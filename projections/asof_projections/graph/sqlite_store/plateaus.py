"""Plateaus: the periods between neighbouring values of a column, in which an answer stays the same.

"Now" is another moment in each search, yet what is known and what holds is mostly what it was in the search before.
"""

from typing import Self

import numpy as np
from numpy.typing import NDArray

from asof_streams.instants import INF, NEG


class Plateaus:
    """For each of some columns the span around a moment in which comparing the column with a moment gives the same."""

    def __init__(self, spans: list[tuple[int, int]]) -> None:
        self._spans = spans

    @classmethod
    def around(cls, *compared: tuple[NDArray[np.int64], int]) -> Self:
        """Return the spans around moments: each a column with what it is compared with, by `<=` or `>`."""
        return cls(_spans_around(*compared))

    def narrowed(self, *compared: tuple[NDArray[np.int64], int]) -> Self:
        """Return the spans around other moments, which these hold, with more values of each column."""
        both = zip(self._spans, _spans_around(*compared), strict=True)
        return type(self)([(max(start, first), min(stop, last)) for (start, stop), (first, last) in both])

    def hold(self, *moments: int) -> bool:
        """Whether comparing with these moments, in the order of the columns, gives the same."""
        return all(start <= moment < stop for (start, stop), moment in zip(self._spans, moments, strict=True))


def _spans_around(*compared: tuple[NDArray[np.int64], int]) -> list[tuple[int, int]]:
    spans = []
    for column, moment in compared:
        is_before = column <= moment
        stop = INF + 1 if is_before.all() else int(column.min(where=~is_before, initial=INF))
        spans.append((int(column.max(where=is_before, initial=NEG)), stop))
    return spans
