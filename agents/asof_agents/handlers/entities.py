"""The entities handler: entities that a producer states under its own ids. Pure."""

from asof_agents.ports import BeliefView
from asof_projections.entity_ids import entity_with_id
from asof_streams.episodic import EntityRecorded
from asof_streams.events import Event, Record
from asof_streams.ids import derive, episode_id, is_scoped, own_id, shown_id
from asof_streams.semantic import EntityAttributed, EntityDescribed, EntityIntroduced, EntityMerged

SUMMARY = "summary"  # the attribute with the producer's summary


def state(first: Record, stated: EntityRecorded, known: BeliefView) -> list[Event]:
    """Return the semantic events of a stated entity: its introduction or a new name, then its summary, if it has one.

    What other groups have makes no difference.
    """
    episode = episode_id(first.group, first.cause)
    uuid = own_id(first.group, stated.entity_id)
    entity = entity_with_id(known, first.group, shown_id(uuid))
    uuid = uuid if entity is None else entity.uuid
    events: list[Event] = []
    if entity is None:
        events.append(EntityIntroduced(entity_id=uuid, name=stated.name, episode_id=episode))
        events += _link(first.group, uuid, stated.name, episode, known)
    elif uuid not in {named.uuid for named in known.entities_named(first.group, stated.name)}:
        events.append(EntityDescribed(entity_id=uuid, alias=stated.name, episode_id=episode))
    return [*events, *([_summary(first, uuid, stated, episode)] if stated.summary else [])]


def _link(group: str, uuid: str, name: str, episode: str, known: BeliefView) -> list[Event]:
    """Return the merge of a new entity with the one that has its name already, if it is one.

    Only of an id in the scope of its group: an id without is from before, and a rebuild makes of it what was made then.
    """
    named = known.entities_named(group, name) if is_scoped(uuid) else []
    if not named or not known.identity([named[0].uuid], None).issuperset(entity.uuid for entity in named):
        return []
    merge = derive("merge", episode)
    return [EntityMerged(merge_id=merge, duplicate=uuid, into=named[0].uuid, reason="same name")]


def _summary(first: Record, uuid: str, stated: EntityRecorded, episode: str) -> EntityAttributed:
    return EntityAttributed(
        entity_id=uuid,
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
