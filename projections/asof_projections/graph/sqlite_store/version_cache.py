"""All versions in memory, as columns of integers: it finds which of a million facts hold within milliseconds.

Only reads over all facts of a group need it (a vector index searches among these facts). The first such read loads it;
later ones add the versions that were opened and closed since.
"""

import sqlite3
from typing import Final

import numpy as np
from numpy.typing import NDArray

from asof_projections.model.rows import Window

_COLUMNS: Final = ("n", "fact", "grp", "vf", "vt", "kf", "kt")
_ROW: Final = np.dtype([(name, np.int64) for name in _COLUMNS])
_OPENED: Final = f"SELECT {', '.join(_COLUMNS)} FROM versions WHERE n > ? ORDER BY n"
_CLOSED: Final = "SELECT n, kt FROM versions INDEXED BY version_closed WHERE closed >= ?"
_STATE: Final = "SELECT (SELECT value FROM meta WHERE key = 'position'), (SELECT value FROM meta WHERE key = 'erased')"
_LAST: Final = """SELECT max(coalesce((SELECT max(opened) FROM versions), 0),
    coalesce((SELECT max(closed) FROM versions WHERE closed IS NOT NULL), 0))"""


class VersionCache:
    """The columns of the versions table as of the last refresh."""

    def __init__(self) -> None:
        self._columns: NDArray[np.int64] = np.empty((len(_COLUMNS), 0), np.int64)
        self._count = 0
        self._state: tuple[int, int] | None = None  # position, and how often something was erased
        self._cause = 0  # of the last version opened or closed

    def refresh(self, db: sqlite3.Connection, *, writing: bool) -> None:
        """Add the changes since the last refresh. writing: the open transaction may have uncommitted versions."""
        state: tuple[int, int] = db.execute(_STATE).fetchone()
        if state == self._state and not writing:
            return
        if self._state is None or state[1] != self._state[1]:
            self._count = self._cause = 0
        self._extend(np.fromiter(db.execute(_OPENED, (self._last(),)), _ROW))
        closed = np.array(db.execute(_CLOSED, (self._cause,)).fetchall(), np.int64).reshape(-1, 2)
        self._columns[-1, np.searchsorted(self._columns[0, : self._count], closed[:, 0])] = closed[:, 1]
        self._cause = db.execute(_LAST).fetchone()[0]
        self._state = state

    def holding(self, group: int | None, window: Window) -> NDArray[np.int64]:
        """Return the facts with a version that overlaps a window, ascending, each once."""
        _, fact, grp, vf, vt, kf, kt = self._columns[:, : self._count]
        met = (vf <= window.vmax) & (vt > window.vmin) & (kf <= window.kmax) & (kt > window.kmin)
        if group is not None:
            met &= grp == group
        held = np.zeros(int(fact.max(initial=-1)) + 1, np.bool)
        held[fact[met]] = True
        return np.flatnonzero(held)

    def _last(self) -> int:
        return int(self._columns[0, self._count - 1]) if self._count else -1

    def _extend(self, rows: NDArray[np.void]) -> None:
        need = self._count + len(rows)
        if need > self._columns.shape[1]:
            grown = np.empty((len(_COLUMNS), max(need, 2 * self._count)), np.int64)
            grown[:, : self._count] = self._columns[:, : self._count]
            self._columns = grown
        self._columns[:, self._count : need] = rows.view(np.int64).reshape(-1, len(_COLUMNS)).T
        self._count = need
