"""The application: the routes over one service, and every error of ours as an answer. No answer quotes a message."""

import json
from importlib.metadata import version
from typing import Any, Final

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse, Response

from asof.http import graphiti
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
    app.include_router(graphiti.router)
    app.add_exception_handler(RequestValidationError, _unprocessable)
    app.add_exception_handler(AsofError, _ours)
    return app


async def _unprocessable(_: Request, error: Exception) -> Response:
    """Answer with what FastAPI would; what UTF-8 or JSON cannot carry is escaped, or left out."""
    assert isinstance(error, RequestValidationError)
    errors = error.errors()
    try:
        body = json.dumps({"detail": errors}, allow_nan=False, default=str)
    except ValueError:
        body = json.dumps({"detail": [{**each, "input": None} for each in errors]}, default=str)
    return Response(body, 422, media_type="application/json")


async def _ours(_: Request, error: Exception) -> Response:
    match error:
        case NotFound():
            status = 404
        case InvalidInput():
            status = 422
        case UnavailableError():
            status = 503
        case _:
            status = 500
    answer: dict[str, Any] = {"detail": str(error)}
    headers = {"Retry-After": str(_AGAIN_SECONDS)} if status == 503 else None
    return JSONResponse(answer, status, headers)
