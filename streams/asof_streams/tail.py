"""Reads a log without end: the records that are there, then new ones as they come."""

import time
from collections.abc import Callable, Iterator

from asof_streams.events import Record
from asof_streams.log import EventLog


def tail(
    log: EventLog, start: int = 0, *, poll_seconds: float = 0.2, wait: Callable[[float], None] = time.sleep
) -> Iterator[Record]:
    """Yield the records from position `start` on, in order, without end: at the log's end it waits and looks again."""
    while True:
        end = log.end()
        if end > start:
            yield from log.read(start, end)
            start = end
        else:
            wait(poll_seconds)
