"""A bounded cache of what a writer has looked up, in two generations."""

from collections.abc import Hashable
from typing import Final, Generic, TypeVar

_CAPACITY: Final = 100_000  # answers of one generation, some hundred bytes each

A = TypeVar("A")


class GenerationalCache(dict[Hashable, A | None], Generic[A]):
    """Answers by query; None: not cached. An answer stays until `capacity` other ones were added after its last use.

    A full generation becomes the stale one and a new one begins; what is used again moves over. That costs less than
    the list of a least-recently-used cache.
    """

    def __init__(self, capacity: int = _CAPACITY) -> None:
        super().__init__()
        self._capacity = capacity
        self._stale: dict[Hashable, A | None] = {}

    def __missing__(self, query: Hashable) -> A | None:
        answer = self._stale.get(query)
        if answer is not None:
            self[query] = answer
        return answer

    def __setitem__(self, query: Hashable, answer: A | None) -> None:
        if len(self) >= self._capacity:
            self._stale = dict(self)
            super().clear()
        super().__setitem__(query, answer)

    def drop(self, query: Hashable) -> None:
        """Drop an answer that has changed."""
        self.pop(query, None)
        self._stale.pop(query, None)

    def clear(self) -> None:
        """Drop all answers."""
        super().clear()
        self._stale.clear()
