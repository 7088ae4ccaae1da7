"""The shapes of answers that are more than facts, each with the JSON that every door shows."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from asof_projections.graph.ports import VersionChange
from asof_projections.rows import Attribute, Community, Entity, Fact
from asof_streams.instants import render


class Link(NamedTuple):
    """That two entities are one, over the known time in which we thought so."""

    uuid: str
    duplicate: str
    into: str
    reason: str
    known_from: int
    known_to: int

    def to_json(self) -> dict[str, Any]:
        """Return the link as every door shows it."""
        times = {"known_from": render(self.known_from), "known_to": render(self.known_to)}
        return {**self._asdict(), **times}


@dataclass(frozen=True, slots=True)
class Portrait:
    """An entity as known at a moment, together with all that were taken to be the same."""

    entity: Entity = field(repr=False)
    names: tuple[str, ...] = field(repr=False)  # its own first
    links: tuple[Link, ...]  # those that were taken back too
    called: Mapping[str, str] = field(repr=False)  # the names of the ends of links, by id
    mentions: int
    summary: str = field(repr=False)  # of its attributes and of the facts attested last; made for this answer
    attributes: tuple[Attribute, ...] = field(repr=False)  # most recently attested first
    communities: tuple[Community, ...] = field(repr=False)
    facts: tuple[Fact, ...]  # with it as subject, then as object

    def to_json(self) -> dict[str, Any]:
        """Return the portrait as every door shows it."""
        return {
            **entity_json(self.entity),
            "names": list(self.names),
            "duplicate_of": [self._link_json(link) for link in self.links],
            "mentions": self.mentions,
            "summary": self.summary,
            "attributes": [attribute.to_json() for attribute in self.attributes],
            "communities": [{"uuid": community.uuid, "name": community.name} for community in self.communities],
            "facts": [fact.to_json() for fact in self.facts],
        }

    def _link_json(self, link: Link) -> dict[str, Any]:
        names = {"duplicate_name": self.called[link.duplicate], "into_name": self.called[link.into]}
        return link.to_json() | names


@dataclass(frozen=True, slots=True)
class Level:
    """The facts that lead one step further away."""

    hop: int  # from 1
    facts: tuple[Fact, ...]

    def to_json(self) -> dict[str, Any]:
        """Return the level as every door shows it."""
        return {"hop": self.hop, "facts": [fact.to_json() for fact in self.facts]}


class Turn(NamedTuple):
    """What opened or closed a version."""

    kind: str  # asserted | superseded | ended | retracted | corrected | contradicted | merged | restored
    statement: str  # id of the assertion, ending or retraction that caused it

    def to_json(self) -> dict[str, Any]:
        """Return it as every door shows it."""
        return self._asdict()


@dataclass(frozen=True, slots=True)
class Rectangle:
    """A version of a fact: a period in the world, believed over a period, with what began and ended that belief."""

    fact: Fact
    opened: Turn
    closed: Turn | None  # None: it is still believed

    def to_json(self) -> dict[str, Any]:
        """Return the rectangle as every door shows it."""
        return {
            **self.fact.to_json(),
            "known_from": render(self.fact.known_from),
            "known_to": render(self.fact.known_to),
            "opened": self.opened.to_json(),
            "closed": self.closed and self.closed.to_json(),
        }


@dataclass(frozen=True, slots=True)
class ChangesPage:
    """What some messages changed, and the cursor with which to ask for what follows."""

    changes: tuple[VersionChange, ...]
    next: int

    def to_json(self) -> dict[str, Any]:
        """Return the page as every door shows it."""
        return {"changes": [change_json(change) for change in self.changes], "next": self.next}


def change_json(change: VersionChange) -> dict[str, Any]:
    """Return a change as every door shows it."""
    return {
        "position": change.position,
        "recorded_at": render(change.recorded_at),
        "change": "opened" if change.opened else "closed",
        "fact": change.fact.to_json(),
    }


def community_json(community: Community) -> dict[str, Any]:
    """Return a community as every door shows it."""
    return {
        "uuid": community.uuid,
        "group_id": community.group_id,
        "name": community.name,
        "created_at": render(community.known_from),
        "members": [{"uuid": member.uuid, "name": member.name} for member in community.members],
    }


def entity_json(entity: Entity) -> dict[str, Any]:
    """Return an entity as every door shows it."""
    return {
        "uuid": entity.uuid,
        "group_id": entity.group_id,
        "name": entity.name,
        "type": entity.type,
        "created_at": render(entity.known_from),
    }
