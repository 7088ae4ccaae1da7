"""Routers of each kind: their routes have errors, the key and the checks in common.

A router is given all of that where it is made. If the application gave it, FastAPI would make each route once more,
with all its models, in the first request.
"""

from typing import Final

from fastapi import APIRouter, Security
from fastapi.params import Depends
from fastapi.routing import APIRoute
from fastapi.security import HTTPBearer

from asof.http.routes.authorization import may_read
from asof.http.routes.parameters import known_parameters
from asof.http.schemas import problems

_BEARER: Final = HTTPBearer(auto_error=False, description="An API key.")
KEY: Final = Security(_BEARER)  # shown in the description; the authentication middleware checks it
ANY_KEY: Final[list[dict[str, list[str]]]] = [{_BEARER.scheme_name: []}]


def v1_router(prefix: str, tag: str) -> APIRouter:
    """Return a router for routes of ours, for whoever may read: with the parameters that are described, and no others.

    prefix: the beginning of their paths.
    """
    return APIRouter(
        prefix=prefix,
        tags=[tag],
        dependencies=[KEY, may_read, known_parameters],
        responses=problems.OURS,
        generate_unique_id_function=_operation_id,
    )


def graphiti_router(tag: str, *dependencies: Depends) -> APIRouter:
    """Return a router for routes whose errors have the shape that Graphiti's clients know."""
    return APIRouter(
        tags=[tag],
        dependencies=dependencies,
        responses=problems.THEIRS,
        generate_unique_id_function=_operation_id,
    )


def _operation_id(route: APIRoute) -> str:
    """Return the id of a route in the API's description. Generated clients name their functions after it."""
    return f"{route.tags[0]}_{route.name}"
