"""Taking what was given at the door: lines become messages that are on a log for good, or refused with the reason."""

from collections.abc import Callable, Iterable, Sequence
from typing import Protocol

from asof.runtime import json_lines
from asof.runtime.wiring import Progress
from asof.runtime.writer import Writer
from asof_projections.model.answers import Produced, Refused
from asof_streams.errors import BrokerUnavailable

_CHUNK = 1_000  # lines accepted, hence durable, at once


class Sink(Protocol):
    """Where lines go: the log of a directory, or a topic."""

    def put(self, good: Sequence[json_lines.Line], *, flush: bool = True) -> int:
        """Put lines there for good; return the position of the first. Not flushed, more will come at once."""
        ...

    def settle(self) -> None:
        """Let all that follows from them be seen, as far as that is made here."""
        ...

    def parked(self) -> int | None:
        """Return how many messages were parked; None where that is not known here."""
        ...


class Directory:
    """The log of a directory; the engine makes what follows from each line."""

    def __init__(self, writer: Writer, now: Callable[[], int]) -> None:
        self._writer = writer
        self._now = now

    def put(self, good: Sequence[json_lines.Line], *, flush: bool = True) -> int:
        messages = [line.message for line in good]
        recorded = [line.recorded_at for line in good if line.recorded_at is not None]
        positions = self._writer.messages.accept(messages, clock=self._now(), recorded=recorded or None)
        self._writer.process(flush=flush)
        return positions.start

    def settle(self) -> None:
        self._writer.process(flush=True)

    def parked(self) -> int | None:
        return self._writer.parked()


def take(
    found: Iterable[json_lines.Line | Refused | None],
    open_sink: Callable[[], Sink],
    *,
    strict: bool,
    acknowledged: Progress | None,
) -> Produced:
    """Put what was read where it goes, some at once. `strict`: nothing of it where any line is refused."""
    if strict:
        every = [f for f in found if f is not None]  # whether any may be taken is known only at the end
        if bad := tuple(f for f in every if isinstance(f, Refused)):
            return Produced(0, bad, None, 0)
        found = every
    sink = open_sink()
    refused: list[Refused] = []
    accepted, first, before = 0, None, sink.parked()
    try:
        for chunk in json_lines.chunks(found, _CHUNK):
            refused += [f for f in chunk if isinstance(f, Refused)]
            if good := [f for f in chunk if isinstance(f, json_lines.Line)]:
                start = sink.put(good, flush=len(chunk) < _CHUNK)
                first = start if first is None else first
                accepted += len(good)
            if acknowledged:
                acknowledged(accepted, accepted + len(refused))
    except BrokerUnavailable as error:
        raise BrokerUnavailable(f"{error}; the first {accepted} good lines, at least, are on the topic") from error
    finally:  # also where the source failed: what was acknowledged is shown
        sink.settle()
    after = sink.parked()
    parked = None if before is None or after is None else after - before
    return Produced(accepted, tuple(refused), first, parked)
