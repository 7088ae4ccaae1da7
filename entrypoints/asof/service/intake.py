"""The intake: puts messages on the log for good, before anybody is told that they were taken.

It is a thread of its own, so that nobody waits for the worker; what comes while the disk is busy goes there together.
"""

from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from contextlib import AbstractContextManager
from typing import NamedTuple, Protocol

from asof.runtime import clock
from asof_streams import tracing
from asof_streams.errors import InvalidInput
from asof_streams.messages import AnyMessage
from asof_streams.resource_pool import ResourcePool
from asof_streams.sqlite_requests import KeyedRequest, Submission


class _Given(NamedTuple):
    submission: Submission
    positions: Future[range]


class Log(Protocol):
    """The log that the intake writes to."""

    def latest(self) -> int:
        """Return the latest recorded time; INF where the log has a clock of its own."""
        ...

    def accept_each(self, submissions: Sequence[Submission], *, clock: int) -> Sequence[range | InvalidInput]:
        """Append the messages of several callers; return the positions of each, or why they are refused."""
        ...


class Intake:
    """Takes messages in the order in which they are given. `accepted` is called whenever some are on the log."""

    def __init__(
        self, open_log: Callable[[], AbstractContextManager[Log]], accepted: Callable[[], None], clock_years: float
    ) -> None:
        self._accepted = accepted
        self._clock_years = clock_years
        self._given: deque[_Given] = deque()
        self.taken = 0  # messages, so far
        self._pool = ResourcePool("asof-intake", open_log)
        try:
            self._pool.submit(lambda _: None).result()  # raises what opening the log raised
        except BaseException:
            self._pool.close()
            raise

    def put(self, messages: Sequence[AnyMessage], request: KeyedRequest | None = None) -> Future[range]:
        """Return the positions that these messages will have got once they are on the disk.

        Cancelled before they are taken, they are not. What a `request` put there before is not put there again.
        """
        given = _Given(Submission(messages, request, tracing.trace()), Future())
        self._given.append(given)
        self._pool.submit(self._take_all)
        return given.positions

    def close(self) -> None:
        """End once everything is taken that was given before."""
        self._pool.close()

    def _take_all(self, log: Log) -> None:
        """Put everything on the log that was given by now; a later call for a part of it then has nothing to do."""
        together = []
        while self._given:
            given = self._given.popleft()
            if given.positions.set_running_or_notify_cancel():
                together.append(given)
        if together:
            self.taken += self._put(log, together)
            self._accepted()

    def _put(self, log: Log, together: Sequence[_Given]) -> int:
        """Append messages that were given together; return their number at most."""
        try:
            now = clock.expect_plausible(clock.system(), log.latest(), self._clock_years)
            answers = log.accept_each([given.submission for given in together], clock=now)
        except BaseException as error:  # noqa: BLE001 - it is whoever gave them that has to know
            for given in together:
                given.positions.set_exception(error)
            return 0
        for given, answer in zip(together, answers, strict=True):
            if isinstance(answer, range):
                given.positions.set_result(answer)
            else:
                given.positions.set_exception(answer)
        return sum(len(given.submission.messages) for given in together)
