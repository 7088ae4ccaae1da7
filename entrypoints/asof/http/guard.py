"""The guard of a service without keys: this machine alone may use it, and no web page that is open on it.

A page of another site could else have a browser here send a request, such as one that erases, or reach the service
under a name of its own that leads here.
"""

from ipaddress import ip_address
from urllib.parse import urlsplit

from fastapi.datastructures import Headers
from fastapi.responses import JSONResponse
from starlette.types import ASGIApp, Receive, Scope, Send


class Guard:
    """Refuses what is addressed to another host, or sent by a page of one, with 403."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            headers = Headers(scope=scope)
            addressed, page = f"//{headers.get('host', '')}", headers.get("origin")
            if not _is_here(addressed) or not (page is None or _is_here(page)):
                detail = (
                    "this service is for programs on its own machine: address it as localhost, and from no other site"
                )
                await JSONResponse({"detail": detail}, 403)(scope, receive, send)
                return
        await self._app(scope, receive, send)


def is_loopback(host: str) -> bool:
    """Whether a host is this machine, and can be reached from it alone."""
    try:
        return host == "localhost" or ip_address(host).is_loopback
    except ValueError:
        return False


def _is_here(url: str) -> bool:
    try:
        return is_loopback(urlsplit(url).hostname or "")
    except ValueError:
        return False
