"""The entities handler: entities that a producer states under its own ids. Pure."""

from asof_agents.handlers.episodes import episode_id
from asof_agents.ports import BeliefView
from asof_streams.episodic import EntityRecorded, MessageParked
from asof_streams.events import Event, Record
from asof_streams.ids import derive
from asof_streams.semantic import EntityAttributed, EntityDescribed, EntityIntroduced

SUMMARY = "summary"  # the attribute with the producer's summary


def state(first: Record, stated: EntityRecorded, known: BeliefView) -> list[Event]:
    """Return the semantic events of a stated entity: its introduction or a new name, then its summary, if it has one.

    The message is parked if an entity of another group has the id.
    """
    episode = episode_id(first.group, first.cause)
    entity = known.entity(stated.entity_id)
    if entity is not None and entity.group_id != first.group:
        return [MessageParked(reason="entity_id: an entity of another group has it")]
    events: list[Event] = []
    if entity is None:
        events.append(EntityIntroduced(entity_id=stated.entity_id, name=stated.name, episode_id=episode))
    elif entity.uuid not in {named.uuid for named in known.entities_named(first.group, stated.name)}:
        events.append(EntityDescribed(entity_id=stated.entity_id, alias=stated.name, episode_id=episode))
    return [*events, *([_summary(first, stated, episode)] if stated.summary else [])]


def _summary(first: Record, stated: EntityRecorded, episode: str) -> EntityAttributed:
    return EntityAttributed(
        entity_id=stated.entity_id,
        name=SUMMARY,
        value=stated.summary,
        confidence=1.0,
        support=1.0,
        attested=first.recorded_at,
        holds=True,
        said_at=first.recorded_at,
        episode_id=episode,
        attribute_id=derive("attribute", episode, SUMMARY),
    )
