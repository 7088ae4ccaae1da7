"""The stored form of a log: its SQLite tables, and reads that check everything that can be checked.

Records are rows of a table, but for those of closed blocks (asof_streams.sqlite_blocks), which stand before them.
"""

import sqlite3
import struct
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from itertools import pairwise, product
from pathlib import Path
from typing import Any, Final, NamedTuple

from asof_streams import chain
from asof_streams.chain import Row
from asof_streams.errors import DamagedLog
from asof_streams.sqlite import SqliteGuard
from asof_streams.sqlite_blocks import SCHEMA as BLOCKS
from asof_streams.sqlite_blocks import Blocks
from asof_streams.sqlite_requests import SCHEMA as REQUESTS
from asof_streams.sqlite_traces import TABLE as TRACES

# A record has salt and payload; an erased one has the seal alone. `head` is one row with the log's end and checkpoint;
# its digest reveals a log that was cut short. `groups` has the recorded time of each group's last record.
_LOG: Final = (
    "CREATE TABLE log (position INTEGER PRIMARY KEY, grp TEXT NOT NULL, recorded_at INTEGER NOT NULL, "
    "cause INTEGER NOT NULL, place INTEGER NOT NULL, size INTEGER NOT NULL, term INTEGER NOT NULL, type TEXT NOT NULL, "
    "version INTEGER NOT NULL, hash BLOB NOT NULL, salt BLOB, seal BLOB, payload BLOB) STRICT"
)
_HEADS: Final = (
    "CREATE TABLE head (position INTEGER NOT NULL, hash BLOB NOT NULL, checkpoint INTEGER NOT NULL, "
    "term INTEGER NOT NULL, digest BLOB NOT NULL) STRICT"
)
_GROUPS: Final = "CREATE TABLE groups (grp TEXT PRIMARY KEY, recorded_at INTEGER NOT NULL) STRICT, WITHOUT ROWID"
_SCHEMA: Final = (_LOG, _HEADS, _GROUPS)
# After a redaction what is left of a group is told again, under its causes. `tellings` has where each such telling
# begins; it is not there before the first. Within a telling causes never decrease.
_TELLINGS: Final = "CREATE TABLE tellings (position INTEGER PRIMARY KEY) STRICT"
_HAS_TELLINGS: Final = "SELECT 1 FROM sqlite_schema WHERE name = 'tellings'"
_FORMS: Final = {
    frozenset((*_SCHEMA, *a, *b, *c, *d))
    for a, b, c, d in product(((), REQUESTS), ((), (BLOCKS,)), ((), (_TELLINGS,)), ((), (TRACES,)))
}
_SELECT: Final = (
    "SELECT position, grp, recorded_at, cause, place, size, term, type, version, hash, salt, seal, payload "
    "FROM log WHERE position >= ? AND position < ? ORDER BY position"
)
_NUMBERS: Final = struct.Struct(">3q")

REMEDY: Final = "restore it from a backup; any log but `messages` can also be made again from the log before it"


class Head(NamedTuple):
    """The end of a log, its checkpoint, and the term of its writer."""

    position: int  # of the next record
    hash: bytes  # over all records
    checkpoint: int
    term: int

    def digest(self) -> bytes:
        return chain.seal(self.hash, _NUMBERS.pack(self.position, self.checkpoint, self.term))


def empty_log_script(name: str) -> str:
    """Return the SQL script that creates an empty log."""
    head = Head(0, chain.genesis(name), 0, 0)
    return ";".join([*_SCHEMA, f"INSERT INTO head VALUES (0, x'{head.hash.hex()}', 0, 0, x'{head.digest().hex()}')"])


