"""The service's handle on its worker: a process of its own, so that no request waits for what it computes.

The service calls it when there are messages, and finishes its channel to stop it; the worker reports how far it is. It
ends with its service, and the service, once told, with it.
"""

import logging
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future
from contextlib import suppress
from threading import Lock, Thread
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from asof.runtime.child_process import Channel, ChannelClosed, ChildProcess
from asof.service.children import StartChild
from asof.settings import Settings
from asof_streams import tracing
from asof_streams.errors import AsofError, UnavailableError

if TYPE_CHECKING:
    from asof_agents.extraction.llm.usage import Usage

_GRACE_SECONDS: Final = 10.0  # for the message that is being processed when it is told to end

log = logging.getLogger(__name__)


class WorkerStart(NamedTuple):
    """The worker has started: it processes messages that a writer of this term appends."""

    term: int


class WorkerProgress(NamedTuple):
    """All messages before a position are processed, and can be asked about."""

    position: int
    seconds: tuple[float, ...] = ()  # that each took which can be asked about only now
    usage: "Usage | None" = None  # what asking a language model has cost since the worker began
    more: bool = False  # whether messages wait behind it
    erasing: bool = False  # whether files may still hold what was erased before it
    phases: Mapping[str, tuple[int, float]] = {}
    ingested: tuple[Mapping[str, int], Mapping[str, float]] = {}, {}  # counts, and seconds of phases


class WorkerWait(NamedTuple):
    """The message at a position waits for something outside, as the sentence says, and is tried again."""

    position: int
    reason: str


class WorkerCall(NamedTuple):
    """Something to do where the directory is written: a function of a session, that pickle can take."""

    number: int
    work: Callable[[Any], Any]


class WorkerAnswer(NamedTuple):
    """What became of a call: its answer, or the error that it raised."""

    number: int
    answer: Any
    error: AsofError | None


Run = Callable[[Channel, Settings], None]
"""Runs in the process: receives calls until there are no more; sends a start, progress, a wait, answers or an error."""


