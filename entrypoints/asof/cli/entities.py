"""The commands that ask about entities: entities, entity, communities, neighbourhood."""

from collections.abc import Iterator
from typing import Any

from asof.cli import show
from asof.cli.binding import question
from asof.cli.tables import FACTS, Table
from asof.operations import entities as operations

_ENTITIES = Table(("name", "name"), ("type", "type"), ("known since", "created_at"), ("id", "uuid"))
_COMMUNITIES = Table(
    ("name", "name"),
    ("members", lambda community: ", ".join(member.name for member in community.members)),
    ("summary", "summary"),
    ("known since", "created_at"),
    ("id", "uuid"),
)


def _profiles(answer: Any) -> None:
    for entity in answer:
        show.line(f"{entity.name} ({entity.type or 'of no known type'}, group {entity.group_id})")
        show.line(f"  names: {', '.join(entity.names)}; mentions: {entity.mentions}; id: {entity.uuid}")
        for line in _about(entity):
            show.line(f"  {line}")
        FACTS(entity.facts)


def _about(entity: Any) -> Iterator[str]:
    """Yield what else is known of an entity, a line each; of what is not, none."""
    if entity.summary:
        yield f"summary: {entity.summary}"
    for attribute in entity.attributes:
        yield f"{attribute.name}: {attribute.value} (confidence {attribute.confidence:.2f})"
    for link in entity.duplicate_of:
        until = f", until {show.when(link.known_to)}" if link.known_to else ""
        yield f"{link.duplicate_name} is {link.into_name}: {link.reason}{until}"
    if entity.communities:
        yield f"community: {'; '.join(community.name for community in entity.communities)}"


def _hops(answer: Any) -> None:
    for hop in answer:
        show.line(f"{hop.hop} step{'' if hop.hop == 1 else 's'} away")
        FACTS(hop.facts)
    if not answer:
        show.talk("no facts around it, as of then")


entities = question(operations.entities, _ENTITIES)
entity = question(operations.entity, _profiles, arguments=("name",))
communities = question(operations.communities, _COMMUNITIES)
neighbourhood = question(operations.neighbourhood, _hops, arguments=("name",))
