"""Sessions for doors: one that a first write may make, and one on a memory that is there."""

from collections.abc import Callable

from asof.operations.errors import InvalidInput
from asof.runtime.clock import system
from asof.runtime.layout import DirectoryLayout
from asof.runtime.opentelemetry_tracer import trace_as_the_program
from asof.runtime.replica_manifest import parts
from asof.runtime.wiring import Progress
from asof.service.session import Session
from asof.settings import Settings

__all__ = ["Progress", "Session", "open_existing", "open_session", "system"]


def open_session(settings: Settings, now: Callable[[], int] = system, *, shared: bool = False) -> Session:
    """Return a session on the directory of the settings; the first write makes it, where it is not there.

    `now` gives microseconds since 1970. `shared`: whoever uses the session takes its lock.
    """
    trace_as_the_program()
    return Session(DirectoryLayout(settings.data), settings, now, shared=shared)


def has_memory(settings: Settings) -> bool:
    """Whether the directory of the settings holds a memory."""
    return any(part.catalog.exists() for part in parts(settings.data))


def open_existing(settings: Settings) -> Session:
    """Return a session on a memory that is there. InvalidInput: the directory holds none, and it is not on Kafka."""
    if settings.kafka is None and not has_memory(settings):
        raise InvalidInput(
            f"{settings.data} holds no memory: --data DIR names another; asof add, produce or import makes one"
        )
    return open_session(settings)
