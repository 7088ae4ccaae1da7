"""A log's file read and written row by row, as it is stored: to back it up, and to restore it."""

from collections.abc import Iterable, Iterator
from contextlib import closing, contextmanager
from itertools import islice
from pathlib import Path
from typing import Final

from asof_streams import chain
from asof_streams.chain import Row
from asof_streams.errors import DamagedLog, InvalidInput
from asof_streams.instants import NEG
from asof_streams.sqlite import SqliteGuard, connect, create, transaction
from asof_streams.sqlite_records import REMEDY, Head, Records, empty_log_script

_CHUNK: Final = 1_000  # rows read or written at once
_INSERT: Final = f"INSERT INTO log VALUES ({', '.join('?' * 13)})"
_FIRST_LATER: Final = "SELECT min(position) FROM log WHERE recorded_at > ? AND position < ?"
_FIRST_KNOWN: Final = "SELECT min(position) FROM log WHERE position > ? AND position < ? AND recorded_at <= ?"
_DATED: Final = "INSERT INTO groups VALUES (?, ?) ON CONFLICT DO UPDATE SET recorded_at = excluded.recorded_at"


class StoredLog:
    """The rows of a log's file, up to where it ended when it was opened."""

    def __init__(self, path: Path, records: Records) -> None:
        self.head: Final = records.head()
        self._records = records
        self._name = path.stem

    def hash_at(self, position: int) -> bytes | None:
        """Return the chain's hash over the records before a position; None: the log ends before it."""
        if position > self.head.position:
            return None
        hash_: bytes = self._records.rows(position - 1, position)[0][9] if position else chain.genesis(self._name)
        return hash_

    def rows(self, start: int, stop: int | None = None) -> Iterator[Row]:
        """Yield the rows of [start, stop), each checked against the chain; no `stop`: all others. DamagedLog."""
        previous, end = self.hash_at(start), self.head.position
        assert previous is not None, "the log reaches that far"
        stop = end if stop is None else stop
        for at in range(start, stop, _CHUNK):
            for row in self._records.rows(at, min(at + _CHUNK, stop)):
                previous = self._records.expect_link(previous, row)
                yield row
        if stop == end and previous != self.head.hash:
            raise self._records.damaged(end - 1, "it is not the record that the log ended with")

    def caused_by(self, cause: int) -> int:
        """Return the position of the first record with this cause or a later one."""
        return next(self._records.caused_by(cause, self.head.position), self.head.position)

    def recorded_by(self, instant: int) -> int:
        """Return how many of the first records were recorded by an instant.

        InvalidInput: others that were stand behind one that was not, since a history was moved in.
        """
        end = self.head.position
        blocks = self._records.blocks
        later = blocks.first_later(instant)
        if later is None:
            ((later,),) = self._records.query(_FIRST_LATER, instant, end, trusted=0)
        stop: int = end if later is None else later
        known = blocks.first_known(stop, instant)
        if known is None:
            ((known,),) = self._records.query(_FIRST_KNOWN, stop, end, instant, trusted=0)
        if known is not None:
            raise InvalidInput(
                f"message {stop} was recorded after that moment, but message {known} behind it was not: histories were "
                "imported with their own times, one group after another, so no first part of the log is all of then",
                field="known_at",
            )
        return stop


@contextmanager
def stored_log(path: Path) -> Iterator[StoredLog]:
    """Open a log's file to copy its rows, while others may write to it. NotFound, DamagedLog."""
    with SqliteGuard(path, REMEDY, DamagedLog), closing(connect(path, writable=False, durable=False)) as db:
        yield StoredLog(path, Records(path, db))


def restore_rows(path: Path, start: int, rows: Iterable[Row], end: Head) -> None:
    """Add the rows from position `start` to a log's file, which is made where there is none.

    DamagedLog: they do not follow from what is there, or do not lead to `end`.
    """
    if not path.exists():
        create(path, empty_log_script(path.stem))
    with SqliteGuard(path, REMEDY, DamagedLog), closing(connect(path, writable=True, durable=True)) as db:
        records = Records(path, db)
        head = records.head()
        if head.position != start:
            raise DamagedLog(f"{path.name} ends at {head.position}: a backup from {start} on cannot follow")
        with transaction(db):
            position, previous, rest = start, head.hash, iter(rows)
            cause = records.cause_of(start - 1) if start else NEG
            tellings = []
            while some := list(islice(rest, _CHUNK)):
                for row in some:
                    if row[0] != position:
                        raise records.damaged(position, "it is missing")
                    if row[3] < cause:
                        tellings.append(position)
                    previous, position, cause = records.expect_link(previous, row), position + 1, row[3]
                db.executemany(_INSERT, some)
                db.executemany(_DATED, {row[1]: row[2] for row in some}.items())
            if (position, previous) != (end.position, end.hash):
                raise records.damaged(position, "it is not the record that the log ended with")
            records.add_tellings(tellings)
            records.put_head(end)
