"""Rows that wait to be written together, which costs a third as much a row as one by one.

Nothing may read past them unawares: a read flushes them first, unless it names what it depends on and none of them
touches that.
"""

import sqlite3
from collections.abc import Hashable
from typing import Any, Final

_LIMIT: Final = 10_000  # rows


class Pending:
    """The rows of one connection, in the transaction that its user holds."""

    def __init__(self, db: sqlite3.Connection) -> None:
        self._db = db
        self._rows: dict[str, list[tuple[Any, ...]]] = {}  # by the statement that writes them
        self._touched: set[Hashable] = set()
        self._count = 0

    def add(self, sql: str, row: tuple[Any, ...], *touches: Hashable) -> None:
        """Let a row wait; `touches` names what a read may depend on."""
        rows = self._rows.get(sql)
        if rows is None:
            rows = self._rows[sql] = []
        rows.append(row)
        self._touched.update(touches)
        self._count += 1
        if self._count >= _LIMIT:
            self.flush()

    def flush(self) -> None:
        """Write what waits."""
        if self._count:
            waiting, self._rows, self._count = self._rows, {}, 0
            self._touched.clear()
            for sql, rows in waiting.items():
                self._db.executemany(sql, rows)

    def flush_for(self, dependence: Hashable) -> None:
        """Write what waits, if any of it touches what a read depends on."""
        if dependence in self._touched:
            self.flush()

    def forget(self) -> None:
        """Drop what waits: its transaction is rolled back."""
        self._rows, self._count = {}, 0
        self._touched.clear()
