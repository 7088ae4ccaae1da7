"""Copying what was committed from the write-ahead log into the file, beside the work: no commit waits for it."""

import sqlite3
from contextlib import closing, suppress
from pathlib import Path
from threading import Thread
from typing import Final

_EVERY: Final = 5_000  # records: where a thousand messages are committed at once, some 25 MB, nearly all of it indexes


class Checkpoints:
    """Those of the one writer of the file `path`, each in a thread and with a connection of its own.

    One that fails is made up for by the next, or by the commit that finds the log far too long.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._last: int | None = None  # position that was committed when the last one began
        self._running: Thread | None = None

    def committed(self, position: int) -> None:
        """Begin one, if many records were committed since the last, and that one is done."""
        if self._last is None:
            self._last = position
        if position - self._last >= _EVERY and (self._running is None or not self._running.is_alive()):
            self._last = position
            self._running = Thread(target=self._run)
            self._running.start()

    def wait(self) -> None:
        """Wait until none is going on."""
        if self._running is not None:
            self._running.join()

    def _run(self) -> None:
        with suppress(sqlite3.Error), closing(sqlite3.connect(self._path, isolation_level=None)) as db:
            db.execute("PRAGMA wal_checkpoint(PASSIVE)")
