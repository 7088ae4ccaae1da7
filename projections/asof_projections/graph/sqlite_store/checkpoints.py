"""Checkpoints of SQLite's write-ahead log in a background thread, so that no commit waits for one."""

import sqlite3
from contextlib import closing, suppress
from pathlib import Path
from threading import Thread
from typing import Final

_EVERY: Final = 5_000  # records: where a thousand messages are committed at once, some 25 MB, nearly all of it indexes


class Checkpoints:
    """The checkpoints of the file `path`, begun by its one writer; each has its own thread and connection.

    A checkpoint that fails does no harm: the next one copies its pages too, and so does SQLite itself once the log is
    very long.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._last: int | None = None  # the committed position when the last checkpoint began
        self._running: Thread | None = None

    def committed(self, position: int) -> None:
        """Begin a checkpoint, if many records were committed since the last one began, and that one is done."""
        if self._last is None:
            self._last = position
        if position - self._last >= _EVERY and (self._running is None or not self._running.is_alive()):
            self._last = position
            self._running = Thread(target=self._run)
            self._running.start()

    def wait(self) -> None:
        """Wait until no checkpoint is running."""
        if self._running is not None:
            self._running.join()

    def _run(self) -> None:
        with suppress(sqlite3.Error), closing(sqlite3.connect(self._path, isolation_level=None)) as db:
            db.execute("PRAGMA wal_checkpoint(PASSIVE)")
