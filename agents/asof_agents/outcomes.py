"""Counts the events of an episode for the process's log: numbers alone, never content."""

import logging
from collections import Counter
from collections.abc import Sequence
from typing import Final

from asof_streams.episodic import (
    AttributeStated,
    ExtractionAnswered,
    ExtractionFailed,
    ExtractionRefused,
    GoalImplied,
    MentionObserved,
    RelationshipStated,
)
from asof_streams.events import Event
from asof_streams.semantic import EntityIntroduced, EntityMerged, FactAsserted, FactInvalidated, FactReinforced

_log = logging.getLogger(__name__)

_COUNTED: Final = {
    MentionObserved: "mentions",
    RelationshipStated: "relationships",
    AttributeStated: "attributes",
    GoalImplied: "goals",
    EntityIntroduced: "new entities",
    EntityMerged: "duplicates",
    FactAsserted: "facts accepted",
    FactReinforced: "facts said again",
    FactInvalidated: "facts invalidated",
    ExtractionFailed: "questions failed",
}


def log_outcome(episode_id: str, log: str, events: Sequence[Event]) -> None:
    """Write one line about the events that an episode caused in a log."""
    _log.info("episode %s, %s: %s", episode_id, log, outcome_counts(events))


def outcome_counts(events: Sequence[Event]) -> str:
    """Return one line: model calls, retries and refused parts, then each kind of event that there is.

    For example `calls 1, retries 0, refused 0, mentions 2, relationships 1`.
    """
    replies = [event for event in events if isinstance(event, ExtractionAnswered | ExtractionFailed)]
    refused = sum(event.count for event in events if isinstance(event, ExtractionRefused))
    calls = sum(event.calls for event in replies)
    counts = Counter(_COUNTED[type(event)] for event in events if type(event) in _COUNTED)
    line = {"calls": calls, "retries": calls - len(replies), "refused": refused, **counts}
    return ", ".join(f"{name} {count}" for name, count in line.items())
