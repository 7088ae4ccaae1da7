"""The results of a pass of consolidation, by its events. Pure."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import dropwhile, islice
from typing import Final, Protocol

from asof_projections.model.rows import EntityRow, LinkRow
from asof_projections.model.write_answers import (
    CommunityChange,
    Consolidated,
    Consolidation,
    NameMerge,
    UndoneConsolidation,
)
from asof_streams.events import Event
from asof_streams.semantic import (
    CommunityFormed,
    CommunityJoined,
    CommunityLeft,
    EntityMerged,
    EntityUnmerged,
    MemoryConsolidated,
    MemoryUnconsolidated,
)

_SHOWN: Final = 1_000


class EntityNames(Protocol):
    """What has the names of entities, and the links between them."""

    def entity(self, uuid: str) -> EntityRow | None:
        """Return an entity by id."""
        ...

    def link(self, uuid: str) -> LinkRow | None:
        """Return a duplicate_of link by id, believed or taken back."""
        ...


def consolidated_of(position: int | None, events: Iterable[Event], known: EntityNames) -> Consolidated:
    """Return what a request came to, given its position and the events that it caused; of a dry run it has none."""
    behind = dropwhile(lambda event: not isinstance(event, MemoryConsolidated | MemoryUnconsolidated), events)
    match next(behind, None):
        case MemoryConsolidated() as summary:
            return Consolidated(position, _consolidation(summary, list(behind), known))
        case MemoryUnconsolidated() as undoing:
            return Consolidated(position, None, _undone(undoing, list(behind), known))
        case _:
            return Consolidated(position, None)


def _undone(undoing: MemoryUnconsolidated, results: Sequence[Event], known: EntityNames) -> UndoneConsolidation:
    links = [known.link(event.merge_id) for event in results if isinstance(event, EntityUnmerged)]
    return UndoneConsolidation(
        undoing.consolidation_id,
        tuple(islice(_changes(results, known), _SHOWN)),
        tuple(_merge(link.uuid, link.duplicate, link.into, known) for link in links[:_SHOWN] if link is not None),
    )


def _consolidation(summary: MemoryConsolidated, results: Sequence[Event], known: EntityNames) -> Consolidation:
    """Return the results of a pass."""
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
            yield _merge(event.merge_id, event.duplicate, event.into, known)


def _merge(uuid: str, duplicate: str, into: str, known: EntityNames) -> NameMerge:
    return NameMerge(uuid, _name(known, duplicate), duplicate, _name(known, into), into)


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
