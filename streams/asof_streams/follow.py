"""Reading a log without end: what is there, then what comes."""

import time
from collections.abc import Callable, Iterator

from asof_streams.events import Record
from asof_streams.log import EventLog


def follow(
    log: EventLog, start: int = 0, *, poll_seconds: float = 0.2, wait: Callable[[float], None] = time.sleep
) -> Iterator[Record]:
    """Yield the records from `start` on, waiting at the end for more. It never ends by itself."""
    while True:
        end = log.end()
        if end > start:
            yield from log.read(start, end)
            start = end
        else:
            wait(poll_seconds)
