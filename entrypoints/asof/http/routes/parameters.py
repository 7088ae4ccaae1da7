"""The parameters that routes which read have in common, each checked, and named in the API's description.

`min_position` lets one read what one wrote: the answer waits until the message at that position, as POST /messages
named it, is processed.
"""

from typing import Annotated, Any, Final

from fastapi import Depends, Query, Request
from pydantic import AfterValidator, BeforeValidator, WithJsonSchema

from asof.http.routes.authorization import Reading, expect_own
from asof.service.service import Service
from asof_streams.errors import InvalidInput
from asof_streams.instants import parse_moment
from asof_streams.messages import check_group

FAR: Final = 2**53  # no log is as long
_TIME: Final = {"type": "string", "examples": ["2024", "2024-05-01", "2024-05-01T09:30:00Z"]}


def _moment(text: str) -> int:
    try:
        return parse_moment(text)
    except InvalidInput as error:
        raise ValueError(str(error)) from None


def _valid(group: str) -> str:
    try:
        return check_group(group)
    except InvalidInput as error:
        raise ValueError(str(error)) from None


def _point(text: str) -> tuple[int, int | None]:
    valid, comma, known = text.partition(",")
    return _moment(valid.strip()), _moment(known.strip()) if comma else None


Moment = Annotated[int, BeforeValidator(_moment), WithJsonSchema(_TIME)]
ValidAt = Annotated[Moment | None, Query(description="As the world was then; now, if not given.")]
KnownAt = Annotated[Moment | None, Query(description="As it was known then; all that is known, if not given.")]
Point = Annotated[
    Any, BeforeValidator(_point), WithJsonSchema({"type": "string", "examples": ["2024-05-01", "2024,2024-06-01"]})
]
Name = Annotated[str, Query(max_length=1_000)]
Limit = Annotated[int, Query(ge=1, le=1_000, description="At most this many.")]
Cursor = Annotated[
    str | None,
    Query(
        pattern=r"^[0-9]{1,9}$",
        description="What the page before gave as `next`, with the same other parameters; left out, the first page.",
    ),
]


_GroupId = Annotated[
    str,
    AfterValidator(_valid),
    WithJsonSchema({"type": "string", "pattern": "^[A-Za-z0-9_-]{1,128}$", "examples": ["ana"]}),
]
OneGroup = Annotated[_GroupId | None, Query(description="Only this group.")]


async def _group(caller: Reading, group_id: OneGroup = None) -> str | None:
    expect_own(caller, group_id)
    return group_id


Group = Annotated[str | None, Depends(_group)]


async def _service(request: Request) -> Service:
    found: Service = request.app.state.service
    return found


Served = Annotated[Service, Depends(_service)]


async def _settled(
    served: Served,
    min_position: Annotated[
        int | None, Query(ge=0, le=FAR, description="Wait until this message is processed, up to 30 seconds.")
    ] = None,
) -> Service:
    if min_position is not None:
        await served.settled(min_position)
    return served


Read = Annotated[Service, Depends(_settled)]


def start_of(cursor: str | None) -> int:
    """Return how many of a list the pages before a cursor had."""
    return 0 if cursor is None else int(cursor)


def page(name: str, found: list[dict[str, Any]], start: int, limit: int) -> dict[str, Any]:
    """Return a page of a list: of what was found from `start` on, one more than `limit` where there is more."""
    return {name: found[:limit], "next": str(start + limit) if len(found) > limit else None}
