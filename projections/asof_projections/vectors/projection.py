"""The projection of a generation's facts, or of its names, or of all turns, into a vector index.

Sentences, names and turns never change, so the projection follows only new numbers, and the removal of erased groups.
The index is saved with the next number. After a crash or damage, vectors come from the cache by text, so none is
computed twice.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Final

from asof_projections.embedding.cache import CachedEmbedder
from asof_projections.ports import BeliefStore, TurnStore
from asof_projections.vectors.ports import Ids, VectorIndex

BATCH: Final = 1024  # texts embedded at once

Progress = Callable[[int, int], None]
"""Called with (done, total) texts during long work."""


@dataclass(frozen=True, slots=True)
class Texts:
    """The texts to embed, with numbers that never change."""

    count: Callable[[], int]
    after: Callable[[int], Iterator[tuple[int, str, str]]]  # (number, group, text) with a greater number, ascending


def facts_of(beliefs: BeliefStore) -> Texts:
    """Return the sentences of a generation's facts."""
    return Texts(beliefs.fact_count, beliefs.sentences)


def names_of(beliefs: BeliefStore) -> Texts:
    """Return the names of a generation's entities and communities."""
    return Texts(beliefs.name_count, beliefs.names)


def turns_of(episodes: TurnStore) -> Texts:
    """Return the texts of all turns, without the names of those who speak."""
    return Texts(episodes.turn_count, episodes.turn_texts)


class VectorProjection:
    """Keeps the vectors of some texts in `index`."""

    def __init__(self, texts: Texts, embedder: CachedEmbedder, index: VectorIndex) -> None:
        self._texts = texts
        self._embedder = embedder
        self.index = index
        self._next = self.index.position  # the number to go on from
        self._saved = len(self.index)

    def catch_up(self, progress: Progress | None = None) -> None:
        """Bring the index to exactly the vectors of all texts; `save` then makes it durable. ModelUnavailable."""
        facts = self._follow(progress)
        if self._is_inconsistent(facts):
            self._reset()
            self._follow(progress)
            self.save()

    @property
    def behind(self) -> int:
        """The number of texts that have no vector here yet."""
        return max(self._texts.count() - len(self.index), 0) if self._some(1) else 0

    def lacking(self, numbers: Ids) -> int:
        """Return how many of these numbers have no vector here yet."""
        return int((numbers >= self._next).sum())

    def missing(self, most: int) -> list[str]:
        """Return those of the next `most` texts whose vectors are to be computed: they are not in the cache."""
        return self._embedder.missing([text for _, _, text in self._some(most)])

    def catch_up_some(self, most: int) -> bool:
        """Add the vectors of at most `most` more texts; return whether there may be more to do. ModelUnavailable."""
        if self._hold(most):
            return True
        facts = self._texts.count()
        if self._hold(most):  # texts that came since the count
            return True
        if self._is_inconsistent(facts):
            self._reset()
            return True
        return False

    @property
    def unsaved(self) -> int:
        """The number of vectors that are not saved; -1: the index may have vectors of erased groups.

        It has none if it holds as many as there are texts, and no text is newer than those it has followed.
        """
        held = len(self.index)
        whole = held == self._texts.count() and not self._some(1)
        return abs(held - self._saved) if whole else -1

    def save(self, least: int = 0) -> None:
        """Save the index with the next number, if it differs by so many vectors from the saved one. StorageFailed.

        Where a group was erased meanwhile, nothing stays saved: whoever erases removes the file, maybe before this.
        """
        erasures = self._embedder.erasures
        if self.unsaved >= least:
            self.index.save(self._next)
            self._saved = len(self.index)
            if self._embedder.erasures != erasures:
                self._reset()

    def _follow(self, progress: Progress | None) -> int:
        """Add new texts until there are none; return the number of texts. Another process may be adding more."""
        while True:
            facts = self._texts.count()
            if not self._add(facts - len(self.index), progress):
                return facts

    def _add(self, total: int, progress: Progress | None) -> int:
        done = 0
        while added := self._hold(BATCH):
            done += added
            if progress is not None:
                progress(done, max(done, total))
        return done

    def _some(self, most: int) -> list[tuple[int, str, str]]:
        return list(islice(self._texts.after(self._next - 1), most))

    def _hold(self, most: int) -> int:
        """Add the vectors of at most `most` more texts; return how many there were."""
        erasures = self._embedder.erasures  # before the texts are read
        batch = self._some(most)
        if batch:
            numbers, groups, texts = zip(*batch, strict=True)
            self.index.add(numbers, self._embedder.embed(texts, groups, erasures), groups)
            self._next = batch[-1][0] + 1
        return len(batch)

    def _is_inconsistent(self, facts: int) -> bool:
        """Whether the index has more or fewer vectors than there are texts: of an erased group, or of another graph.

        facts: an earlier count of the texts. Another process that shares the index may have added newer ones.
        """
        held = len(self.index)
        return held != facts and not facts < held <= self._texts.count()

    def _reset(self) -> None:
        """Remove all vectors, also the saved ones: some belong to erased groups."""
        self.index.clear()
        self._next = self._saved = 0
