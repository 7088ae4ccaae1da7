"""The application: the routes over one service, and every error of ours as an answer. No answer quotes a message."""

import json
from collections.abc import Collection, Sequence
from importlib.metadata import version
from typing import Final

from fastapi import FastAPI, Request, Security
from fastapi.exception_handlers import http_exception_handler
from fastapi.exceptions import RequestValidationError
from fastapi.responses import Response
from fastapi.security import HTTPBearer
from starlette.exceptions import HTTPException

from asof.http.middleware.authentication import Guard
from asof.http.middleware.limits import BodyLimit, Rate
from asof.http.middleware.metrics import Counted, Metrics
from asof.http.middleware.unexpected_errors import UnexpectedErrorMiddleware
from asof.http.routes import feed, graphiti, groups, health, v1
from asof.http.schemas import problems
from asof.http.schemas.graphiti_mapping import loc_of
from asof.service.api_keys import Keys
from asof.service.service import Service
from asof_streams.errors import AsofError, InvalidInput, NotFound, UnavailableError

_AGAIN_SECONDS: Final = 5
_KEY: Final = Security(HTTPBearer(auto_error=False, description="An API key."))  # for /docs; the guard asks for it


def application(service: Service, metrics: Metrics, keys: Keys | None = None, rate: Rate | None = None) -> FastAPI:
    """Return an ASGI application over a service, which its caller starts and stops.

    Without keys only this machine may use it; without a rate, as often as it likes.
    """
    app = FastAPI(
        title="asof",
        version=version("asof"),
        summary="A memory that keeps its history, behind the routes of Graphiti's server.",
    )
    app.state.service, app.state.metrics = service, metrics
    app.add_middleware(BodyLimit)
    app.add_middleware(UnexpectedErrorMiddleware)
    app.add_middleware(Guard, keys=keys, rate=rate)
    app.add_middleware(Counted, metrics=metrics)
    shown = [] if keys is None else [_KEY]
    for routes in (graphiti, groups):
        app.include_router(routes.router, responses=problems.THEIRS, dependencies=shown)
    for routes in (v1, feed):
        app.include_router(routes.router, responses=problems.OURS, dependencies=shown)
    app.include_router(health.router, responses=problems.THEIRS)
    app.add_exception_handler(RequestValidationError, _unprocessable)
    app.add_exception_handler(AsofError, _ours)
    app.add_exception_handler(HTTPException, _http)
    return app


async def _unprocessable(request: Request, error: Exception) -> Response:
    """Answer as FastAPI does, but for what was sent: that is content."""
    assert isinstance(error, RequestValidationError)
    known = _names(request.app)
    errors = [{**each, "loc": _shown(each["loc"], known), "input": None} for each in error.errors()]
    if problems.is_ours(request.url.path):
        where = ".".join(map(str, errors[0]["loc"][1:])) or None
        found = InvalidInput(errors[0]["msg"], where)
        return problems.answer(request.url.path, 422, str(found), field=where)
    body = json.dumps({"detail": errors}, default=str)
    return Response(body, 422, media_type="application/json")


def _shown(where: Sequence[str | int], known: Collection[str]) -> list[str | int]:
    """Return where an error is, without names that the sender made up."""
    return [part if isinstance(part, int) or part in known else "*" for part in where]


def _names(app: FastAPI) -> set[str]:
    """Return the names of everything that can be sent."""
    described = app.openapi()
    schemas = described["components"]["schemas"].values()
    methods = [method for path in described["paths"].values() for method in path.values()]
    parameters = {parameter["name"] for method in methods for parameter in method.get("parameters", [])}
    return {"body", "query", "path", "header"} | parameters | {p for s in schemas for p in s.get("properties", {})}


async def _ours(request: Request, error: Exception) -> Response:
    if isinstance(error, InvalidInput) and not problems.is_ours(request.url.path):
        found = {"type": "value_error", "loc": tuple(loc_of(error.field)), "msg": error.reason}
        return await _unprocessable(request, RequestValidationError([found]))
    match error:
        case NotFound():
            status = 404
        case InvalidInput():
            status = 422
        case UnavailableError():
            status = 503
        case _:
            status = 500
    again = {"Retry-After": str(_AGAIN_SECONDS)} if status == 503 else None
    field = error.field if isinstance(error, InvalidInput) else None
    return problems.answer(request.url.path, status, str(error), again, field)


async def _http(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    if problems.is_ours(request.url.path):
        return problems.answer(request.url.path, error.status_code, error.detail, error.headers)
    return await http_exception_handler(request, error)
