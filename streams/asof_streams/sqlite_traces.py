"""The traces that messages were sent in, so that whoever processes them can say what led to it.

They are in the log's own file, so that they come with the messages, in one transaction. They are no part of the log's
history: not in the hash chain, in no digest and in no backup; kept for a day, and gone with any erasure before them.
"""

import sqlite3
from typing import Final

from asof_streams.instants import DAY

TABLE: Final = (  # created with the first one
    "CREATE TABLE traces (start INTEGER PRIMARY KEY, stop INTEGER NOT NULL, trace TEXT NOT NULL, "
    "at INTEGER NOT NULL) STRICT"
)
_LIFETIME: Final = DAY
_MANY: Final = 100  # expired ones deleted with each new one: they go faster than they come
_EXISTS: Final = "SELECT EXISTS (SELECT 1 FROM sqlite_schema WHERE name = 'traces')"
_DELETE_EXPIRED: Final = (
    "DELETE FROM traces WHERE start IN (SELECT start FROM traces ORDER BY start LIMIT ?) AND at <= ?"
)


class MessageTraces:
    """The traces of one log, as W3C traceparents. The caller holds the transaction of the connection."""

    def __init__(self, db: sqlite3.Connection) -> None:
        self._db = db

    def record(self, positions: range, trace: str, now: int) -> None:
        """Keep the trace of messages, for a day from now. now: UTC microseconds."""
        if not self._exists():
            self._db.execute(TABLE)
        self._db.execute(_DELETE_EXPIRED, (_MANY, now - _LIFETIME))
        self._db.execute(
            "INSERT OR REPLACE INTO traces VALUES (?, ?, ?, ?)", (positions.start, positions.stop, trace, now)
        )

    def of(self, position: int) -> str | None:
        """Return the trace of the message at a position; None: it has none, or it was forgotten."""
        if not self._exists():
            return None
        row = self._db.execute(
            "SELECT stop, trace FROM traces WHERE start <= ? ORDER BY start DESC LIMIT 1", (position,)
        ).fetchone()
        return str(row[1]) if row is not None and position < row[0] else None

    def erase(self, before: int) -> None:
        """Forget those of the messages before a position, whatever their group: nothing depends on them."""
        if self._exists():
            self._db.execute("DELETE FROM traces WHERE start < ?", (before,))

    def _exists(self) -> bool:
        return bool(self._db.execute(_EXISTS).fetchone()[0])
