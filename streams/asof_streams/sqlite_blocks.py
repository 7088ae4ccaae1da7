"""The closed blocks of a log, in the file that has the records behind them.

So a block is closed, and a group erased, in one transaction, and copies of the file have all of it. A row is one
block: the positions [start, stop), when their records were recorded first and last, the chain's hash before and after
them, their groups, and the records (asof_streams.block).
"""

import json
import struct
import zlib
from collections.abc import Iterator, Sequence
from typing import Any, Final, Protocol

from asof_streams.block import pack, unpack
from asof_streams.chain import Row
from asof_streams.errors import DamagedLog

SCHEMA: Final = (
    "CREATE TABLE blocks (start INTEGER PRIMARY KEY, stop INTEGER NOT NULL, earliest INTEGER NOT NULL, "
    "latest INTEGER NOT NULL, previous BLOB NOT NULL, hash BLOB NOT NULL, groups TEXT NOT NULL, "
    "records BLOB NOT NULL) STRICT"
)
_EXISTS: Final = "SELECT EXISTS (SELECT 1 FROM sqlite_schema WHERE name = 'blocks')"
_END: Final = "SELECT coalesce(max(stop), 0) FROM blocks"
_SELECT: Final = "SELECT start FROM blocks WHERE "
_IN_RANGE: Final = f"{_SELECT} start >= (SELECT max(start) FROM blocks WHERE start <= ?1) AND start < ?2 ORDER BY start"
_OF_GROUP: Final = (
    f"{_SELECT} start < ?2 AND stop > ?3 AND EXISTS (SELECT 1 FROM json_each(groups) WHERE value = ?1) ORDER BY start"
)
_LATER: Final = f"{_SELECT} latest > ?1 ORDER BY start LIMIT 1"
_KNOWN: Final = f"{_SELECT} stop > ?1 AND earliest <= ?2 ORDER BY start"
_ONE: Final = "SELECT stop, previous, hash, records FROM blocks WHERE start = ?"
_INSERT: Final = "INSERT INTO blocks VALUES (?, ?, ?, ?, ?, ?, ?, ?)"
_UPDATE: Final = "UPDATE blocks SET records = ? WHERE start = ?"


class File(Protocol):
    """The file of a log: asof_streams.sqlite_records.Records."""

    def query(self, sql: str, *values: Any, trusted: int) -> list[tuple[Any, ...]]: ...
    def damaged(self, position: int, reason: str) -> DamagedLog: ...


class Blocks:
    """The closed blocks of one log. Whatever writes is called within a transaction of the file's connection."""

    def __init__(self, file: File) -> None:
        self._file = file

    def end(self) -> int:
        """Return the position behind the last block; 0: none is closed."""
        return int(self._file.query(_END, trusted=0)[0][0]) if self._exist() else 0

    def rows(self, start: int, stop: int, *, with_hashes: bool) -> list[Row]:
        """Return the closed records of [start, stop), in order. DamagedLog: a block is not what was written.

        with_hashes: False leaves them out; damage of a salt then goes unnoticed, as it does where records have rows.
        """
        found = self._find(_IN_RANGE, start, stop, with_hashes=with_hashes)
        return [row for rows in found for row in rows if start <= row[0] < stop]

    def of_group(self, group: str, stop: int, start: int = 0) -> Iterator[list[Row]]:
        """Yield the records of each block of which a part is in [start, stop), and any is of a group."""
        return self._find(_OF_GROUP, group, stop, start)

    def each(self) -> Iterator[list[Row]]:
        """Yield the records of each block, in order."""
        return self._find(_IN_RANGE, 0, self.end())

    def first_later(self, instant: int) -> int | None:
        """Return the position of the first closed record that was recorded after an instant; None: none was."""
        return next((row[0] for rows in self._find(_LATER, instant) for row in rows if row[2] > instant), None)

    def first_known(self, position: int, instant: int) -> int | None:
        """Return the first closed position behind one that was recorded by an instant; None: none was."""
        found = (row for rows in self._find(_KNOWN, position + 1, instant) for row in rows)
        return next((row[0] for row in found if row[0] > position and row[2] <= instant), None)

    def close(self, previous: bytes, rows: Sequence[Row]) -> None:
        """Add the block of the records that follow the last one; `previous` is the chain's hash before them."""
        if not self._exist():
            self._file.query(SCHEMA, trusted=0)  # with the first block: a log without any is as it ever was
        times = [row[2] for row in rows]
        groups = json.dumps(sorted({row[1] for row in rows}), ensure_ascii=False)
        span = (rows[0][0], rows[-1][0] + 1, min(times), max(times))
        self._file.query(_INSERT, *span, previous, rows[-1][9], groups, pack(rows), trusted=span[0])

    def replace(self, rows: Sequence[Row]) -> None:
        """Write a block again, some of whose records have been erased."""
        self._file.query(_UPDATE, pack(rows), rows[0][0], trusted=rows[0][0])

    def _find(self, sql: str, *values: Any, with_hashes: bool = True) -> Iterator[list[Row]]:
        if not self._exist():
            return
        for (start,) in self._file.query(sql, *values, trusted=0):
            [(stop, previous, hash_, records)] = self._file.query(_ONE, start, trusted=start)
            try:
                rows = unpack(start, previous if with_hashes else None, records)
                whole = len(rows) == stop - start and (not with_hashes or rows[-1][9] == hash_)
            except (ValueError, TypeError, IndexError, struct.error, zlib.error):
                whole = False
            if not whole:
                raise self._file.damaged(start, "a closed block is not what was written")
            yield rows

    def _exist(self) -> bool:
        return bool(self._file.query(_EXISTS, trusted=0)[0][0])
