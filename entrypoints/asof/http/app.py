"""The application: the routes over one service, and every error of ours as an answer. No answer quotes a message."""

import json
from http import HTTPStatus
from importlib.metadata import version
from typing import Final

from fastapi import FastAPI, Request
from fastapi.exception_handlers import http_exception_handler
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse, Response
from starlette.exceptions import HTTPException

from asof.http import graphiti, groups, questions
from asof.http.guard import Guard
from asof.http.service import Service
from asof_streams.errors import AsofError, InvalidInput, NotFound, UnavailableError

MAX_BODY_BYTES: Final = 16 * 1024 * 1024
_AGAIN_SECONDS: Final = 5


def application(service: Service) -> FastAPI:
    """Return an ASGI application over a service, which its caller starts and stops."""
    app = FastAPI(
        title="asof",
        version=version("asof"),
        summary="A memory that keeps its history, behind the routes of Graphiti's server.",
        max_body_size=MAX_BODY_BYTES,
    )
    app.state.service = service
    app.add_middleware(Guard)
    for routes in (graphiti, groups, questions):
        app.include_router(routes.router)
    app.add_exception_handler(RequestValidationError, _unprocessable)
    app.add_exception_handler(AsofError, _ours)
    app.add_exception_handler(HTTPException, _http)
    return app


async def _unprocessable(request: Request, error: Exception) -> Response:
    """Answer with what FastAPI would; what UTF-8 or JSON cannot carry is escaped, or left out."""
    assert isinstance(error, RequestValidationError)
    errors = error.errors()
    if _is_ours(request):
        where = ".".join(map(str, errors[0]["loc"][1:]))
        return _problem(422, f"{where}: {errors[0]['msg']}")
    try:
        body = json.dumps({"detail": errors}, allow_nan=False, default=str)
    except ValueError:
        body = json.dumps({"detail": [{**each, "input": None} for each in errors]}, default=str)
    return Response(body, 422, media_type="application/json")


async def _ours(request: Request, error: Exception) -> Response:
    match error:
        case NotFound():
            status = 404
        case InvalidInput():
            status = 422
        case UnavailableError():
            status = 503
        case _:
            status = 500
    answer = _problem(status, str(error)) if _is_ours(request) else JSONResponse({"detail": str(error)}, status)
    if status == 503:
        answer.headers["Retry-After"] = str(_AGAIN_SECONDS)
    return answer


async def _http(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    if _is_ours(request):
        return _problem(error.status_code, error.detail)
    return await http_exception_handler(request, error)


def _is_ours(request: Request) -> bool:
    return request.url.path.startswith("/v1/")


def _problem(status: int, detail: str) -> Response:
    """Return an error as RFC 9457 has it."""
    title = HTTPStatus(status).phrase
    problem = {"type": "about:blank", "title": title, "status": status, "detail": detail}
    return JSONResponse(problem, status, media_type="application/problem+json")
