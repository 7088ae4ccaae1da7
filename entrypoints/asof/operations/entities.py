"""The questions about entities: who and what is known, and everything about a name."""

from typing import Any

from asof.operations.moments import known_of, moment_of, page_of
from asof.operations.operation import operation
from asof.service.session import Session
from asof_projections.model.answers import Community, Entity, EntityProfile, Hop, Page, SearchedPage
from asof_projections.model.queries import (
    CommunitiesQuery,
    EntitiesQuery,
    EntityQuery,
    GroupQuery,
    KnownQuery,
    NeighbourhoodQuery,
)
from asof_projections.model.rows import Moment
from asof_streams.errors import NotFound

_NEAREST = 10  # names, where no limit is given


@operation(items="entities", vectors=lambda query: query.like is not None)
def entities(session: Session, query: EntitiesQuery) -> SearchedPage[Entity]:
    """Return the entities that are known, in the order of their introduction; with `like`, the nearest names first.

    Where names have no vector yet, entities come first that have the name, or one that is a slip away from it;
    `vectors_behind` says how many names have none.
    """
    known = known_of(session, query)
    if query.like is None:
        page = session.queries(query.group).entities(query, known)
        return SearchedPage.until(page, page.next)
    nearest = session.like(session.of(query.group), query.like, known, query.group, query.limit or _NEAREST)
    found = SearchedPage(map(Entity.of, nearest))
    found.vectors_behind = nearest.vectors_behind
    return found


@operation(items="entities")
def entity(session: Session, query: EntityQuery) -> list[EntityProfile]:
    """Return what is known of everything that has a name, one profile for all entities that are the same.

    Its facts are those that hold at the moment, with what happened before it and what is planned.
    """
    return session.queries(query.group).entity(query, moment_of(session, query))


@operation(items="communities")
def communities(session: Session, query: CommunitiesQuery) -> Page[Community]:
    """Return the communities that are known with their members and summaries, by when they were formed."""
    known, queries = known_of(session, query), session.queries(query.group)
    page = page_of(queries.communities(query, known), query, known)
    at = Moment(min(known, session.now()), known)
    return Page.until((queries.community(row, at) for row in page), page.next)


@operation(items="hops")
def neighbourhood(session: Session, query: NeighbourhoodQuery) -> list[Hop]:
    """Return the facts around a name, step by step away from it, all as of one moment."""
    return session.queries(query.group).neighbourhood(query, moment_of(session, query))


def expect_entity(session: Session, name: str, query: GroupQuery) -> None:
    """Refuse a name, or an id, that no entity has in the groups and as of the moment of a question. NotFound."""
    known_at = query.known_at if isinstance(query, KnownQuery) else None
    for group in query.groups or (None,):
        scope: dict[str, Any] = {"all_groups": True} if group is None else {"group_id": group}
        if entity.ask(session, name=name, known_at=known_at, limit=1, **scope):
            return
    raise NotFound("no entity has this name, as of then")


def expect_names(session: Session, query: Any) -> None:
    """Refuse a question about a name, or an id, that no entity has in its groups and as of its moment. NotFound."""
    for field in ("name", "about", "center"):
        if (name := getattr(query, field, None)) is not None:
            expect_entity(session, name, query)
