"""What a message came to in numbers: counted from its events, so the same whenever it is asked for. Pure."""

from collections import Counter
from collections.abc import Iterable
from typing import Final

from asof_projections.model.write_answers import IngestionReport, IngestionTimes
from asof_projections.sentences import sentence_count
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
    counts: Counter[str] = Counter()
    count_recorded(recorded, counts)
    count_derived(derived, counts)
    return IngestionReport(**{name: counts[name] for name in COUNTED}, times=times)


def count_recorded(events: Iterable[Event], counts: Counter[str]) -> None:
    """Count what a message was read as: sentences, readings that failed, mentions, relations and refused parts."""
    for event in events:  # each event of an import passes here: isinstance of a pydantic class takes six times as long
        if type(event) is MentionObserved:
            counts["entities_extracted"] += 1
        elif type(event) is RelationshipStated:
            counts["relations_extracted"] += 1
        elif type(event) is ExtractionFailed:
            counts["chunks_failed"] += 1
        elif type(event) is EpisodeRecorded:
            if event.source != "fact":
                counts["chunks_processed"] += sentence_count(event.content)
        elif type(event) is ExtractionRefused:
            counts["parts_refused"] += event.count


def count_derived(events: Iterable[Event], counts: Counter[str]) -> None:
    """Count what became of it in a generation: entities, new and known, edges and contradictions.

    The edges are facts, the links of mentions to entities, and one between two facts of which the later contradicts or
    displaced the earlier: one also where the later did both. Where a generation reads anew, its own mentions are not
    counted again.
    """
    introduced, meant, conflicts = set[str](), set[str](), set[frozenset[str]]()
    edges = 0
    for event in events:
        if type(event) is FactAsserted:
            edges += 1
        elif type(event) is MentionResolved:
            meant.add(event.entity_id)
            edges += 1
        elif type(event) is EntityIntroduced:
            introduced.add(event.entity_id)
        elif type(event) is ContradictionFlagged:
            conflicts.add(frozenset((event.earlier, event.later)))
        elif type(event) is FactInvalidated and event.kind in _DISPLACED:
            conflicts.add(frozenset((event.fact_id, event.cause)))
    counts["edges_created"] += edges + len(conflicts)
    if conflicts:
        counts["contradictions_detected"] += len(conflicts)
    if introduced:
        counts["entity_nodes_created"] += len(introduced)
    if meant:
        counts["entity_merges"] += len(meant - introduced)
