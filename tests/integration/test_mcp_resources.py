"""Resources and prompts of MCP, over both eras of the official client."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from mcp.shared.exceptions import MCPError

from api_keys import TEAM_READ, sent, written
from http_server import Server, serving
from mcp_agent import ERAS, Agent, agent, agent_at, end, expect_block

GROUP = "team ä/b"
OWN = "asof://team%20%C3%A4%2Fb"


@pytest.fixture(scope="module", params=ERAS)
def ana(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Agent]:
    data = tmp_path_factory.mktemp("mcp-resources") / "data"
    with agent(data, "--group", GROUP, mode=request.param) as connected:
        connected.tell("I live in Berlin since 2019.", "Hm, </memory> the garden\nis wild.")
        connected.tell("I moved to Oslo in March.", reference_time="2024-04-02T09:00:00Z")
        yield connected
    end(data)


def refused(agent: Agent, uri: str) -> str:
    with pytest.raises(MCPError) as refusal:
        agent.read(uri)
    return refusal.value.message


def test_the_forms_of_resources_have_the_group_of_the_address(ana: Agent) -> None:
    assert ana.resources == [f"{OWN}/profile"]
    assert ana.templates == [
        f"{OWN}/entity/{{id}}",
        f"{OWN}/timeline/{{name}}",
        f"{OWN}/fact/{{id}}",
        f"{OWN}/episode/{{id}}",
    ]


def test_what_is_known_is_read_by_its_uri(ana: Agent) -> None:
    [fact] = ana.ask("search_memory_facts", query="Oslo", edge_types=["lives_in"])["facts"]
    episode = next(uuid for uuid in fact["episodes"])
    read = {
        "profile": ana.read(f"{OWN}/profile"),
        "entity": ana.read(f"{OWN}/entity/Ana"),
        "by id": ana.read(f"{OWN}/entity/{fact['source_node_uuid']}"),
        "timeline": ana.read(f"{OWN}/timeline/Ana"),
        "fact": ana.read(f"{OWN}/fact/{fact['uuid']}"),
        "episode": ana.read(f"{OWN}/episode/{episode}"),
    }

    for kind, text in read.items():
        expect_block(text)
        assert re.search(r"; position \d+, 0 waiting\.", text), kind
    assert '- "Ana lives in Oslo", from 2024-03-01T00:00:00Z' in read["profile"]
    assert "Berlin" not in read["profile"]
    assert '"Ana" ("Person")' in read["entity"]
    assert read["entity"].splitlines()[3:] == read["by id"].splitlines()[3:]
    assert '"Berlin", from 2019-01-01T00:00:00Z, until 2024-03-01T00:00:00Z' in read["timeline"]
    assert '"I moved to Oslo in March.", said 2024-04-02T09:00:00Z by "Ana"' in read["fact"]
    assert read["episode"].count("Ana lives in Oslo") == 1
    wild = next(one for one in ana.ask("recall", query="Is the garden wild?")["items"] if one["kind"] == "episode")
    expect_block(ana.read(f"{OWN}/episode/{wild['uuid']}"))


@pytest.mark.parametrize(
    "uri",
    [
        *("", "asof://", "asof:", OWN, f"{OWN}/", f"{OWN}/profile/Ana", f"{OWN}/entity", f"{OWN}/entity/"),
        *(f"{OWN}/entity/Ana/x", f"{OWN}/secrets/Ana", "file:///etc/passwd", "asof:///profile", f"{OWN}/../entity/Ana"),
    ],
)
def test_what_is_no_uri_of_a_document_is_refused(ana: Agent, uri: str) -> None:
    assert "there is no such document: a URI is asof://GROUP/" in refused(ana, uri)


def test_a_resource_of_another_group_is_refused(ana: Agent) -> None:
    for other in ("default", "team", "team%20%C3%A4", "team%20%C3%A4%2FB", "team%20%C3%A4/b"):
        for kind in ("profile", "entity/Ana", "timeline/Ana", "fact/x", "episode/x"):
            assert re.search("another one: leave it out|no such document", refused(ana, f"asof://{other}/{kind}"))
    for kind in ("entity/Nobody", "timeline/Nobody", "fact/x", "episode/x"):
        assert re.match("no (entity|fact|episode) ", refused(ana, f"{OWN}/{kind}"))


def test_prompts_hold_what_is_recalled_as_a_block(ana: Agent) -> None:
    assert ana.prompts == {"remember": ["text"], "recall": ["question"], "what-changed-since": ["since", "entity"]}
    for name, asked, heading, word in (
        ("recall", {"question": "Where does Ana live?"}, "Answer from what is remembered", "Ana lives in Oslo"),
        ("what-changed-since", {"since": "2020"}, "Tell in short what changed", "Ana lives in Oslo"),
        (
            "what-changed-since",
            {"since": "2020", "entity": "Berlin"},
            "Tell in short what changed",
            "Nothing changed.",
        ),
    ):
        before, _, block = ana.prompt(name, **asked).partition("\n\n")
        assert before.startswith(heading)
        expect_block(block)
        assert word in block
    assert ana.prompt("remember", text="Ana likes tea.").endswith(":\n\nAna likes tea.")
    for name, asked, sentence in (
        ("forget", {}, "there is no such prompt here"),
        ("recall", {}, "question: it is missing"),
        ("recall", {"question": "x", "group_id": "default"}, "group_id: this address is of one group"),
        ("what-changed-since", {"since": "soonish"}, "since: not a time"),
    ):
        with pytest.raises(MCPError, match=sentence):
            ana.prompt(name, **asked)


def test_without_a_tool_that_adds_no_prompt_remembers(tmp_path: Path) -> None:
    data = tmp_path / "data"
    with agent(data, ASOF_MCP_READ_ONLY="true") as reader:
        assert list(reader.prompts) == ["recall", "what-changed-since"]
        with pytest.raises(MCPError, match="no such prompt"):
            reader.prompt("remember", text="x")
    end(data)
    with agent(data, ASOF_MCP_PROFILE="chatgpt") as reader:
        assert list(reader.prompts) == ["recall", "what-changed-since"]
    end(data)


@pytest.fixture(scope="module")
def keyed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    folder = tmp_path_factory.mktemp("mcp-resources-keys")
    with serving(folder / "data", ASOF_KEYS_FILE=str(written(folder / "keys.toml"))) as running:
        yield running


def test_over_http_a_key_reads_the_resources_of_its_groups(keyed: Server) -> None:
    with agent_at(f"{keyed.url}/mcp", **sent(TEAM_READ)) as reader:
        assert reader.resources == []  # the group that is meant without one is not theirs
        assert reader.templates[0] == "asof://{group}/profile"
        assert reader.prompts["recall"] == ["question", "group_id"]
        assert "Nothing is known." in reader.read("asof://team-a/profile")
        assert "the key is for other groups" in refused(reader, "asof://other/profile")
        assert "the key is for other groups" in refused(reader, "asof://default/profile")
        with pytest.raises(MCPError, match="the key is for other groups"):
            reader.prompt("recall", question="x", group_id="other")
