"""Postings: the texts of a word in a full-text index, cached for the words that were asked for last.

To read a list takes time in proportion to it. Frequent words stand in a third of all texts, and questions share them.
"""

import sqlite3
from collections import OrderedDict
from typing import Final

import numpy as np
from numpy.typing import NDArray

_MOST: Final = 4_000_000  # numbers in all lists: 32 MB
_STATE: Final = "SELECT (SELECT value FROM meta WHERE key = 'position'), (SELECT value FROM meta WHERE key = 'erased')"


class Postings:
    """The lists of one index, each as of the state in which it was last asked for.

    most: how many numbers are kept in all; the lists used least recently are dropped, the last one stays however long.
    """

    def __init__(self, index: str, most: int = _MOST) -> None:
        self._having: Final = f"SELECT group_concat(rowid) FROM {index} WHERE {index} MATCH ? AND rowid >= ?"
        self._lists: OrderedDict[str, tuple[int, NDArray[np.int64]]] = OrderedDict()  # and the first number not read
        self._most = most
        self._size = 0
        self._erased = 0  # how often something was erased

    def having(self, db: sqlite3.Connection, phrases: list[str]) -> list[NDArray[np.int64]]:
        """Return, for each phrase of FTS5, the numbers of the texts that match it, ascending. In one transaction."""
        position, erased = db.execute(_STATE).fetchone()
        if erased != self._erased:
            self._lists.clear()
            self._size, self._erased = 0, erased
        return [self._list(db, phrase, position) for phrase in phrases]

    def _list(self, db: sqlite3.Connection, phrase: str, position: int) -> NDArray[np.int64]:
        start, numbers = self._lists.pop(phrase, (0, np.empty(0, np.int64)))
        self._size -= len(numbers)
        if start != position:
            [new] = db.execute(self._having, (phrase, start)).fetchone()
            if new:
                numbers = np.concatenate([numbers, np.fromstring(new, np.int64, sep=",")])
        self._lists[phrase] = position, numbers
        self._size += len(numbers)
        while self._size > self._most and len(self._lists) > 1:
            self._size -= len(self._lists.popitem(last=False)[1][1])
        return numbers
