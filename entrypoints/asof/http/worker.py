"""The worker: the one thread that writes what follows from the messages, one after the other, behind the answers.

What it has not come to when it is stopped stays on the log and is processed at the next start. What may succeed later
is tried again, in order; what nobody foresaw ends the worker before the position moves, and with it the service.
"""

import logging
import time
from collections.abc import Callable
from concurrent.futures import Future
from threading import Event, Lock, Thread
from traceback import extract_tb
from typing import Final

from asof.writing import Writer
from asof_streams.errors import UnavailableError

_AGAIN_SECONDS: Final = (0.1, 1.0, 5.0, 30.0)  # between tries; then as the last

log = logging.getLogger(__name__)


class Worker:
    """A thread that owns the Writer of a directory. Making it first processes what was left; it raises what that does.

    `failed` is called, by that thread, when the worker ends because of an error.
    """

    def __init__(self, open_writer: Callable[[], Writer], failed: Callable[[], None]) -> None:
        self._open_writer = open_writer
        self._failed = failed
        self._wake, self._stopping = Event(), Event()
        self._lock = Lock()
        self._waiting: list[tuple[int, Future[None]]] = []
        self._next = 0  # all messages before it are processed, and can be asked about
        self._alive = True
        opened: Future[int] = Future()
        self._thread = Thread(target=self._run, args=(opened,), name="asof-worker")
        self._thread.start()
        self.term: Final = opened.result()  # as which it writes to the messages log

    @property
    def alive(self) -> bool:
        """Whether it goes on."""
        return self._alive

    @property
    def next(self) -> int:
        """The position of the next message to process."""
        return self._next

    def wake(self) -> None:
        """Let it look for messages."""
        self._wake.set()

    def done(self, position: int) -> Future[None]:
        """Return what is settled once the message at a position is processed, and can be asked about."""
        future: Future[None] = Future()
        with self._lock:
            if position < self._next:
                future.set_result(None)
            elif not self._alive:
                future.set_exception(_ended())
            else:
                self._waiting.append((position, future))
        return future

    def stop(self) -> None:
        """End after the message that is being processed; whatever waits behind it stays on the log."""
        self._stopping.set()
        self._wake.set()
        self._thread.join()

    def _run(self, opened: Future[int]) -> None:
        try:
            writer = self._open_writer()
        except BaseException as error:  # noqa: BLE001 - it is raised where the worker is made
            opened.set_exception(error)
            return
        self._reached(writer.engine.episodic.input)
        opened.set_result(writer.messages.term)
        try:
            while not self._stopping.is_set():
                self._wake.wait()
                self._wake.clear()
                self._take(writer)
        except BaseException as error:  # noqa: BLE001 - nothing of it may be passed over, and its text may be content
            place = extract_tb(error.__traceback__)[-1]
            log.critical("the worker ends: %s at %s:%s", type(error).__name__, place.filename, place.lineno)
            self._failed()
        finally:
            self._end()
            writer.close()

    def _take(self, writer: Writer) -> None:
        """Process messages until there are none, one at a time."""
        while not self._stopping.is_set():
            position, end = writer.engine.episodic.input, writer.messages.end()
            if position >= end:
                return
            log.info("message %d picked up, %d wait behind it", position, end - position - 1)
            started, before = time.monotonic(), writer.episodic.end()
            if self._process(writer, position):
                events, took = writer.episodic.end() - before, (time.monotonic() - started) * 1_000
                log.info("message %d done in %.1f ms: %d episodic events", position, took, events)
                self._reached(position + 1)

    def _process(self, writer: Writer, position: int) -> bool:
        """Process one message, as often as it takes; return whether it is done, and not stopped before."""
        tries = 0
        while not self._stopping.is_set():
            try:
                writer.process(flush=True, stop=position + 1)
            except UnavailableError as error:
                seconds = _AGAIN_SECONDS[min(tries, len(_AGAIN_SECONDS) - 1)]
                log.warning("message %d waits %s s: %s", position, seconds, error)
                self._stopping.wait(seconds)
                tries += 1
            else:
                return True
        return False

    def _reached(self, position: int) -> None:
        with self._lock:
            self._next = position
            done = [future for at, future in self._waiting if at < position]
            self._waiting = [(at, future) for at, future in self._waiting if at >= position]
        for future in done:
            if future.set_running_or_notify_cancel():
                future.set_result(None)

    def _end(self) -> None:
        with self._lock:
            self._alive = False
            waiting, self._waiting = self._waiting, []
        for _, future in waiting:
            if future.set_running_or_notify_cancel():
                future.set_exception(_ended())


def _ended() -> UnavailableError:
    return UnavailableError("the message is on the log; the worker ended before it came to it, and will after a start")
