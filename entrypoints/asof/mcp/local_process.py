"""The process that serves a directory to the agents of this machine: it starts with the first, and ends after the last.

Run as a module; the settings come pickled on standard input. It says in one line on standard output that it listens,
or why it cannot.
"""

import asyncio
import logging
import pickle
import signal
import socket
import sys
from collections.abc import AsyncIterator
from contextlib import suppress
from importlib import import_module
from threading import Event, Thread
from typing import Any, Final

from asof.mcp.local_socket import BUSY, LONGEST_LINE, NAME, READY, Hello, Welcome, listening
from asof.mcp.scope import ClientScope
from asof.operations.errors import AsofError, WriterBusy
from asof.operations.messages import check_group
from asof.operations.process import log_to_stderr, version
from asof.service.service import Service
from asof.settings import Settings

_IDLE_SECONDS: Final = 10.0  # after the last agent has gone: an editor that is started again finds the process
_TICK_SECONDS: Final = 0.2

log = logging.getLogger("asof.mcp")


def main() -> None:
    """Serve until no agent is connected any more."""
    settings: Settings = pickle.load(sys.stdin.buffer)  # noqa: S301 - of the process that started this one
    log_to_stderr(settings, "asof")
    logging.getLogger("mcp").setLevel(logging.CRITICAL)  # what the SDK logs may quote what was sent
    failed = Event()
    importing = Thread(target=import_module, args=("asof.mcp.server",))  # the SDK takes as long as opening the memory
    importing.start()
    try:
        with Service(settings, failed.set, lambda _: None, lambda _: None) as service:
            importing.join()
            listener = listening(settings.data)
            _say(READY)
            asyncio.run(LocalServer(service, settings, failed).serve(listener))
    except WriterBusy as error:
        _say(f"{BUSY} {error}")
    except (AsofError, OSError) as error:
        _say(f"error {error}")


def _say(line: str) -> None:
    with suppress(OSError):  # who started it may have gone
        print(" ".join(line.split()), flush=True)  # noqa: T201
        sys.stdout.close()


class LocalServer:
    """Serves a service to the agents that connect to a socket, until the last has been gone for a while."""

    def __init__(self, service: Service, settings: Settings, failed: Event) -> None:
        self._service = service
        self._settings = settings
        self._failed = failed
        self._agents: set[asyncio.Task[None]] = set()

    async def serve(self, listener: socket.socket) -> None:
        """Serve until nobody is connected, a signal comes, or the worker failed."""
        ended = asyncio.Event()
        loop = asyncio.get_running_loop()
        for number in (signal.SIGTERM, signal.SIGINT):
            loop.add_signal_handler(number, ended.set)
        server = await asyncio.start_unix_server(self._accept, sock=listener, limit=LONGEST_LINE)
        idle = 0.0
        while not ended.is_set() and not self._failed.is_set() and idle < _IDLE_SECONDS:
            with suppress(TimeoutError):
                await asyncio.wait_for(ended.wait(), _TICK_SECONDS)
            idle = 0.0 if self._agents else idle + _TICK_SECONDS
        server.close()
        (self._settings.data / NAME).unlink(missing_ok=True)
        self._service.begin_to_end()
        for agent in self._agents:
            agent.cancel()
        await asyncio.gather(*self._agents, return_exceptions=True)

    async def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._agents.add(task)
        try:
            await self._converse(reader, writer)
        except Exception as error:  # noqa: BLE001 - its text may quote what was sent
            log.error("a connection ended: %s", type(error).__name__)  # noqa: TRY400
        finally:
            self._agents.discard(task)
            writer.close()

    async def _converse(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if not (asked := await reader.readline()):
            return
        hello = Hello.model_validate_json(asked)
        refusal = self._refusal(hello)
        writer.write(Welcome(error=refusal).model_dump_json().encode() + b"\n")
        await writer.drain()
        if refusal is not None:
            return
        from mcp.server.stdio import stdio_server

        from asof.mcp.server import server_of

        scope = ClientScope(group=hello.group, read_only=hello.read_only)
        server = server_of(self._service, self._settings, lambda _: scope)
        lines: Any = _Lines(reader)
        answers: Any = _Answers(writer)
        async with stdio_server(lines, answers) as (incoming, outgoing):
            await server.run(incoming, outgoing, server.create_initialization_options())

    def _refusal(self, hello: Hello) -> str | None:
        if hello.version != version():
            return f"asof {version()} serves this directory, and this is {hello.version}: end the agents that use it"
        try:
            check_group(hello.group)
        except AsofError as error:
            return f"--group: {error}"
        return None


class _Lines:
    """The messages of an agent, as the SDK reads them from a file."""

    def __init__(self, reader: asyncio.StreamReader) -> None:
        self._reader = reader

    async def __aiter__(self) -> AsyncIterator[str]:
        while line := await self._reader.readline():
            yield line.decode("utf-8", "replace")


class _Answers:
    """The answers to an agent, as the SDK writes them to a file."""

    def __init__(self, writer: asyncio.StreamWriter) -> None:
        self._writer = writer

    async def write(self, text: str) -> None:
        self._writer.write(text.encode())

    async def flush(self) -> None:
        await self._writer.drain()


if __name__ == "__main__":
    main()
