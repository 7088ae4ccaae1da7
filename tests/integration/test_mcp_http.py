"""MCP of `asof serve`: the official client, of both eras, over HTTP."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from api_keys import ADMIN, READ, TEAM_READ, TEAM_WRITE, WRITE, sent, written
from http_server import Server, serving
from mcp_agent import ERAS, Agent, agent_at

CANARY = "Canarywood"
LIST = {"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {}}
ACCEPTED = {"Accept": "application/json, text/event-stream"}


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with serving(tmp_path_factory.mktemp("mcp-http") / "data") as running:
        yield running


@pytest.fixture(scope="module")
def keyed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    folder = tmp_path_factory.mktemp("mcp-keys")
    with serving(folder / "data", ASOF_KEYS_FILE=str(written(folder / "keys.toml"))) as running:
        running.client.headers.update(sent(ADMIN))
        running.say("team-a", f"I live in {CANARY}.")
        running.say("other", f"I live in {CANARY}.")
        yield running


def names(agent: Agent) -> set[str]:
    return set(agent.tools)


@pytest.mark.parametrize("mode", ERAS)
def test_agents_of_both_eras_remember_and_recall(server: Server, mode: str) -> None:
    with agent_at(f"{server.url}/mcp/{mode}", mode) as agent:
        [told] = agent.tell("I live in Berlin since 2019.")
        then = agent.ask("recall", query="Where does Ana live?", valid_at="2020")

    assert [one["fact"] for one in told["learned"]] == ["Ana lives in Berlin"]
    assert "Ana lives in Berlin" in then["text"]
    assert then["group_ids"] == [mode]


def test_what_is_told_over_mcp_is_what_every_other_door_tells(server: Server) -> None:
    with agent_at(f"{server.url}/mcp/doors") as agent:
        agent.tell("I live in Rome.")
        [mine] = agent.ask("search_memory_facts", query="Where does Ana live?")["facts"]
    server.say("doors", "I like tea.")
    with agent_at(f"{server.url}/mcp") as agent:
        both = agent.ask("search_memory_facts", query="What is known of Ana?", group_ids="doors")["facts"]

    assert {fact["fact"] for fact in both} == {"Ana lives in Rome", "Ana likes tea"}
    facts = server.client.get("/v1/facts", params={"group_id": "doors"}).json()["facts"]
    assert mine["uuid"] in {fact["uuid"] for fact in facts}


def test_the_address_names_the_group_whatever_signs_it_has(server: Server) -> None:
    with agent_at(f"{server.url}/mcp/team%20%C3%A4/b") as agent:
        assert agent.ask("get_status")["group_ids"] == ["team ä/b"]
        assert "group_id" not in agent.tools["recall"].input_schema["properties"]
        assert "another one: leave it out" in agent.refused("recall", query="x", group_id="default")
    with agent_at(f"{server.url}/mcp/") as agent:
        assert agent.ask("get_status")["group_ids"] == ["default"]
        assert agent.ask("get_status", group_id="b")["group_ids"] == ["b"]
        assert "group_id" in agent.tools["recall"].input_schema["properties"]


def test_a_key_has_the_tools_of_its_permission_and_its_groups(keyed: Server) -> None:
    with agent_at(f"{keyed.url}/mcp/team-a", **sent(TEAM_READ)) as reader:
        assert names(reader) == {*names_of(keyed, ADMIN)} - {"add_memory", "correct_fact"}
        assert CANARY in reader.text("recall", query="Where does Ana live?")
        assert "lacks the permission" in reader.refused("add_memory", episode_body="x")
    with agent_at(f"{keyed.url}/mcp", **sent(TEAM_WRITE)) as writer:
        assert "the key is for other groups" in writer.refused("recall", query="Where does Ana live?")
        assert CANARY in writer.text("recall", query="Where does Ana live?", group_id="team-a")
        assert "the key is for other groups" in writer.refused("recall", query="Ana", group_id="other")
        writer.tell("I like tea.", group_id="team-a")
    with agent_at(f"{keyed.url}/mcp/other", **sent(TEAM_WRITE)) as stranger:
        for tool, asked in (("recall", {"query": "Ana"}), ("get_status", {}), ("add_memory", {"episode_body": "x"})):
            assert "the key is for other groups" in stranger.refused(tool, **asked)


def names_of(server: Server, key: str) -> set[str]:
    with agent_at(f"{server.url}/mcp", **sent(key)) as agent:
        return names(agent)


def test_a_key_is_needed_where_there_are_keys(keyed: Server) -> None:
    keyed.client.headers.pop("Authorization")
    try:
        for headers in ({}, sent("no-such-key-0123456789")):
            answer = keyed.client.post("/mcp", json=LIST, headers={**ACCEPTED, **headers})
            assert answer.status_code == 401
            assert answer.headers["www-authenticate"].startswith("Bearer")
    finally:
        keyed.client.headers.update(sent(ADMIN))
    assert names_of(keyed, READ) < names_of(keyed, WRITE)


@pytest.mark.parametrize(
    "headers", [{"Host": "memory.example"}, {"Origin": "https://memory.example"}, {"Origin": "null"}]
)
def test_without_keys_no_other_site_is_served(server: Server, headers: dict[str, str]) -> None:
    for path in ("/mcp", "/mcp/ana"):
        assert server.client.post(path, json=LIST, headers={**ACCEPTED, **headers}).status_code == 403


@pytest.mark.parametrize("method", ["GET", "DELETE", "PUT"])
def test_there_are_no_sessions(server: Server, method: str) -> None:
    answer = server.client.request(method, "/mcp", headers=ACCEPTED)

    assert (answer.status_code, answer.headers["allow"]) == (405, "POST")
    assert "mcp-session-id" not in server.client.post("/mcp", json=LIST, headers=ACCEPTED).headers


@pytest.mark.parametrize(
    "body",
    [b"", b"{", b"[]", b"null", b'"Canarywood"', b'{"jsonrpc":"2.0"}', b"\xff\xfe", b'{"method":"Canarywood"}' * 2],
)
def test_what_is_no_message_is_refused_and_not_logged(server: Server, body: bytes) -> None:
    answer = server.client.post("/mcp", content=body, headers={**ACCEPTED, "Content-Type": "application/json"})

    assert 400 <= answer.status_code < 500, answer.text
    assert CANARY not in server.log


def test_a_body_that_is_too_long_is_refused(server: Server) -> None:
    call: dict[str, Any] = {"name": "add_memory", "arguments": {"episode_body": "x" * 17 * 2**20}}
    answer = server.client.post("/mcp", json={**LIST, "method": "tools/call", "params": call}, headers=ACCEPTED)

    assert answer.status_code == 413


def test_requests_are_counted_by_their_route_and_no_group_is_in_a_metric(server: Server) -> None:
    with agent_at(f"{server.url}/mcp/{CANARY}") as agent:
        agent.ask("get_status")
    shown = server.client.get("/metrics").text

    assert 'route="/mcp/{group}"' in shown
    assert CANARY not in shown


def test_agents_only_read_where_the_settings_say_so(tmp_path: Path) -> None:
    with serving(tmp_path / "data", ASOF_MCP_READ_ONLY="true") as server:
        server.say("default", "I live in Rome.")
        with agent_at(f"{server.url}/mcp") as agent:
            assert "add_memory" not in agent.tools
            assert "Rome" in agent.text("recall", query="Where does Ana live?")
            assert "this address only reads" in agent.refused("correct_fact", fact_id="x", how="wrong", reason="x")
        assert server.end() == 0
