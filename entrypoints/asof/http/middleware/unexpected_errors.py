"""What nobody foresaw in a request: an answer without a word of it, and in the log where it was.

An exception may say in its text what was sent, so neither that nor a traceback with it is shown.
"""

import logging
from traceback import extract_tb
from typing import Final

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from asof.http.schemas import problems

_SORRY: Final = "something went wrong that nobody foresaw: the log of the service says where"

log = logging.getLogger(__name__)


class UnexpectedErrorMiddleware:
    """Answers 500 where an exception comes through; a request that is half answered is left so, which closes it."""

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
        except Exception as error:  # noqa: BLE001 - whatever it is, it may not show what was sent
            place = extract_tb(error.__traceback__)[-1]
            log.error("a request failed: %s at %s:%s", type(error).__name__, place.filename, place.lineno)  # noqa: TRY400
            if not begun:
                await problems.answer(scope["path"], 500, _SORRY)(scope, receive, send)
