"""Serves the agents that connect to the socket of a directory, beside whatever else its process serves."""

import asyncio
import logging
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from asof.mcp.local_settings import differing, fingerprints
from asof.mcp.local_socket import LONGEST_LINE, NAME, Hello, Welcome, hello_of
from asof.mcp.scope import ClientScope
from asof.mcp.sdk import load_sdk
from asof.operations.errors import AsofError
from asof.operations.messages import check_group
from asof.operations.process import version
from asof.service.service import Service
from asof.settings import Settings

log = logging.getLogger("asof.mcp")


class LocalServer:
    """Serves a service to the agents of this machine; whoever opens the socket may do all.

    Each names its group, its profile, its instructions, and the ontology that its messages are read with. All other
    settings are those of the first, and each is told which of its own are not used.
    """

    def __init__(self, service: Service, settings: Settings) -> None:
        self._service = service
        self._settings = settings
        self._fingerprints = fingerprints(settings)
        self._agents: set[asyncio.Task[None]] = set()

    @property
    def is_used(self) -> bool:
        """Whether an agent is connected."""
        return bool(self._agents)

    @asynccontextmanager
    async def accepting(self, listener: socket.socket) -> AsyncIterator[None]:
        """Accept agents while the context lasts; then the socket is gone, and their connections end."""
        server = await asyncio.start_unix_server(self._accept, sock=listener, limit=LONGEST_LINE)
        try:
            yield
        finally:
            server.close()
            (self._settings.data / NAME).unlink(missing_ok=True)
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
        hello = hello_of(asked)
        refusal, others = self._refusal(hello), differing(hello.settings, self._fingerprints)
        schema, is_known = self._schema_of(hello)
        others = others if is_known else tuple(sorted([*others, "ontology"]))
        writer.write(Welcome(error=refusal, settings_not_used=others).model_dump_json().encode() + b"\n")
        await writer.drain()
        if refusal is not None:
            return
        await load_sdk()
        from mcp.server.stdio import stdio_server

        from asof.mcp.server import server_of

        scope = ClientScope(group=hello.group, read_only=hello.read_only)
        own = {"mcp_profile": hello.profile, "mcp_instructions": hello.instructions}
        server = server_of(self._service, self._settings.model_copy(update=own), lambda _: scope, others, schema)
        answers: Any = _Answers(writer)
        lines: Any = _Lines(reader, answers)
        async with stdio_server(lines, answers) as (incoming, outgoing):
            await server.run(incoming, outgoing, server.create_initialization_options())

    def _schema_of(self, hello: Hello) -> tuple[str | None, bool]:
        """Return the ontology that messages of an agent name, and whether they can be read with the one it asks for."""
        try:
            return None if hello.ontology is None else self._service.schema_of(hello.ontology), True
        except AsofError:
            return None, False

    def _refusal(self, hello: Hello) -> str | None:
        if hello.version != version():
            return f"asof {version()} serves this directory, and this is {hello.version}: end the agents that use it"
        try:
            check_group(hello.group)
        except AsofError as error:
            return f"--group: {error}"
        return None


class _Lines:
    """The messages of an agent, as the SDK reads them from a file; it would drop what is none without an answer."""

    def __init__(self, reader: asyncio.StreamReader, answers: "_Answers") -> None:
        self._reader = reader
        self._answers = answers

    async def __aiter__(self) -> AsyncIterator[str]:
        from asof.mcp.protocol_errors import refusal_of

        while line := await self._reader.readline():
            text = line.decode("utf-8", "replace")
            if (refusal := refusal_of(text)) is None:
                yield text
            else:
                await self._answers.write(refusal)
                await self._answers.flush()


class _Answers:
    """The answers to an agent, as the SDK writes them to a file."""

    def __init__(self, writer: asyncio.StreamWriter) -> None:
        self._writer = writer

    async def write(self, text: str) -> None:
        self._writer.write(text.encode())

    async def flush(self) -> None:
        await self._writer.drain()
