"""What a pass of consolidation came to, by its events. Pure."""

from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Final, Protocol

from asof_projections.model.answers import CommunityChange, Consolidation
from asof_projections.model.rows import EntityRow
from asof_streams.events import Event
from asof_streams.semantic import CommunityFormed, CommunityJoined, CommunityLeft, MemoryConsolidated

_SHOWN: Final = 1_000


class EntityNames(Protocol):
    """What has the names of entities."""

    def entity(self, uuid: str) -> EntityRow | None:
        """Return an entity by id."""
        ...


def consolidation_of(events: Sequence[Event], known: EntityNames) -> Consolidation | None:
    """Return what a pass came to, given the events that its message caused; None: it made no pass."""
    found = next((event for event in events if isinstance(event, MemoryConsolidated)), None)
    if found is None:
        return None
    return Consolidation(
        found.consolidation_id,
        found.complete,
        found.communities_detected,
        found.communities_changed_nodes,
        found.failed,
        tuple(islice(_changes(events, known), _SHOWN)),
    )


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
