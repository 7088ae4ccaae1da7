"""A FAISS index beside a graph on a server: the nearest first, and of them those that hold.

To ask the server which of all facts hold at a moment would send each number for each search. Most of the nearest hold,
so it is asked about a few of them; only where too few hold is it asked for all.
"""

from collections.abc import Sequence
from typing import Final, Protocol

from asof_projections.embedding.ports import Vectors
from asof_projections.model.rows import Moment
from asof_projections.vectors.faiss_index import FaissVectorIndex
from asof_projections.vectors.ports import Ids, LiveFacts

_CANDIDATES: Final = 4  # for each one wanted


class LiveSelector(Protocol):
    """A graph that selects facts by number."""

    def live_of(self, numbers: Sequence[int], group: str | None, at: Moment) -> Ids:
        """Return those of some facts that are of a group (None: of any) and hold at a moment, ascending."""
        ...


class LateSelectionIndex(FaissVectorIndex):
    """A FaissVectorIndex whose graph is asked late. Answers are the same."""

    graph: LiveSelector

    def search(self, query: Vectors, k: int, among: Ids | LiveFacts | None = None) -> list[tuple[int, float]]:
        if isinstance(among, LiveFacts):
            nearest = super().search(query, _CANDIDATES * k)
            live = set(self.graph.live_of([number for number, _ in nearest], among.group, among.at).tolist())
            found = [hit for hit in nearest if hit[0] in live]
            if len(found) >= k or len(nearest) == len(self):
                return found[:k]
        return super().search(query, k, among)
