"""The events of the logs: page by page, and as a feed of what is there from a position on and then of what comes.

A feed is read a few events at a time, and no further than its client has taken them: a slow one costs no memory. It
ends with the client, at `to`, and with the service. There can only be so many at once.
"""

import asyncio
from collections.abc import AsyncIterator
from typing import Annotated, Final, Literal

from fastapi import APIRouter, Depends, Header, Query
from fastapi.responses import Response
from fastapi.sse import EventSourceResponse, ServerSentEvent
from pydantic import Field

from asof.http.routes.authorization import Reading, may_read
from asof.http.routes.binding import json_of, query_route, run
from asof.http.routes.parameters import FAR, Read, Served
from asof.operations import logs
from asof.operations.errors import AsofError, UnavailableError
from asof.service.api_keys import Caller
from asof.service.service import Service
from asof_projections.model.answers import EventPage, LogEvent
from asof_projections.model.queries import EventsQuery, GroupId

_READ_AT_ONCE: Final = 50  # events
_LOOK_SECONDS: Final = 0.1  # between looks at whether anything came, which cost next to nothing
MOST: Final = 100  # feeds at once

router = APIRouter(prefix="/v1", tags=["v1"], dependencies=[may_read])

LogName = Literal["messages", "episodic", "semantic"]
OneGroup = Annotated[GroupId | None, Query(description="Only events of this group.")]

Start = Annotated[int, Query(alias="from", ge=0, le=FAR, description="From this position on.")]
Stop = Annotated[int | None, Query(alias="to", ge=0, le=FAR, description="Up to this position, without it.")]
LastId = Annotated[
    str | None,
    Header(
        alias="Last-Event-ID",
        pattern=r"^[0-9]{1,16}$",
        description="The id of the event that was taken last, as clients send it when they connect anew.",
    ),
]


class PageQuery(EventsQuery):
    """Ask for a page of a log."""

    group_id: GroupId | None = Field(None, description="Only events of this group; of every group, if left out.")
    limit: int = Field(1_000, ge=1, le=1_000, description="At most this many positions.")


@query_route(router, "/events", PageQuery, response_model=logs.events.model)
async def events(served: Service, caller: Caller, query: PageQuery) -> Response:
    """Return the events of a log from a position on, page by page: ask again with `from` set to `next`."""
    page = await _page(served, query, query.start, query.limit)
    shown = tuple(event for event in page.events if _is_shown(event, caller, query.group_id))
    return json_of(logs.events, EventPage(shown, page.next))


async def _room(served: Served) -> AsyncIterator[None]:
    if served.feeds >= MOST:
        raise UnavailableError(f"there are {MOST} feeds, and no room for more: ask later, or for pages of /v1/events")
    served.feeds += 1
    try:
        yield
    finally:
        served.feeds -= 1


@router.get("/events/stream", response_class=EventSourceResponse, dependencies=[Depends(_room)])
async def stream(
    served: Read,
    caller: Reading,
    log: LogName = "semantic",
    start: Start = 0,
    stop: Stop = None,
    group_id: OneGroup = None,
    last: LastId = None,
) -> AsyncIterator[ServerSentEvent]:
    """Send the events of a log from a position on, and go on with those that come; `Last-Event-ID` goes before `from`.

    Each has its position as `id`, its type as `event`, and is sent in the form of /v1/events. A comment every 15
    seconds keeps the connection alive. Of the semantic log it is that of the generation that answers now: if another
    one takes over, the feed ends.
    """
    query = EventsQuery.model_construct(log=log, stop=stop)
    at, generation, seen = start if last is None else int(last) + 1, None, None
    while not served.ending and (stop is None or at < stop):
        if served.progress == seen:
            await asyncio.sleep(_LOOK_SECONDS)
            continue
        progress = served.progress
        try:
            active = await served.ask(lambda session: logs.generation_of(session, query))
            page = await _page(served, query, at, _READ_AT_ONCE)
        except AsofError:  # whoever connects anew is told
            return
        if generation not in (None, active):
            return
        generation = active
        for event in page.events:
            if _is_shown(event, caller, group_id):
                yield ServerSentEvent(data=event.to_json(), event=event.type, id=str(event.position))
        seen = progress if page.next == at else None  # there may be more
        at = page.next


async def _page(served: Service, query: EventsQuery, start: int, size: int) -> EventPage:
    stop = start + size if query.stop is None else min(query.stop, start + size)
    asked = EventsQuery.model_construct(log=query.log, generation=query.generation, start=start, stop=stop)
    return await run(served, logs.events, asked)


def _is_shown(event: LogEvent, caller: Caller, group: str | None) -> bool:
    return caller.owns(event.group_id) and group in (None, event.group_id)
