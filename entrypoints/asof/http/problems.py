"""An error as an answer: RFC 9457 under /v1, and elsewhere the shape that Graphiti's clients know."""

from collections.abc import Mapping
from http import HTTPStatus

from fastapi.responses import JSONResponse

_OURS = "/v1/"


def is_ours(path: str) -> bool:
    """Whether a path is one of our own, and not Graphiti's."""
    return path.startswith(_OURS)


def answer(path: str, status: int, detail: str, headers: Mapping[str, str] | None = None) -> JSONResponse:
    """Return what a request for a path is answered that cannot be done. The detail names no content."""
    if not is_ours(path):
        return JSONResponse({"detail": detail}, status, headers)
    problem = {"type": "about:blank", "title": HTTPStatus(status).phrase, "status": status, "detail": detail}
    return JSONResponse(problem, status, headers, media_type="application/problem+json")
