"""Binds operations to routes: the query model gives the parameters, the answer type the body and its description."""

from collections.abc import Awaitable, Callable
from functools import cache
from typing import Annotated, Any, Final, TypeVar

from fastapi import APIRouter, Query
from fastapi.responses import Response
from pydantic import BaseModel, Field, create_model, model_validator

from asof.http.routes.authorization import Reading, expect_own
from asof.http.routes.parameters import Served
from asof.operations.errors import NotFound
from asof.operations.operation import Operation
from asof.operations.queries import FAR, EventsQuery, GroupQuery, TimezoneName
from asof.operations.service_answers import run
from asof.operations.times import SPOKEN, in_instants, render, system, zone_of
from asof.service.api_keys import Caller
from asof.service.service import Service

_LIMIT: Final = 100  # items of a page, where a request gives no limit
_MOST: Final = 1_000  # items of a page
_MOMENTS: Final = {"valid_at": "Asof-Valid-At", "known_at": "Asof-Known-At", "start": "Asof-From", "stop": "Asof-To"}

Q = TypeVar("Q", bound=BaseModel)
A = TypeVar("A")


def json_of(operation: Operation[Q, A], answer: A) -> Response:
    """Return an answer of an operation as a response."""
    return Response(operation.dump(answer), media_type="application/json")


@cache
def parameters_of(query: type[BaseModel]) -> type[BaseModel]:
    """Return the parameters of a route: the fields of a query, pages of a hundred by default, and `min_position`.

    Where times are taken also `timezone`: a service does not know where its readers are.
    """
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
    if SPOKEN & query.model_fields.keys() and "timezone" not in query.model_fields:
        fields["timezone"] = (
            TimezoneName,
            Field("UTC", description="By the days of this zone times in words are read.", examples=["Europe/Berlin"]),
        )
    now = {"defer_build": False}  # while FastAPI makes it, which knows that aliases mean nothing outside of a model
    read: Any = {"times": model_validator(mode="before")(_read_times)}
    return create_model(
        query.__name__, __base__=query, __doc__=query.__doc__, __validators__=read, __cls_kwargs__=now, **fields
    )


def _read_times(fields: Any) -> Any:
    """Return parameters whose times are instants where words named them: days of the reader's zone, seen from now."""
    if not isinstance(fields, dict):
        return fields
    try:
        zone = zone_of(fields.get("timezone", "UTC"))
    except ValueError:  # the field is refused by name
        return fields
    return in_instants(fields, system, zone=zone)


def _tell_moments(response: Response, query: BaseModel) -> None:
    """Say in headers which instants the times of a request are; a point on both clocks is two of them."""
    for name, header in _MOMENTS.items():
        if (given := getattr(query, name, None)) is not None and not isinstance(query, EventsQuery):
            instants = [one for one in (given if isinstance(given, tuple) else (given,)) if one is not None]
            if told := ",".join(filter(None, map(render, instants))):
                response.headers[header] = told


Handle = Callable[[Service, Caller, Any], Awaitable[Response]]


def query_route(router: APIRouter, path: str, query: type[BaseModel], **described: Any) -> Callable[[Handle], Handle]:
    """Make a function (service, caller, query) -> response a route whose parameters are the query's fields."""
    parameters = parameters_of(query)

    def made(handle: Handle) -> Handle:
        async def endpoint(served: Served, caller: Reading, asked: Any) -> Response:
            if asked.min_position is not None:
                await served.settled(asked.min_position)
            given = {name: getattr(asked, name) for name in query.model_fields}
            checked = query.model_construct(
                _fields_set=set(given), **given
            )  # the class that the search process knows too
            response = await handle(served, caller, checked)
            _tell_moments(response, checked)
            return response

        endpoint.__annotations__["asked"] = Annotated[parameters, Query()]
        router.add_api_route(path, endpoint, **{"name": handle.__name__, "description": handle.__doc__, **described})
        return handle

    return made


def bind(router: APIRouter, path: str, operation: Operation[Any, Any]) -> None:
    """Make an operation on a group a route."""

    async def handle(served: Service, caller: Caller, query: Any) -> Response:
        expect_group(caller, query)
        return json_of(operation, await run(served, operation, query))

    _add(router, path, operation, handle)


def bind_id(
    router: APIRouter, path: str, operation: Operation[Any, Any], noun: str, owner: Callable[[Any], str]
) -> None:
    """Make an operation on an id a route. `owner` returns the group of an answer.

    What another group has is answered as what does not exist.
    """

    async def handle(served: Service, caller: Caller, query: Any) -> Response:
        answer = await ask_by_id(served, operation, query, noun)
        expect_found(caller, owner(answer), noun, query.id)
        return json_of(operation, answer)

    _add(router, path, operation, handle)


async def ask_by_id(served: Service, operation: Operation[Any, A], query: Any, noun: str) -> A:
    """Return the answer about an id. NotFound has the text of `expect_found`."""
    try:
        return await run(served, operation, query)
    except NotFound:
        raise _not_found(noun, query.id) from None


def expect_found(caller: Caller, group: str, noun: str, uuid: str) -> None:
    """Answer 404 unless a group is the caller's."""
    if not caller.owns(group):
        raise _not_found(noun, uuid)


def _not_found(noun: str, uuid: str) -> NotFound:
    return NotFound(f"no {noun} has the id {uuid}")


def _add(router: APIRouter, path: str, operation: Operation[Any, Any], handle: Handle) -> None:
    described = {"name": operation.name, "description": operation.doc, "response_model": operation.model}
    query_route(router, path, operation.query, **described)(handle)


def expect_group(caller: Caller, query: GroupQuery) -> None:
    """Answer 403 to a query about groups that are not the caller's."""
    expect_own(caller, *(query.groups or ()))
