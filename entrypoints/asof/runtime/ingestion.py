"""Ingestion of messages from the door: each is on a log for good, or refused with the reason."""

from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Protocol

from asof.runtime import clock, json_lines, span_names
from asof.runtime.inbound_message import InboundMessage
from asof.runtime.processes import SeldomCollections
from asof.runtime.suppression import suppressed
from asof.runtime.wiring import Progress
from asof_projections.model.write_answers import Produced, Refused
from asof_streams import tracing
from asof_streams.errors import BrokerUnavailable, StorageFailed

if TYPE_CHECKING:
    from asof.runtime.writer import Writer

_CHUNK = 1_000  # lines accepted, hence durable, at once


class MessageSink(Protocol):
    """The destination of messages: the log of a directory, or a topic."""

    def put(self, messages: Sequence[InboundMessage], *, flush: bool = True) -> int:
        """Put messages there for good; return the position of the first. Not flushed, more will come at once."""
        ...

    def flush(self) -> None:
        """Let all that follows from them be seen, as far as that is made here."""
        ...

    def parked(self) -> int | None:
        """Return how many messages were parked; None where that is not known here."""
        ...


class EmbeddedSink:
    """The log of a directory; the engine ingests each message."""

    def __init__(self, writer: "Writer", now: Callable[[], int], clock_years: float) -> None:
        self._writer = writer
        self._now = now
        self._clock_years = clock_years

    def put(self, messages: Sequence[InboundMessage], *, flush: bool = True) -> int:
        events = [message.event for message in messages]
        if self._writer.logs.settings.suppress_content:
            events = [suppressed(event) for event in events]
        recorded = [message.recorded_at for message in messages if message.recorded_at is not None]
        log = self._writer.messages
        now = clock.expect_plausible(self._now(), log.latest(), self._clock_years)
        accepted = log.record(events, clock=now, recorded=recorded or None)
        self._writer.process(flush=flush, accepted=accepted)
        return accepted[0].position

    def flush(self) -> None:
        self._writer.process(flush=True)

    def parked(self) -> int | None:
        return self._writer.parked()


def ingest(
    found: Iterable[InboundMessage | Refused | None],
    open_sink: Callable[[], MessageSink],
    *,
    strict: bool,
    acknowledged: Progress | None,
) -> Produced:
    """Put messages where they go, some at once. `strict`: none of them where any line is refused."""
    with tracing.span(span_names.UPSERT, {span_names.OPERATION_NAME: span_names.UPSERT}) as span:
        produced = _ingest(found, open_sink, strict=strict, acknowledged=acknowledged)
        span.note({span_names.RECORD_COUNT: produced.accepted, span_names.POSITION: produced.first_position})
    return produced


def _ingest(
    found: Iterable[InboundMessage | Refused | None],
    open_sink: Callable[[], MessageSink],
    *,
    strict: bool,
    acknowledged: Progress | None,
) -> Produced:
    if strict:
        every = [f for f in found if f is not None]  # whether any may be taken is known only at the end
        if bad := tuple(f for f in every if isinstance(f, Refused)):
            return Produced(0, bad, None, 0)
        found = every
    sink = open_sink()
    refused: list[Refused] = []
    accepted, first, before, more = 0, None, sink.parked(), True
    try:
        for chunk in json_lines.chunks(found, _CHUNK):
            refused += [f for f in chunk if isinstance(f, Refused)]
            if good := [f for f in chunk if isinstance(f, InboundMessage)]:
                more = len(chunk) == _CHUNK
                with SeldomCollections():  # not while a caller's source is read: what it leaves may be large
                    start = sink.put(good, flush=not more)
                first = start if first is None else first
                accepted += len(good)
            if acknowledged:
                acknowledged(accepted, accepted + len(refused))
    except BrokerUnavailable as error:
        reason = f"{error}; the first {accepted} good lines, at least, are on the topic"
        raise BrokerUnavailable(reason, accepted) from error
    except StorageFailed as error:
        with suppress(StorageFailed):  # what was acknowledged is shown, now or when there is room
            sink.flush()
        reason = f"{error}; the first {accepted} good lines, at least, are on the log"
        raise StorageFailed(reason, accepted) from error
    except BaseException:  # also where the source failed: what was acknowledged is shown
        sink.flush()
        raise
    if more:
        sink.flush()
    after = sink.parked()
    parked = None if before is None or after is None else after - before
    return Produced(accepted, tuple(refused), first, parked)
