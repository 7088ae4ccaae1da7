"""What entities are like: which value of an attribute is believed, of all that were said. Pure.

A value is as sure as all that said it together: two who are each wrong one time in three are both wrong one time in
nine. The surest is believed; of equally sure ones that which was said last. So a value that was said surely, or often,
is not given up for one that was said once and in passing, and what is believed in the end does not depend on the order
in which messages arrive.
"""

from collections.abc import Sequence

from asof_agents.ports import BeliefKnown
from asof_agents.resolution.entities import Resolver
from asof_projections.names import folded
from asof_projections.rows import Attribute
from asof_streams.episodic import AttributeStated
from asof_streams.events import Event
from asof_streams.semantic import EntityAttributed


def attribute(events: Sequence[Event], names: Resolver, known: BeliefKnown) -> list[Event]:
    """Return what the attributes stated in one episode lead to; `names` has resolved the mentions of it."""
    return Attributes(names, known).weigh([event for event in events if isinstance(event, AttributeStated)])


class Attributes:
    """Weighs the statements of one episode, one after the other."""

    def __init__(self, names: Resolver, known: BeliefKnown) -> None:
        self._names = names
        self._known = known
        self._held: dict[tuple[str, str], Attribute] = {}  # by this episode
        self._said: dict[tuple[str, str, str], Attribute] = {}

    def weigh(self, stated: Sequence[AttributeStated]) -> list[Event]:
        """Return an event for each statement: what it was said of, and whether its value is believed from there on."""
        entities = [self._names.meant(s.mention_id) for s in stated]
        return [self._weigh(entity, s) for entity, s in zip(entities, stated, strict=True) if entity is not None]

    def _weigh(self, entity: str, stated: AttributeStated) -> Event:
        slot, value = (entity, stated.name), (entity, stated.name, folded(stated.value))
        said_at, confidence = self._names.episode.valid_at, stated.confidence
        before = self._said.get(value) or self._known.attribute(entity, stated.name, stated.value)
        held = self._held.get(slot) or self._known.attribute(entity, stated.name)
        now = Attribute(
            entity,
            stated.name,
            stated.value,
            confidence if before is None else 1 - (1 - before.support) * (1 - confidence),
            said_at if before is None else max(before.attested, said_at),
            stated.episode_id,
        )
        holds = held is None or folded(held.value) == value[2] or now.sureness >= held.sureness
        self._said[value] = now
        if holds:
            self._held[slot] = now
        return EntityAttributed(
            entity_id=entity,
            name=stated.name,
            value=stated.value,
            confidence=confidence,
            support=now.support,
            attested=now.attested,
            holds=holds,
            said_at=said_at,
            episode_id=stated.episode_id,
            attribute_id=stated.attribute_id,
        )
