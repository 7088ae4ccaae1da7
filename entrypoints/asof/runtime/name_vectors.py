"""Finds entity names similar in meaning, for entity resolution during writes, over the names of one generation.

An answer rests on what the graph knows at that moment alone. Names that a transaction may still take back are compared
for one answer; those committed stay in memory, by group. No index is read or saved: readers keep one of their own.
"""

from collections import defaultdict
from collections.abc import Callable, Sequence
from functools import cached_property
from itertools import islice
from typing import Final

from asof_projections.embedding.cache import CachedEmbedder
from asof_projections.embedding.ports import Vectors
from asof_projections.graph.sqlite_store.store import SqliteGraph
from asof_projections.model.rows import EntityRow
from asof_projections.vectors.faiss_index import FaissVectorIndex
from asof_projections.vectors.projection import BATCH

_MOST: Final = 16  # names near a text that are looked at: some are several of one, or of another type
_DIGITS: Final = 3  # of a cosine: the last bits of a vector may differ from machine to machine

_Names = list[tuple[int, str, str]]  # number, group, name


class NameVectorIndex:
    """Implements asof_agents.resolution.candidates.NameIndex. Used by the thread that opened the graph.

    open_embedder: called with the first question, and closed by who gives it.
    """

    def __init__(self, known: SqliteGraph, model_id: str, open_embedder: Callable[[], CachedEmbedder]) -> None:
        self.model_id = model_id
        self._known = known
        self._open = open_embedder
        self._begin()

    def nearest(self, group: str, texts: Sequence[str], least: float) -> dict[str, list[tuple[EntityRow, float]]]:
        fresh = [(number, name) for number, of, name in self._follow() if of == group]
        lately = self._index()
        if fresh:
            numbers, names = zip(*fresh, strict=True)
            lately.add(numbers, self._embedder.embed_unkept(names))
        vectors = zip(texts, self._embedder.embed_unkept(texts), strict=True)
        hits = {text: _nearest(vector, (self._settled[group], lately), least) for text, vector in vectors}
        counted = self._known.counting({n for nearest in hits.values() for _, n in nearest})
        return {
            text: [(e, cosine) for cosine, n in nearest if n in counted for e in self._known.named([n])]
            for text, nearest in hits.items()
        }

    def _begin(self) -> None:
        self._settled = defaultdict[str, FaissVectorIndex](self._index)  # by group
        self._next = 0  # the number to go on from
        self._held = 0

    @cached_property
    def _embedder(self) -> CachedEmbedder:
        return self._open()

    def _index(self) -> FaissVectorIndex:
        nowhere = self._known.path.with_suffix(".unsaved")  # nothing is saved
        return FaissVectorIndex(nowhere, self._embedder.model_id, self._embedder.dimensions)

    def _follow(self) -> _Names:
        """Hold the names of all groups that are committed, and return those that are not."""
        position, fresh = self._known.position(), _Names()
        names = self._known.names(self._next - 1)
        while batch := list(islice(names, BATCH)):
            settled = [name for name in batch if name[0] < position]
            fresh += batch[len(settled) :]
            if settled:
                self._hold(settled)
        if self._held + len(fresh) == self._known.name_count():
            return fresh
        self._begin()  # a group was erased
        return self._follow()

    def _hold(self, names: _Names) -> None:
        vectors = self._embedder.embed([name for _, _, name in names], [group for _, group, _ in names])
        for group in {group for _, group, _ in names}:
            rows = [row for row, (_, of, _) in enumerate(names) if of == group]
            self._settled[group].add([names[row][0] for row in rows], vectors[rows])
        self._next, self._held = names[-1][0] + 1, self._held + len(names)


def _nearest(vector: Vectors, indexes: Sequence[FaissVectorIndex], least: float) -> list[tuple[float, int]]:
    """Return the cosines and numbers of the nearest names, nearest first; of equally near ones the oldest."""
    hits = [(-cosine, number) for index in indexes for number, cosine in index.search(vector, _MOST)]
    nearest = [(round(-away, _DIGITS), number) for away, number in sorted(hits)[:_MOST]]
    return [hit for hit in nearest if hit[0] >= least]
