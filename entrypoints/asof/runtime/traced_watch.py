"""The spans of ingestion: one for each message, with its steps within it, from where the phases are measured."""

import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from time import perf_counter
from typing import Any, Final

from asof.runtime import clock, span_names
from asof.runtime.stopwatch import IngestionWatch, Phase
from asof_streams import tracing
from asof_streams.events import Record
from asof_streams.instants import SECOND
from asof_streams.tracing import Value

TraceOf = Callable[[int], str | None]
"""Takes the position of a message; returns the trace that it was sent in."""

Source = tuple[str, int]
"""A topic and the number of a partition of it."""

_TOTAL: Final = "total"


def ingestion_watch(trace_of: TraceOf, source: Source | None = None) -> IngestionWatch:
    """Return what counts and measures ingestion, with spans where those of this process go anywhere by now.

    source: the partition that messages, or episodes, are read from; None: a log of this directory.
    """
    return TracedWatch(trace_of, source) if tracing.is_on() else IngestionWatch()


class TracedWatch(IngestionWatch):
    """Measures as an IngestionWatch does, and makes spans of it.

    The span of a message is within the one that put it on the log, where that is around it. Elsewhere it begins a trace
    of its own, since many messages may be processed together and later, and links to where the message came from.
    """

    def __init__(self, trace_of: TraceOf, source: Source | None = None) -> None:
        super().__init__()
        self._trace_of = trace_of
        self._source = source
        self._message: Record | None = None
        self.is_recorded = False  # whether the message has a span that anybody will see
        steps = {name: _Step(self, name, span) for name, span in span_names.INGESTION_STEPS.items()}
        self.phases = {**steps, _TOTAL: _Whole(self)}

    def begin(self, message: Record) -> None:
        super().begin(message)
        self._message = message

    def whole(self) -> AbstractContextManager[object]:
        """Return the span of the message that was begun with."""
        assert self._message is not None
        return self.message(self._message, self._message.position)

    @contextmanager
    def message(self, record: Record, position: int) -> Iterator[None]:
        """Make what happens meanwhile the span of a message, given a record of it and its position."""
        if not tracing.is_on():
            yield
            return
        is_within = tracing.trace() is not None
        link = None if is_within else self._trace_of(position)
        kind: tracing.Kind = "internal" if is_within else "consumer"
        name = span_names.INGEST if self._source is None else f"process {self._source[0]}"
        with tracing.span(name, kind=kind, link=link) as span:
            if not span.is_recording:
                yield
                return
            before = Counter(self.counts)
            span.note(self._attributes(record, position))
            self.is_recorded = True
            try:
                yield
            finally:
                self.is_recorded = False
                came_to = self.counts - before
                span.note({f"{span_names.INGESTED}{name}": number for name, number in came_to.items()})

    def _attributes(self, record: Record, position: int) -> Mapping[str, Value | None]:
        own: dict[str, Value | None] = {
            span_names.STORE_ID: record.group or None,
            span_names.POSITION: position,
            span_names.MESSAGE_TYPE: record.event.type,
            span_names.LAG_SECONDS: max(0, clock.system() - record.recorded_at) / SECOND,
        }
        if self._source is not None:
            own |= {
                span_names.MESSAGING_SYSTEM: "kafka",
                span_names.MESSAGING_OPERATION: "process",
                span_names.MESSAGING_TYPE: "process",
                span_names.DESTINATION: self._source[0],
                span_names.PARTITION: str(self._source[1]),
            }
        return own


class _Step(Phase):
    """Measures a step, and makes a span of it where the message has one."""

    __slots__ = ("_begun", "_span", "_watch")

    def __init__(self, watch: TracedWatch, name: str, span: str) -> None:
        super().__init__(watch.seconds, name)
        self._watch = watch
        self._span = span
        self._begun = 0

    def __enter__(self) -> None:
        self._begun = time.time_ns() if self._watch.is_recorded else 0
        self._started = perf_counter()

    def __exit__(self, *_: object) -> None:
        self._seconds[self._name] += perf_counter() - self._started
        if self._begun and self._watch.is_recorded:
            tracing.step(self._span, self._begun, time.time_ns())


class _Whole(Phase):
    """Measures a message, within its span where there is one."""

    __slots__ = ("_opened", "_watch")

    def __init__(self, watch: TracedWatch) -> None:
        super().__init__(watch.seconds, _TOTAL)
        self._watch = watch

    def __enter__(self) -> None:
        self._opened = self._watch.whole() if tracing.is_on() else None
        if self._opened is not None:
            self._opened.__enter__()
        super().__enter__()

    def __exit__(self, *raised: Any) -> None:  # noqa: PYI036 - passed on as they came
        super().__exit__(*raised)
        if self._opened is not None:
            self._opened.__exit__(*raised)
