"""The port of tracing: spans around what is done, for whoever looks. Where nobody does, each costs a comparison.

A process has one tracer at most, which `install` sets. A trace goes on in another thread of a pool by itself, and in
another process where the work is `carried` there. A message takes its trace along as a W3C traceparent, which is no
part of what is logged.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass
from typing import Any, Final, Generic, Literal, Protocol, TypeVar

Value = str | bool | int | float | Sequence[str]
"""The value of an attribute."""

Kind = Literal["internal", "server", "producer", "consumer"]

R = TypeVar("R")

TRACEPARENT: Final = "traceparent"  # the name of the W3C header


class OpenSpan(Protocol):
    """A span that has begun."""

    @property
    def is_recording(self) -> bool:
        """Whether anybody will see it: what costs more than a moment is found out only then."""
        ...

    def rename(self, name: str) -> None:
        """Give it another name: what it is of was not known when it began."""
        ...

    def note(self, attributes: Mapping[str, Value | None]) -> None:
        """Set attributes, but for those that are None."""
        ...

    def fail(self, error_type: str) -> None:
        """Say that it ended in an error, of which only the class is told: its text is for whoever asked."""
        ...


class Tracer(Protocol):
    """What makes spans."""

    @property
    def is_heard(self) -> bool:
        """Whether spans go anywhere."""
        ...

    def span(
        self, name: str, attributes: Mapping[str, Value | None], kind: Kind = "internal", link: str | None = None
    ) -> AbstractContextManager[OpenSpan]:
        """Return a span that lasts as long as the context, within the one around it.

        link: the traceparent of a span that led to this one.
        """
        ...

    def step(self, name: str, start: int, end: int) -> None:
        """Make a span within the one around this that has ended already, given its times in nanoseconds since 1970."""
        ...

    def continued(self, trace: str) -> AbstractContextManager[object]:
        """Let the spans within the context be children of the one that a traceparent names."""
        ...

    def current(self) -> OpenSpan:
        """Return the span around this."""
        ...

    def trace(self) -> str | None:
        """Return the traceparent of the span around this; None: there is none."""
        ...

    def flush(self) -> None:
        """Export what has ended, for a few seconds at most: the process ends."""
        ...


class _NoSpan:
    """Implements OpenSpan by nothing."""

    is_recording = False

    def rename(self, name: str) -> None:
        """Do nothing."""

    def note(self, attributes: Mapping[str, Value | None]) -> None:
        """Do nothing."""

    def fail(self, error_type: str) -> None:
        """Do nothing."""


_NOTHING: Final[OpenSpan] = _NoSpan()
_tracer: Tracer | None = None


def install(tracer: Tracer | None) -> None:
    """Let a tracer make the spans of this process from here on; None: nobody."""
    global _tracer  # noqa: PLW0603 - as of a logger, a process has one
    _tracer = tracer


def has_tracer() -> bool:
    """Whether this process has a tracer, though its spans may go nowhere yet."""
    return _tracer is not None


def is_on() -> bool:
    """Whether spans of this process go anywhere."""
    return _tracer is not None and _tracer.is_heard


@contextmanager
def span(
    name: str, attributes: Mapping[str, Value | None] | None = None, kind: Kind = "internal", link: str | None = None
) -> Iterator[OpenSpan]:
    """Return a span that lasts as long as the context. An error that leaves it is noted by its class, and goes on."""
    if _tracer is None or not _tracer.is_heard:
        yield _NOTHING
        return
    with _tracer.span(name, attributes or {}, kind, link) as begun:
        try:
            yield begun
        except BaseException as error:
            begun.fail(type(error).__name__)
            raise


def step(name: str, start: int, end: int) -> None:
    """Make a span of what was done, within the one around this; times are nanoseconds since 1970.

    It costs less than a span that lasts as long as a context, and none is within it.
    """
    if _tracer is not None:
        _tracer.step(name, start, end)


def current() -> OpenSpan:
    """Return the span around this, to note something."""
    return _NOTHING if _tracer is None else _tracer.current()


def trace() -> str | None:
    """Return the traceparent of the span around this, for a message; None: there is none."""
    return None if _tracer is None else _tracer.trace()


def continued(trace: str | None) -> AbstractContextManager[object]:
    """Let the spans within the context be children of the one that a traceparent names."""
    return nullcontext() if _tracer is None or trace is None else _tracer.continued(trace)


def flush() -> None:
    """Export what has ended, for a few seconds at most: the process ends."""
    if _tracer is not None:
        _tracer.flush()


@dataclass(frozen=True)
class _Carried(Generic[R]):
    """Work with the trace that it belongs to; pickle takes it if it takes the work."""

    work: Callable[..., R]
    trace: str
    last: bool

    def __call__(self, *given: Any) -> R:
        try:
            with continued(self.trace):
                return self.work(*given)
        finally:
            if self.last:
                flush()


def carried(work: Callable[..., R], *, last: bool = False) -> Callable[..., R]:
    """Return work that another process does within the span around this; the work itself, where there is none.

    last: the process is ended after it, so its spans are exported before.
    """
    found = trace()
    return work if found is None else _Carried(work, found, last)
