"""MCP over HTTP: `/mcp` for the groups of a key, `/mcp/{group}` for one of them.

Each request stands alone: there are no sessions, so that any process of a service may answer it, and nothing is sent
that was not asked for.
"""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import Any, Final

from starlette.routing import BaseRoute, Route
from starlette.types import Receive, Scope, Send

from asof.mcp.scope import ClientScope
from asof.mcp.sdk import load_sdk
from asof.service.service import Service
from asof.settings import Settings

PATHS: Final = ("/mcp", "/mcp/{group:path}")
_MOST_BYTES: Final = 16 * 1024 * 1024  # of a body, as of every route


class HttpDoor:
    """Answers agents over HTTP. The SDK is loaded with the first request. Authentication comes before it.

    Its routes take no GET and no DELETE: these are of sessions.
    """

    def __init__(self, service: Service, settings: Settings) -> None:
        self._service = service
        self._settings = settings
        self.routes: Final[Sequence[BaseRoute]] = [Route(path, self, methods=["POST"], name="mcp") for path in PATHS]
        self._starting = asyncio.Lock()
        self._ended = asyncio.Event()
        self._running: asyncio.Task[None] | None = None
        self._manager: Any = None

    @asynccontextmanager
    async def serving(self) -> AsyncIterator[None]:
        """Let requests be answered while the context lasts."""
        try:
            yield
        finally:
            self._ended.set()
            if self._running is not None:
                await self._running

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        scope["route"] = self.routes["group" in scope["path_params"]]  # by which requests are counted
        async with self._starting:
            if self._manager is None:
                self._manager = await self._started()
        await self._manager.handle_request(scope, receive, send)

    async def _started(self) -> Any:
        """Return the SDK's manager of requests, whose tasks run until the door ends."""
        await load_sdk()
        from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
        from mcp.server.transport_security import TransportSecuritySettings

        from asof.mcp.server import server_of

        manager = StreamableHTTPSessionManager(
            server_of(self._service, self._settings, self._scope_of),
            stateless=True,
            json_response=True,
            security_settings=TransportSecuritySettings(enable_dns_rebinding_protection=False),  # the service has it
            max_request_body_size=_MOST_BYTES,
        )
        started = asyncio.Event()

        async def run() -> None:
            async with manager.run():
                started.set()
                await self._ended.wait()

        self._running = asyncio.create_task(run())
        await started.wait()
        return manager

    def _scope_of(self, context: Any) -> ClientScope:
        scope = context.request.scope
        group = scope["path_params"].get("group") or None
        return ClientScope(group=group, caller=scope["caller"], read_only=self._settings.mcp_read_only)
