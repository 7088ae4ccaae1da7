"""An error as an answer: RFC 9457 under /v1, and elsewhere the shape that Graphiti's clients know."""

from collections.abc import Mapping
from http import HTTPStatus
from typing import Any, Final

from fastapi.responses import JSONResponse

from asof.http.schemas import graphiti, v1

_OURS = "/v1/"
_MEANINGS: Final = {
    400: "The body is no JSON, or not in UTF-8.",
    401: "It needs a key: none was sent, or none that is known.",
    403: "Not with this key; without keys, not from there.",
    404: "There is no such thing.",
    413: "The body is too large.",
    422: "Something that was sent is wrong; the answer says what.",
    429: "Too many requests: send it after `Retry-After` seconds.",
    503: "Not now: send it after `Retry-After` seconds. A message that is waited for is on the log, and waits too.",
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
    schema = v1.Problem.model_json_schema()
    return {"content": {"application/problem+json": {"schema": schema, "example": example}}}


def _described(status: int, body: dict[str, Any]) -> dict[str, Any]:
    return {"description": _MEANINGS[status], "headers": _HEADERS.get(status, {}), **body}


# What the API's description says of errors, by status.
OURS: Final[dict[int | str, dict[str, Any]]] = {
    status: _described(status, _problem(status)) for status in (401, 403, 404, 422, 429, 503)
}
THEIRS: Final[dict[int | str, dict[str, Any]]] = {
    status: _described(status, {"model": graphiti.Invalid if status == 422 else graphiti.Refusal})
    for status in (400, 401, 403, 404, 413, 422, 429, 503)
}


def is_ours(path: str) -> bool:
    """Whether a path is one of our own, and not Graphiti's."""
    return path.startswith(_OURS)


def answer(
    path: str, status: int, detail: str, headers: Mapping[str, str] | None = None, field: str | None = None
) -> JSONResponse:
    """Return what a request for a path is answered that cannot be done. The detail names no content.

    field: the dotted path of what is wrong in what was sent, where it is one field.
    """
    if not is_ours(path):
        return JSONResponse({"detail": detail}, status, headers)
    problem = {"type": "about:blank", "title": HTTPStatus(status).phrase, "status": status, "detail": detail}
    if field is not None:
        problem["field"] = field
    return JSONResponse(problem, status, headers, media_type="application/problem+json")
