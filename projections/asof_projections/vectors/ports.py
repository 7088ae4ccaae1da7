"""The port of a vector index: unit vectors by number, and exact search for the nearest."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from asof_projections.embedding.ports import Vectors
from asof_projections.model.rows import Moment

Ids = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class LiveFacts:
    """The facts of a group (None: of all groups) that hold at a moment. `numbers` reads their numbers."""

    group: str | None
    at: Moment
    numbers: Callable[[], Ids]


class VectorIndex(Protocol):
    """The vectors of one model, each under the number of its fact or name in the graph."""

    @property
    def position(self) -> int:
        """The saved position: the first number whose vector is not saved; 0: nothing is saved."""
        ...

    def __len__(self) -> int: ...

    def add(self, ids: Ids | Sequence[int], vectors: Vectors, groups: Sequence[str] = ()) -> None:
        """Add vectors of unit length, shape (len(ids), dimensions). An id that is there already gets the new vector.

        groups: the group of each, for an index from which the graph itself erases groups.
        """
        ...

    def remove(self, ids: Ids | Sequence[int]) -> None:
        """Remove vectors; ids that are not there are skipped."""
        ...

    def clear(self) -> None:
        """Remove all vectors, also those on disk; the position becomes 0."""
        ...

    def search(self, query: Vectors, k: int, among: Ids | LiveFacts | None = None) -> list[tuple[int, float]]:
        """Return the k ids nearest to a unit vector of shape (dimensions,), with their cosines, nearest first.

        The search is exact over the stored vectors, which are rounded to 16 bits; of equal cosines the smaller id comes
        first. among: only these ids, or only the facts that hold at a moment.
        """
        ...

    def cosines(self, query: Vectors, ids: Ids) -> NDArray[np.float64]:
        """Return the cosine of each id with a unit vector of shape (dimensions,), as `search` does; NaN: not there."""
        ...

    def save(self, position: int) -> None:
        """Save all vectors with a position. StorageFailed.

        After a crash the saved state is there, perhaps with later changes, which may be repeated without harm.
        """
        ...

    def digest(self) -> str:
        """Return the sha256 of all vectors in order of id, whatever the order in which they were added."""
        ...
