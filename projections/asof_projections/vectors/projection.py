"""The vectors of a generation's facts, or of its names: an index that follows the graph, by their numbers.

A fact's sentence never changes, nor does a name, so all there is to follow is new numbers, and those of erased groups
that are gone. The index is saved with the number from which to go on. What a crash, damage or another model takes from
it is read again from where vectors are kept by content, so nothing is computed twice.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Final

from asof_projections.embedding.cache import CachedEmbedder
from asof_projections.ports import BeliefStore
from asof_projections.vectors.ports import VectorIndex

BATCH: Final = 256  # texts embedded at once

Progress = Callable[[int, int], None]
"""Called with (done, total) texts during long work."""


@dataclass(frozen=True, slots=True)
class Texts:
    """What vectors are made of: texts with numbers that never change."""

    count: Callable[[], int]
    after: Callable[[int], Iterator[tuple[int, str, str]]]  # (number, group, text) with a greater number, ascending


def facts_of(beliefs: BeliefStore) -> Texts:
    """Return the sentences of a generation's facts."""
    return Texts(beliefs.fact_count, beliefs.sentences)


def names_of(beliefs: BeliefStore) -> Texts:
    """Return the names of a generation's entities and communities."""
    return Texts(beliefs.name_count, beliefs.names)


class VectorProjection:
    """Keeps in `index` the vectors that `embedder` gives some texts."""

    def __init__(self, texts: Texts, embedder: CachedEmbedder, index: VectorIndex) -> None:
        self._texts = texts
        self._embedder = embedder
        self.index = index
        self._next = self.index.position  # the number to go on from
        self._saved = len(self.index)

    def catch_up(self, progress: Progress | None = None) -> None:
        """Hold the vector of every text and of no other; `save` makes it last. ModelUnavailable."""
        facts = self._follow(progress)
        if self._astray(facts):
            self._begin_anew()
            self._follow(progress)
            self.save()

    def catch_up_some(self, most: int) -> bool:
        """Hold the vectors of some more texts; return whether there may be more to do. ModelUnavailable."""
        facts = len(self.index)
        batch = self._some(most)
        if not batch:
            facts = self._texts.count()
            batch = self._some(most)  # what has come since they were counted
        if batch:
            self._hold(batch)
        elif self._astray(facts):
            self._begin_anew()
        else:
            return False
        return True

    @property
    def unsaved(self) -> int:
        """By how many vectors the index differs from its file; -1 where there may be some of erased groups."""
        return abs(len(self.index) - self._saved) if len(self.index) == self._texts.count() else -1

    def save(self) -> None:
        """Let the index last, all of it, with the number to go on from. StorageFailed."""
        self.index.save(self._next)
        self._saved = len(self.index)

    def erase(self, group: str) -> None:
        """Hold nothing of a group any more, neither vectors nor what they were kept by; then save.

        To be called before the graph erases the group: after that nobody knows which texts were its.
        """
        facts = ((number, sentence) for number, of, sentence in self._texts.after(-1) if of == group)
        while batch := list(islice(facts, BATCH)):
            self.index.remove([number for number, _ in batch])
            self._embedder.forget([sentence for _, sentence in batch])
        self.save()

    def _follow(self, progress: Progress | None) -> int:
        """Add what is new until nothing is; return how many texts there are. Another process may be writing more."""
        while True:
            facts = self._texts.count()
            if not self._add(facts - len(self.index), progress):
                return facts

    def _add(self, total: int, progress: Progress | None) -> int:
        done = 0
        facts = self._texts.after(self._next - 1)
        while batch := list(islice(facts, BATCH)):
            self._hold(batch)
            done += len(batch)
            if progress is not None:
                progress(done, max(done, total))
        return done

    def _some(self, most: int) -> list[tuple[int, str, str]]:
        return list(islice(self._texts.after(self._next - 1), most))

    def _hold(self, batch: list[tuple[int, str, str]]) -> None:
        numbers, groups, texts = zip(*batch, strict=True)
        self.index.add(numbers, self._embedder.embed(texts), groups)
        self._next = batch[-1][0] + 1

    def _astray(self, facts: int) -> bool:
        """Whether more or less is held than there are texts: of an erased group, or by what followed another graph.

        `facts` were counted before. Who shares the index may have added one that has come since.
        """
        held = len(self.index)
        return held != facts and not facts < held <= self._texts.count()

    def _begin_anew(self) -> None:
        """Let go of all vectors, also of those that last: some are of groups that were erased."""
        self.index.clear()
        self._next = self._saved = 0
