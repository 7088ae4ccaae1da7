"""A process that writes what another one derives: the graph of a generation, and its log.

What is sent is done in order and is not waited for, but for questions: these wait until all before them is done.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from operator import itemgetter
from pathlib import Path
from queue import Queue
from threading import Thread
from typing import Any, Final

from asof.runtime.child_process import Channel, ChannelClosed, ChildProcess
from asof_projections.graph.sqlite_store.store import SqliteGraph
from asof_projections.projector import loading
from asof_streams.errors import StorageFailed
from asof_streams.events import Draft, Record
from asof_streams.plain_records import pack, unpack
from asof_streams.sqlite_log import SqliteLog

_RECORDS: Final = 500  # that are sent together
_WAITING: Final = 16  # messages that wait to be sent, of some hundred kilobytes each
_APPLY, _APPEND, _SKIP, _ASK, _SETTLE, _FINISH = range(6)
_AS_DRAFT: Final = itemgetter(*map(Record._fields.index, Draft._fields))


class QuestionFailed(Exception):
    """A question raised an error in the other process, or has an answer that cannot be sent."""


class GraphProcess:
    """The graph at a path, to be filled in bulk with all events of a log, which this process does not write meanwhile.

    What goes wrong there is raised by a later call. StorageFailed: the process has ended. OSError: it cannot be
    started. The thread that makes this has to live as long as it.
    """

    def __init__(self, log: SqliteLog, path: Path) -> None:
        self._path = path
        self._child = ChildProcess(_serve, path, log.path, log.term)
        self._outbox = _Outbox(self._child)
        self._records: list[Record] = []  # that are not sent yet
        self.has_ended = False  # by itself, as where another one needed its memory

    def apply(self, records: Sequence[Record]) -> None:
        """Have records applied to the graph."""
        self._records += records
        if len(self._records) >= _RECORDS:
            self._send_records()

    def append(self, checkpoint: int) -> None:
        """Have what was applied since the last call appended to the log, with its checkpoint."""
        self._send(_APPEND, checkpoint)

    def skip(self) -> None:
        """Say that what was applied so far stands in the log already."""
        self._send(_SKIP)

    def ask(self, name: str, values: Sequence[Any], named: Mapping[str, Any]) -> Any:
        """Return what a method of the graph returns, by its name: one that handlers ask.

        QuestionFailed: it raises an error, or returns what cannot be sent.
        """
        self._send(_ASK, name, values, named)
        answers = self._receive()
        if not answers:
            raise QuestionFailed
        return answers[0]

    def settle(self) -> None:
        """Wait until all is done."""
        self._send(_SETTLE)
        self._receive()

    def finish(self) -> None:
        """Wait until the graph is complete and on disk; the process ends."""
        self._send(_FINISH)
        self._receive()
        self.kill()

    def kill(self) -> None:
        """End the process at once."""
        self._child.abort()
        self._outbox.close()
        self._child.kill()

    def _send_records(self) -> None:
        if self._records:
            self._put((_APPLY, pack(self._records)))
            self._records.clear()

    def _send(self, what: int, *values: Any) -> None:
        self._send_records()
        self._put((what, *values))

    def _put(self, message: tuple[Any, ...]) -> None:
        if self._outbox.is_closed:
            self._receive()  # what ended it
        self._outbox.put(message)

    def _receive(self) -> Any:
        try:
            return self._child.receive()
        except ChannelClosed:
            self.has_ended = True
            raise StorageFailed(f"{self._path}: the process that writes it has ended") from None


class _Outbox:
    """What is to be sent to a child, by a thread that waits for it in the place of this one."""

    def __init__(self, child: ChildProcess) -> None:
        self.is_closed = False  # nothing more is sent: the child has ended, or is to
        self._child = child
        self._waiting: Queue[tuple[Any, ...] | None] = Queue(_WAITING)
        self._thread = Thread(target=self._send_all, daemon=True)
        self._thread.start()

    def put(self, message: tuple[Any, ...]) -> None:
        """Have a message sent; this waits only where many wait already."""
        self._waiting.put(message)

    def close(self) -> None:
        """Send what waits, and end. The child has to read it, or to have ended."""
        self._waiting.put(None)
        self._thread.join()
        self.is_closed = True

    def _send_all(self) -> None:
        while (message := self._waiting.get()) is not None:
            if not self.is_closed:
                try:
                    self._child.send(message)
                except Exception as error:  # noqa: BLE001 - as where there is no memory left
                    if not isinstance(error, ChannelClosed):
                        self._child.abort()  # what comes after it cannot be written
                    self.is_closed = True


def _serve(channel: Channel, path: Path, log_path: Path, term: int) -> None:
    """Do what is said until the end."""
    with SqliteLog(log_path, writable=True, durable=False, term=term) as log, loading(path, log.name) as store:
        work = _Work(channel, log, store)
        while (message := channel.receive()) != (_FINISH,):
            what, *values = message
            work.do[what](*values)
        store.commit(log.end(), log.head(log.end()), log.checkpoint())
    channel.send(None)


class _Work:
    """What the process does with a log and a store that is filled in bulk."""

    def __init__(self, channel: Channel, log: SqliteLog, store: SqliteGraph) -> None:
        store.begin_words()
        self._answers = False  # whether the store has the indexes that handlers need
        self._channel = channel
        self._log = log
        self._store = store
        self._applied: list[Record] = []  # and not appended
        self.do: Final[dict[int, Callable[..., None]]] = {
            _APPLY: self._apply,
            _APPEND: self._append,
            _SKIP: self._applied.clear,
            _SETTLE: partial(channel.send, None),
            _ASK: self._answer,
        }

    def _apply(self, packed: bytes) -> None:
        records = list(unpack(packed))
        self._store.apply(records)
        self._applied += records

    def _append(self, checkpoint: int) -> None:
        start = self._applied[0].position if self._applied else self._log.end()
        self._log.append_encoded(start, list(map(_AS_DRAFT, self._applied)), checkpoint=checkpoint)
        self._applied.clear()
        self._store.index_words()

    def _answer(self, name: str, values: Sequence[Any], named: Mapping[str, Any]) -> None:
        if not self._answers:
            self._store.answer_handlers()
            self._answers = True
        try:
            self._channel.send((getattr(self._store, name)(*values, **named),))
        except ChannelClosed:
            raise
        except Exception:  # noqa: BLE001 - whatever it is, whoever asks meets it in its own process
            self._channel.send(())  # nothing of the answer was sent, where it is what cannot be


def start_process(log: SqliteLog, path: Path) -> GraphProcess | None:
    """Start the process that writes a graph and its log; None: it cannot be started."""
    try:
        return GraphProcess(log, path)
    except OSError:
        return None
