"""The TypeScript SDK's client drives every tool, over HTTP and as an editor starts it, by both eras of the protocol.

It checks each answer's structured content against the schema that it listed.
"""

import json
import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from asof.mcp.profiles import PROFILES
from asof_process import ASOF
from http_server import serving
from mcp_agent import end, expect_text
from patience import wait_until
from unchecked import not_checked

CLIENT = Path(__file__).parents[1] / "clients" / "mcp"
MODES = ["auto", "legacy"]
INSTALL = ("npm", "ci", "--ignore-scripts", "--prefer-offline", "--no-audit", "--no-fund")


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The client with its packages, as the lock file has them."""
    what = "the TypeScript SDK's client of MCP"
    if not (shutil.which("npm") and shutil.which("node")):
        not_checked(f"{what}: there is no Node.js", demanded=True)
    folder = tmp_path_factory.mktemp("typescript") / "mcp"
    shutil.copytree(CLIENT, folder)
    if subprocess.run(INSTALL, cwd=folder, check=False, capture_output=True).returncode != 0:
        not_checked(f"{what}: npm could not install it", demanded=True)
    return folder


class Driver:
    """A connected client."""

    def __init__(self, process: "subprocess.Popen[str]") -> None:
        self._process = process
        listed = self._read()
        self.tools: list[str] = [tool["name"] for tool in listed["tools"]]
        self.instructions: str = listed["instructions"]
        self.driven: set[str] = set()

    def _read(self) -> dict[str, Any]:
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        assert line, "the client has ended"
        answer: dict[str, Any] = json.loads(line)
        return answer

    def call(self, name: str, /, **arguments: Any) -> dict[str, Any]:
        """Return the result of a call, whatever it is."""
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps({"name": name, "arguments": arguments}) + "\n")
        self._process.stdin.flush()
        return self._read()

    def ask(self, name: str, /, **arguments: Any) -> dict[str, Any]:
        """Return the structured content of a call, whose text is as that of every client."""
        result = self.call(name, **arguments)
        assert not result.get("isError"), (name, result["content"])
        expect_text(name, result["content"][0]["text"], result["structuredContent"])
        self.driven.add(name)
        answer: dict[str, Any] = result["structuredContent"]
        return answer

    def remember(self, *texts: str) -> None:
        """Add turns, and wait until they are processed."""
        for text in texts:
            job = self.ask("add_memory", name="turn", episode_body=f"Ana: {text}", source="message")["job"]
            wait_until(lambda job=job: self.ask("get_status", job=job)["job"]["state"] == "done")  # type: ignore[misc]


@contextmanager
def driving(installed: Path, mode: str, *server: str, **settings: str) -> Iterator[Driver]:
    """Connect a client to a server: an address, or - and a command, with its settings."""
    environment = {**os.environ, "ASOF_EMBEDDER": "hash", **settings}
    with subprocess.Popen(
        ["node", "drive.mjs", mode, *server],
        cwd=installed,
        env=environment,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        try:
            yield Driver(process)
        finally:
            assert process.stdin is not None
            process.stdin.close()


def core(agent: Driver) -> str:
    """Use the tools of the profile core; return the id of a fact."""
    agent.remember("I live in Berlin since 2019.", "I like tea.")
    assert "Ana lives in Berlin" in agent.ask("recall", query="Where does Ana live?")["text"]
    [fact] = agent.ask("search_memory_facts", query="Where does Ana live?", edge_types=["lives_in"])["facts"]
    assert agent.ask("search_nodes", query="Ana")["nodes"][0]["name"] == "Ana"
    assert agent.ask("get_entity_timeline", entity="Ana", relation="lives_in")["segments"][0]["object"] == "Berlin"
    assert agent.ask("what_changed", since="2001")["changes"]
    assert agent.ask("explain_fact", fact_id=fact["uuid"])["facts"][0]["words"]
    corrected = agent.ask("correct_fact", fact_id=fact["uuid"], how="replace", new_value="Oslo", reason="She moved.")
    wait_until(lambda: agent.ask("get_status", job=corrected["job"])["job"]["state"] == "done")
    uuid: str = fact["uuid"]
    return uuid


def the_rest_of_full(agent: Driver) -> None:
    agent.ask("compare_beliefs", before="2001")
    agent.ask("what_if", statements=[{"subject": "Ana", "relation": "lives_in", "object": "Rome"}])
    episode = agent.ask("list_episodes")["episodes"][0]["uuid"]
    agent.ask("get_episode_entities", episode_uuids=[episode])
    agent.ask("add_fact", subject="Ana", relation="works_at", object="Acme", fact="Ana works at Acme")
    agent.ask("add_fact", subject="Anna", relation="works_at", object="Acme", fact="Anna works at Acme")
    wait_until(lambda: agent.ask("get_status")["as_of"]["lag"] == 0)
    agent.ask("merge_entities", entity="Anna", into="Ana")
    wait_until(lambda: agent.ask("get_status")["as_of"]["lag"] == 0)
    agent.ask("split_entity", entity="Anna", into="Ana")
    agent.ask("forget", topic="tea")


def all_of_graphiti(agent: Driver) -> None:
    agent.remember("I live in Berlin since 2019.")
    [fact] = agent.ask("search_memory_facts", query="Where does Ana live?", edge_types=["lives_in"])["facts"]
    agent.ask("search_nodes", query="Ana")
    agent.ask("get_entity_edge", uuid=fact["uuid"])
    episode = agent.ask("get_episodes")["episodes"][0]["uuid"]
    agent.ask("get_episode_entities", episode_uuids=episode)
    agent.ask("summarize_saga", saga_name="Ana")
    agent.ask("build_communities")
    agent.ask("add_triplet", source_node_name="Ana", edge_name="knows", fact="Ana knows Ben", target_node_name="Ben")
    agent.ask("delete_entity_edge", uuid=fact["uuid"])
    agent.ask("delete_episode", uuid=episode)
    agent.ask("clear_graph")


def all_of_chatgpt(agent: Driver) -> None:
    """Use the tools of the profile chatgpt on a memory that knows where Ana lives."""
    found = agent.ask("search", query="Where does Ana live?")["results"]
    assert found[0]["title"] == "Ana lives in Berlin, from 2019-01-01T00:00:00Z"
    for one in found:
        assert agent.ask("fetch", id=one["id"])["title"] == one["title"]


def drive(agent: Driver, profile: str) -> None:
    """Use every tool of a profile."""
    if profile == "chatgpt":
        all_of_chatgpt(agent)
    elif profile == "graphiti":
        all_of_graphiti(agent)
    else:
        core(agent)
    if profile == "full":
        the_rest_of_full(agent)
    tools = [tool.name for tool in PROFILES[profile]]
    assert agent.tools == tools
    assert agent.driven == {*tools}
    asked = {"graphiti": "search_nodes", "chatgpt": "search"}.get(profile, "recall")
    assert "query" in agent.call(asked)["content"][0]["text"]
    assert asked in agent.instructions


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("profile", PROFILES)
def test_every_tool_is_driven_over_http(installed: Path, profile: str, mode: str, tmp_path: Path) -> None:
    with (
        serving(tmp_path / "data", ASOF_MCP_PROFILE=profile) as server,
        driving(installed, mode, f"{server.url}/mcp/{mode}") as agent,
    ):
        if profile == "chatgpt":  # which adds nothing
            server.say(mode, "I live in Berlin since 2019.")
        drive(agent, profile)


@pytest.mark.parametrize("mode", MODES)
def test_every_tool_is_driven_as_an_editor_starts_it(installed: Path, mode: str, tmp_path: Path) -> None:
    data = tmp_path / "data"
    command = ("-", str(ASOF), "mcp", "--data", str(data))
    with driving(installed, mode, *command, "--group", "ana") as agent:
        drive(agent, "core")
        with driving(installed, mode, *command, "--group", "ben") as writer:
            writer.remember("I live in Berlin since 2019.")
        with driving(installed, mode, *command, "--group", "ben", ASOF_MCP_PROFILE="chatgpt") as reader:
            drive(reader, "chatgpt")
    end(data)
