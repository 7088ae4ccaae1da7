"""Reading ahead: another process reads and decodes a log while this one works on the records before.

Whatever becomes of that process, this one goes on by itself where it stopped, and meets the same errors at the same
positions.
"""

from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Final

from asof.runtime.child_process import Channel, ChildProcess
from asof_streams.events import Record
from asof_streams.plain_records import pack, unpack
from asof_streams.sqlite_log import SqliteLog

_FIRST: Final = 4_000  # records that this process reads itself, in the time that another one needs to start
_CHUNK: Final = 100  # records a message: several of them fit into the buffer of a socket
_NO_MORE: Final = b""


class ReadAhead:
    """A log of which long stretches are read ahead. Used by one thread, which has to live until it is closed."""

    def __init__(self, log: SqliteLog) -> None:
        self._log = log
        self._child: ChildProcess | None = None

    def read(self, start: int, stop: int) -> Iterator[Record]:
        """Yield the records of [start, stop), as the log does. One read at a time."""
        at = min(start + _FIRST, stop)
        if at < stop:
            self._start(at, stop)
        yield from self._log.read(start, at)
        for packed in self._packed():
            records = list(unpack(packed))
            yield from records
            at = records[-1][0] + 1
        yield from self._log.read(at, stop)

    def close(self) -> None:
        """End the other process."""
        if self._child is not None:
            self._child.kill()
            self._child = None

    def _start(self, start: int, stop: int) -> None:
        self.close()
        try:
            self._child = ChildProcess(_read, self._log.path, start, stop)
        except OSError:  # no more processes here
            self._child = None

    def _packed(self) -> Iterator[bytes]:
        """Yield what the other process sends, until it ends."""
        while self._child is not None:
            try:
                packed: bytes = self._child.receive()
            except Exception:  # noqa: BLE001 - whatever ended it, this process meets it where it goes on
                packed = _NO_MORE
            if packed == _NO_MORE:
                self.close()
            else:
                yield packed


def _read(channel: Channel, path: Path, start: int, stop: int) -> None:
    """Send the records of [start, stop), some at a time."""
    with SqliteLog(path) as log:
        records = log.read(start, stop)
        while chunk := list(islice(records, _CHUNK)):
            channel.send(pack(chunk))
    channel.send(_NO_MORE)
