"""Idempotency keys: the positions that each request with a key of its caller's got, so that a retry adds nothing.

They are in the log's own file, so that a request and its messages are written in one transaction. They are no part of
the log's history: they are kept for a day, are not in the hash chain, and are erased with their group.
"""

import sqlite3
from collections.abc import Iterable, Sequence
from typing import Final, NamedTuple

from asof_streams.errors import InvalidInput
from asof_streams.instants import DAY
from asof_streams.messages import AnyMessage

_TABLE: Final = (
    "CREATE TABLE requests (start INTEGER PRIMARY KEY, size INTEGER NOT NULL, key BLOB NOT NULL, said BLOB NOT NULL, "
    "grp TEXT NOT NULL, at INTEGER NOT NULL) STRICT"
)
SCHEMA: Final = (_TABLE, "CREATE UNIQUE INDEX request_key ON requests (key)")  # created with the first key
LIFETIME: Final = DAY
_MANY: Final = 100  # expired keys deleted with each new one: they go faster than they come
_EXISTS: Final = "SELECT EXISTS (SELECT 1 FROM sqlite_schema WHERE name = 'requests')"
_DELETE_EXPIRED: Final = (
    "DELETE FROM requests WHERE start IN (SELECT start FROM requests ORDER BY start LIMIT ?) AND at <= ?"
)


class KeyedRequest(NamedTuple):
    """A request with an idempotency key: a digest of the key, and one of the request itself.

    said None: the one that had the key, whatever it was; such a request is looked up, and never recorded.
    """

    key: bytes
    said: bytes | None


class Submission(NamedTuple):
    """The messages that one caller gives, the request that they come with, and the trace that they belong to."""

    messages: Sequence[AnyMessage]
    request: KeyedRequest | None = None
    trace: str | None = None


class Requests:
    """The requests with a key of one log. The caller holds the transaction of the connection."""

    def __init__(self, db: sqlite3.Connection) -> None:
        self._db = db

    def positions_of(self, request: KeyedRequest, now: int) -> range | None:
        """Return the positions of a request's messages; None: it was not accepted in the last day.

        now: UTC microseconds. InvalidInput: another request had the same key.
        """
        if not self._exists():
            return None
        row = self._db.execute(
            "SELECT start, size, said FROM requests WHERE key = ? AND at > ?", (request.key, now - LIFETIME)
        ).fetchone()
        if row is None:
            return None
        start, size, said = row
        if request.said not in (None, said):
            raise InvalidInput("this key was used for another request: send a new one, or the same request again")
        return range(start, start + size)

    def record(self, request: KeyedRequest, positions: range, group: str, now: int) -> None:
        """Keep the positions of a request's messages."""
        if not self._exists():
            for statement in SCHEMA:
                self._db.execute(statement)
        row = (positions.start, len(positions), request.key, request.said, group, now)
        self._db.execute(_DELETE_EXPIRED, (_MANY, now - LIFETIME))
        self._db.execute("INSERT OR REPLACE INTO requests VALUES (?, ?, ?, ?, ?, ?)", row)

    def erase(self, group: str, before: int) -> None:
        """Delete a group's requests whose messages begin before a position."""
        if self._exists():
            self._db.execute("DELETE FROM requests WHERE grp = ? AND start < ?", (group, before))

    def redact(self, positions: Iterable[int]) -> None:
        """Delete the requests that have a message at one of these positions."""
        if self._exists():
            asked = ((at, at) for at in positions)
            self._db.executemany("DELETE FROM requests WHERE start <= ? AND ? < start + size", asked)

    def _exists(self) -> bool:
        return bool(self._db.execute(_EXISTS).fetchone()[0])
