"""Unexpected errors: the answer is 500 without details, and the log names the place.

The text of an exception may quote what was sent, so neither the answer nor the log holds it, or a traceback.
"""

import logging
from traceback import extract_tb
from typing import Final

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from asof.http.schemas import problems

_INTERNAL: Final = "internal error: see the service's log"

log = logging.getLogger(__name__)


class UnexpectedErrorMiddleware:
    """Answers 500 to a request that raised. An answer that has begun is cut off, which closes the connection."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        begun = False

        async def noted(message: Message) -> None:
            nonlocal begun
            begun = True
            await send(message)

        try:
            await self._app(scope, receive, noted)
        except Exception as error:  # noqa: BLE001 - no exception may show what was sent
            place = extract_tb(error.__traceback__)[-1]
            log.error("a request failed: %s at %s:%s", type(error).__name__, place.filename, place.lineno)  # noqa: TRY400
            if not begun:
                await problems.answer(scope["path"], 500, _INTERNAL)(scope, receive, send)
