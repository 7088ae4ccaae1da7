"""Operations by a service of many callers: answers with the moment that they are of, and what became of messages."""

from collections.abc import Sequence
from contextlib import suppress
from functools import partial
from typing import Any, Generic, NamedTuple, TypeVar

from pydantic import BaseModel

from asof.operations import logs
from asof.operations.operation import Operation
from asof.service.service import Service
from asof_projections.model.queries import AnyTimeQuery, KnownQuery, MessageQuery, MomentQuery
from asof_projections.model.write_answers import Outcome, Queued
from asof_streams.errors import UnavailableError
from asof_streams.instants import NEG

Q = TypeVar("Q", bound=BaseModel)
A = TypeVar("A")


async def run(served: Service, operation: Operation[Q, A], query: Q) -> A:
    """Return the answer of an operation; one that needs vectors runs in the process that has the embedder."""
    question = partial(operation, query=query)
    return await (served.search(question) if operation.needs_vectors(query) else served.ask(question))


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


class Reached(NamedTuple):
    """How far an answer goes: the moments that it is of, in microseconds, and the log.

    valid None: any moment. known: when the last message of the groups was recorded that counts, unless asked; None:
    none was. position: all messages before it count. lag: how many wait behind them.
    """

    valid: int | None
    known: int | None
    position: int
    lag: int


class Answered(NamedTuple, Generic[A]):
    """An answer, and how far it goes."""

    answer: A
    reached: Reached


async def run_as_of(served: Service, operation: Operation[Q, A], query: Q, groups: Sequence[str]) -> Answered[A]:
    """Return the answer of an operation about groups, as of moments that are fixed before it is asked."""
    question = partial(_answered, operation=operation, query=query, groups=tuple(groups))
    return await (served.search(question) if operation.needs_vectors(query) else served.ask(question))


def _answered(session: Any, operation: Operation[Q, A], query: Q, groups: Sequence[str]) -> Answered[A]:
    reached = reached_by(session, groups)
    if isinstance(query, MomentQuery):
        lifted = isinstance(query, AnyTimeQuery) and query.any_time
        valid = None if lifted else session.now() if query.valid_at is None else query.valid_at
        reached = reached._replace(valid=valid)
        query = query.model_copy(update={"valid_at": valid})
    if isinstance(query, KnownQuery):
        known = reached.known if query.known_at is None else query.known_at
        reached = reached._replace(known=known)
        query = query.model_copy(update={"known_at": NEG if known is None else known})
    return Answered(operation(session, query), reached)


def reached_by(session: Any, groups: Sequence[str]) -> Reached:
    """Return how far answers of a session about groups go now."""
    found = [session.sources.of(group).reached(group) for group in groups]
    known, position = max(known for known, _ in found), min(position for _, position in found)
    return Reached(session.now(), None if known == NEG else known, position, max(session.end() - position, 0))
