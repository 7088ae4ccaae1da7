"""What a vector index is: unit vectors by fact, and the nearest of them, exactly."""

from collections.abc import Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from asof_projections.embedding.ports import Vectors

Ids = NDArray[np.int64]


class VectorIndex(Protocol):
    """Vectors of one model, each under the row number of its fact in the graph. Safe to share between threads."""

    @property
    def position(self) -> int:
        """Where in its log the saved index stands; 0 where nothing is saved. Events from here on are to be added."""
        ...

    def __len__(self) -> int: ...

    def add(self, ids: Ids | Sequence[int], vectors: Vectors) -> None:
        """Hold these rows of unit length, shape (len(ids), dimensions). An id that is held gets the new vector."""
        ...

    def remove(self, ids: Ids | Sequence[int]) -> None:
        """Hold these no longer; ids that are not held are passed over."""
        ...

    def search(self, query: Vectors, k: int, among: Ids | None = None) -> list[tuple[int, float]]:
        """Return the k ids nearest to a unit vector of shape (dimensions,), with their cosines, nearest first.

        Exact over what is held, which is rounded to 16 bits; of equal cosines the smaller id comes first. `among`
        allows only these ids: what was true and known at the moment asked about.
        """
        ...

    def save(self, position: int) -> None:
        """Put what is held and where it stands on disk, in one step: a crash leaves the one before. StorageFailed."""
        ...

    def digest(self) -> str:
        """Return the sha256 of what is held, in order of id: the same however it was added."""
        ...
