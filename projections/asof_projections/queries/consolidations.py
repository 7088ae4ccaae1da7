"""The results of a pass of consolidation, by its events. Pure."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import dropwhile, islice
from typing import Final, Protocol

from asof_projections.model.answers import CommunityChange, Consolidation, NameMerge
from asof_projections.model.rows import EntityRow
from asof_streams.events import Event
from asof_streams.semantic import CommunityFormed, CommunityJoined, CommunityLeft, EntityMerged, MemoryConsolidated

_SHOWN: Final = 1_000


class EntityNames(Protocol):
    """What has the names of entities."""

    def entity(self, uuid: str) -> EntityRow | None:
        """Return an entity by id."""
        ...


def consolidation_of(events: Iterable[Event], known: EntityNames) -> Consolidation | None:
    """Return the results of a pass, given the events that its message caused; None: it made no pass."""
    behind = dropwhile(lambda event: not isinstance(event, MemoryConsolidated), events)
    summary, results = next(behind, None), list(behind)
    if not isinstance(summary, MemoryConsolidated):
        return None
    return Consolidation(
        summary.consolidation_id,
        summary.complete,
        summary.communities_detected,
        summary.communities_changed_nodes,
        summary.entity_duplicates_found,
        summary.entity_merges_performed,
        summary.nodes_decayed,
        summary.failed,
        tuple(islice(_changes(results, known), _SHOWN)),
        tuple(islice(_merges(results, known), _SHOWN)),
    )


def _merges(events: Sequence[Event], known: EntityNames) -> Iterator[NameMerge]:
    for event in events:
        if isinstance(event, EntityMerged):
            ends = (event.duplicate, event.into)
            names = [part for uuid in ends for part in (_name(known, uuid), uuid)]
            yield NameMerge(event.merge_id, *names)


def _changes(events: Sequence[Event], known: EntityNames) -> Iterator[CommunityChange]:
    for event in events:
        match event:
            case CommunityFormed(community_id=community, members=members):
                yield from (CommunityChange(_name(known, uuid), uuid, community) for uuid in members)
            case CommunityJoined(community_id=community, entity_id=uuid):
                yield CommunityChange(_name(known, uuid), uuid, community)
            case CommunityLeft(entity_id=uuid):
                yield CommunityChange(_name(known, uuid), uuid, None)


def _name(known: EntityNames, uuid: str) -> str:
    entity = known.entity(uuid)
    return "" if entity is None else entity.name
