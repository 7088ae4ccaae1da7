"""What a writer remembers of what it has looked up, within bounds: the keys of rows, and answers that do not change."""

from collections.abc import Hashable
from typing import Final, Generic, TypeVar

_LOT: Final = 200_000  # answers, some hundred bytes each

A = TypeVar("A")


class GenerationalCache(dict[Hashable, A | None], Generic[A]):
    """Answers by question, None for one that is not kept. Until a lot of others was asked for, an answer stays."""

    def __init__(self, lot: int = _LOT) -> None:
        super().__init__()
        self._lot = lot
        self._stale: dict[Hashable, A | None] = {}

    def __missing__(self, query: Hashable) -> A | None:
        answer = self._stale.get(query)
        if answer is not None:
            self[query] = answer
        return answer

    def __setitem__(self, query: Hashable, answer: A | None) -> None:
        if len(self) >= self._lot:
            self._stale = dict(self)
            super().clear()
        super().__setitem__(query, answer)

    def drop(self, query: Hashable) -> None:
        """Forget an answer that is no longer so."""
        self.pop(query, None)
        self._stale.pop(query, None)

    def clear(self) -> None:
        """Forget all."""
        super().clear()
        self._stale.clear()
