"""Authentication: identifies the caller of a request before the request is read, and refuses unknown callers.

With keys, a request needs one. Without keys, only programs on this machine may use the service, and no web page that is
open on it: the `Origin` of another site is refused (cross-site request forgery, CSRF), and so is a `Host` that is not
this machine (DNS rebinding, where a site's own name resolves to 127.0.0.1). A page knows no key and a browser sends
none by itself, so with keys any host will do. But `/mcp` has a rule of MCP as well, whoever asks: a page may use it on
this machine alone, or at the public address of the authorization settings. Where an authorization server is set,
`/mcp` takes its access tokens, too.
"""

import re
import time
from asyncio import to_thread
from collections.abc import Callable
from ipaddress import ip_address
from typing import Final
from urllib.parse import urlsplit

from fastapi.datastructures import Headers
from fastapi.responses import JSONResponse
from starlette.types import ASGIApp, Receive, Scope, Send

from asof.http.middleware.limits import TokenBucket
from asof.http.schemas import problems
from asof.mcp.oauth.resource import challenge, metadata_paths
from asof.mcp.oauth.tokens import AccessTokens, TokenRefused
from asof.operations.errors import UnavailableError
from asof.service.api_keys import EVERYBODY, Keys

# These reveal nothing of the memory: whether the service is up, and which routes it has.
_OPEN: Final = frozenset({"/healthcheck", "/healthz", "/readyz", "/", "/docs", "/openapi.json"})
_CHEAP: Final = frozenset({"/healthcheck", "/healthz"})  # a process manager is always answered
_STRANGERS_RATE: Final = 200.0  # requests a second without a key that is known, from one address
_HOST: Final = re.compile(r"(?:([a-z0-9.-]+)|\[([0-9a-f:.]+)\])(?::[0-9]{1,5})?", re.ASCII | re.IGNORECASE)
_ORIGIN: Final = re.compile(r"https?://", re.IGNORECASE)
_ELSEWHERE: Final = (
    "without keys only requests from this machine are served: address the service as localhost, from no other site"
)


_OTHER_PAGE: Final = "a web page may use this from this machine or from its public address alone"


