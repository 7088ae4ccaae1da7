"""Errors as answers: RFC 9457 under /v1, and the shape that Graphiti's clients know elsewhere."""

from collections.abc import Mapping
from http import HTTPStatus
from typing import Any, Final

from fastapi.responses import JSONResponse

from asof.http.schemas import graphiti, v1

_OURS = "/v1/"
_MEANINGS: Final = {
    400: "The body is not JSON, or not UTF-8.",
    401: "The request has no key, or one that the service does not know.",
    403: "This key lacks the permission; without keys only requests from this machine are served.",
    404: "Nothing has this id or position.",
    413: "The body is too large.",
    422: "A parameter or a field is wrong; the answer names it.",
    429: "Too many requests: send it again after `Retry-After` seconds.",
    503: "Unavailable: send it again after `Retry-After` seconds. The message of `min_position` waits on the log.",
}
_HEADERS: Final = {
    401: {"WWW-Authenticate": {"schema": {"type": "string"}}},
    429: {"Retry-After": {"schema": {"type": "string", "pattern": "^[0-9]+$"}}},
    503: {"Retry-After": {"schema": {"type": "string", "pattern": "^[0-9]+$"}}},
}


def _problem(status: int) -> dict[str, Any]:
    example = {
        "type": "about:blank",
        "title": HTTPStatus(status).phrase,
        "status": status,
        "detail": "why, and what to do",
    }
    schema = {"$ref": f"#/components/schemas/{v1.Problem.__name__}"}
    return {"content": {"application/problem+json": {"schema": schema, "example": example}}}


def _described(status: int, body: dict[str, Any]) -> dict[str, Any]:
    return {"description": _MEANINGS[status], "headers": _HEADERS.get(status, {}), **body}


# What the errors of ours refer to: FastAPI puts a model there only for answers of type application/json.
SCHEMAS: Final = {v1.Problem.__name__: v1.Problem.model_json_schema()}
_NO_REQUEST: Final = {  # the HTTP server's own answer
    "description": "The request's line is longer than 64 KiB, or the request is no HTTP.",
    "content": {"text/plain": {"schema": {"type": "string"}}},
}
# The errors in the description of the API, by status.
OURS: Final[dict[int | str, dict[str, Any]]] = {
    400: _NO_REQUEST,
    **{status: _described(status, _problem(status)) for status in (401, 403, 404, 422, 429, 503)},
}
OF_A_BODY: Final[dict[int | str, dict[str, Any]]] = {
    status: _described(status, _problem(status)) for status in (400, 413)
}
THEIRS: Final[dict[int | str, dict[str, Any]]] = {
    status: _described(status, {"model": graphiti.Invalid if status == 422 else graphiti.Refusal})
    for status in (400, 401, 403, 404, 413, 422, 429, 503)
}


def is_ours(path: str) -> bool:
    """Whether a path is under /v1, and not one of Graphiti's."""
    return path.startswith(_OURS)


def answer(
    path: str, status: int, detail: str, headers: Mapping[str, str] | None = None, field: str | None = None
) -> JSONResponse:
    """Return an error as the answer to a request for a path. The detail must hold no content.

    field: the dotted path of the wrong parameter or field, where it is one.
    """
    if not is_ours(path):
        return JSONResponse({"detail": detail}, status, headers)
    problem = {"type": "about:blank", "title": HTTPStatus(status).phrase, "status": status, "detail": detail}
    if field is not None:
        problem["field"] = field
    return JSONResponse(problem, status, headers, media_type="application/problem+json")
