"""The commands that ask who and what is known: entities, entity, communities."""

from collections.abc import Iterator
from typing import Annotated, Any

import typer

from asof.cli import calls, facts, show
from asof.cli.options import Data, Group, Json, Kafka, KnownAt, Limit, ValidAt
from asof_streams.errors import NotFound


def entities(
    like: Annotated[
        str | None,
        typer.Option("--like", metavar="NAME", help="Those with the nearest names, 10 if no limit is given."),
    ] = None,
    group: Group = None,
    known_at: KnownAt = None,
    limit: Limit = None,
    kafka: Kafka = None,
    data: Data = None,
    as_json: Json = False,
) -> None:
    """List who and what is known."""
    from asof_projections.queries.answers import entity_json

    with calls.existing(data, kafka) as memory:
        known = memory.entities(group_id=group, like=like, known_at=known_at, limit=limit)
        found = [entity_json(entity) for entity in known]
    if as_json:
        show.data(found)
        return
    show.table(
        ("name", "type", "group", "known since", "id"),
        ((e["name"], e["type"], e["group_id"], show.when(e["created_at"]), e["uuid"]) for e in found),
    )


def entity(
    name: Annotated[str, typer.Argument(metavar="NAME", help="Of a person or a thing, or its id.")],
    group: Group = None,
    valid_at: ValidAt = None,
    known_at: KnownAt = None,
    limit: Limit = None,
    kafka: Kafka = None,
    data: Data = None,
    as_json: Json = False,
) -> None:
    """Show what is known of whoever has this name. Other names, a summary, and the facts that hold."""
    with calls.existing(data, kafka) as memory:
        portraits = memory.entity(name, group_id=group, valid_at=valid_at, known_at=known_at, limit=limit)
        found = [portrait.to_json() for portrait in portraits]
    if not found:
        raise NotFound("no entity has this name, as of then")
    if as_json:
        show.data(found)
        return
    for portrait in found:
        show.line(f"{portrait['name']} ({portrait['type'] or 'of no known type'}, group {portrait['group_id']})")
        show.line(f"  names: {', '.join(portrait['names'])}; mentions: {portrait['mentions']}; id: {portrait['uuid']}")
        for line in _about(portrait):
            show.line(f"  {line}")
        facts.table(portrait["facts"])


def communities(
    group: Group = None,
    known_at: KnownAt = None,
    limit: Limit = None,
    kafka: Kafka = None,
    data: Data = None,
    as_json: Json = False,
) -> None:
    """List who and what is taken together. Only messages that ask for it form communities."""
    from asof_projections.queries.answers import community_json

    with calls.existing(data, kafka) as memory:
        found = [community_json(c) for c in memory.communities(group_id=group, known_at=known_at, limit=limit)]
    if as_json:
        show.data(found)
        return
    show.table(
        ("name", "members", "group", "known since", "id"),
        (
            (
                c["name"],
                ", ".join(m["name"] for m in c["members"]),
                c["group_id"],
                show.when(c["created_at"]),
                c["uuid"],
            )
            for c in found
        ),
    )


def _about(portrait: dict[str, Any]) -> Iterator[str]:
    """Yield what else is known of an entity, a line each; of what is not, none."""
    if portrait["summary"]:
        yield f"summary: {portrait['summary']}"
    for attribute in portrait["attributes"]:
        yield f"{attribute['name']}: {attribute['value']} (confidence {attribute['confidence']:.2f})"
    for link in portrait["duplicate_of"]:
        until = f", until {show.when(link['known_to'])}" if link["known_to"] else ""
        yield f"{link['duplicate_name']} is {link['into_name']}: {link['reason']}{until}"
    if portrait["communities"]:
        yield f"community: {'; '.join(community['name'] for community in portrait['communities'])}"
