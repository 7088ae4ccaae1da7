"""The entities agent: an entity that a producer states, under an id of the producer's own. Pure."""

from asof_agents.handlers.episodes import episode_id
from asof_agents.ports import BeliefView
from asof_streams.episodic import EntityRecorded, MessageParked
from asof_streams.events import Event, Record
from asof_streams.ids import derive
from asof_streams.semantic import EntityAttributed, EntityDescribed, EntityIntroduced

SUMMARY = "summary"  # the attribute that a given summary is


def state(first: Record, stated: EntityRecorded, known: BeliefView) -> list[Event]:
    """Return the semantic events of an entity: that it is there, or one more name of it, and its summary if given."""
    said_in = episode_id(first.group, first.cause)
    there = known.entity(stated.entity_id)
    if there is not None and there.group_id != first.group:
        return [MessageParked(reason="entity_id: an entity of another group has it")]
    named: list[Event] = []
    if there is None:
        named.append(EntityIntroduced(entity_id=stated.entity_id, name=stated.name, episode_id=said_in))
    elif there.uuid not in {entity.uuid for entity in known.entities_named(first.group, stated.name)}:
        named.append(EntityDescribed(entity_id=stated.entity_id, alias=stated.name, episode_id=said_in))
    return [*named, *([_summary(first, stated, said_in)] if stated.summary else [])]


def _summary(first: Record, stated: EntityRecorded, said_in: str) -> EntityAttributed:
    return EntityAttributed(
        entity_id=stated.entity_id,
        name=SUMMARY,
        value=stated.summary,
        confidence=1.0,
        support=1.0,
        attested=first.recorded_at,
        holds=True,
        said_at=first.recorded_at,
        episode_id=said_in,
        attribute_id=derive("attribute", said_in, SUMMARY),
    )
