"""Requests under a key of the caller's: what each put on the log, so that one that is sent again adds nothing.

They stand in the log's own file, and change with it in one transaction. They are no part of its history: they are kept
for a day, are in no chain, and are forgotten with their group.
"""

import sqlite3
from typing import Final, NamedTuple

from asof_streams.errors import InvalidInput
from asof_streams.instants import DAY

_TABLE: Final = (
    "CREATE TABLE requests (start INTEGER PRIMARY KEY, size INTEGER NOT NULL, key BLOB NOT NULL, said BLOB NOT NULL, "
    "grp TEXT NOT NULL, at INTEGER NOT NULL) STRICT"
)
SCHEMA: Final = (_TABLE, "CREATE UNIQUE INDEX request_key ON requests (key)")  # made with the first that has a key
LIFETIME: Final = DAY
_MANY: Final = 100  # old ones forgotten at once: more than one comes, so none stays long
_THERE: Final = "SELECT EXISTS (SELECT 1 FROM sqlite_schema WHERE name = 'requests')"
_FORGET_OLD: Final = (
    "DELETE FROM requests WHERE start IN (SELECT start FROM requests ORDER BY start LIMIT ?) AND at <= ?"
)


class Request(NamedTuple):
    """What a caller sends under a key: the key, and all that is asked, each as a digest."""

    key: bytes
    said: bytes


class Requests:
    """The requests of one log, read and written through its connection, whose transaction the caller holds."""

    def __init__(self, db: sqlite3.Connection) -> None:
        self._db = db

    def made(self, request: Request, now: int) -> range | None:
        """Return the positions of what this request put on the log; None where it was not made within a day.

        InvalidInput: another request was made under its key.
        """
        if not self._known():
            return None
        found = self._db.execute(
            "SELECT start, size, said FROM requests WHERE key = ? AND at > ?", (request.key, now - LIFETIME)
        ).fetchone()
        if found is None:
            return None
        start, size, said = found
        if said != request.said:
            raise InvalidInput("this key was used for another request: send a new one, or the same request again")
        return range(start, start + size)

    def note(self, request: Request, positions: range, group: str, now: int) -> None:
        """Keep what a request put on the log."""
        if not self._known():
            for statement in SCHEMA:
                self._db.execute(statement)
        row = (positions.start, len(positions), request.key, request.said, group, now)
        self._db.execute(_FORGET_OLD, (_MANY, now - LIFETIME))
        self._db.execute("INSERT OR REPLACE INTO requests VALUES (?, ?, ?, ?, ?, ?)", row)

    def forget(self, group: str, before: int) -> None:
        """Forget those of a group that put something before a position."""
        if self._known():
            self._db.execute("DELETE FROM requests WHERE grp = ? AND start < ?", (group, before))

    def _known(self) -> bool:
        return bool(self._db.execute(_THERE).fetchone()[0])
