"""What came of an episode that a model helped to read, in numbers alone: for the log of a process (add-messages 39)."""

from collections import Counter
from collections.abc import Sequence
from typing import Final

from asof_streams.episodic import (
    AttributeStated,
    ExtractionAnswered,
    ExtractionFailed,
    ExtractionRefused,
    MentionObserved,
    RelationshipStated,
)
from asof_streams.events import Event
from asof_streams.semantic import EntityIntroduced, EntityMerged, FactAsserted, FactInvalidated, FactReinforced

_COUNTED: Final = {
    MentionObserved: "mentions",
    RelationshipStated: "relationships",
    AttributeStated: "attributes",
    EntityIntroduced: "new entities",
    EntityMerged: "duplicates",
    FactAsserted: "facts accepted",
    FactReinforced: "facts said again",
    FactInvalidated: "facts invalidated",
    ExtractionFailed: "questions failed",
}


def outcome(events: Sequence[Event]) -> str:
    """Return how many calls, retries and refused parts there were, and how many of what was found and believed."""
    asked = [event for event in events if isinstance(event, ExtractionAnswered | ExtractionFailed)]
    counts = Counter(_COUNTED[type(event)] for event in events if type(event) in _COUNTED)
    refused = sum(event.count for event in events if isinstance(event, ExtractionRefused))
    calls = sum(event.calls for event in asked)
    told = {"calls": calls, "retries": calls - len(asked), "refused": refused, **counts}
    return ", ".join(f"{name} {count}" for name, count in told.items())
