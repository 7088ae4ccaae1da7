"""The port of what counts ingestion and measures its phases from outside: handlers have no clock."""

from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Protocol

from asof_streams.events import Event


class IngestionMeter(Protocol):
    """Counts what messages come to, and measures their phases by name."""

    def begin(self, position: int) -> None:
        """Begin with the message at a position: its report is made anew."""
        ...

    def __call__(self, phase: str) -> AbstractContextManager[object]:
        """Measure a phase."""
        ...

    def count_recorded(self, events: Sequence[Event]) -> None:
        """Count the episodic events of a message."""
        ...

    def count_derived(self, events: Sequence[Event]) -> None:
        """Count the events of a message in a generation."""
        ...


class Unmetered:
    """Implements IngestionMeter by nothing."""

    def begin(self, position: int) -> None:
        """Do nothing."""

    def __call__(self, phase: str) -> AbstractContextManager[object]:
        """Measure nothing."""
        del phase
        return nullcontext()

    def count_recorded(self, events: Sequence[Event]) -> None:
        """Do nothing."""

    def count_derived(self, events: Sequence[Event]) -> None:
        """Do nothing."""


UNMETERED = Unmetered()
