"""All versions in memory, as columns of integers: it finds which of a million facts hold within milliseconds.

Only reads over all facts of a group need it (a vector index searches among these facts). The first such read loads it;
later ones add the versions that were opened and closed since.
"""

import sqlite3
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from asof_projections.graph.sqlite_store.plateaus import Plateaus
from asof_projections.model.rows import Window

_COLUMNS: Final = ("n", "fact", "grp", "vf", "vt", "kf", "kt")
_ROW: Final = np.dtype([(name, np.int64) for name in _COLUMNS])
_OPENED: Final = f"SELECT {', '.join(_COLUMNS)} FROM versions WHERE n > ? ORDER BY n"
_CLOSED: Final = "SELECT n, kt FROM versions INDEXED BY version_closed WHERE closed >= ?"
_WORDS: Final = """SELECT n, length(sentence) - length(replace(sentence, ' ', '')) + 1 FROM facts WHERE n > ?
    ORDER BY n"""
_STATE: Final = "SELECT (SELECT value FROM meta WHERE key = 'position'), (SELECT value FROM meta WHERE key = 'erased')"
_LAST: Final = """SELECT max(coalesce((SELECT max(opened) FROM versions), 0),
    coalesce((SELECT max(closed) FROM versions WHERE closed IS NOT NULL), 0))"""


class Holding(NamedTuple):
    """The facts that hold in a window."""

    by_number: NDArray[np.bool]
    numbers: NDArray[np.int64]


class VersionCache:
    """The columns of the versions table as of the last refresh."""

    def __init__(self) -> None:
        self._columns: NDArray[np.int64] = np.empty((len(_COLUMNS), 0), np.int64)
        self._count = 0
        self._state: tuple[int, int] | None = None  # position, and how often something was erased
        self._cause = 0  # of the last version opened or closed
        self._last: tuple[int | None, Plateaus, Holding] | None = None  # what held when it was asked last
        self.words: NDArray[np.int32] = np.empty(0, np.int32)  # of the sentence of each fact, by number

    def refresh(self, db: sqlite3.Connection, *, writing: bool) -> None:
        """Add the changes since the last refresh. writing: the open transaction may have uncommitted versions."""
        state: tuple[int, int] = db.execute(_STATE).fetchone()
        if state == self._state and not writing:
            return
        self._last = None
        if self._state is None or state[1] != self._state[1]:
            self._count = self._cause = 0
            self.words = np.empty(0, np.int32)
        self._extend(np.fromiter(db.execute(_OPENED, (self._last_number(),)), _ROW))
        self._measure(db)
        closed = np.array(db.execute(_CLOSED, (self._cause,)).fetchall(), np.int64).reshape(-1, 2)
        self._columns[-1, np.searchsorted(self._columns[0, : self._count], closed[:, 0])] = closed[:, 1]
        self._cause = db.execute(_LAST).fetchone()[0]
        self._state = state

    def holding(self, group: int | None, window: Window) -> Holding:
        """Return which facts have a version that overlaps a window."""
        moments = (window.vmax, window.vmin, window.kmax, window.kmin)
        if self._last is None or self._last[0] != group or not self._last[1].hold(*moments):
            _, _, _, vf, vt, kf, kt = self._columns[:, : self._count]
            plateaus = Plateaus.around(*zip((vf, vt, kf, kt), moments, strict=True))
            held = self._held(group, window)
            self._last = group, plateaus, Holding(held, np.flatnonzero(held))
        return self._last[2]

    def _held(self, group: int | None, window: Window) -> NDArray[np.bool]:
        _, fact, grp, vf, vt, kf, kt = self._columns[:, : self._count]
        met = (vf <= window.vmax) & (vt > window.vmin) & (kf <= window.kmax) & (kt > window.kmin)
        if group is not None:
            met &= grp == group
        held = np.zeros(len(self.words), np.bool)
        held[fact[met]] = True
        return held

    def _measure(self, db: sqlite3.Connection) -> None:
        """Count the words of the sentences that came since."""
        rows = np.array(db.execute(_WORDS, (len(self.words) - 1,)).fetchall(), np.int64).reshape(-1, 2)
        if len(rows):
            words = np.zeros(int(rows[-1, 0]) + 1, np.int32)
            words[: len(self.words)] = self.words
            words[rows[:, 0]] = rows[:, 1]
            self.words = words

    def _last_number(self) -> int:
        return int(self._columns[0, self._count - 1]) if self._count else -1

    def _extend(self, rows: NDArray[np.void]) -> None:
        need = self._count + len(rows)
        if need > self._columns.shape[1]:
            grown = np.empty((len(_COLUMNS), max(need, 2 * self._count)), np.int64)
            grown[:, : self._count] = self._columns[:, : self._count]
            self._columns = grown
        self._columns[:, self._count : need] = rows.view(np.int64).reshape(-1, len(_COLUMNS)).T
        self._count = need
