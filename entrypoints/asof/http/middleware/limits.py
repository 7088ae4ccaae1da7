"""Limits: the size of a body and its values, and the requests a second of a caller."""

import math
import re
import time
from collections.abc import Callable
from typing import Final

from fastapi import HTTPException
from fastapi.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from asof.http.schemas import problems

MAX_BODY_BYTES: Final = 16 * 1024 * 1024
_CALLERS: Final = 10_000  # buckets that are kept; a full one is as good as none
MAX_BODY_VALUES: Final = 200_000  # fields and items: one message has some ten
_TOO_MANY: Final = f"a body may have {MAX_BODY_VALUES} fields and items: send fewer messages at once"
_STRING: Final = re.compile(rb'"(?:[^"\\]++|\\(?:.|\Z))*+(?:"|\Z)', re.DOTALL)  # or one that never ends
_TOO_LARGE: Final = f"a body may have {MAX_BODY_BYTES} bytes: send fewer messages at once"


class BodyLimit:
    """Answers 413 to a body above 16 MiB: at once where its length is announced, else when the limit is passed.

    So it does to one of many values, before they are parsed: that takes seconds, in which nobody else is served.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        announced = Headers(scope=scope).get("content-length", "0")
        if announced.isdecimal() and int(announced) > MAX_BODY_BYTES:
            await problems.answer(scope["path"], 413, _TOO_LARGE)(scope, receive, send)
            return
        size = commas = 0
        parts: list[bytes] = []

        async def counted() -> Message:
            nonlocal size, commas
            message = await receive()
            part = message.get("body", b"")
            parts.append(part)
            size, commas = size + len(part), commas + part.count(b",")
            if size > MAX_BODY_BYTES:
                raise HTTPException(413, _TOO_LARGE)
            if commas >= MAX_BODY_VALUES and not message.get("more_body") and _has_many_values(b"".join(parts)):
                raise HTTPException(413, _TOO_MANY)
            return message

        await self._app(scope, counted, send)


def _has_many_values(body: bytes) -> bool:
    """Whether a JSON text separates too many values by commas; those within strings do not count."""
    return _STRING.sub(b"", body).count(b",") >= MAX_BODY_VALUES


class TokenBucket:
    """Limits the requests a second of each caller. A bucket holds the tokens of one second."""

    def __init__(self, per_second: float, now: Callable[[], float] = time.monotonic) -> None:
        self._per_second = per_second
        self._most = max(per_second, 1.0)
        self._now = now
        self._left: dict[str, tuple[float, float]] = {}  # by caller: tokens left, and when that was so

    def wait(self, caller: str) -> int:
        """Take a token of a caller; return 0, or the seconds until there is one, in which case none is taken."""
        now = self._now()
        if len(self._left) >= _CALLERS and caller not in self._left:
            self._drop_full(now)
        left, since = self._left.get(caller, (self._most, now))
        left = min(self._most, left + (now - since) * self._per_second)
        passes = left >= 1.0
        self._left[caller] = (left - passes, now)
        return 0 if passes else math.ceil((1.0 - left) / self._per_second)

    def _drop_full(self, now: float) -> None:
        """Forget callers whose bucket is full again; where none is, those who were here longest ago."""
        filling = self._most / self._per_second
        self._left = {caller: (left, since) for caller, (left, since) in self._left.items() if now - since < filling}
        while len(self._left) >= _CALLERS:
            del self._left[next(iter(self._left))]
