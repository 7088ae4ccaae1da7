"""The keys of a group: one for each message, of which those of any range can be destroyed while the others stay.

The keys are the leaves of a binary tree over the positions of messages, and each key of it gives those of its two
branches by HMAC-SHA-256 (a puncturable pseudorandom function, after Goldreich, Goldwasser and Micali). Kept is one key
for a whole tree. To destroy some leaves, the keys on the way to them are replaced by those of the branches beside it:
no key above a destroyed leaf is left, and none can be worked out from what is.
"""

import hmac
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain, pairwise
from secrets import token_bytes
from typing import Final

KEY_BYTES: Final = 32
DEPTH: Final = 63  # positions are not negative, and SQLite has them in 64 bits
_BRANCH: Final = {"0": b"\x00", "1": b"\x01"}


class KeyTree:
    """The keys of the messages that are not destroyed; `nodes` are the kept keys, by their path from the root.

    A path has a digit for each branch, of which 0 are the lower positions: all that a path begins is below its key.
    """

    def __init__(self, nodes: Mapping[str, bytes]) -> None:
        self.nodes: Final = nodes
        self._leaf = 0
        top = nodes.get("")
        self._way = [top, *self._below("0" * DEPTH, 0, top)]  # the keys from the root down to that leaf

    @classmethod
    def plant(cls) -> "KeyTree":
        """Return a tree of new keys, of all positions."""
        return cls({"": token_bytes(KEY_BYTES)})

    def key(self, position: int) -> bytes | None:
        """Return the key of a message; None: it was destroyed. Near the one that was asked for last it takes least."""
        if position != self._leaf:
            shared = DEPTH - (position ^ self._leaf).bit_length()
            path = format(position, f"0{DEPTH}b")
            self._way[shared + 1 :] = self._below(path, shared, self._way[shared])
            self._leaf = position
        return self._way[DEPTH]

    def without(self, *positions: range) -> "KeyTree":
        """Return the tree in which the keys of some ranges of positions are destroyed."""
        spans = _disjoint(positions)
        return KeyTree(dict(chain.from_iterable(_outside(path, key, spans) for path, key in self.nodes.items())))

    def reaches(self, *positions: range) -> bool:
        """Return whether a key of some ranges of positions is left."""
        return self.without(*positions).nodes != self.nodes

    def _below(self, path: str, level: int, key: bytes | None) -> list[bytes | None]:
        """Return the keys on the way to a leaf that are below a level; None above those that are kept."""
        way: list[bytes | None] = []
        for depth in range(level, DEPTH):
            key = self.nodes.get(path[: depth + 1]) if key is None else _branch(key, path[depth])
            way.append(key)
        return way


def is_whole(nodes: Mapping[str, bytes]) -> bool:
    """Return whether kept keys can be those of a tree: of the right size, on paths of which none begins another."""
    ways = sorted(nodes)
    return (
        all(len(key) == KEY_BYTES for key in nodes.values())
        and all(len(way) <= DEPTH and not way.strip("01") for way in ways)
        and not any(below.startswith(above) for above, below in pairwise(ways))
    )


def _branch(key: bytes, digit: str) -> bytes:
    return hmac.digest(key, _BRANCH[digit], "sha256")


def _disjoint(positions: Iterable[range]) -> list[range]:
    """Return ranges that have the same positions, in order, without those that meet."""
    spans: list[range] = []
    for span in sorted(filter(None, positions), key=lambda span: span.start):
        if spans and span.start <= spans[-1].stop:
            spans[-1] = range(spans[-1].start, max(spans[-1].stop, span.stop))
        else:
            spans.append(span)
    return spans


def _outside(path: str, key: bytes, spans: Sequence[range]) -> Iterator[tuple[str, bytes]]:
    """Yield the keys that reach the leaves below a path but for those of some ranges, which are in order."""
    leaves = 1 << (DEPTH - len(path))
    first = int(path or "0", 2) * leaves
    begin = bisect_right(spans, first, key=lambda span: span.stop)
    end = bisect_left(spans, first + leaves, key=lambda span: span.start)
    if begin >= end:
        yield path, key
    elif first < spans[begin].start or spans[begin].stop < first + leaves:
        for digit in _BRANCH:
            yield from _outside(path + digit, _branch(key, digit), spans[begin:end])