class AuthenticationMiddleware:
    """Puts the caller into the scope of a request, or answers 401, 403 or 429. None: no keys, no limit.

    Guards against CSRF and DNS rebinding where there are no keys.
    """

    def __init__(
        self,
        app: ASGIApp,
        keys: Keys | None,
        rate: TokenBucket | None,
        tokens: AccessTokens | None = None,
        now: Callable[[], float] = time.monotonic,
    ) -> None:
        self._app = app
        self._keys = keys
        self._tokens = tokens
        self._rate = rate
        self._strangers = TokenBucket(_STRANGERS_RATE, now)
        self._public_host = None if tokens is None else urlsplit(tokens.config.resource).netloc

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        refusal = None
        if scope["type"] == "http":
            if _is_of_agents(scope["path"]) and self._is_of_other_page(Headers(scope=scope)):
                refusal = problems.answer(scope["path"], 403, _OTHER_PAGE)
            elif self._tokens is None:
                refusal = self._judge(scope)
            else:
                refusal = await self._judge_agent(scope, self._tokens)
        await (refusal or self._app)(scope, receive, send)

    async def _judge_agent(self, scope: Scope, tokens: AccessTokens) -> JSONResponse | None:
        """Do as `_judge`, for a service that takes the tokens of an authorization server at `/mcp`."""
        path, key = scope["path"], _key(Headers(scope=scope))
        if path in metadata_paths(tokens.config):
            return _limited(path, self._strangers, _address(scope))
        if not _is_of_agents(path):
            return self._judge(scope)
        caller = None if self._keys is None else self._keys.caller(key)
        reason: str | None = None
        if caller is None and key:
            try:
                caller = await to_thread(tokens.caller, key)
            except TokenRefused as error:
                reason = error.reason
            except UnavailableError as error:
                return problems.answer(path, 503, str(error), {"Retry-After": "5"})
        if caller is None:
            if limited := _limited(path, self._strangers, _address(scope)):
                return limited
            status = 403 if reason == "insufficient_scope" else 401
            detail = (
                "this token cannot be used here" if reason else "send an access token as Authorization: Bearer TOKEN"
            )
            return problems.answer(path, status, detail, {"WWW-Authenticate": challenge(tokens.config, reason)})
        scope["caller"] = caller
        return None if self._rate is None else _limited(path, self._rate, caller.name)

    def _judge(self, scope: Scope) -> JSONResponse | None:
        """Put the caller of a request into its scope, or return the refusal."""
        path, headers = scope["path"], Headers(scope=scope)
        if self._keys is None and not _is_from_here(headers):
            return problems.answer(path, 403, _ELSEWHERE)
        if path in _OPEN:
            return None if path in _CHEAP else _limited(path, self._strangers, _address(scope))
        caller = EVERYBODY if self._keys is None else self._keys.caller(_key(headers))
        if caller is None:
            limited = _limited(path, self._strangers, _address(scope))
            return limited or _unknown(path, given="authorization" in headers)
        scope["caller"] = caller
        return None if self._rate is None else _limited(path, self._rate, caller.name)

    def _is_of_other_page(self, headers: Headers) -> bool:
        """Whether the page of another site sent a request; browsers name the page with each POST."""
        pages = headers.getlist("origin")
        hosts = [*headers.getlist("host"), *(_ORIGIN.sub("", page, count=1) for page in pages)]
        is_known = all(_ORIGIN.match(page) for page in pages)
        return bool(pages) and not (is_known and all(_is_here(host) or host == self._public_host for host in hosts))


def _is_of_agents(path: str) -> bool:
    return path == "/mcp" or path.startswith("/mcp/")


def is_loopback(host: str) -> bool:
    """Whether a host is this machine, and can be reached from it alone."""
    try:
        return host == "localhost" or ip_address(host).is_loopback
    except ValueError:
        return False


def _is_from_here(headers: Headers) -> bool:
    """Whether a request is addressed to this machine in so many words, and no page of another site sent it."""
    hosts, pages = headers.getlist("host"), headers.getlist("origin")
    if len(hosts) != 1 or len(pages) > 1:
        return False
    return _is_here(hosts[0]) and all(_ORIGIN.match(page) and _is_here(_ORIGIN.sub("", page, 1)) for page in pages)


def _is_here(host: str) -> bool:
    """Whether HOST[:PORT] is this machine. What is no plain host, such as one with a user before it, is not."""
    found = _HOST.fullmatch(host)
    return found is not None and is_loopback((found[1] or found[2]).lower())


def _address(scope: Scope) -> str:
    """Return the address of a client; of IPv6 the network, as one client has many addresses in it."""
    host: str = (scope.get("client") or ("",))[0]
    try:
        address = ip_address(host)
    except ValueError:
        return host
    return host if address.version == 4 else address.exploded[:19]


def _limited(path: str, rate: TokenBucket, caller: str) -> JSONResponse | None:
    """Return the refusal of a request that comes too soon after others."""
    seconds = rate.wait(caller)
    if not seconds:
        return None
    return problems.answer(path, 429, "too many requests: send this one again later", {"Retry-After": str(seconds)})


def _key(headers: Headers) -> str:
    scheme, _, key = headers.get("authorization", "").partition(" ")
    return key.strip() if scheme.lower() == "bearer" else ""


def _unknown(path: str, *, given: bool) -> JSONResponse:
    challenge = 'Bearer realm="asof"' + (', error="invalid_token"' if given else "")
    detail = "this service does not know the key" if given else "send an API key as Authorization: Bearer KEY"
    return problems.answer(path, 401, detail, {"WWW-Authenticate": challenge})
