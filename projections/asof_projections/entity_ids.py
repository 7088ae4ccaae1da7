"""Entities by the ids that people know: one that asof derived, or a producer's own, which means something in its group.

The stored id of a producer's own has the group in front (asof_streams.ids).
"""

from typing import Protocol

from asof_projections.model.rows import EntityRow
from asof_streams.ids import possible_ids


class EntityReader(Protocol):
    """A store of entities."""

    def entity(self, uuid: str) -> EntityRow | None:
        """Return an entity by its stored id."""
        ...


def entity_with_id(known: EntityReader, group: str | None, asked: str) -> EntityRow | None:
    """Return the entity of a group that has an id; of every group (None), only one whose id has no group in front."""
    for stored in possible_ids(group, asked):
        entity = known.entity(stored)
        if entity is not None and group in (None, entity.group_id):
            return entity
    return None
