"""The routes under /v1: the questions of the command line, under the same names and with the same parameters.

Each is asked as of a moment on two clocks, `valid_at` and `known_at`.
"""

from collections.abc import Sequence
from operator import methodcaller
from typing import Annotated, Any, Protocol

from fastapi import APIRouter, Query
from fastapi.responses import JSONResponse

from asof.http.routes.authorization import Reading, may_read
from asof.http.routes.parameters import FAR, Cursor, Group, KnownAt, Limit, Name, Point, Read, ValidAt, page, start_of
from asof.http.schemas import v1
from asof_projections.queries.answers import community_json, entity_json
from asof_streams.errors import NotFound

router = APIRouter(prefix="/v1", tags=["v1"], dependencies=[may_read])


@router.get("/messages/{position}", response_model=v1.Outcome)
async def message(position: int, served: Read, caller: Reading) -> JSONResponse:
    """Say what became of a message: it is queued; done, with what it changed; parked, and why; or erased."""
    await served.seen(position)
    if not caller.owns(await served.ask(lambda reader: reader.group_at(position))):
        raise NotFound(f"there is no message {position}")
    if served.worker.next <= position < await served.ask(lambda reader: reader.end()):
        ahead = max(position - served.worker.next, 0)
        return JSONResponse({"position": position, "state": "queued", "ahead": ahead})
    return JSONResponse(await served.ask(lambda reader: reader.outcome(position)))


@router.get("/facts", response_model=v1.Facts)
async def facts(
    served: Read,
    group_id: Group,
    about: Name | None = None,
    relation: Name | None = None,
    object: Name | None = None,  # noqa: A002 - the word of the command line
    valid_at: ValidAt = None,
    known_at: KnownAt = None,
    any_time: bool = False,
    limit: Limit = 100,
    cursor: Cursor = None,
) -> JSONResponse:
    """Return which facts hold, page by page: `about` names their subject, `any_time` lifts valid time.

    Without `known_at` a later page also counts what came to be known since the first.
    """
    start = start_of(cursor)
    found = await served.ask(
        lambda reader: reader.facts(
            group_id=group_id,
            about=about,
            relation=relation,
            object=object,
            valid_at=valid_at,
            known_at=known_at,
            any_time=any_time,
            limit=start + limit + 1,
        )
    )
    return JSONResponse(page("facts", [fact.to_json() for fact in found[start:]], start, limit))


@router.get("/search", response_model=v1.Hits)
async def search(
    served: Read,
    query: Annotated[str, Query(max_length=2_000)],
    group_id: Group,
    valid_at: ValidAt = None,
    known_at: KnownAt = None,
    any_time: bool = False,
    limit: Limit = 10,
) -> JSONResponse:
    """Return the facts that hold and fit a question best, by words and by meaning."""
    hits = await served.search(
        methodcaller(
            "search", query, group_id=group_id, valid_at=valid_at, known_at=known_at, any_time=any_time, limit=limit
        )
    )
    return JSONResponse({"facts": [hit.to_json() for hit in hits]})


@router.get("/entities", response_model=v1.Entities)
async def entities(
    served: Read,
    group_id: Group,
    like: Annotated[Name | None, Query(description="Those with the nearest names, nearest first.")] = None,
    known_at: KnownAt = None,
    limit: Limit = 100,
    cursor: Cursor = None,
) -> JSONResponse:
    """Return who and what is known, page by page, first introduced first."""
    start = start_of(cursor)
    found = await (served.ask if like is None else served.search)(
        methodcaller("entities", group_id=group_id, like=like, known_at=known_at, limit=start + limit + 1)
    )
    return JSONResponse(page("entities", [entity_json(entity) for entity in found[start:]], start, limit))


