"""Keeps one message from stopping a memory: work on it that fails in a way that nobody foresaw parks it.

What the world outside lacks, damage, and the end of memory or disk are no faults of a message, and are raised. Stores
translate the world's errors of SQLite; one that comes here is of a query that a message made impossible.
"""

import logging
from collections.abc import Callable, Sequence
from typing import Final

from asof_streams.episodic import ExtractionFailed, MessageParked
from asof_streams.errors import AsofError, InvalidInput, NotFound, UnavailableError
from asof_streams.events import Event
from asof_streams.semantic import MemoryConsolidated

_log = logging.getLogger(__name__)

_TRIES: Final = 3
_FAILURES: Final = frozenset({MessageParked, ExtractionFailed, MemoryConsolidated})
_SPARE_BYTES: Final = 64 << 20  # more than any message of usual size needs


def park_if_unexpected(work: Callable[[], Sequence[Event]]) -> list[Event]:
    """Return the events of some work on one message; its parking, where that fails at every try.

    Handlers are pure, so what fails here fails in every replay. The reason names the class of the error alone: its text
    may have content. UnavailableError: there is no memory left for any message.
    """
    reason = ""
    for _ in range(_TRIES):
        try:
            return list(work())
        except (InvalidInput, NotFound) as error:
            return [MessageParked(reason=str(error))]
        except (AsofError, OSError):
            raise
        except Exception as error:  # noqa: BLE001 - nobody foresaw it
            if isinstance(error, MemoryError):
                expect_memory()
            reason = f"unexpected: {type(error).__name__}"
    return [MessageParked(reason=reason)]


def expect_memory() -> None:
    """Raise UnavailableError unless there is memory for other messages, so that it was one message that took it all."""
    try:
        bytearray(_SPARE_BYTES)
    except MemoryError:
        raise UnavailableError("there is no memory left: give this process more") from None


def warn_of_failures(position: int, log: str, events: Sequence[Event]) -> None:
    """Write a warning for each failure among the events of a message: its position and the class of the reason.

    What a retry fails in again is of the message that it names.
    """
    if _FAILURES.isdisjoint(map(type, events)):
        return  # so it is with nearly every message that is ingested
    for event in events:
        if isinstance(event, MessageParked):
            at = position if event.position is None else event.position
            _log.warning("message %d is parked in %s: %s", at, log, event.reason.partition(": ")[0])
        elif isinstance(event, ExtractionFailed):
            at = position if event.position is None else event.position
            _log.warning("message %d, %s: %s failed: %s", at, log, event.prompt, event.reason)
        elif isinstance(event, MemoryConsolidated) and event.failed:
            _log.warning("message %d, %s: consolidation failed in %s", position, log, ", ".join(event.failed))
