"""What an API key may at `/mcp`: the tools of its permission, in its groups, so many a second, and from which pages."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from api_keys import ADMIN, READ, TEAM_ADMIN, TEAM_READ, TEAM_WRITE, WRITE, sent, written
from asof.mcp.profiles import PROFILES
from asof.service.api_keys import Permission
from http_server import Server, serving
from mcp_agent import Agent, agent_at

LIST = {"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {}}
ACCEPTED = {"Accept": "application/json, text/event-stream"}
EVERYWHERE = {READ: Permission.READ, WRITE: Permission.WRITE, ADMIN: Permission.ADMIN}
OF_A_TEAM = {TEAM_READ: Permission.READ, TEAM_WRITE: Permission.WRITE, TEAM_ADMIN: Permission.ADMIN}
OF_EACH_KIND: dict[str, list[tuple[str, dict[str, Any]]]] = {  # by profile: one that reads, writes, erases
    "full": [
        ("recall", {"query": "Ana", "group_id": "other"}),
        ("add_memory", {"episode_body": "x", "group_id": "other"}),
        ("forget", {"topic": "x", "group_id": "other"}),
    ],
    "graphiti": [
        ("search_nodes", {"query": "Ana", "group_ids": ["other"]}),
        ("build_communities", {"group_ids": ["other"]}),
        ("clear_graph", {"group_ids": ["other"]}),
    ],
}


@pytest.fixture(scope="module", params=OF_EACH_KIND)
def keyed(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, Server]]:
    folder = tmp_path_factory.mktemp("mcp-keys")
    keys = str(written(folder / "keys.toml"))
    with serving(folder / "data", ASOF_KEYS_FILE=keys, ASOF_MCP_PROFILE=request.param) as server:
        yield request.param, server


@pytest.mark.parametrize(("key", "permission"), [*EVERYWHERE.items(), *OF_A_TEAM.items()])
def test_a_key_lists_and_calls_just_the_tools_of_its_permission(
    keyed: tuple[str, Server], key: str, permission: Permission
) -> None:
    profile, server = keyed
    with agent_at(f"{server.url}/mcp/team-a", **sent(key)) as agent:
        assert list(agent.tools) == [tool.name for tool in PROFILES[profile] if permission >= tool.needs]
        for tool in PROFILES[profile]:
            if permission < tool.needs:
                assert "lacks the permission" in agent.refused(tool.name), tool.name
            else:
                assert "lacks the permission" not in said(agent, tool.name), tool.name


def said(agent: Agent, tool: str) -> str:
    """Return what a call with an argument that no tool has is answered: it does nothing."""
    return agent.refused(tool, no_such_argument=1)


@pytest.mark.parametrize(("key", "permission"), OF_A_TEAM.items())
def test_a_key_of_some_groups_calls_no_tool_of_any_kind_for_another(
    keyed: tuple[str, Server], key: str, permission: Permission
) -> None:
    profile, server = keyed
    with agent_at(f"{server.url}/mcp", **sent(key)) as agent, agent_at(f"{server.url}/mcp/other", **sent(key)) as other:
        for needed, (tool, asked) in zip(Permission, OF_EACH_KIND[profile], strict=True):
            if permission < needed:
                continue
            assert "the key is for other groups" in agent.refused(tool, **asked), tool
            at_the_address = {name: value for name, value in asked.items() if not name.startswith("group")}
            assert "the key is for other groups" in other.refused(tool, **at_the_address), tool


def test_each_key_has_a_rate_of_its_own(tmp_path: Path) -> None:
    keys = str(written(tmp_path / "keys.toml"))
    with serving(tmp_path / "data", ASOF_KEYS_FILE=keys, ASOF_RATE_LIMIT="0.0001") as server:

        def answer(key: str, path: str) -> Any:
            return server.client.post(path, json=LIST, headers={**ACCEPTED, **sent(key)})

        assert answer(READ, "/mcp").status_code == 200
        for path in ("/mcp", "/mcp/team-a"):
            refused = answer(READ, path)
            assert refused.status_code == 429
            assert int(refused.headers["Retry-After"]) > 1_000
        assert answer(WRITE, "/mcp/team-a").status_code == 200
        assert answer(WRITE, "/mcp").status_code == 429


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({}, 200),
        ({"Host": "memory.example.org"}, 200),  # no page: browsers send an Origin with each POST
        ({"Origin": "http://localhost:6274"}, 200),
        ({"Origin": "http://127.0.0.1:6274"}, 200),
        ({"Origin": "https://evil.example"}, 403),
        ({"Origin": "null"}, 403),
        ({"Origin": ""}, 403),
        ({"Origin": "http://localhost.evil.example"}, 403),
        ({"Origin": "http://evil.example:8000", "Host": "evil.example:8000"}, 403),  # its name resolves to this machine
        ({"Origin": "http://localhost:6274", "Host": "evil.example"}, 403),
    ],
)
def test_no_page_of_another_site_is_served_whatever_key_it_has(
    keyed: tuple[str, Server], headers: dict[str, str], status: int
) -> None:
    _, server = keyed
    for path in ("/mcp", "/mcp/team-a"):
        answer = server.client.post(path, json=LIST, headers={**ACCEPTED, **sent(READ), **headers})
        assert answer.status_code == status, answer.text