@router.get("/entity", response_model=v1.Portraits)
async def entity(
    served: Read,
    name: Name,
    group_id: Group,
    valid_at: ValidAt = None,
    known_at: KnownAt = None,
    limit: Limit = 100,
) -> JSONResponse:
    """Return what is known of everything that has a name, or an id; of its facts the first ones."""
    found = await served.ask(
        lambda reader: reader.entity(name, group_id=group_id, valid_at=valid_at, known_at=known_at, limit=limit)
    )
    if not found:
        raise NotFound("no entity has this name, as of then")
    return JSONResponse({"entities": [portrait.to_json() for portrait in found]})


@router.get("/communities", response_model=v1.Communities)
async def communities(
    served: Read, group_id: Group, known_at: KnownAt = None, limit: Limit = 100, cursor: Cursor = None
) -> JSONResponse:
    """Return who and what is taken together, page by page, formed first first: where messages asked for it."""
    start = start_of(cursor)
    found = await served.ask(
        lambda reader: reader.communities(group_id=group_id, known_at=known_at, limit=start + limit + 1)
    )
    return JSONResponse(page("communities", [community_json(c) for c in found[start:]], start, limit))


@router.get("/history", response_model=v1.History)
async def history(
    served: Read,
    id: Name,  # noqa: A002 - the word of the command line
    group_id: Group,
    limit: Limit = 1_000,
    cursor: Cursor = None,
) -> JSONResponse:
    """Return every version of a fact (by id) or of an entity's facts (by name), with what made each, page by page."""
    found = await served.ask(lambda reader: reader.history(id, group_id=group_id))
    if not found:
        raise NotFound("no fact has this id, and no entity this name")
    return _paged("versions", found, cursor, limit)


@router.get("/timeline", response_model=v1.Timeline)
async def timeline(
    served: Read,
    name: Name,
    group_id: Group,
    relation: Name | None = None,
    known_at: KnownAt = None,
    limit: Limit = 1_000,
    cursor: Cursor = None,
) -> JSONResponse:
    """Return what held of an entity and when, slot by slot, gaps included, page by page."""
    found = await served.ask(
        lambda reader: reader.timeline(name, group_id=group_id, relation=relation, known_at=known_at)
    )
    return _paged("segments", found, cursor, limit)


@router.get("/diff", response_model=v1.Differences)
async def diff(
    served: Read,
    start: Annotated[Point, Query(alias="from", description="T or T,K: the world at T, as known at K.")],
    stop: Annotated[Point, Query(alias="to", description="The other point.")],
    group_id: Group,
    about: Name | None = None,
    relation: Name | None = None,
    limit: Limit = 1_000,
    cursor: Cursor = None,
) -> JSONResponse:
    """Return what differs between two points, each change under one label, page by page."""
    found = await served.ask(lambda reader: reader.diff(start, stop, group_id=group_id, about=about, relation=relation))
    return _paged("changes", found, cursor, limit)


@router.get("/why", response_model=v1.Why)
async def why(served: Read, caller: Reading, id: Name, known_at: KnownAt = None) -> JSONResponse:  # noqa: A002
    """Return the words that a fact rests on, and those behind what became of it."""
    found = await served.ask(lambda reader: reader.why(id, known_at=known_at))
    if not caller.owns(found.fact.group_id):
        raise NotFound(f"no fact has the id {id}")
    return JSONResponse(found.to_json())


@router.get("/changes", response_model=v1.Changes)
async def changes(
    served: Read,
    group_id: Group,
    since: Annotated[int, Query(ge=-1, le=FAR, description="After the message at this position.")] = -1,
    limit: Limit = 1_000,
) -> JSONResponse:
    """Return what messages changed, in order, about `limit` changes; ask again with `since` set to `next`."""
    found = await served.ask(lambda reader: reader.changes(since=since, limit=limit, group_id=group_id))
    return JSONResponse(found.to_json())


class _Shown(Protocol):
    def to_json(self) -> dict[str, Any]: ...


def _paged(name: str, found: Sequence[_Shown], cursor: str | None, limit: int) -> JSONResponse:
    """Return a page of a list that is known whole."""
    start = start_of(cursor)
    return JSONResponse(page(name, [each.to_json() for each in found[start : start + limit + 1]], start, limit))
