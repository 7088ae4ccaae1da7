"""The events of the logs: page by page, and as a feed of what is there from a position on and then of what comes.

A feed is read a few events at a time, and no further than its client has taken them: a slow one costs no memory. It
ends with the client, at `to`, and with the service. There can only be so many at once.
"""

import asyncio
from collections.abc import AsyncIterator
from typing import Annotated, Any, Final

from fastapi import APIRouter, Depends, Header, Query
from fastapi.responses import JSONResponse
from fastapi.sse import EventSourceResponse, ServerSentEvent

from asof.http.routes.authorization import Reading, may_read
from asof.http.routes.parameters import FAR, Limit, OneGroup, Read, Served
from asof.http.schemas import v1
from asof.readings import LogName
from asof.service.api_keys import Caller
from asof.service.service import Service
from asof_streams.errors import AsofError, UnavailableError

_READ_AT_ONCE: Final = 50  # events
_LOOK_SECONDS: Final = 0.1  # between looks at whether anything came, which cost next to nothing
MOST: Final = 100  # feeds at once

router = APIRouter(prefix="/v1", tags=["v1"], dependencies=[may_read])

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


@router.get("/events", response_model=v1.Events)
async def events(
    served: Read,
    caller: Reading,
    log: LogName = "semantic",
    start: Start = 0,
    stop: Stop = None,
    group_id: OneGroup = None,
    limit: Limit = 1_000,
) -> JSONResponse:
    """Return the events of a log from a position on, page by page: ask again with `from` set to `next`."""
    _, found, after = await served.ask(lambda reader: reader.page(log, start, _until(stop, start, limit)))
    return JSONResponse({"events": [event for event in found if _shown(event, caller, group_id)], "next": after})


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
    at, generation, seen = start if last is None else int(last) + 1, None, None
    while not served.ending and (stop is None or at < stop):
        if served.progress == seen:
            await asyncio.sleep(_LOOK_SECONDS)
            continue
        progress = served.progress
        try:
            named, found, after = await _some(served, log, at, stop)
        except AsofError:  # whoever connects anew is told
            return
        if generation not in (None, named):
            return
        generation = named
        for event in found:
            if _shown(event, caller, group_id):
                yield ServerSentEvent(data=event, event=event["type"], id=str(event["position"]))
        seen = progress if after == at else None  # there may be more
        at = after


async def _some(served: Service, log: LogName, at: int, stop: int | None) -> tuple[str | None, list[Any], int]:
    return await served.ask(lambda reader: reader.page(log, at, _until(stop, at, _READ_AT_ONCE)))


def _until(stop: int | None, start: int, limit: int) -> int:
    return start + limit if stop is None else min(stop, start + limit)


def _shown(event: dict[str, Any], caller: Caller, group: str | None) -> bool:
    return caller.owns(event["group_id"]) and group in (None, event["group_id"])
