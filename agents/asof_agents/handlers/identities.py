"""The identities agent: who is whom, as somebody states it. Pure.

A merge is a duplicate_of link that is known from its message on, so it rewrites no fact, and a split takes it back. An
alias has an id of its own, made of its message: so taking it back leaves names alone that were said in words.
"""

from typing import Final

from asof_agents.handlers.statement_writer import MERGE, Build, StatementWriter, wordless
from asof_agents.ports import BeliefView
from asof_agents.resolution.exact import ExactNames
from asof_projections.entity_ids import entity_with_id
from asof_projections.model.rows import EntityRow, LinkRow
from asof_streams.episodic import IdentityRecorded, MessageParked
from asof_streams.errors import InvalidInput, NotFound
from asof_streams.events import Event, Record
from asof_streams.ids import derive
from asof_streams.instants import INF
from asof_streams.semantic import EntityDescribed, EntityMerged, EntityUndescribed, EntityUnmerged

STATED: Final = "stated"  # the reason of a merge
_ALIAS: Final = "alias:"  # and the message's id


def state(first: Record, stated: IdentityRecorded, build: Build, known: BeliefView) -> list[Event]:
    """Return the semantic events of a statement of identity: none where that is so already, or why it cannot stand."""
    identities = Identities(first, build, known)
    try:
        match stated.op:
            case "merge":
                return identities.merge(stated.entity or "", stated.into or "")
            case "split" if stated.merge_id is not None:
                return identities.part([identities.link(stated.merge_id)])
            case "split":
                return identities.split(stated.entity or "", stated.into or "")
            case "alias":
                return identities.alias(stated.entity or "", stated.name or "")
            case "unalias":
                return identities.unalias(stated.entity or "", stated.name or "")
    except (InvalidInput, NotFound) as error:
        return [MessageParked(reason=str(error))]


class Identities:
    """The statements of one message about the entities of its group."""

    def __init__(self, first: Record, build: Build, known: BeliefView) -> None:
        self._group = first.group
        self._known = known
        episode = wordless(first)
        names = ExactNames(known, build.digest, first.group, first.recorded_at, episode)
        self._writer = StatementWriter(names, build, first.cause)
        self._said_in = episode.episode_id

    def merge(self, name: str, other: str) -> list[Event]:
        """Return the merge of two entities, unless it was stated before; that something else joins them is no matter.

        Its id is that of no generation, so that a split that names it means it in every one.
        """
        duplicate, into = self._pair(name, other)
        if any(link.reason == STATED for link in self._links(duplicate, into)):
            return []
        merge = derive("merge", self._said_in)
        return [EntityMerged(merge_id=merge, duplicate=duplicate.uuid, into=into.uuid, reason=STATED)]

    def split(self, name: str, other: str) -> list[Event]:
        """Return what takes back all that directly joins two entities."""
        links = self._links(*self._pair(name, other))
        if not links:
            raise NotFound("into: no merge that is believed joins these two directly")
        return self.part(links)

    def part(self, links: list[LinkRow]) -> list[Event]:
        """Return what takes links back, each with the fact that it rests on."""
        for link in links:
            if link.uuid.startswith(MERGE):
                self._writer.retract(self._writer.statement(link.uuid.removeprefix(MERGE)), "retracted")
            else:
                self._writer.changes.statements.append(EntityUnmerged(merge_id=link.uuid))
        return self._writer.events()

    def link(self, merge: str) -> LinkRow:
        """Return a merge of this group that is believed."""
        link = self._known.link(merge)
        if link is None or link.known_to < INF or self._writer.names.entity(link.into).group_id != self._group:
            raise NotFound("merge_id: no merge of this group that is believed has it")
        return link

    def alias(self, name: str, alias: str) -> list[Event]:
        """Return another name of an entity, unless it was stated before."""
        entity = self._entity("entity", name)
        if entity.name == alias or self._stated(entity, alias):
            return []
        return [EntityDescribed(entity_id=entity.uuid, alias=alias, episode_id=_ALIAS + self._said_in)]

    def unalias(self, name: str, alias: str) -> list[Event]:
        """Return what takes back every statement that gave an entity a name."""
        entity = self._entity("entity", name)
        stated = self._stated(entity, alias)
        if not stated:
            raise NotFound("name: no alias that was stated of this entity; withdraw the episode that says it")
        return [EntityUndescribed(entity_id=entity.uuid, alias=alias, episode_id=said_in) for said_in in stated]

    def _stated(self, entity: EntityRow, alias: str) -> list[str]:
        """Return the ids of the statements that count by which an entity has a name."""
        return [said_in for said_in in self._known.namings(entity, alias) if said_in.startswith(_ALIAS)]

    def _links(self, one: EntityRow, other: EntityRow) -> list[LinkRow]:
        """Return the links between two entities that are believed."""
        pair = {one.uuid, other.uuid}
        links = self._known.links([one.uuid], None)
        return [link for link in links if link.known_to == INF and {link.duplicate, link.into} == pair]

    def _pair(self, name: str, other: str) -> tuple[EntityRow, EntityRow]:
        entity, into = self._entity("entity", name), self._entity("into", other)
        if entity.uuid == into.uuid:
            raise InvalidInput("it is the same entity", field="into")
        return entity, into

    def _entity(self, field: str, name: str) -> EntityRow:
        """Return the entity of this group with exactly this name, its own before another's alias; else with this id."""
        called = self._known.entities_named(self._group, name)
        meant = [entity for entity in called if entity.name == name] or called
        if not meant:
            entity = entity_with_id(self._known, self._group, name)
            if entity is None:
                raise NotFound(f"{field}: no entity of this group has that name or id")
            return entity
        if len(meant) > 1 and not self._known.identity([meant[0].uuid], None).issuperset(e.uuid for e in meant):
            raise InvalidInput("several entities of this group have that name; give the id of one", field=field)
        return meant[0]
