"""Compression of a log: old records are closed into blocks beside readers and writers, new ones as they are appended.

A record is closed in the transaction that deletes its row, so a crash loses nothing, and whoever reads finds it in one
place or in the other. Nothing of the log's history changes: its positions, hashes and answers are the same.
"""

import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing
from pathlib import Path
from sqlite3 import Connection
from typing import Final

from asof_streams import chain
from asof_streams.chain import Row
from asof_streams.content_keys import is_throw_away
from asof_streams.errors import DamagedLog
from asof_streams.messages import Message
from asof_streams.sqlite import SqliteGuard, connect, owe_vacuum, transaction, vacuum
from asof_streams.sqlite_records import REMEDY, Records

RECORDS: Final = 64  # of a block: one is read in half a millisecond, and larger blocks are hardly smaller
KEEP: Final = 1_024  # of the newest records: they may be written to, and are read most
_BYTES: Final = 1 << 20  # of the payloads of a block of more than one record
_BATCH: Final = 1_024  # records closed in one transaction, for which writers wait
_PAUSE_SECONDS: Final = 0.02  # after each, in which they write
_MOST_EARLIER: Final = 16_384  # uncompressed records that an append closes before its own; writers wait for it
_DELETE: Final = "DELETE FROM log WHERE position < ?"
_FLAG: Final = b'"suppress_content":true'  # JSON escapes the quotes of a text, so it is the field


def compress(path: Path, *, keep: int = KEEP, size: int = RECORDS) -> int:
    """Close the records of a log but for the newest `keep`, in blocks of `size`; return how many were closed now.

    The file gives back the space, now or, where a reader prevents it, when it is next written to. What waits for
    `suppress` is not closed, nor what stands behind it, nor what is written after this began: so it ends however fast
    that is. NotFound. DamagedLog: all before the damage is closed.
    """
    closed = 0
    with SqliteGuard(path, REMEDY, DamagedLog), closing(connect(path, writable=True, durable=True)) as db:
        records = Records(path, db)
        end = records.head().position - keep
        while True:
            with transaction(db):
                start = records.blocks.end()
                ready = min(_BATCH, end - start) // size * size
                stop = _close(records, path.stem, range(start, start + ready), size) if ready > 0 else start
                if start < stop:
                    db.execute(_DELETE, (stop,))
                    owe_vacuum(db)
            if start == stop:
                break
            closed += stop - start
            time.sleep(_PAUSE_SECONDS)
        if closed:
            vacuum(db)
    return closed


def close_appended(db: Connection, records: Records, name: str, previous: bytes, rows: Sequence[Row]) -> bool:
    """Write new records as closed blocks, and close all records before them, in the open transaction.

    False: nothing new was written, since an earlier record may still change or is damaged, or too many are not closed.
    previous: the chain's hash before the new records.
    """
    start, stop = records.blocks.end(), rows[0][0]
    if stop - start > _MOST_EARLIER:
        return False
    if start < stop:
        try:
            closed = _close(records, name, range(start, stop), RECORDS)
        except DamagedLog:  # `verify` says so: appends go on, as they do where nothing is compressed
            closed = records.blocks.end()
        db.execute(_DELETE, (closed,))
        if closed < stop:
            return False
    for some in _split(rows, RECORDS):
        records.blocks.close(previous, some)
        previous = some[-1][9]
    return True


def _close(records: Records, name: str, positions: range, size: int) -> int:
    """Close records, up to the first that is still to change; return where those that are closed end."""
    start, stop = positions.start, positions.stop
    previous = records.rows(start - 1, start)[0][9] if start else chain.genesis(name)
    for rows in _split(_checked(records, previous, records.rows(start, stop)), size):
        records.blocks.close(previous, rows)
        previous, start = rows[-1][9], rows[-1][0] + 1
    return start


def _checked(records: Records, previous: bytes, rows: Iterable[Row]) -> Iterator[Row]:
    for row in rows:
        if row[12] is not None and (is_throw_away(row[12]) or (row[7] == Message.type and _FLAG in row[12])):
            return
        previous = records.expect_link(previous, row)
        yield row


def _split(rows: Iterable[Row], size: int) -> Iterator[Sequence[Row]]:
    block: list[Row] = []
    taken = 0
    for row in rows:  # blocks end at multiples of the size, as reads do, so no block is read twice
        if block and (row[0] % size == 0 or taken + len(row[12] or b"") > _BYTES):
            yield block
            block, taken = [], 0
        block.append(row)
        taken += len(row[12] or b"")
    if block:
        yield block
