"""Serves a memory over HTTP until SIGTERM or SIGINT."""

import asyncio
import signal
import socket
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from importlib.util import find_spec
from threading import Event
from typing import Final

import uvicorn

from asof.http.app import application
from asof.http.connections import BoundedConnection
from asof.http.middleware.authentication import is_loopback
from asof.http.middleware.limits import TokenBucket
from asof.http.middleware.metrics import Metrics
from asof.mcp.http import HttpDoor
from asof.mcp.oauth.tokens import AccessTokens
from asof.operations.errors import InvalidInput, UnavailableError
from asof.operations.process import install_command
from asof.service.api_keys import Keys
from asof.service.children import child_starter
from asof.service.served_conversation import ServedConversation
from asof.service.service import Service
from asof.settings import Settings

_SWITCH_SECONDS: Final = 0.0005  # a tenth of Python's: a request changes threads, each time behind the busy worker


class _Server(uvicorn.Server):
    """A uvicorn server that reports its start, and ends after a signal or once `failed` is set."""

    def __init__(self, config: uvicorn.Config, started: Callable[[], None], failed: Event, service: Service) -> None:
        super().__init__(config)
        self._say_started = started
        self._failed = failed
        self._service = service

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        self._say_started()

    async def on_tick(self, counter: int) -> bool:
        return await super().on_tick(counter) or self._failed.is_set()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        self._service.begin_to_end()
        await super().shutdown(sockets)

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        before = {number: signal.signal(number, self.handle_exit) for number in (signal.SIGTERM, signal.SIGINT)}
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)


def serve(settings: Settings, host: str, port: int, started: Callable[[str], None]) -> None:
    """Serve until SIGTERM or SIGINT. `started` is called with the URL once the service answers. Port 0: a free one.

    InvalidInput: the address is taken, or is open to other machines and there are no keys, or the topics have several
    partitions. UnavailableError: the worker ended.
    """
    keys = None if settings.keys_file is None else Keys.read(settings.keys_file)
    rate = None if settings.rate_limit is None else TokenBucket(settings.rate_limit)
    if keys is None and not is_loopback(host):
        raise InvalidInput(
            f"--host {host}: without keys asof serves only this machine, as any client can read and write all: "
            "name a file of keys in ASOF_KEYS_FILE"
        )
    if settings.mcp_oauth is not None and not find_spec("mcp"):
        raise InvalidInput(
            f"OAuth is of MCP, which is not installed. Get it with: {install_command('mcp')}", "mcp_oauth"
        )
    tokens = None if settings.mcp_oauth is None else AccessTokens(settings.mcp_oauth)
    failed, metrics = Event(), Metrics()
    with (
        child_starter() as start_child,  # before what is of this process alone
        _listen(host, port) as listening,
        Service(settings, failed.set, metrics.took, metrics.retrieved, start_child) as service,
        ServedConversation(service, settings) as conversation,
    ):
        sys.setswitchinterval(_SWITCH_SECONDS)
        agents = HttpDoor(service, settings) if find_spec("mcp") else None
        app = application(service, conversation, metrics, keys, rate, agents.routes if agents else (), tokens)
        config = uvicorn.Config(
            app,
            http=BoundedConnection,
            access_log=False,
            log_config=None,
            lifespan="off",
            ws="none",
            proxy_headers=False,
        )
        url = f"http://{_shown(host)}:{listening.getsockname()[1]}"
        server = _Server(config, lambda: started(url), failed, service)
        asyncio.run(_serve(server, listening, agents))
    if failed.is_set():
        raise service.worker.error or UnavailableError(
            "the worker ended because of an error, which the log names: start the service again"
        )


async def _serve(server: _Server, listening: socket.socket, agents: HttpDoor | None) -> None:
    async with nullcontext() if agents is None else agents.serving():
        await server.serve([listening])


def _listen(host: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listening = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)  # named, or asyncio lets answers wait
    try:
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind((host, port))
        listening.listen()
    except OSError as error:
        listening.close()
        raise InvalidInput(f"--host {host} --port {port} cannot be taken: {error.strerror}") from None
    return listening


def _shown(host: str) -> str:
    return f"[{host}]" if ":" in host else host
