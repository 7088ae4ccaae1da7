"""A buffer of rows that are written together, at a third of the cost of single inserts.

No read may miss a buffered row: it flushes the buffer first, unless it names its dependence and no buffered row touches
that. In a store that was filled from its start through one buffer, a dependence that no row ever touched needs no read:
the hashes of what was touched are kept, and once there are many a Bloom filter with one hash is made of them.
"""

import sqlite3
from collections import defaultdict
from collections.abc import Hashable, Sequence
from functools import cache
from typing import Any, Final

from asof_streams.bulk_insert import BulkInsert

_LIMIT: Final = 10_000  # rows of one kind
_EXACT_MAX: Final = 1 << 18  # dependences, which take as much memory as a filter, and no longer to look up
_FEW: Final = 50  # dependences, that are noted sooner one by one
_BLOOM_BYTES: Final = 1 << 24  # after ten million dependences, one in fourteen others is a false positive
_insert: Final = cache(BulkInsert)  # by a few dozen statements


class WriteBuffer:
    """The buffered rows of one connection, whose user holds the transaction. empty: the store has no rows yet.

    is_full: to be flushed after the event that is being applied. Not sooner: its rows name their dependences together.
    """

    def __init__(self, db: sqlite3.Connection, *, empty: bool = False) -> None:
        self._db = db
        self.is_full = False
        self._rows: defaultdict[str, list[tuple[Any, ...]]] = defaultdict(list)  # by the statement that writes them
        self._changes: defaultdict[str, list[tuple[Any, ...]]] = defaultdict(list)
        self._touched: set[int] = set()  # hashes; a collision only causes an early flush
        self._ever: set[int] | None = set() if empty else None  # hashes of all that was flushed, while they are few
        self._bloom = memoryview(b"")

    def add(self, sql: str, row: tuple[Any, ...], *touches: Hashable) -> None:
        """Buffer a row; `touches` are the dependences of reads that would see it."""
        rows = self._rows[sql]
        rows.append(row)
        if touches:  # of most rows another one of the same event names them
            self._touched.update(map(hash, touches))
        if len(rows) >= _LIMIT:
            self.is_full = True

    def add_all(self, sql: str, rows: Sequence[tuple[Any, ...]]) -> None:
        """Buffer some rows, whose dependences another row of the same event names."""
        buffered = self._rows[sql]
        buffered += rows
        if len(buffered) >= _LIMIT:
            self.is_full = True

    def change(self, sql: str, values: tuple[Any, ...], *touches: Hashable) -> None:
        """Buffer a change of rows that are written already; buffered changes are written before buffered rows."""
        self._changes[sql].append(values)
        self._touched.update(map(hash, touches))

    def flush(self) -> None:
        """Write all buffered changes and rows."""
        if not (self._rows or self._changes):
            return  # mostly so: every read that names no dependence comes here
        self.is_full = False
        if self._ever is not None:
            self._ever |= self._touched
            if len(self._ever) > _EXACT_MAX:
                import numpy as np  # noqa: PLC0415 - a command starts without it

                self._bloom = np.zeros(_BLOOM_BYTES, np.uint8).data
                self._note(self._ever)
                self._ever = None
        elif self._bloom:
            self._note(self._touched)
        self._touched.clear()
        for sql, changes in self._changes.items():
            self._db.executemany(sql, changes)
        self._changes.clear()
        for sql, rows in self._rows.items():
            _insert(sql).run(self._db, rows)
        self._rows.clear()

    def flush_for(self, dependence: Hashable) -> None:
        """Flush the buffer, if any of it touches a read's dependence."""
        if hash(dependence) in self._touched:
            self.flush()

    def untouched(self, dependence: Hashable) -> bool:
        """Whether certainly no row ever touched a read's dependence."""
        bit = hash(dependence)
        if bit in self._touched:
            return False
        if self._ever is not None:
            return bit not in self._ever
        return bool(self._bloom) and not self._bloom[bit >> 3 & _BLOOM_BYTES - 1] >> (bit & 7) & 1

    def _note(self, hashes: set[int]) -> None:
        if len(hashes) < _FEW:
            for bit in hashes:
                self._bloom[bit >> 3 & _BLOOM_BYTES - 1] |= 1 << (bit & 7)
        else:
            import numpy as np  # noqa: PLC0415 - a command starts without it

            bits = np.fromiter(hashes, np.int64, len(hashes))
            bloom = np.frombuffer(self._bloom, np.uint8)
            np.bitwise_or.at(bloom, bits >> 3 & _BLOOM_BYTES - 1, np.left_shift(1, bits & 7).astype(np.uint8))

    def forget(self) -> None:
        """Drop the buffer: its transaction is rolled back."""
        self.is_full = False
        self._changes.clear()
        self._rows.clear()
        self._touched.clear()