class Records:
    """The rows of a log's file. DamagedLog names the first position that cannot be trusted."""

    def __init__(self, path: Path, db: sqlite3.Connection) -> None:
        self._path = path
        self._db = db
        self._guard = SqliteGuard(path, REMEDY, DamagedLog)
        self._head: tuple[Row, Head] | None = None  # the row read or written last, and what it says
        self.blocks: Final = Blocks(self)
        tables = frozenset(sql for (sql,) in self.query("SELECT sql FROM sqlite_schema", trusted=0))
        if tables not in _FORMS:
            raise self.damaged(0, "its tables are not those of a log that this version knows")

    def head(self) -> Head:
        rows = self.query("SELECT position, hash, checkpoint, term, digest FROM head", trusted=0)
        if self._head is not None and rows == [self._head[0]]:  # as it was written or checked here before
            return self._head[1]
        try:
            [(*fields, digest)] = rows
            head = Head(*fields)
            if head.digest() == digest:
                self._head = rows[0], head
                return head
        except (TypeError, ValueError, struct.error):
            pass
        raise self.damaged(0, "the row that says how far the log goes is not what was written")

    def put_head(self, head: Head) -> None:
        (position, hash_, checkpoint, term), digest = head, head.digest()
        values = (position, bytearray(hash_), checkpoint, term, bytearray(digest))  # sqlite3 binds these fastest
        self._db.execute("UPDATE head SET position = ?, hash = ?, checkpoint = ?, term = ?, digest = ?", values)
        self._head = (*head, digest), head

    def rows(self, start: int, stop: int, *, with_hashes: bool = True) -> list[Row]:
        """Return the rows of [start, stop), in order. DamagedLog: one of them is missing or cannot be read.

        with_hashes: False leaves out those of closed records, which halves the time. Where the range cannot be
        read, halves of it are tried, so that the error names the first bad position.
        """
        try:
            rows = self.query(_SELECT, start, stop, trusted=start)
        except DamagedLog:
            if stop - start == 1:
                raise
            middle = (start + stop) // 2
            return self.rows(start, middle, with_hashes=with_hashes) + self.rows(middle, stop, with_hashes=with_hashes)
        first = rows[0][0] if rows else stop
        if start < first:  # they are closed, or were closed since the log began to be read
            rows = self.blocks.rows(start, first, with_hashes=with_hashes) + rows
        for position, row in enumerate(rows, start):
            if row[0] != position:
                raise self.damaged(position, "it is missing")
        if len(rows) < stop - start:
            raise self.damaged(start + len(rows), "it is missing")
        return rows

    def cause_of(self, position: int) -> int:
        """Return the cause of a record, also of an erased one."""
        cause: int = self.rows(position, position + 1, with_hashes=False)[0][3]
        return cause

    def tellings(self) -> list[int]:
        """Return the positions at which something is told again, in order: the causes before are later ones."""
        if not self.query(_HAS_TELLINGS, trusted=0):
            return []
        return [at for (at,) in self.query("SELECT position FROM tellings ORDER BY position", trusted=0)]

    def add_tellings(self, positions: Sequence[int]) -> None:
        """Note, in the open transaction, positions at which something is told again."""
        if not positions:
            return
        if not self._db.execute(_HAS_TELLINGS).fetchone():
            self._db.execute(_TELLINGS)
        self._db.executemany("INSERT INTO tellings VALUES (?)", ((at,) for at in positions))

    def caused_by(self, cause: int, end: int) -> Iterator[int]:
        """Yield, for each telling in order, the position of its first record with this cause or a later one, if any."""
        for start, stop in pairwise([0, *(at for at in self.tellings() if at < end), end]):
            found = bisect_left(range(stop), cause, start, key=self.cause_of)
            if found < stop:
                yield found

    def expect_link(self, previous: bytes, row: Row) -> bytes:
        """Return a record's hash. DamagedLog: it does not follow from the previous hash and the record."""
        envelope, (stored, salt, sealed, payload) = row[:9], row[9:]
        try:
            if payload is not None:
                sealed = chain.seal(salt, payload)
            expected = chain.link(previous, envelope, sealed)
        except (TypeError, struct.error):
            expected = b""
        if stored != expected:
            raise self.damaged(row[0], "it is not what was written")
        return expected

    def expect_erased(self, row: Row) -> None:
        """Check that a record without a payload has its seal."""
        if row[11] is None:
            raise self.damaged(row[0], "its payload is missing")

    def query(self, sql: str, *values: Any, trusted: int) -> list[Row]:
        """Return the rows of a query. DamagedLog: it failed; records before position `trusted` are intact."""
        try:
            with self._guard:
                return self._db.execute(sql, values).fetchall()
        except DamagedLog:
            raise self.damaged(trusted, "the file cannot be read there") from None

    def damaged(self, position: int, reason: str) -> DamagedLog:
        return DamagedLog(f"{self._path} is damaged from position {position} on: {reason}; {REMEDY}")
