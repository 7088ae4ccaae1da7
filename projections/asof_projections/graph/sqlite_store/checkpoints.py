"""Checkpoints of SQLite's write-ahead log in a background thread, so that no commit waits for one."""

import sqlite3
from contextlib import closing, suppress
from pathlib import Path
from threading import Thread
from typing import Final

# A message alone writes some 100 KB, nearly all of it pages of indexes; a thousand in one commit 25 MB.
_WAL_BYTES: Final = 16 << 20
_CHECKPOINT: Final = "PRAGMA wal_checkpoint(PASSIVE)"


class Checkpoints:
    """The checkpoints of the file `path`, which `writer` alone writes to; each has its own thread and connection.

    A log that is copied whole begins anew with the next commit, cut to 16 MiB, if nobody reads from it. A checkpoint
    that fails does no harm: the next one copies its pages too, and so does SQLite itself once the log is very long.
    """

    def __init__(self, path: Path, writer: sqlite3.Connection) -> None:
        self._path, self._writer = path, writer
        file = path.resolve()  # beside it SQLite has its log, where the path is a link
        self._log = file.with_name(f"{file.name}-wal")
        self._begun_at = 0  # bytes of the log when the last checkpoint began, 0 once it was cut
        self._running: Thread | None = None
        writer.execute(f"PRAGMA journal_size_limit = {_WAL_BYTES}")

    def committed(self) -> None:
        """Begin a checkpoint, if the log has grown by 16 MiB since the last one began.

        Behind one that is done, copy what was committed meanwhile: little, but without it the log never begins anew.
        """
        with suppress(sqlite3.Error, OSError):
            size = self._log.stat().st_size
            if size < self._begun_at:  # it was cut
                self._begun_at = 0
            if self._running is None:
                self._begin(size)
            elif not self._running.is_alive():
                self._running = None
                self._writer.execute(_CHECKPOINT)

    def wait(self) -> None:
        """Wait until no checkpoint is running."""
        if self._running is not None:
            self._running.join()

    def _begin(self, size: int) -> None:
        if size > self._begun_at + _WAL_BYTES:
            self._begun_at = size
            self._running = Thread(target=self._run)
            self._running.start()

    def _run(self) -> None:
        with suppress(sqlite3.Error), closing(sqlite3.connect(self._path, isolation_level=None)) as db:
            db.execute(_CHECKPOINT)
