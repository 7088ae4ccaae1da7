"""The guard: finds out who sends a request, before anything of it is read, and refuses whom it does not know.

With keys it asks for one. Without, this machine alone may use the service, and no web page that is open on it: a page
of another site could else have a browser here send a request, such as one that erases, or reach the service under a
name of its own that leads here. A page knows no key, and a browser sends none by itself, so with keys any host will do.
"""

from ipaddress import ip_address
from typing import Final
from urllib.parse import urlsplit

from fastapi.datastructures import Headers
from fastapi.responses import JSONResponse
from starlette.types import ASGIApp, Receive, Scope, Send

from asof.http.middleware.limits import Rate
from asof.http.schemas import problems
from asof.service.api_keys import EVERYBODY, Keys

# What tells nothing of the memory: whether the service is up, and what its routes are.
_OPEN: Final = frozenset({"/healthcheck", "/healthz", "/readyz", "/docs", "/redoc", "/openapi.json"})
_ELSEWHERE: Final = (
    "without keys this service is for programs on its own machine: address it as localhost, and from no other site"
)


class Guard:
    """Lets a request pass with its caller in the scope; answers 401, 403 or 429 itself. None: no keys, no limit."""

    def __init__(self, app: ASGIApp, keys: Keys | None, rate: Rate | None) -> None:
        self._app = app
        self._keys = keys
        self._rate = rate

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        refusal = self._judge(scope) if scope["type"] == "http" else None
        await (refusal or self._app)(scope, receive, send)

    def _judge(self, scope: Scope) -> JSONResponse | None:
        """Put who sends a request into its scope, or return why it may not pass."""
        path, headers = scope["path"], Headers(scope=scope)
        if self._keys is None and not _is_from_here(headers):
            return problems.answer(path, 403, _ELSEWHERE)
        if path in _OPEN:
            return None
        caller = EVERYBODY if self._keys is None else self._keys.caller(_key(headers))
        if caller is None:
            return _unknown(path, given="authorization" in headers)
        if self._rate is not None and (seconds := self._rate.wait(caller.name)):
            return problems.answer(path, 429, "too many requests: send them later", {"Retry-After": str(seconds)})
        scope["caller"] = caller
        return None


def is_loopback(host: str) -> bool:
    """Whether a host is this machine, and can be reached from it alone."""
    try:
        return host == "localhost" or ip_address(host).is_loopback
    except ValueError:
        return False


def _is_from_here(headers: Headers) -> bool:
    page = headers.get("origin")
    return _is_here(f"//{headers.get('host', '')}") and (page is None or _is_here(page))


def _is_here(url: str) -> bool:
    try:
        return is_loopback(urlsplit(url).hostname or "")
    except ValueError:
        return False


def _key(headers: Headers) -> str:
    scheme, _, key = headers.get("authorization", "").partition(" ")
    return key.strip() if scheme.lower() == "bearer" else ""


def _unknown(path: str, *, given: bool) -> JSONResponse:
    challenge = 'Bearer realm="asof"' + (', error="invalid_token"' if given else "")
    detail = "this key is not known here" if given else "send an API key as Authorization: Bearer KEY"
    return problems.answer(path, 401, detail, {"WWW-Authenticate": challenge})
