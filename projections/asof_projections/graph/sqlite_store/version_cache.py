"""All versions in memory, as columns of integers: it finds which of a million facts hold within milliseconds.

Only reads over all facts of a group need it (a vector index searches among these facts). The first such read loads it;
later ones add the versions that were opened and closed since.
"""

import sqlite3
from collections import OrderedDict
from dataclasses import dataclass, field
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
_FACT: Final = np.dtype([(name, np.int64) for name in ("n", "words", "deed")])
_KEPT: Final = 4  # what held in so many windows: searches ask about two in turns, a moment and any time
_OCCURRENCE, _PLANNED = 1, 2  # as it was asserted
_STATE: Final = "SELECT (SELECT value FROM meta WHERE key = 'position'), (SELECT value FROM meta WHERE key = 'erased')"
_LAST: Final = """SELECT max(coalesce((SELECT max(opened) FROM versions), 0),
    coalesce((SELECT max(closed) FROM versions WHERE closed IS NOT NULL), 0))"""


_Moments = tuple[int, int, int, int]  # of a window, in the order of the columns that they are compared with
_NO_ROWS: Final = np.empty(0, np.int64)


class Holding(NamedTuple):
    """The facts that hold in a window."""

    numbers: NDArray[np.int64]  # ascending
    has: NDArray[np.bool]  # whether a fact is among them, by number
    words: NDArray[np.int32]  # of the sentence of each fact, by number

    @classmethod
    def of(cls, has: NDArray[np.bool], words: NDArray[np.int32]) -> Self:
        """Return the facts that hold: whether, and how many words, by number."""
        numbers = np.flatnonzero(has)
        numbers.setflags(write=False)  # a vector index keeps what follows from it
        return cls(numbers, has, words)


@dataclass(slots=True)
class _Kept:
    """What held in a window, and the rows that came or changed since."""

    moments: _Moments
    holding: Holding
    plateaus: Plateaus | None = None  # once a search has moved the window, and nothing else
    changed: list[NDArray[np.int64]] = field(default_factory=list)


class VersionCache:
    """The columns of the versions table as of the last refresh."""

    def __init__(self) -> None:
        self._columns: NDArray[np.int64] = np.empty((len(_COLUMNS), 0), np.int64)
        self._count = 0
        self._state: tuple[int, int] | None = None  # position, and how often something was erased
        self._cause = 0  # of the last version opened or closed
        self._kept: OrderedDict[tuple[int | None, bool, bool], _Kept] = OrderedDict()  # asked last at the end
        self.words: NDArray[np.int32] = np.empty(0, np.int32)  # of the sentence of each fact, by number
        self.facts = 0  # how many there are
        self._deeds: NDArray[np.int8] = np.empty(0, np.int8)  # by number, too: 0 for what lasts

    def refresh(self, db: sqlite3.Connection, *, writing: bool) -> None:
        """Add the changes since the last refresh. writing: the open transaction may have uncommitted versions."""
        state: tuple[int, int] = db.execute(_STATE).fetchone()
        if state == self._state and not writing:
            return
        if self._state is None or state[1] != self._state[1]:
            self._count = self._cause = self.facts = 0
            self.words, self._deeds = np.empty(0, np.int32), np.empty(0, np.int8)
            self._kept.clear()
        before = self._count
        self._extend(np.fromiter(db.execute(_OPENED, (self._last_number(),)), _ROW))
        self._measure(db)
        closed = np.array(db.execute(_CLOSED, (self._cause,)).fetchall(), np.int64).reshape(-1, 2)
        rows = np.searchsorted(self._columns[0, : self._count], closed[:, 0])
        changed = np.concatenate([np.arange(before, self._count), rows[self._columns[-1, rows] != closed[:, 1]]])
        self._columns[-1, rows] = closed[:, 1]
        if len(changed):
            for kept in self._kept.values():
                kept.changed.append(changed)
        self._cause = db.execute(_LAST).fetchone()[0]
        self._state = state

    def holding(self, group: int | None, window: Window) -> Holding:
        """Return which facts have a version that overlaps a window.

        What held in the last window of its kind is brought up to this one: few facts are others.
        """
        asked = group, window.deeds, window.vmin == window.vmax
        moments = window.vmax, window.vmin, window.kmax, window.kmin
        kept = self._kept.pop(asked, None)
        if kept is None:
            kept = _Kept(moments, Holding.of(self._held(group, window, self._all), self.words))
        elif kept.changed or (kept.moments != moments and not (kept.plateaus and kept.plateaus.hold(*moments))):
            self._move(kept, group, window, moments)
        self._kept[asked] = kept
        if len(self._kept) > _KEPT:
            self._kept.popitem(last=False)
        return kept.holding

    def _move(self, kept: _Kept, group: int | None, window: Window, moments: _Moments) -> None:
        """Bring what held in another window up to this one."""
        changed = np.concatenate(kept.changed) if kept.changed else _NO_ROWS
        compared = self._columns[3:, : self._count]
        before = kept.holding.has
        if kept.plateaus and kept.plateaus.hold(*moments):  # so none but the changed rows can have crossed a bound
            kept.plateaus = kept.plateaus.narrowed(*zip(compared[:, changed], moments, strict=True))
            has = self._corrected(before, group, window, changed)
        else:
            crossed = self._crossed(compared, kept.moments, moments)
            crossed[changed] = False
            kept.plateaus = None if crossed.any() else Plateaus.around(*zip(compared, moments, strict=True))
            has = self._held(group, window, self._all)
        if not np.array_equal(has[: len(before)], before) or has[len(before) :].any():
            kept.holding = Holding.of(has, self.words)
        kept.moments, kept.changed = moments, []

    def _crossed(self, compared: NDArray[np.int64], of: _Moments, to: _Moments) -> NDArray[np.bool]:
        """Return which rows a bound of a window crossed on its way."""
        crossed = np.zeros(self._count, np.bool)
        for column, *bounds in zip(compared, of, to, strict=True):
            if bounds[0] != bounds[1]:
                crossed |= (column > min(bounds)) & (column <= max(bounds))
        return crossed

    def _corrected(
        self, before: NDArray[np.bool], group: int | None, window: Window, rows: NDArray[np.int64]
    ) -> NDArray[np.bool]:
        """Return by number which facts hold in a window, given which did before some rows came or changed."""
        fact = self._columns[1, : self._count]
        touched = np.zeros(len(self.words), np.bool)
        touched[fact[rows]] = True
        has = self._held(group, window, np.flatnonzero(touched[fact]))
        has[: len(before)] |= before & ~touched[: len(before)]
        return has

    @property
    def _all(self) -> slice:
        return slice(0, self._count)

    def _held(self, group: int | None, window: Window, rows: slice | NDArray[np.int64]) -> NDArray[np.bool]:
        """Return by number which facts have a version among some rows that overlaps a window."""
        _, fact, grp, vf, vt, kf, kt = self._columns[:, rows]
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
        rows = np.fromiter(db.execute(_FACTS, (len(self.words) - 1,)), _FACT).view(np.int64).reshape(-1, 3)
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
