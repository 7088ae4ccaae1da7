"""What a message came to in numbers: counted from its events, so the same whenever it is asked for. Pure."""

from collections import Counter
from collections.abc import Iterable
from typing import Final

from asof_projections.model.answers import IngestionReport, IngestionTimes
from asof_projections.sentences import sentence_spans
from asof_streams.episodic import (
    EpisodeRecorded,
    ExtractionFailed,
    ExtractionRefused,
    MentionObserved,
    RelationshipStated,
)
from asof_streams.events import Event
from asof_streams.semantic import (
    ContradictionFlagged,
    EntityIntroduced,
    FactAsserted,
    FactInvalidated,
    MentionResolved,
)

COUNTED: Final = (
    "chunks_processed",
    "chunks_failed",
    "entities_extracted",
    "relations_extracted",
    "entity_nodes_created",
    "entity_merges",
    "edges_created",
    "contradictions_detected",
    "parts_refused",
)
_DISPLACED: Final = frozenset({"superseded", "contradicted"})


def report_of(
    recorded: Iterable[Event], derived: Iterable[Event], times: IngestionTimes | None = None
) -> IngestionReport:
    """Return the report of a message, given its events in the episodic log and in that of a generation."""
    counts = recorded_counts(recorded) + derived_counts(derived)
    return IngestionReport(**{name: counts[name] for name in COUNTED}, times=times)


def recorded_counts(events: Iterable[Event]) -> Counter[str]:
    """Return what a message was read as: sentences, readings that failed, mentions, relations and refused parts."""
    counts: Counter[str] = Counter()
    for event in events:
        match event:
            case MentionObserved():
                counts["entities_extracted"] += 1
            case RelationshipStated():
                counts["relations_extracted"] += 1
            case EpisodeRecorded() if event.source != "fact":
                counts["chunks_processed"] += len(sentence_spans(event.content))
            case ExtractionFailed():
                counts["chunks_failed"] += 1
            case ExtractionRefused():
                counts["parts_refused"] += event.count
    return counts


def derived_counts(events: Iterable[Event]) -> Counter[str]:
    """Return what became of it in a generation: entities, new and known, edges and contradictions.

    The edges are facts, the links of mentions to entities, and one between two facts of which the later contradicts or
    displaced the earlier. Where a generation reads anew, its own mentions are not counted again.
    """
    counts: Counter[str] = Counter()
    introduced, meant = set[str](), set[str]()
    for event in events:
        match event:
            case MentionResolved():
                meant.add(event.entity_id)
                counts["edges_created"] += 1
            case FactAsserted():
                counts["edges_created"] += 1
            case EntityIntroduced():
                introduced.add(event.entity_id)
            case ContradictionFlagged() | FactInvalidated() if getattr(event, "kind", "superseded") in _DISPLACED:
                counts["contradictions_detected"] += 1
                counts["edges_created"] += 1
    counts["entity_nodes_created"] = len(introduced)
    counts["entity_merges"] = len(meant - introduced)
    return counts
