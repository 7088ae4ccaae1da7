"""The intake: puts messages on the log for good, before anybody is told that they were taken.

It is a thread of its own, so that nobody waits for the worker; what comes while the disk is busy goes there together.
"""

from collections.abc import Callable, Sequence
from concurrent.futures import Future
from queue import Empty, SimpleQueue
from threading import Thread
from typing import NamedTuple, Protocol

from asof.runtime import clock
from asof_streams.errors import InvalidInput
from asof_streams.messages import AnyMessage
from asof_streams.sqlite_requests import KeyedRequest


class _Given(NamedTuple):
    messages: Sequence[AnyMessage]
    request: KeyedRequest | None
    positions: Future[range]


class Log(Protocol):
    """What the intake asks of a log. It is closed with its context."""

    def accept_each(
        self, given: Sequence[tuple[Sequence[AnyMessage], KeyedRequest | None]], *, clock: int
    ) -> Sequence[range | InvalidInput]:
        """Put on the log what several give; return where the messages of each are, or why they cannot be taken."""
        ...

    def __enter__(self) -> object: ...

    def __exit__(self, *_: object) -> object: ...


class Intake:
    """Takes messages in the order in which they are given. `accepted` is called whenever some are on the log."""

    def __init__(self, open_log: Callable[[], Log], accepted: Callable[[], None]) -> None:
        self._open_log = open_log
        self._accepted = accepted
        self._given: SimpleQueue[_Given | None] = SimpleQueue()
        self.taken = 0  # messages, so far
        self._opened: Future[None] = Future()
        self._thread = Thread(target=self._run, name="asof-intake")
        self._thread.start()
        self._opened.result()

    def put(self, messages: Sequence[AnyMessage], request: KeyedRequest | None = None) -> Future[range]:
        """Return the positions that these messages will have got once they are on the disk.

        Cancelled before they are taken, they are not. What a `request` put there before is not put there again.
        """
        given = _Given(messages, request, Future())
        self._given.put(given)
        return given.positions

    def close(self) -> None:
        """End once everything is taken that was given before."""
        self._given.put(None)
        self._thread.join()

    def _run(self) -> None:
        try:
            log = self._open_log()
        except BaseException as error:  # noqa: BLE001 - it is raised where the intake is made
            self._opened.set_exception(error)
            return
        self._opened.set_result(None)
        with log:
            while (first := self._given.get()) is not None:
                together = [given for given in (first, *self._more()) if given.positions.set_running_or_notify_cancel()]
                if together:
                    self.taken += _take(log, together)
                    self._accepted()

    def _more(self) -> list[_Given]:
        """Return what else was given by now."""
        more: list[_Given] = []
        try:
            while (given := self._given.get_nowait()) is not None:
                more.append(given)
            self._given.put(None)
        except Empty:
            pass
        return more


def _take(log: Log, together: Sequence[_Given]) -> int:
    """Put what was given together on the log; return how many messages that is at most."""
    try:
        answers = log.accept_each([(given.messages, given.request) for given in together], clock=clock.system())
    except BaseException as error:  # noqa: BLE001 - it is whoever gave them that has to know
        for given in together:
            given.positions.set_exception(error)
        return 0
    for given, answer in zip(together, answers, strict=True):
        if isinstance(answer, range):
            given.positions.set_result(answer)
        else:
            given.positions.set_exception(answer)
    return sum(len(given.messages) for given in together)
