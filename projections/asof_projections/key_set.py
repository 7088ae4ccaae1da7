"""A set of keys that only grows, in bounded memory: it may take a key for one that it has, never the other way."""

from collections.abc import Hashable
from typing import Final

_EXACT: Final = 1 << 18  # keys, whose hashes take as much memory as a filter and are looked up as soon
_BYTES: Final = 1 << 26
_MASK: Final = _BYTES - 1


class KeySet:
    """A set of hashes, and once they are many a Bloom filter of two bits a key.

    Of a million keys in it, one in 70,000 others is taken for one of them; of ten million, one in 700.
    """

    def __init__(self) -> None:
        self._few: set[int] | None = set()
        self._bits = bytearray()

    def add(self, key: Hashable) -> None:
        """Add a key."""
        if self._few is None:
            self._set(hash(key))
            return
        self._few.add(hash(key))
        if len(self._few) > _EXACT:
            self._bits = bytearray(_BYTES)
            for each in self._few:
                self._set(each)
            self._few = None

    def __contains__(self, key: Hashable) -> bool:
        """Whether a key was added; of few others too."""
        bits, at = self._bits, hash(key)
        if self._few is not None:
            return at in self._few
        first = bits[at >> 3 & _MASK] >> (at & 7) & 1
        return bool(first and bits[at >> 35 & _MASK] >> (at >> 32 & 7) & 1)

    def _set(self, at: int) -> None:
        bits = self._bits
        bits[at >> 3 & _MASK] |= 1 << (at & 7)
        bits[at >> 35 & _MASK] |= 1 << (at >> 32 & 7)
