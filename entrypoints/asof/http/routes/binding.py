"""Binds operations to routes: the query model gives the parameters, the answer type the body and its description."""

from collections.abc import Awaitable, Callable
from functools import cache, partial
from typing import Annotated, Any, Final, TypeVar

from fastapi import APIRouter, Query
from fastapi.responses import Response
from pydantic import BaseModel, Field, create_model

from asof.http.routes.authorization import Reading, expect_own
from asof.http.routes.parameters import Served
from asof.operations.errors import NotFound
from asof.operations.operation import Operation
from asof.service.api_keys import Caller
from asof.service.service import Service
from asof_projections.model.queries import GroupQuery

FAR: Final = 2**53  # no log is as long
_LIMIT: Final = 100  # where a request gives none
_MOST: Final = 1_000  # items of a page

Q = TypeVar("Q", bound=BaseModel)
A = TypeVar("A")


async def run(served: Service, operation: Operation[Q, A], query: Q) -> A:
    """Return the answer of an operation: of the process that has the embedder, where it needs it."""
    question: Callable[[Any], A] = partial(operation, query=query)
    return await (served.search(question) if operation.needs_vectors(query) else served.ask(question))


def json_of(operation: Operation[Q, A], answer: A) -> Response:
    """Return an answer as a response."""
    return Response(operation.dump(answer), media_type="application/json")


@cache
def parameters_of(query: type[BaseModel]) -> type[BaseModel]:
    """Return the parameters of a route that asks a query: its fields, pages of a hundred, and `min_position`."""
    fields: dict[str, Any] = {
        "min_position": (
            int | None,
            Field(None, ge=0, le=FAR, description="Wait until this message is processed, up to 30 seconds."),
        )
    }
    if "limit" in query.model_fields:
        limit = query.model_fields["limit"]
        default = _LIMIT if limit.default is None else limit.default
        fields["limit"] = (int, Field(default, ge=1, le=_MOST, description=f"At most this many, up to {_MOST}."))
    return create_model(query.__name__, __base__=query, __doc__=query.__doc__, **fields)


Handle = Callable[[Service, Caller, Any], Awaitable[Response]]


def query_route(router: APIRouter, path: str, query: type[BaseModel], **described: Any) -> Callable[[Handle], Handle]:
    """Make a function (service, caller, query) -> response a route whose parameters are the query's fields."""
    parameters = parameters_of(query)

    def made(handle: Handle) -> Handle:
        async def endpoint(served: Served, caller: Reading, asked: Any) -> Response:
            if asked.min_position is not None:
                await served.settled(asked.min_position)
            given = {name: getattr(asked, name) for name in query.model_fields}
            checked = query.model_construct(_fields_set=set(given), **given)  # another process knows this class
            return await handle(served, caller, checked)

        endpoint.__annotations__["asked"] = Annotated[parameters, Query()]
        router.add_api_route(path, endpoint, **{"name": handle.__name__, "description": handle.__doc__, **described})
        return handle

    return made


def bind(
    router: APIRouter, path: str, operation: Operation[Any, Any], owner: Callable[[Any], str] | None = None
) -> None:
    """Make a route that asks an operation. `owner` gives the group of an answer that is asked for by its id alone."""

    async def handle(served: Service, caller: Caller, query: Any) -> Response:
        if owner is None:
            expect_group(caller, query)
        answer = await run(served, operation, query)
        if owner is not None and not caller.owns(owner(answer)):
            raise NotFound(f"nothing has the id {query.id}")
        return json_of(operation, answer)

    described = {"name": operation.name, "description": operation.doc, "response_model": operation.model}
    query_route(router, path, operation.query, **described)(handle)


def expect_group(caller: Caller, query: GroupQuery) -> None:
    """Refuse, with 403, a question about groups that are not the caller's."""
    expect_own(caller, *([] if query.group is None else [query.group]))
