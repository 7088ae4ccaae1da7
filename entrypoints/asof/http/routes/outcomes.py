"""The outcomes of messages, by position, or in the answer of the request that takes them and waits."""

from collections.abc import Sequence
from contextlib import suppress
from typing import Annotated

from fastapi import Query

from asof.http.routes.binding import run
from asof.operations import logs
from asof.operations.answers import Outcome, Queued
from asof.operations.errors import UnavailableError
from asof.operations.queries import MessageQuery
from asof.service.service import Service

Wait = Annotated[
    bool,
    Query(description="Answer when the messages are processed, or after 30 seconds, with what each did in `outcomes`."),
]


async def outcome(served: Service, position: int) -> Outcome:
    """Return the state of a message on the log: queued, or what became of it."""
    if served.worker.next <= position < await served.ask(lambda reader: reader.end()):
        return Queued(position, "queued", max(position - served.worker.next, 0))
    return await run(served, logs.message, MessageQuery(position=position))


async def outcomes(served: Service, positions: Sequence[int]) -> list[Outcome]:
    """Wait until messages are processed, and return what became of each, in order; `queued` where one still waits."""
    if not positions:
        return []
    with suppress(UnavailableError):  # they are on the log all the same
        await served.done(positions[-1])
    return [await outcome(served, position) for position in positions]
