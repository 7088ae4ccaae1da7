"""The events of the logs: in pages, and as a feed that sends stored events and then new ones.

A feed reads a few events at a time, and only as fast as its client takes them: a slow client costs no memory. A feed
ends with its client, at `to`, and with the service. The service has a limit of feeds, and each key a lower one.
"""

import asyncio
from collections.abc import AsyncIterator
from typing import Annotated, Final, Literal

from fastapi import Depends, Header, Query
from fastapi.responses import Response
from fastapi.sse import EventSourceResponse, ServerSentEvent
from pydantic import Field

from asof.http.routes.authorization import Reading
from asof.http.routes.binding import json_of, query_route
from asof.http.routes.parameters import Read, Served
from asof.http.routes.routers import v1_router
from asof.operations import logs
from asof.operations.answers import EventPage, LogEvent
from asof.operations.errors import AsofError, UnavailableError
from asof.operations.queries import FAR, EventsQuery, GroupId
from asof.operations.service_answers import run
from asof.service.api_keys import EVERYBODY, Caller
from asof.service.service import Service

_READ_AT_ONCE: Final = 50  # events
_LOOK_SECONDS: Final = 0.1  # between looks for new events; a look costs next to nothing
MOST: Final = 100  # feeds at once
MOST_OF_ONE_KEY: Final = 20

router = v1_router("/v1", "v1")

LogName = Literal["messages", "episodic", "semantic"]
OneGroup = Annotated[GroupId | None, Query(description="Only events of this group.")]

Start = Annotated[int, Query(alias="from", ge=0, le=FAR, description="From this position on.")]
Stop = Annotated[int | None, Query(alias="to", ge=0, le=FAR, description="Before this position.")]
LastId = Annotated[
    str | None,
    Header(
        alias="Last-Event-ID",
        pattern=r"^[0-9]{1,16}$",
        description="The id of the last event received, which clients send when they reconnect.",
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


async def _room(served: Served, caller: Reading) -> AsyncIterator[None]:
    feeds, name = served.feeds, caller.name
    most = MOST if caller is EVERYBODY else MOST_OF_ONE_KEY
    if feeds.total() >= MOST or feeds[name] >= most:
        whose = "" if feeds.total() >= MOST else " of this key"
        raise UnavailableError(
            f"{MOST if not whose else most} feeds{whose} are open, which is the limit: try again later, or read pages "
            "of /v1/events"
        )
    feeds[name] += 1
    try:
        yield
    finally:
        feeds[name] -= 1


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
    """Send the events of a log from a position on, and then new ones as they come. `Last-Event-ID` replaces `from`.

    Each event has its position as `id`, its type as `event`, and the form of /v1/events. A comment every 15 seconds
    keeps the connection alive. The semantic log is that of the generation that answers; the feed ends when another
    generation takes over.
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
        except AsofError:  # the client reconnects, and gets the error
            return
        if generation not in (None, active):
            return
        generation = active
        for event in page.events:
            if _is_shown(event, caller, group_id):
                yield ServerSentEvent(data=event.to_json(), event=event.type, id=str(event.position))
        seen = progress if page.next == at else None  # else there may be more
        at = page.next


async def _page(served: Service, query: EventsQuery, start: int, size: int) -> EventPage:
    stop = start + size if query.stop is None else min(query.stop, start + size)
    asked = EventsQuery.model_construct(log=query.log, generation=query.generation, start=start, stop=stop)
    return await run(served, logs.events, asked)


def _is_shown(event: LogEvent, caller: Caller, group: str | None) -> bool:
    return caller.owns(event.group_id) and group in (None, event.group_id)
