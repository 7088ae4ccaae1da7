"""The durations of the steps of a retrieval: projections have no clock, so they are measured from outside."""

import time
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import fields
from time import perf_counter
from typing import Final

from asof.runtime.span_names import RETRIEVAL_STEPS
from asof_projections.model.answers import RetrievalMetrics
from asof_projections.model.write_answers import IngestionTimes
from asof_projections.queries.reports import count_derived, count_recorded
from asof_streams import tracing
from asof_streams.events import Event, Record

_NOTHING: Final = nullcontext()


class Stopwatch:
    """Measures steps by name, in microseconds."""

    def __init__(self) -> None:
        self._took: Counter[str] = Counter()

    @contextmanager
    def __call__(self, step: str) -> Iterator[None]:
        """Measure a step."""
        name = RETRIEVAL_STEPS.get(step)
        with nullcontext() if name is None else tracing.span(name):
            started = time.perf_counter_ns()
            try:
                yield
            finally:
                self._took[step] += (time.perf_counter_ns() - started) // 1_000

    def metrics(self) -> RetrievalMetrics:
        """Return the measured times; 0 for a step that was not taken."""
        return RetrievalMetrics(**{field.name: self._took[field.name] for field in fields(RetrievalMetrics)})


class PhaseTimes:
    """The runs of each phase of consolidation, and the seconds that they took together, since it was made."""

    def __init__(self) -> None:
        self.taken: dict[str, tuple[int, float]] = {}

    @contextmanager
    def __call__(self, phase: str) -> Iterator[None]:
        """Measure a phase, also one that fails."""
        started = perf_counter()
        try:
            yield
        finally:
            runs, seconds = self.taken.get(phase, (0, 0.0))
            self.taken[phase] = runs + 1, seconds + perf_counter() - started


class Phase:
    """Adds the seconds of a phase of ingestion, also of one that fails."""

    __slots__ = ("_name", "_seconds", "_started")

    def __init__(self, seconds: dict[str, float], name: str) -> None:
        self._seconds = seconds
        self._name = name

    def __enter__(self) -> None:
        self._started = perf_counter()

    def __exit__(self, *_: object) -> None:
        self._seconds[self._name] += perf_counter() - self._started


class _Phases(dict[str, Phase]):
    """The phases by name. A message has eight, so each is made once: none is within itself."""

    def __init__(self, seconds: dict[str, float]) -> None:
        self._seconds = seconds

    def __missing__(self, name: str) -> Phase:
        phase = self[name] = Phase(self._seconds, name)
        return phase


class IngestionWatch:
    """Implements IngestionMeter: counts, and the seconds of each phase, since it was made and of the last message."""

    def __init__(self) -> None:
        self.counts: Counter[str] = Counter()
        self.seconds: defaultdict[str, float] = defaultdict(float)
        self._position = -1
        self._before: dict[str, float] = {}
        self.phases: Mapping[str, AbstractContextManager[object]] = _Phases(self.seconds)

    def begin(self, message: Record) -> None:
        """Begin with a message."""
        self._position, self._before = message.position, dict(self.seconds)
        self.counts["messages"] += 1

    def message(self, record: Record, position: int) -> AbstractContextManager[object]:
        """Return a context in which a message is processed, given a record of it and its position."""
        del record, position
        return _NOTHING

    def count_recorded(self, events: Sequence[Event]) -> None:
        """Count the episodic events of a message, and its sentences."""
        with self.phases["chunking"]:
            count_recorded(events, self.counts)

    def count_derived(self, events: Sequence[Event]) -> None:
        """Count the events of a message in the generation that answers."""
        count_derived(events, self.counts)

    def times(self, position: int) -> IngestionTimes | None:
        """Return how long the phases of the message at a position took; None: another one was ingested since."""
        if position != self._position:
            return None
        names = (field.name for field in fields(IngestionTimes))
        phases = {name: name.removesuffix("_us") for name in names}
        return IngestionTimes(
            **{name: round((self.seconds[of] - self._before.get(of, 0.0)) * 1_000_000) for name, of in phases.items()}
        )
