"""Rows that wait to be written together, which costs a third as much a row as one by one.

Nothing may read past them unawares: a read flushes them first, unless it names what it depends on and none of them
touches that. What nothing ever touched, in a store that was filled from its start, needs no read at all.
"""

import sqlite3
from collections import defaultdict
from collections.abc import Hashable
from typing import Any, Final

import numpy as np

_LIMIT: Final = 10_000  # rows of one kind
_TOLD_APART: Final = 1 << 24  # bytes, a bit for each hash: of ten million things one in fourteen is taken for touched


class WriteBuffer:
    """The rows of one connection, in the transaction that its user holds; `empty`: there are no others."""

    def __init__(self, db: sqlite3.Connection, *, empty: bool = False) -> None:
        self._db = db
        self._rows: defaultdict[str, list[tuple[Any, ...]]] = defaultdict(list)  # by the statement that writes them
        self._changes: defaultdict[str, list[tuple[Any, ...]]] = defaultdict(list)
        self._touched: set[int] = set()  # hashes: if two are equal, something is written sooner than it need be
        self._ever = bytearray(_TOLD_APART if empty else 0)

    def add(self, sql: str, row: tuple[Any, ...], *touches: Hashable) -> None:
        """Let a row wait; `touches` names what a read may depend on."""
        rows = self._rows[sql]
        rows.append(row)
        self._touched.update(map(hash, touches))
        if len(rows) >= _LIMIT:
            self.flush()

    def change(self, sql: str, values: tuple[Any, ...], *touches: Hashable) -> None:
        """Let a change of rows that are written already wait; what `add` lets wait is written after it."""
        self._changes[sql].append(values)
        self._touched.update(map(hash, touches))

    def flush(self) -> None:
        """Write what waits."""
        if self._ever:
            bits = np.fromiter(self._touched, np.int64, len(self._touched))
            ever = np.frombuffer(self._ever, np.uint8)
            np.bitwise_or.at(ever, bits >> 3 & _TOLD_APART - 1, np.left_shift(1, bits & 7).astype(np.uint8))
        self._touched.clear()
        for waiting in (self._changes, self._rows):
            for sql, rows in waiting.items():
                self._db.executemany(sql, rows)
            waiting.clear()

    def flush_for(self, dependence: Hashable) -> None:
        """Write what waits, if any of it touches what a read depends on."""
        if hash(dependence) in self._touched:
            self.flush()

    def untouched(self, dependence: Hashable) -> bool:
        """Whether it is certain that no row was ever written that touches what a read depends on."""
        bit = hash(dependence)
        if not self._ever or bit in self._touched:
            return False
        return not self._ever[bit >> 3 & _TOLD_APART - 1] >> (bit & 7) & 1

    def forget(self) -> None:
        """Drop what waits: its transaction is rolled back."""
        self._changes.clear()
        self._rows.clear()
        self._touched.clear()