class Worker:
    """A handle of the process that ingests the messages log. Making it raises the errors of opening the directory.

    A thread calls `reached` whenever it got further, before anybody else is told, with the seconds that each message
    took; and `failed` when the worker ended because of an error, which is then its `error`.
    """

    def __init__(
        self,
        run: Run,
        settings: Settings,
        reached: Callable[[Sequence[float]], None],
        failed: Callable[[], None],
        start_child: StartChild = ChildProcess,
    ) -> None:
        self.error: AsofError | None = None
        self.busy = False  # whether messages waited when it last told how far it is
        self.erasing = False  # whether files may still hold what was erased before `next`
        self.usage: Usage = {}
        self.phases: Mapping[str, tuple[int, float]] = {}
        self.ingested: tuple[Mapping[str, int], Mapping[str, float]] = {}, {}
        self.waits: WorkerWait | None = None  # what holds the next message up, as far as the worker knows
        self._moved = time.monotonic()
        self._got_further = reached
        self._failed = failed
        self._lock = Lock()
        self._waiting: list[tuple[int, Future[None]]] = []
        self._erased: list[Future[None]] = []
        self._called: dict[int, Future[Any]] = {}
        self._calls = 0
        self._next = -1  # all messages before it are processed
        self._alive = True
        self._said_why = False  # it ended
        self._stopped = False  # in the midst of a message
        self._child = start_child(run, settings)
        began: Future[int] = Future()
        self._thread = Thread(target=self._listen, args=(began,), name="asof-worker")
        self._thread.start()
        try:
            self.term: Final = began.result()
        except BaseException:
            self.stop()
            raise

    @property
    def alive(self) -> bool:
        """Whether it goes on."""
        return self._alive

    @property
    def ready(self) -> bool:
        """Whether questions can be asked: all that was known when it began is known again."""
        return self._next >= 0

    @property
    def next(self) -> int:
        """The position of the next message to process."""
        return max(self._next, 0)

    @property
    def still(self) -> float:
        """The seconds since it last got further."""
        return time.monotonic() - self._moved

    def wake(self) -> None:
        """Let it look for messages."""
        with suppress(ChannelClosed):  # it has ended
            self._child.offer(None)

    def call(self, work: Callable[[Any], Any]) -> Future[Any]:
        """Have something done between two messages, by the session that writes; return a future of its answer."""
        future: Future[Any] = Future()
        with self._lock:
            if not self._alive:
                future.set_exception(_gone())
                return future
            self._calls += 1
            number = self._calls
            self._called[number] = future
        with suppress(ChannelClosed):  # it has ended, and whoever waits is told
            self._child.send(WorkerCall(number, tracing.carried(work)))
        return future

    def done(self, position: int) -> Future[None]:
        """Return a future that is done once the message at a position is processed, and its effect can be asked about.

        Of -1: once questions can be asked.
        """
        future: Future[None] = Future()
        with self._lock:
            if position < self._next:
                future.set_result(None)
            elif not self._alive:
                future.set_exception(_ended())
            else:
                self._waiting.append((position, future))
        return future

    def erased(self) -> Future[None]:
        """Return a future that is done once no file holds the content that processed messages erased."""
        future: Future[None] = Future()
        with self._lock:
            if not self.erasing:
                future.set_result(None)
            elif not self._alive:
                future.set_exception(_ended())
            else:
                self._erased.append(future)
        return future

    def stop(self) -> None:
        """End after the message that is being processed; whatever waits behind it stays on the log.

        Where that message takes more than ten seconds, it stays on the log too.
        """
        self._child.finish()
        self._thread.join(_GRACE_SECONDS)
        if self._thread.is_alive():
            self._stopped = True
            self._child.abort()
            self._thread.join()
        self._child.stop()

    def _listen(self, began: Future[int]) -> None:
        try:
            while True:
                match self._child.receive():
                    case WorkerStart(term):
                        began.set_result(term)
                    case WorkerWait() as waits:
                        self.waits = waits
                    case WorkerAnswer(number, answer, error):
                        self._answered(number, answer, error)
                    case WorkerProgress(position, seconds, usage, more, erasing, phases, ingested):
                        self._moved, self.waits = time.monotonic(), None
                        self.busy = more
                        self.usage = usage or self.usage
                        self.phases, self.ingested = phases, ingested
                        self._reached(position, seconds, erasing=erasing)
        except ChannelClosed:
            pass
        except Exception as error:  # noqa: BLE001 - it is the worker's
            self._said_why = True
            self._child.abort()  # it has ended, unless it is what it sent that cannot be received
            self._fail(error) if began.done() else began.set_exception(error)
        self._end(began)

    def _fail(self, error: Exception) -> None:
        if isinstance(error, AsofError):
            self.error = error
        log.critical("the worker ends: %s: %s", type(error).__name__, error)

    def _end(self, began: Future[int]) -> None:
        code = self._child.wait()
        with self._lock:
            self._alive = False
            waiting = [*(future for _, future in self._waiting), *self._erased]
            called, self._called = [*self._called.values()], {}
            self._waiting, self._erased = [], []
        for future in called:
            if future.set_running_or_notify_cancel():
                future.set_exception(_gone())
        for future in waiting:
            if future.set_running_or_notify_cancel():
                future.set_exception(_ended())
        if self._stopped:
            log.warning("message %d takes long: it stays on the log", self.next)
            code = 0
        if code and not self._said_why:
            log.critical("the worker ended with exit code %d", code)
        if not began.done():
            began.set_exception(UnavailableError("the worker ended before it began: start the service again"))
        elif code:
            self._failed()

    def _answered(self, number: int, answer: Any, error: AsofError | None) -> None:
        with self._lock:
            future = self._called.pop(number)
        if not future.set_running_or_notify_cancel():
            return
        if error is None:
            future.set_result(answer)
        else:
            future.set_exception(error)

    def _reached(self, position: int, seconds: Sequence[float], *, erasing: bool) -> None:
        with self._lock:
            self._next, self.erasing = position, erasing
        self._got_further(seconds)
        with self._lock:
            done = [future for at, future in self._waiting if at < position]
            self._waiting = [(at, future) for at, future in self._waiting if at >= position]
            if not erasing:
                done += self._erased
                self._erased = []
        for future in done:
            if future.set_running_or_notify_cancel():
                future.set_result(None)


def _ended() -> UnavailableError:
    return UnavailableError("the message is on the log; the worker ended before it came to it, and will after a start")


def _gone() -> UnavailableError:
    return UnavailableError("the worker ended before it came to it: ask again")
