"""The recorded times of the groups of a log: each record's is later than that of the record before it in its group.

The log's file has that of each group's last record, in the table `groups`.
"""

import sqlite3
from collections.abc import Mapping, Sequence
from typing import Final

from asof_streams.errors import PositionConflict
from asof_streams.instants import NEG, SECOND

_DATED: Final = "INSERT INTO groups VALUES (?, ?) ON CONFLICT DO UPDATE SET recorded_at = excluded.recorded_at"
_EQUAL_TIMES: Final = SECOND  # a million imported messages of one moment rise by a microsecond each


class RecordedTimes:
    """The recorded times of one log, in UTC microseconds. The caller holds the transaction of the connection."""

    def __init__(self, db: sqlite3.Connection) -> None:
        self._db = db
        self._latest = (0, NEG)  # the end of the log when that was its latest recorded time
        self._last: tuple[int, Mapping[str, int]] = (-1, {})  # its end behind the last append, whose groups these are

    def next(self, end: int, groups: Sequence[str], clock: int, recorded: Sequence[int] | None) -> list[int]:
        """Return the recorded times of further messages, given the group of each, behind the end of the log.

        recorded: those that imported messages bring; else it is the clock, or later where the log is ahead of it.
        PositionConflict: an imported one was recorded before the message that it follows.
        """
        last: dict[str, int] = {}  # the last recorded time of each group, as this log has it
        imported: dict[str, int] = {}  # the same as `recorded` has it: it stands still where those rise
        times = []
        latest = self.latest(end) if recorded is None else NEG
        known = self._last[1] if self._last[0] == end else {}  # most appends are of a group of the one before
        for index, group in enumerate(groups):
            before = last[group] if group in last else known[group] if group in known else self.last(group)
            at = clock if recorded is None else recorded[index]
            if recorded is not None and at < imported.get(group, before - _EQUAL_TIMES):
                raise PositionConflict(
                    f"group {group}: message {index + 1} was recorded before the one that it follows"
                )
            imported[group] = at
            last[group] = at = max(at, latest, before + 1)
            times.append(at)
        return times

    def note(self, start: int, stop: int, times: Mapping[str, int], latest: int) -> None:
        """Keep the times of the records of [start, stop): of each group that of its last one, and the latest of all."""
        self._db.executemany(_DATED, times.items())
        self._last = (stop, times)
        is_known = self._latest[0] == start
        self._latest = (stop, max(self._latest[1], latest)) if is_known else (-1, NEG)

    def forget(self) -> None:
        """Forget what was noted: it may be of a transaction that was rolled back."""
        self._latest, self._last = (-1, NEG), (-1, {})

    def latest(self, end: int) -> int:
        """Return the latest of a log that ends at a position; NEG where there is no record."""
        if self._latest[0] != end:  # another writer was here, or the log has just been opened
            ((at,),) = self._db.execute("SELECT max(recorded_at) FROM groups")
            self._latest = end, NEG if at is None else at
        return self._latest[1]

    def last(self, group: str) -> int:
        """Return that of a group's last record; NEG if it has none."""
        row = self._db.execute("SELECT recorded_at FROM groups WHERE grp = ?", (group,)).fetchone()
        return NEG if row is None else row[0]

    def earliest(self, group: str) -> int:
        """Return the earliest that an imported message of a group may have."""
        return self.last(group) - _EQUAL_TIMES
