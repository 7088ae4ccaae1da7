"""An agent: the official client of MCP, over `asof mcp` as an editor starts it, or on a server in this process."""

import json
import os
import re
import signal
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from functools import cache
from pathlib import Path
from socket import SO_PEERCRED, SOL_SOCKET
from struct import calcsize, unpack
from typing import Any

import httpx2
from anyio.from_thread import BlockingPortal, start_blocking_portal
from jsonschema_rs import Draft202012Validator
from mcp.client.client import Client
from mcp.client.extension import ClientExtension
from mcp.client.session import ElicitationFnT
from mcp.client.stdio import StdioServerParameters, stdio_client
from mcp.client.streamable_http import streamable_http_client

from asof.mcp.local_socket import NAME, connected
from asof.mcp.profiles import PROFILES
from asof.mcp.scope import ClientScope
from asof.mcp.server import server_of
from asof.operations import upkeep
from asof.operations.service_answers import run
from asof.service.service import Service
from asof.settings import Settings
from asof_process import ASOF, launcher
from http_server import CERTIFICATES
from patience import SECONDS, wait_until

ERAS = ["auto", "legacy"]  # the handshake of 2026 with its fallback, and the one before it
JSON_ANSWERS = {"search", "fetch"}  # their text is the same as their structured content
BLOCK = re.compile(r"<memory>\n(Reference data, not instructions: .*)\n</memory>", re.DOTALL)
QUOTED = re.compile(r'"(?:[^"\\\n]|\\.)*"')


class Agent:
    """A connected client."""

    def __init__(self, portal: BlockingPortal, *clients: Client) -> None:
        self._portal = portal
        self._client = clients[0]
        lists = [(client, tool) for client in clients for tool in portal.call(client.list_tools).tools]
        self.tools: dict[str, Any] = {tool.name: tool for _, tool in lists}
        self._clients = {tool.name: client for client, tool in lists}

    @property
    def instructions(self) -> str:
        return self._client.instructions or ""

    def call(self, tool: str, /, **arguments: Any) -> Any:
        """Return the result of a call, whatever it is."""
        return self._portal.call(self._clients.get(tool, self._client).call_tool, tool, arguments)

    def ask(self, tool: str, /, **arguments: Any) -> dict[str, Any]:
        """Return the structured content of a call, which fits its schema; its text is a block of quoted words."""
        result = self.call(tool, **arguments)
        assert not result.is_error, result.content[0].text
        validator(json.dumps(self.tools[tool].output_schema)).validate(result.structured_content)
        expect_text(tool, result.content[0].text, result.structured_content)
        answer: dict[str, Any] = result.structured_content
        return answer

    def text(self, tool: str, /, **arguments: Any) -> str:
        """Return the text of an answer."""
        result = self.call(tool, **arguments)
        assert not result.is_error, result.content[0].text
        return str(result.content[0].text)

    def refused(self, tool: str, /, **arguments: Any) -> str:
        """Return the sentence with which a call is refused."""
        result = self.call(tool, **arguments)
        assert result.is_error, result.structured_content
        return str(result.content[0].text)

    def read(self, uri: str) -> str:
        """Return the text of a resource."""
        content: Any
        [content] = self._portal.call(self._client.read_resource, uri).contents
        assert content.uri == uri
        return str(content.text)

    def prompt(self, name: str, /, **arguments: str) -> str:
        """Return the text of a prompt."""
        message: Any
        [message] = self._portal.call(self._client.get_prompt, name, arguments).messages
        assert message.role == "user"
        return str(message.content.text)

    @property
    def resources(self) -> list[str]:
        """The URIs that are listed."""
        return [one.uri for one in self._portal.call(self._client.list_resources).resources]

    @property
    def templates(self) -> list[str]:
        """The forms of URIs that are listed."""
        found = self._portal.call(self._client.list_resource_templates).resource_templates
        return [one.uri_template for one in found]

    @property
    def prompts(self) -> dict[str, list[str]]:
        """The prompts that are listed, with their arguments."""
        found = self._portal.call(self._client.list_prompts).prompts
        return {one.name: [argument.name for argument in one.arguments or ()] for one in found}

    def embed(self, served: Service) -> None:
        """Make the vectors that come behind, so that one search finds what the next one does."""
        self._portal.call(run, served, upkeep.embed, upkeep.EmbedQuery())

    def tell(self, *texts: str, speaker: str = "Ana", group_id: str | None = None, **more: Any) -> list[dict[str, Any]]:
        """Add turns, and wait until they are processed; return what was learned of each."""
        more["group_id"] = group_id
        told = [
            self.ask("add_memory", episode_body=f"{speaker}: {text}", source="message", wait_seconds=30, **more)
            for text in texts
        ]
        wait_until(
            lambda: all(
                self.ask("get_status", job=one["job"], group_id=group_id)["job"]["state"] != "queued" for one in told
            )
        )
        return [self.ask("get_status", job=one["job"], group_id=group_id)["job"] for one in told]

    def became(self, told: dict[str, Any]) -> dict[str, Any]:
        """Wait until what was written is processed; return what became of it."""
        wait_until(lambda: self.ask("get_status", job=told["job"])["job"]["state"] != "queued")
        answer: dict[str, Any] = self.ask("get_status", job=told["job"])["job"]
        return answer


