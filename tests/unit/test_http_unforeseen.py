"""What the service says when something was not foreseen: where, and nothing of what was sent."""

import asyncio
import logging
from typing import Any

import pytest

from asof.http.middleware.unexpected_errors import UnexpectedErrorMiddleware

CANARY = "canary-9f4c"


def asked(app: Any, path: str) -> list[dict[str, Any]]:
    sent: list[dict[str, Any]] = []

    async def receive() -> dict[str, Any]:
        return {"type": "http.request", "body": b"", "more_body": False}

    async def send(message: dict[str, Any]) -> None:
        sent.append(message)

    asyncio.run(
        UnexpectedErrorMiddleware(app)({"type": "http", "path": path, "method": "GET", "headers": []}, receive, send)
    )
    return sent


@pytest.mark.parametrize(("path", "kind"), [("/v1/facts", b"application/problem+json"), ("/x", b"application/json")])
def test_what_nobody_foresaw_is_answered_and_logged_without_its_words(
    caplog: pytest.LogCaptureFixture, path: str, kind: bytes
) -> None:
    async def broken(*_: Any) -> None:
        raise ValueError(CANARY)

    with caplog.at_level(logging.DEBUG):
        start, body = asked(broken, path)

    assert start["status"] == 500
    assert dict(start["headers"])[b"content-type"] == kind
    assert CANARY.encode() not in body["body"]
    assert "ValueError at" in caplog.text
    assert CANARY not in caplog.text


def test_an_answer_that_was_begun_gets_no_second_one() -> None:
    async def broken(_scope: Any, _receive: Any, send: Any) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": []})
        raise ValueError(CANARY)

    assert [message["type"] for message in asked(broken, "/x")] == ["http.response.start"]
