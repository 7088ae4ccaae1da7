"""The columns of all turns in memory: by whom each was said, when, how long it is, and when it was known.

A search over turns compares all turns of a group that were known at a moment, within milliseconds; it needs some fifty
bytes of each, and twenty of each speaker of a group. The first search loads them; later ones add what came since.
"""

import sqlite3
from collections.abc import Container, Iterable, Iterator
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from asof_projections.graph.ports import Turns
from asof_projections.graph.sqlite_store.group_speakers import GroupSpeakers
from asof_projections.graph.sqlite_store.plateaus import Plateaus
from asof_projections.graph.sqlite_store.schema import has_id
from asof_projections.time_words import tells_time
from asof_streams.instants import INF

ROW: Final = np.dtype(
    [("n", np.int64), ("grp", np.int64), ("said", np.int64), ("known", np.int64), ("withdrawn", np.int64),
     ("speaker", np.int32), ("characters", np.int32), ("words", np.int32), ("asks", np.bool),
     ("tells_time", np.bool)]
)  # fmt: skip
_OF_TURN: Final = ("n", "grp", "said", "speaker", "characters", "words", "asks", "tells_time")
_TURNS: Final = """SELECT e.n, e.grp, e.valid_at, e.created_at, e.role, e.content_length,
    length(e.body) - length(replace(e.body, ' ', '')) + 1, substr(rtrim(e.body), -1) = char(63),
    substr(e.body, -e.content_length)
    FROM main.episodes e INDEXED BY turn WHERE e.n > ? AND e.source <> 'fact' AND e.content_length > 0 ORDER BY e.n"""
_WITHDRAWN: Final = f"""SELECT e.n, w.created_at, w.n FROM main.withdrawals w CROSS JOIN main.episodes e
    ON {has_id("e.uuid", "w.episode")} WHERE w.n > ? ORDER BY w.n"""
_STATE: Final = "SELECT (SELECT value FROM meta WHERE key = 'position'), (SELECT value FROM meta WHERE key = 'erased')"


class TurnCache:
    """The columns of the turns as of the last refresh, by number."""

    def __init__(self) -> None:
        self._last: tuple[tuple[int, ...] | None, int, Plateaus, Turns] | None = None
        self._withdrawal = -1  # the last that was read
        self._clear()
        self._state: tuple[int, int] | None = None  # position, and how often something was erased

    def __len__(self) -> int:
        return self._count

    def turns(self, groups: tuple[int, ...] | None, known: int, end: int) -> Turns:
        """Return the turns of some groups before a number that are known at a moment; the last answer is kept."""
        last = self._last
        if last is None or last[:2] != (groups, end) or not last[2].hold(known, known):
            plateaus = Plateaus.around((self._column("known"), known), (self._column("withdrawn"), known))
            last = self._last = groups, end, plateaus, self._chosen(groups, known, end)
        return last[3]

    def _chosen(self, groups: tuple[int, ...] | None, known: int, end: int) -> Turns:
        are_known = (self._column("known") <= known) & (self._column("withdrawn") > known) & (self._column("n") < end)
        if groups is not None:
            are_known &= np.isin(self._column("grp"), groups)
        places = np.flatnonzero(are_known)
        places = places[np.argsort(self._column("grp")[places], kind="stable")]
        chosen = {name: self._column(name)[places] for name in _OF_TURN}
        chosen["n"].setflags(write=False)  # a vector index keeps what follows from it
        spoke = np.flatnonzero(np.bincount(chosen["speaker"], minlength=len(self._speakers.names)))
        of_these = np.zeros(len(self._speakers.names), np.int32)
        of_these[spoke] = np.arange(len(spoke))
        chosen["speaker"] = of_these[chosen["speaker"]]
        at = np.full(int(chosen["n"].max(initial=-1)) + 1, -1, np.int64)
        at[chosen["n"]] = np.arange(len(places))
        return Turns(**chosen, at=at, speakers=tuple(self._speakers.names[number] for number in spoke.tolist()))

    def _column(self, name: str) -> NDArray[Any]:
        return self._columns[name][: self._count]

    def names(self, group: int, number: int) -> Container[str]:
        """Return the words of the names of those who had spoken in a group, up to a turn."""
        return self._speakers.words(group, number)

    def refresh(self, db: sqlite3.Connection, *, writing: bool) -> None:
        """Add the changes since the last refresh. writing: the open transaction may have uncommitted rows."""
        state: tuple[int, int] = db.execute(_STATE).fetchone()
        if state == self._state and not writing:
            return
        if self._state is None or state[1] != self._state[1]:
            self._clear()
        self._last = None
        numbers = self._column("n")
        last = int(numbers[-1]) if len(numbers) else -1
        rows = np.fromiter(self._read(db.execute(_TURNS, (last,))), ROW)
        self._extend(rows)
        self._speakers.note(rows)
        for number, at, n in db.execute(_WITHDRAWN, (self._withdrawal,)).fetchall():
            place = int(np.searchsorted(self._column("n"), number))
            if place < self._count and self._column("n")[place] == number:  # a structured fact is no turn
                self._column("withdrawn")[place] = min(at, self._column("withdrawn")[place])
            self._withdrawal = n
        self._state = state

    def _clear(self) -> None:
        self._columns: dict[str, NDArray[Any]] = {name: np.empty(0, ROW[name]) for name in ROW.fields or ()}
        self._count = 0
        self._withdrawal = -1
        self._speakers = GroupSpeakers()

    def _read(self, rows: Iterable[Any]) -> Iterator[tuple[Any, ...]]:
        for n, grp, said, known, role, characters, words, asks, text in rows:
            speaker = self._speakers.number(role)
            yield n, grp, said, known, INF, speaker, characters, words, asks, tells_time(text)

    def _extend(self, rows: NDArray[np.void]) -> None:
        need = self._count + len(rows)
        for name, column in self._columns.items():
            if need > len(column):
                grown = np.empty(max(need, 2 * self._count), column.dtype)
                grown[: self._count] = column[: self._count]
                self._columns[name] = grown
            self._columns[name][self._count : need] = rows[name]
        self._count = need
