"""A limit of processor time on the work for one message, so that no message stops a memory.

The work is interrupted by a signal, wherever it is; what it has written is rolled back, and the message is parked. Time
of the processor is counted, so that neither a busy machine nor a slow model parks a message.
"""

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType


class Overdue(BaseException):
    """Raised in the midst of work on a message that has taken too long; no handler of ours catches it as an error."""


class Watchdog:
    """Limits work on the main thread of a process of our own: no other thread gets signals, and SIGPROF is taken."""

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self.verdict = f"overdue: it took more than {seconds:g} seconds of processor time"
        signal.signal(signal.SIGPROF, _interrupt)

    @contextmanager
    def watch(self) -> Iterator[None]:
        """Limit some work. Overdue: it has taken too long."""
        signal.setitimer(signal.ITIMER_PROF, self._seconds)
        try:
            yield
        finally:
            signal.setitimer(signal.ITIMER_PROF, 0)


def _interrupt(_: int, __: FrameType | None) -> None:
    raise Overdue
