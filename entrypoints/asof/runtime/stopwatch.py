"""The durations of the steps of a retrieval: projections have no clock, so they are measured from outside."""

import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import fields

from asof_projections.model.answers import RetrievalMetrics


class Stopwatch:
    """Measures steps by name, in microseconds."""

    def __init__(self) -> None:
        self._took: Counter[str] = Counter()

    @contextmanager
    def __call__(self, step: str) -> Iterator[None]:
        """Measure a step."""
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
        started = time.perf_counter()
        try:
            yield
        finally:
            runs, seconds = self.taken.get(phase, (0, 0.0))
            self.taken[phase] = runs + 1, seconds + time.perf_counter() - started
