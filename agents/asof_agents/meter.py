"""The port of what counts ingestion and measures its phases from outside: handlers have no clock."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Protocol

from asof_streams.events import Event, Record


class IngestionMeter(Protocol):
    """Counts what messages come to, and measures their phases by name."""

    def begin(self, message: Record) -> None:
        """Begin with a message: its report is made anew."""
        ...

    @property
    def phases(self) -> Mapping[str, AbstractContextManager[object]]:
        """What measures each phase, by its name; no phase is within itself."""
        ...

    def count_recorded(self, events: Sequence[Event]) -> None:
        """Count the episodic events of a message."""
        ...

    def count_derived(self, events: Sequence[Event]) -> None:
        """Count the events of a message in a generation."""
        ...


class Unmetered:
    """Implements IngestionMeter by nothing."""

    def __init__(self) -> None:
        self.phases: Mapping[str, AbstractContextManager[object]] = defaultdict(nullcontext)

    def begin(self, message: Record) -> None:
        """Do nothing."""

    def count_recorded(self, events: Sequence[Event]) -> None:
        """Do nothing."""

    def count_derived(self, events: Sequence[Event]) -> None:
        """Do nothing."""


UNMETERED = Unmetered()
