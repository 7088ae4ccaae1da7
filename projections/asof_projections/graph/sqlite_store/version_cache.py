"""All versions in memory, as columns of integers: it finds which of a million facts hold within milliseconds.

Only reads over all facts of a group need it (a vector index searches among these facts). The first such read loads it;
later ones add the versions that were opened and closed since.
"""

import sqlite3
from typing import Final, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from asof_projections.graph.sqlite_store.plateaus import Plateaus
from asof_projections.model.rows import Window

_COLUMNS: Final = ("n", "fact", "grp", "vf", "vt", "kf", "kt")
_ROW: Final = np.dtype([(name, np.int64) for name in _COLUMNS])
_OPENED: Final = f"SELECT {', '.join(_COLUMNS)} FROM versions WHERE n > ? ORDER BY n"
_CLOSED: Final = "SELECT n, kt FROM versions INDEXED BY version_closed WHERE closed >= ?"
_FACTS: Final = """SELECT n, length(sentence) - length(replace(sentence, ' ', '')) + 1,
    coalesce((SELECT occurrence + 2 * planned FROM deeds d WHERE d.n = f.n), 0) FROM facts f WHERE n > ?
    ORDER BY n"""
_OCCURRENCE, _PLANNED = 1, 2  # as it was asserted
_STATE: Final = "SELECT (SELECT value FROM meta WHERE key = 'position'), (SELECT value FROM meta WHERE key = 'erased')"
_LAST: Final = """SELECT max(coalesce((SELECT max(opened) FROM versions), 0),
    coalesce((SELECT max(closed) FROM versions WHERE closed IS NOT NULL), 0))"""


class Holding(NamedTuple):
    """The facts that hold in a window, as columns."""

    numbers: NDArray[np.int64]  # ascending
    words: NDArray[np.int32]  # of the sentence of each
    places: NDArray[np.int32]  # in these columns, by number; -1: it does not hold

    @classmethod
    def of(cls, held: NDArray[np.bool], words: NDArray[np.int32]) -> Self:
        """Return the facts that hold: whether, and how many words, by number."""
        numbers = np.flatnonzero(held)
        numbers.setflags(write=False)  # a vector index keeps what follows from it
        places = np.full(len(held), -1, np.int32)
        places[numbers] = np.arange(len(numbers))
        return cls(numbers, words[numbers], places)


class VersionCache:
    """The columns of the versions table as of the last refresh."""

    def __init__(self) -> None:
        self._columns: NDArray[np.int64] = np.empty((len(_COLUMNS), 0), np.int64)
        self._count = 0
        self._state: tuple[int, int] | None = None  # position, and how often something was erased
        self._cause = 0  # of the last version opened or closed
        self._last: tuple[tuple[int | None, bool], Plateaus, Holding] | None = None  # what held when last asked
        self.words: NDArray[np.int32] = np.empty(0, np.int32)  # of the sentence of each fact, by number
        self.facts = 0  # how many there are
        self._deeds: NDArray[np.int8] = np.empty(0, np.int8)  # by number, too: 0 for what lasts

    def refresh(self, db: sqlite3.Connection, *, writing: bool) -> None:
        """Add the changes since the last refresh. writing: the open transaction may have uncommitted versions."""
        state: tuple[int, int] = db.execute(_STATE).fetchone()
        if state == self._state and not writing:
            return
        self._last = None
        if self._state is None or state[1] != self._state[1]:
            self._count = self._cause = self.facts = 0
            self.words, self._deeds = np.empty(0, np.int32), np.empty(0, np.int8)
        self._extend(np.fromiter(db.execute(_OPENED, (self._last_number(),)), _ROW))
        self._measure(db)
        closed = np.array(db.execute(_CLOSED, (self._cause,)).fetchall(), np.int64).reshape(-1, 2)
        self._columns[-1, np.searchsorted(self._columns[0, : self._count], closed[:, 0])] = closed[:, 1]
        self._cause = db.execute(_LAST).fetchone()[0]
        self._state = state

    def holding(self, group: int | None, window: Window) -> Holding:
        """Return which facts have a version that overlaps a window."""
        moments, asked = (window.vmax, window.vmin, window.kmax, window.kmin), (group, window.deeds)
        if self._last is None or self._last[0] != asked or not self._last[1].hold(*moments):
            _, _, _, vf, vt, kf, kt = self._columns[:, : self._count]
            plateaus = Plateaus.around(*zip((vf, vt, kf, kt), moments, strict=True))
            self._last = asked, plateaus, Holding.of(self._held(group, window), self.words)
        return self._last[2]

    def _held(self, group: int | None, window: Window) -> NDArray[np.bool]:
        _, fact, grp, vf, vt, kf, kt = self._columns[:, : self._count]
        begun, left = vf <= window.vmax, vt > window.vmin
        if window.deeds:
            deeds = self._deeds[fact]
            begun |= deeds & _PLANNED > 0
            left |= deeds & _OCCURRENCE > 0
        met = begun & left & (kf <= window.kmax) & (kt > window.kmin)
        if group is not None:
            met &= grp == group
        held = np.zeros(len(self.words), np.bool)
        held[fact[met]] = True
        return held

    def _measure(self, db: sqlite3.Connection) -> None:
        """Read the facts that came since: the words of their sentences, and which are occurrences."""
        rows = np.array(db.execute(_FACTS, (len(self.words) - 1,)).fetchall(), np.int64).reshape(-1, 3)
        self.facts += len(rows)
        if len(rows):
            words = np.zeros(int(rows[-1, 0]) + 1, np.int32)
            deeds = np.zeros(len(words), np.int8)
            words[: len(self.words)], deeds[: len(self.words)] = self.words, self._deeds
            words[rows[:, 0]], deeds[rows[:, 0]] = rows[:, 1], rows[:, 2]
            self.words, self._deeds = words, deeds

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