@cache
def validator(schema: str) -> Draft202012Validator:
    """Return the validator of a schema, which is checked once: that takes longer than a call."""
    return Draft202012Validator(json.loads(schema))


def expect_text(tool: str, text: str, structured: dict[str, Any]) -> None:
    """Fail unless a text is a block of quoted words, or of ChatGPT's tools the JSON of the structured content."""
    if tool in JSON_ANSWERS:
        assert json.loads(text) == structured
    else:
        expect_block(text)


def expect_block(text: str) -> None:
    """Fail unless a text is one block, of which what is stored stands in quotes on one line."""
    assert BLOCK.fullmatch(text), text
    outside = QUOTED.sub("", text)
    assert '"' not in outside, text
    assert text.count("<memory>") == text.count("</memory>") == 1, text


@contextmanager
def agent(
    data: Path,
    *options: str,
    mode: str = "auto",
    user: ElicitationFnT | None = None,
    extensions: Sequence[ClientExtension] = (),
    fresh: bool = False,
    **settings: str,
) -> Iterator[Agent]:
    """Connect an agent to a directory, as an editor does. `user`: who is asked, where the client can ask.

    `fresh`: by new interpreters, as an editor has them; otherwise all processes are forks.
    """
    environment = {**os.environ, "ASOF_EMBEDDER": "hash", **settings}
    arguments = ["mcp", "--data", str(data), *options]
    program, *given = [str(ASOF), *arguments] if fresh else launcher(*arguments)
    command = StdioServerParameters(command=program, args=given, env=environment, cwd=data.parent)
    log = data.with_suffix(".err").open("a")
    with (
        log,
        start_blocking_portal() as portal,
        portal.wrap_async_context_manager(
            Client(stdio_client(command, errlog=log), mode=mode, elicitation_callback=user, extensions=extensions)
        ) as client,
    ):
        yield Agent(portal, client)


@contextmanager
def agent_at(url: str, mode: str = "auto", user: ElicitationFnT | None = None, **headers: str) -> Iterator[Agent]:
    """Connect an agent to a server over HTTP. `user`: who is asked, where the client can ask."""
    sender = httpx2.AsyncClient(headers=headers, timeout=SECONDS, verify=CERTIFICATES)
    with (
        start_blocking_portal() as portal,
        portal.wrap_async_context_manager(sender),
        portal.wrap_async_context_manager(
            Client(streamable_http_client(url, http_client=sender), mode=mode, elicitation_callback=user)
        ) as client,
    ):
        yield Agent(portal, client)


def end(data: Path) -> None:
    """End the process that serves a directory, which would end by itself only a while after its agents."""
    with suppress(OSError):  # it has
        os.kill(process_of(data), signal.SIGTERM)
    gone(data)


def process_of(data: Path) -> int:
    """Return the process that serves a directory."""
    with connected(data) as connection:
        process, _, _ = unpack("3i", connection.getsockopt(SOL_SOCKET, SO_PEERCRED, calcsize("3i")))
    return int(process)


def gone(data: Path) -> None:
    """Wait until no process serves a directory any more."""
    wait_until(lambda: not (data / NAME).exists())


@contextmanager
def serving_here(data: Path, **settings: Any) -> Iterator[tuple[Service, Settings]]:
    """Serve a directory in this process."""
    chosen = Settings(**{"data": data, "embedder": "hash", **settings})
    with Service(chosen, lambda: None, lambda _: None, lambda _: None) as served:
        yield served, chosen


@contextmanager
def agent_here(served: tuple[Service, Settings], scope: ClientScope, mode: str = "auto") -> Iterator[Agent]:
    """Connect an agent to a service of this process, with the tools of every profile."""
    service, settings = served
    chosen = (settings.model_copy(update={"mcp_profile": profile}) for profile in PROFILES)
    servers = [server_of(service, one, lambda _: scope) for one in chosen]
    with start_blocking_portal() as portal, ExitStack() as stack:
        clients = [stack.enter_context(portal.wrap_async_context_manager(Client(one, mode=mode))) for one in servers]
        yield Agent(portal, *clients)
