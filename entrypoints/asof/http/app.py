"""The application: the routes over one service, and errors as answers. No answer quotes what was sent."""

import json
from collections.abc import Collection, Mapping, Sequence
from functools import cache, partial
from typing import Any, Final

from fastapi import FastAPI, Request
from fastapi.exception_handlers import http_exception_handler
from fastapi.exceptions import RequestValidationError
from fastapi.openapi.utils import get_openapi
from fastapi.responses import Response
from starlette.exceptions import HTTPException
from starlette.routing import BaseRoute

from asof.http.middleware.authentication import AuthenticationMiddleware
from asof.http.middleware.limits import BodyLimit, TokenBucket
from asof.http.middleware.metrics import Counted, Metrics
from asof.http.middleware.tracing import Traced
from asof.http.middleware.unexpected_errors import UnexpectedErrorMiddleware
from asof.http.routes import conversation as conversations
from asof.http.routes import description, feed, generations, graphiti, groups, health, prompts, v1
from asof.http.routes.routers import ANY_KEY
from asof.http.schemas import problems
from asof.http.schemas.graphiti_mapping import loc_of
from asof.mcp.oauth.resource import metadata_routes
from asof.mcp.oauth.tokens import AccessTokens
from asof.operations.errors import AsofError, InvalidInput, NotFound, UnavailableError
from asof.operations.process import version
from asof.operations.queries import reason_of
from asof.service.api_keys import Keys
from asof.service.served_conversation import ServedConversation
from asof.service.service import Service

_AGAIN_SECONDS: Final = 5
_ERRORS_MAX: Final = 100  # of a body, that an answer lists
_ROUTES: Final = [
    route
    for routes in (graphiti, groups, v1, generations, prompts, conversations, feed, health, description)
    for route in routes.router.routes
]
_NO_OBJECT: Final = ("missing", "model_attributes_type", "model_type", "dict_type")  # pydantic's words for it


def application(
    service: Service,
    conversation: ServedConversation,
    metrics: Metrics,
    keys: Keys | None = None,
    rate: TokenBucket | None = None,
    agents: Sequence[BaseRoute] = (),
    tokens: AccessTokens | None = None,
) -> FastAPI:
    """Return an ASGI application over a service and its conversation, which its caller starts and stops.

    Without keys only this machine may use it; without a rate, as often as it likes. agents: the routes of MCP,
    which take the tokens of an authorization server, too, if there is one.
    """
    app = FastAPI(
        docs_url=None,  # FastAPI's pages load their scripts over the network
        redoc_url=None,
        telemetry={"tracing": False, "metrics": False, "logs": False, "auto_configure": False},  # they have content
    )
    app.state.service, app.state.conversation, app.state.metrics = service, conversation, metrics
    app.add_middleware(BodyLimit)
    app.add_middleware(UnexpectedErrorMiddleware)
    app.add_middleware(AuthenticationMiddleware, keys=keys, rate=rate, tokens=tokens)
    app.add_middleware(Counted, metrics=metrics)
    app.add_middleware(Traced)
    app.router.routes.extend(_ROUTES)
    app.router.routes.extend(agents)
    if tokens is not None:
        app.router.routes.extend(metadata_routes(tokens.config))
    app.openapi = partial(described, keyed=keys is not None)  # type: ignore[method-assign]
    app.add_exception_handler(RequestValidationError, _unprocessable)
    app.add_exception_handler(AsofError, _ours)
    app.add_exception_handler(HTTPException, _http)
    return app


@cache  # the same in every application
def described(*, keyed: bool) -> dict[str, Any]:
    """Return the API's description, with the one schema that all problems refer to.

    Without keys a request may do without one, but a client that is generated from the description can send one all the
    same: it is for services with keys, too.
    A feed is a string: FastAPI describes its events by `itemSchema`, a word of OpenAPI 3.2, in a description of 3.1.
    """
    summary = "A memory that keeps its history, behind the routes of Graphiti's server."
    api = get_openapi(title="asof", version=version(), summary=summary, routes=_ROUTES)
    api["components"]["schemas"].update(problems.SCHEMAS)
    for methods in api["paths"].values():
        for operation in methods.values():
            if not keyed and "security" in operation:
                operation["security"] = [*ANY_KEY, {}]
            for answer in operation["responses"].values():
                for media in answer.get("content", {}).values():
                    if media.pop("itemSchema", None):
                        media["schema"] = {"type": "string"}
    return api


async def _unprocessable(request: Request, error: Exception) -> Response:
    """Answer as FastAPI does, without the input: that is content."""
    assert isinstance(error, RequestValidationError)
    known = _names()
    errors = [{**each, "loc": _shown(each["loc"], known), "input": None} for each in error.errors()[:_ERRORS_MAX]]
    if problems.is_ours(request.url.path):
        if errors[0]["type"] == "json_invalid":  # its place is a number of bytes, and no field
            return problems.answer(request.url.path, 422, "the body is not JSON")
        if errors[0]["loc"] == ["body"] and errors[0]["type"] in _NO_OBJECT:
            return problems.answer(request.url.path, 422, "the body must be a JSON object, sent as application/json")
        where = ".".join(map(str, errors[0]["loc"][1:])) or None
        found = InvalidInput(reason_of(errors[0]), where)
        return problems.answer(request.url.path, 422, str(found), field=where)
    return _refused(errors)


def _refused(errors: Sequence[Mapping[str, Any]]) -> Response:
    return Response(json.dumps({"detail": errors}, default=str), 422, media_type="application/json")


def _shown(where: Sequence[str | int], known: Collection[str]) -> list[str | int]:
    """Return the place of an error. Names that the API does not know may be content, and are left out."""
    return [part if isinstance(part, int) or part in known else "*" for part in where]


@cache
def _names() -> set[str]:
    """Return the names of all parameters and fields."""
    api = described(keyed=False)
    schemas = api["components"]["schemas"].values()
    methods = [method for path in api["paths"].values() for method in path.values()]
    parameters = {parameter["name"] for method in methods for parameter in method.get("parameters", [])}
    return {"body", "query", "path", "header"} | parameters | {p for s in schemas for p in s.get("properties", {})}


async def _ours(request: Request, error: Exception) -> Response:
    if isinstance(error, InvalidInput) and not problems.is_ours(request.url.path):
        return _refused([{"type": "value_error", "loc": loc_of(error.field), "msg": error.reason, "input": None}])
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
