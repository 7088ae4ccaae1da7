"""What a vector index is: unit vectors by fact, and the nearest of them, exactly."""

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
    """The facts of a group (None: of all) that hold at a moment. An index that does not know them asks for them."""

    group: str | None
    at: Moment
    numbers: Callable[[], Ids]


class VectorIndex(Protocol):
    """Vectors of one model, each under the row number of its fact in the graph."""

    @property
    def position(self) -> int:
        """Where in its log the saved index stands; 0 where nothing is saved. Events from here on are to be added."""
        ...

    def __len__(self) -> int: ...

    def add(self, ids: Ids | Sequence[int], vectors: Vectors, groups: Sequence[str] = ()) -> None:
        """Hold these rows of unit length, shape (len(ids), dimensions). An id that is held gets the new vector.

        `groups` says whose each is, to an index from which the graph erases a group by itself.
        """
        ...

    def remove(self, ids: Ids | Sequence[int]) -> None:
        """Hold these no longer; ids that are not held are passed over."""
        ...

    def clear(self) -> None:
        """Hold nothing any more, on disk neither: the position is 0."""
        ...

    def search(self, query: Vectors, k: int, among: Ids | LiveFacts | None = None) -> list[tuple[int, float]]:
        """Return the k ids nearest to a unit vector of shape (dimensions,), with their cosines, nearest first.

        Exact over what is held, which is rounded to 16 bits; of equal cosines the smaller id comes first. `among`
        allows only these ids, or what was true and known at the moment asked about.
        """
        ...

    def save(self, position: int) -> None:
        """Let what is held last, and where it stands. StorageFailed.

        A crash leaves what was saved and its position; perhaps what was done since as well, which may be done again.
        """
        ...

    def digest(self) -> str:
        """Return the sha256 of what is held, in order of id: the same however it was added."""
        ...
