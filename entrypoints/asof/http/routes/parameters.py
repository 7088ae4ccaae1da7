"""The parameters that routes have in common, and the check of their names.

`min_position` gives read-your-writes: the answer waits until the message at that position, as POST /messages returned
it, is processed.
"""

from collections import Counter
from typing import Annotated, Any, Final, get_origin

from fastapi import Depends, Query, Request
from fastapi.dependencies.utils import get_flat_params
from fastapi.params import ParamTypes
from fastapi.routing import APIRoute
from pydantic.fields import FieldInfo

from asof.http.schemas.graphiti import OPTIONS, AddMessages
from asof.operations.errors import InvalidInput
from asof.operations.queries import FAR, unknown
from asof.service.service import Service

MinPosition = Annotated[
    int | None, Query(ge=0, le=FAR, description="Wait until this message is processed, up to 30 seconds.")
]


async def _service(request: Request) -> Service:
    service: Service = request.app.state.service
    return service


Served = Annotated[Service, Depends(_service)]


async def _settled(served: Served, min_position: MinPosition = None) -> Service:
    if min_position is not None:
        await served.settled(min_position)
    return served


Read = Annotated[Service, Depends(_settled)]


async def _check_names(request: Request) -> None:
    """Refuse a query parameter that the route does not have, or a second value of one: neither may pass in silence."""
    given = Counter(name for name, _ in request.query_params.multi_items())
    if not given:
        return
    route: APIRoute = request.scope["route"]
    known = _parameters_of(route)
    for name, count in given.items():
        if name not in known:
            raise unknown(name, known, "parameter")
        if count > 1 and not known[name]:
            raise InvalidInput(f"it has {count} values; give one", field=name)


known_parameters: Final = Depends(_check_names)


async def _check_places(request: Request) -> None:
    """Refuse a query parameter that others of our routes have, or an option of the body: whoever sends it relies on it.

    A field that the body needs is refused where the body has another value: where it has none, that is what is wrong.
    """
    route: APIRoute = request.scope["route"]
    unnamed = request.query_params.keys() - _parameters_of(route).keys()
    if not unnamed:
        return
    needed, options = _fields_of(route)
    for name in sorted((unnamed - needed) & (_own_parameters(request) | options)):
        raise InvalidInput("this route does not take it", field=f"query.{name}")
    if twice := sorted(unnamed & needed):
        body = await _object_of(request)
        for name in twice:
            if name in body and any(value != body[name] for value in request.query_params.getlist(name)):
                raise InvalidInput("the body has another one: leave it out here", field=f"query.{name}")


async def _object_of(request: Request) -> dict[str, Any]:
    """Return the fields of a body; none where it is no object, which the route refuses."""
    try:
        body = await request.json()
    except (ValueError, RecursionError):
        return {}
    return body if isinstance(body, dict) else {}


def _fields_of(route: APIRoute) -> tuple[set[str], set[str]]:
    """Return the names of the fields that the body of a route needs, and those that it may have, in a message too."""
    body = None if route.body_field is None else route.body_field.field_info.annotation
    fields: dict[str, FieldInfo] = getattr(body, "model_fields", {})
    needed = {name for name, field in fields.items() if field.is_required()}
    options = fields.keys() - needed
    return needed, options | set(OPTIONS) if body is AddMessages else options


parameters_in_place: Final = Depends(_check_places)


def _own_parameters(request: Request) -> set[str]:
    """Return the names of the query parameters of our own routes."""
    routes = [route for route in request.app.routes if isinstance(route, APIRoute) and route.path.startswith("/v1/")]
    return {name for route in routes for name in _parameters_of(route)}


_parameters: Final[dict[str, dict[str, bool]]] = {}  # by the id of the route: the same in every application


def _parameters_of(route: APIRoute) -> dict[str, bool]:
    """Return the names of the query parameters of a route, and which may have many values."""
    if route.unique_id not in _parameters:
        _parameters[route.unique_id] = {
            field.alias: get_origin(field.field_info.annotation) in (list, tuple)
            for field in get_flat_params(route.dependant)
            if getattr(field.field_info, "in_", ParamTypes.query) is ParamTypes.query  # those of a model do not say it
        }
    return _parameters[route.unique_id]
