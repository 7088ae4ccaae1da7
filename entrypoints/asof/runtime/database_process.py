"""A SQLite file that another process writes while this one derives, so that a bulk load uses two cores.

Statements go there in order and are not waited for, but for those that ask: these cost some hundred times what they
cost here. So where many are asked, as by messages of chat, the file is taken over, and all goes on in this process.
"""

import marshal
import sqlite3
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Final, cast

from asof.runtime.child_process import Channel, ChannelClosed, ChildProcess
from asof_projections.graph.sqlite_store.store import REMEDY
from asof_streams.errors import DamagedView, StorageFailed
from asof_streams.sqlite import SqliteGuard, connect

_ASKING: Final = ("SELECT", "PRAGMA", "WITH")
_FEW: Final = 500  # questions, such as those of opening a store, that say nothing of what is to come
_ROWS: Final = 20  # that a process can have written by another one in the time of one question
_CLOSE: Final = b""
_FORMAT: Final = 2  # of marshal: later ones look for equal objects, of which there are few


class Rows:
    """The answer to a question, as a cursor of SQLite gives it."""

    def __init__(self, rows: Sequence[Any]) -> None:
        self._rows = iter(rows)

    def fetchone(self) -> Any:
        return next(self._rows, None)

    def fetchall(self) -> list[Any]:
        return list(self._rows)

    def __iter__(self) -> Iterator[Any]:
        return self._rows


class DatabaseProcess:
    """As much of a sqlite3.Connection in autocommit mode as a graph store uses, of a file that nobody else has open.

    An error of a statement is raised by a later one, or by `close`. StorageFailed: the process has ended. OSError: it
    cannot be started. The thread that makes this has to live as long as it.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._child = ChildProcess(_serve, path)
        self._here: sqlite3.Connection | None = None  # once the file was taken over
        self._in_transaction = False
        self._settings: list[str] = []  # of the connection, to be made again where it is taken over
        self._asked = self._written = 0
        self._has_failed = False

    @property
    def in_transaction(self) -> bool:
        """Whether a transaction is open."""
        return self._in_transaction if self._here is None else self._here.in_transaction

    def execute(self, sql: str, values: Any = ()) -> Any:
        """Execute a statement; return its rows, if it is a question."""
        if self._here is None and sql.lstrip().startswith(_ASKING):
            if "=" in sql and sql.startswith("PRAGMA"):
                self._settings.append(sql)
            self._asked += 1
            if self._asked < _FEW or self._asked * _ROWS < self._written:
                self._send(sql, values, is_question=True)
                return Rows(self._receive())
            self._take_over()
        if self._here is not None:
            return self._here.execute(sql, values)
        self._send(sql, values)
        word = sql.partition(" ")[0]
        if word in ("BEGIN", "COMMIT", "ROLLBACK"):
            self._in_transaction = word == "BEGIN"
        return Rows(())

    def executemany(self, sql: str, rows: Sequence[tuple[Any, ...]]) -> None:
        """Execute a statement for each row."""
        if self._here is not None:
            self._here.executemany(sql, rows)
            return
        self._written += len(rows)
        self._send(sql, rows, is_many=True)

    def close(self) -> None:
        """Wait until all is done, and close the file."""
        if self._here is not None:
            self._here.close()
        elif not self._has_failed:
            self._finish()

    def _take_over(self) -> None:
        """Have the other process close the file, and go on here."""
        was_open = self._in_transaction
        if was_open:
            self._send("COMMIT", ())
        self._finish()
        self._here = connect(self._path, writable=True, durable=False)
        for setting in self._settings:
            self._here.execute(setting)
        if was_open:
            self._here.execute("BEGIN IMMEDIATE")

    def _finish(self) -> None:
        try:
            self._send_message(_CLOSE)
            self._receive()
        finally:
            self._child.kill()

    def _send(self, sql: str, values: Any, *, is_many: bool = False, is_question: bool = False) -> None:
        self._send_message(marshal.dumps((sql, values, is_many, is_question), _FORMAT))

    def _send_message(self, message: bytes) -> None:
        try:
            self._child.send(message)
        except ChannelClosed:
            self._receive()  # what ended it
            raise

    def _receive(self) -> Any:
        try:
            return self._child.receive()
        except Exception as error:
            self._has_failed = True
            self._child.kill()
            if isinstance(error, ChannelClosed):
                raise StorageFailed(f"{self._path}: the process that writes it has ended") from None
            raise


def _serve(channel: Channel, path: Path) -> None:
    """Execute statements until the last."""
    with SqliteGuard(path, REMEDY, DamagedView):
        db = connect(path, writable=True, durable=False)
        while (message := channel.receive()) != _CLOSE:
            sql, values, is_many, is_question = marshal.loads(message)  # noqa: S302 - from a process of ours
            if is_many:
                db.executemany(sql, values)
                continue
            cursor = db.execute(sql, values)
            if is_question:
                channel.send(cursor.fetchall())
        db.close()
    channel.send(None)


def open_elsewhere(path: Path) -> sqlite3.Connection:
    """Open a file in a process of its own, where one can be started, else in this one."""
    try:
        return cast("sqlite3.Connection", DatabaseProcess(path))
    except OSError:
        return connect(path, writable=True, durable=False)
