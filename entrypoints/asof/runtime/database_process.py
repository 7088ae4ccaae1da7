"""What another process writes while this one derives, so that a build uses two cores: a graph, and the log of it.

Statements go there in order and are not waited for, but for those that ask: these cost some hundred times what they
cost here. So where many are asked, as by messages of chat, both are taken over, and all goes on in this process.
"""

import marshal
import sqlite3
from collections.abc import Iterator, Sequence
from pathlib import Path
from queue import Queue
from threading import Thread
from typing import Any, Final

from asof.runtime.child_process import Channel, ChannelClosed, ChildProcess
from asof_agents.layer import Layer
from asof_projections.graph.sqlite_store.store import REMEDY, SqliteGraph
from asof_streams.errors import DamagedView, StorageFailed
from asof_streams.sqlite import SqliteGuard, connect
from asof_streams.sqlite_log import EncodedEvent, SqliteLog

_ASKING: Final = ("SELECT", "PRAGMA", "WITH")
_FEW: Final = 500  # questions, such as those of opening a store, that say nothing of what is to come
_ROWS: Final = 20  # that a process can have written by another one in the time of one question
_CLOSE: Final = b""
_ONE, _MANY, _ASK, _APPEND = range(4)  # what to do: execute a statement, once or for each row, answer it; append
_WAITING: Final = 16  # messages that wait to be sent, each of some megabytes at most: about what one flush comes to
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
        self._outbox = _Outbox(self._child)
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
                self._send(sql, values, _ASK)
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
        self._send(sql, rows, _MANY)

    def append(self, log: SqliteLog, start: int, rows: Sequence[tuple[Any, ...]], checkpoint: int) -> bool:
        """Have encoded events appended to a log that this process does not write meanwhile; False: it is to do so.

        rows: group, recorded_at, cause, place, size, type, version and payload of each.
        """
        if self._here is None:
            self._send(str(log.path), (log.term, start, rows, checkpoint), _APPEND)
        return self._here is None

    def settle(self) -> None:
        """Wait until all is done."""
        if self._here is None:
            self.execute("SELECT 1")

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
            self._kill()

    def _send(self, sql: str, values: Any, kind: int = _ONE) -> None:
        self._send_message(marshal.dumps((sql, values, kind), _FORMAT))

    def _send_message(self, message: bytes) -> None:
        if self._outbox.is_closed:
            self._receive()  # what ended it
        self._outbox.put(message)

    def _kill(self) -> None:
        self._child.abort()
        self._outbox.close()
        self._child.kill()

    def _receive(self) -> Any:
        try:
            return self._child.receive()
        except Exception as error:
            self._has_failed = True
            self._kill()
            if isinstance(error, ChannelClosed):
                raise StorageFailed(f"{self._path}: the process that writes it has ended") from None
            raise


class _Outbox:
    """What is to be sent to a child, by a thread that waits for it in the place of this one."""

    def __init__(self, child: ChildProcess) -> None:
        self.is_closed = False  # nothing more is sent: the child has ended
        self._child = child
        self._waiting: Queue[bytes | None] = Queue(_WAITING)
        self._thread = Thread(target=self._send_all, daemon=True)
        self._thread.start()

    def put(self, message: bytes) -> None:
        """Have a message sent; this waits only where many wait already."""
        self._waiting.put(message)

    def close(self) -> None:
        """Send what waits, and end. The child has to read it, or to have ended."""
        self._waiting.put(None)
        self._thread.join()

    def _send_all(self) -> None:
        while (message := self._waiting.get()) is not None:
            if not self.is_closed:
                try:
                    self._child.send(message)
                except Exception as error:  # noqa: BLE001 - as where there is no memory left
                    if not isinstance(error, ChannelClosed):
                        self._child.abort()  # what comes after it cannot be written
                    self.is_closed = True


def _serve(channel: Channel, path: Path) -> None:
    """Do what is said until the end."""
    logs: dict[str, SqliteLog] = {}
    with SqliteGuard(path, REMEDY, DamagedView):
        db = connect(path, writable=True, durable=False)
        while (message := channel.receive()) != _CLOSE:
            what, values, kind = marshal.loads(message)  # noqa: S302 - from a process of ours
            if kind == _MANY:
                db.executemany(what, values)
            elif kind == _APPEND:
                _append(logs, what, *values)
            else:
                rows = db.execute(what, values).fetchall()
                if kind == _ASK:
                    channel.send(rows)
        db.close()
    for log in logs.values():
        log.close()
    channel.send(None)


def _append(
    logs: dict[str, SqliteLog], path: str, term: int, start: int, rows: Sequence[tuple[Any, ...]], checkpoint: int
) -> None:
    """Append to a log, which is opened where it is not among some that are."""
    if path not in logs:
        logs[path] = SqliteLog(Path(path), writable=True, durable=False, term=term)
    drafts = [(*row[:5], EncodedEvent(*row[5:])) for row in rows]
    logs[path].append_encoded(start, drafts, checkpoint=checkpoint)


def start_process(path: Path) -> DatabaseProcess | None:
    """Start the process that writes a graph; None: it cannot be started."""
    try:
        return DatabaseProcess(path)
    except OSError:
        return None


class SendingLayer(Layer):
    """A layer of a build whose log and store a process writes, in the place of one that has derived nothing yet.

    What was derived is in the log, and the store is committed, once it is settled.
    """

    def __init__(self, layer: Layer, process: DatabaseProcess) -> None:
        super().__init__(layer.log, layer.store)
        self._process = process

    def flush(self) -> None:
        """Have the buffered events appended, without waiting for it."""
        drafts, log, store = self._drafts, self.log, self.store
        if not drafts and self.checkpoint == self._durable:
            return
        assert isinstance(log, SqliteLog), f"{log.name} is in no file"
        assert isinstance(store, SqliteGraph), f"the graph of {log.name} is in no file"
        rows = [(*draft[:5], draft.event.type, draft.event.version, draft.event.encode()) for draft in drafts]
        if self._process.append(log, self.end - len(rows), rows, self.checkpoint):
            self._drafts, self._durable = [], self.checkpoint
            store.index_words()
        else:
            super().flush()

    def settle(self) -> None:
        """Wait until all that was flushed is in the log, and commit the store."""
        self._process.settle()
        self.store.commit(self.end, self.log.head(self.end), self.checkpoint)
