"""The profile `full` of MCP: the tools beside those of `core`, over both eras of the official client."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from mcp_agent import ERAS, Agent, agent, end
from patience import wait_until

FULL = [
    "recall",
    "search_memory_facts",
    "search_nodes",
    "add_memory",
    "get_entity_timeline",
    "what_changed",
    "explain_fact",
    "correct_fact",
    "get_status",
    "compare_beliefs",
    "what_if",
    "list_episodes",
    "get_episode_entities",
    "add_fact",
    "merge_entities",
    "split_entity",
    "forget",
]
WRITING = {"add_memory", "correct_fact", "add_fact", "merge_entities", "split_entity", "forget"}
DESTRUCTIVE = {"correct_fact", "forget"}
FAR = "2100"


@pytest.fixture(scope="module", params=ERAS)
def ana(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Agent]:
    """An agent whose memory has Ana, who moved, by each era. Nothing writes to it."""
    data = tmp_path_factory.mktemp("mcp-full") / "data"
    with agent(data, "--group", "ana", mode=request.param, ASOF_MCP_PROFILE="full") as connected:
        connected.tell("I live in Berlin since 2019.", "I like tea.")
        connected.tell("I moved to Oslo in March.", reference_time="2024-04-02T09:00:00Z")
        yield connected
    end(data)


@pytest.fixture
def writer(tmp_path: Path) -> Iterator[Agent]:
    with agent(tmp_path / "data", ASOF_MCP_PROFILE="full") as connected:
        yield connected
    end(tmp_path / "data")


def recorded(agent: Agent) -> list[str]:
    """Return when each episode was recorded, in order."""
    return [one["created_at"] for one in agent.ask("list_episodes")["episodes"]]


def test_the_tools_come_in_one_order_with_schemas_and_hints(ana: Agent) -> None:
    assert list(ana.tools) == FULL
    for name, tool in ana.tools.items():
        assert tool.annotations.read_only_hint is (name not in WRITING), name
        assert tool.annotations.open_world_hint is False
        assert bool(tool.annotations.destructive_hint) is (name in DESTRUCTIVE), name
        assert tool.output_schema["type"] == "object"
        assert not {"group_id", "group_ids"} & tool.input_schema["properties"].keys()
        assert "$ref" not in str(tool.input_schema)


def test_two_beliefs_of_one_moment_are_compared(ana: Agent) -> None:
    first, _, last = recorded(ana)

    def compared(**asked: str) -> list[tuple[str, str]]:
        answer = ana.ask("compare_beliefs", entity="Ana", relation="lives_in", **asked)
        return [(one["change"], (one["after"] or one["before"])["object"]) for one in answer["changes"]]

    assert compared(before=first) == [("retracted", "Berlin"), ("learned", "Oslo")]
    assert compared(before=first, valid_at="2020") == [("revised", "Berlin")]
    assert compared(before="2001", after=first, valid_at="2020") == [("learned", "Berlin")]
    assert compared(before=last) == []
    assert "The same was believed." in ana.text("compare_beliefs", before=last)
    assert "before: it must be before after" in ana.refused("compare_beliefs", before=FAR)
    assert "before: it must be before after" in ana.refused("compare_beliefs", before=last, after=first)


def test_what_facts_would_change_is_shown_and_nothing_is_written(ana: Agent) -> None:
    position = ana.ask("get_status")["as_of"]["position"]
    home = {"subject": "Ana", "relation": "lives_in"}

    def held(segments: list[dict[str, Any]]) -> list[tuple[str, str | None]]:
        return [(one["object"], one["invalid_at"]) for one in segments]

    moved = ana.ask("what_if", statements=[{**home, "object": "Rome", "valid_from": "2025-01-01"}])
    ended = ana.ask("what_if", statements=[{**home, "op": "end", "valid_to": "2025-01-01"}])

    assert held(moved["before"]) == [("Berlin", "2024-03-01T00:00:00Z"), ("Oslo", None)]
    assert held(moved["after"]) == [*held(moved["before"])[:1], ("Oslo", "2025-01-01T00:00:00Z"), ("Rome", None)]
    assert moved["after"][2]["facts"] == []
    assert held(ended["after"]) == [*held(moved["before"])[:1], ("Oslo", "2025-01-01T00:00:00Z")]
    assert ana.ask("get_status")["as_of"]["position"] == position
    for wrong, sentence in (
        ({"subject": "Ana", "relation": "lives_in"}, "statements.0: assert needs object"),
        ({**home, "object": "Rome", "valid_from": "soonish"}, "statements.0.valid_from: not a time"),
        ({"relation": "lives_in", "object": "Rome"}, "statements.0.subject: it is missing"),
    ):
        assert sentence in ana.refused("what_if", statements=[wrong])


def test_episodes_are_listed_by_period_and_page(ana: Agent) -> None:
    whole = [one["content"] for one in ana.ask("list_episodes")["episodes"]]
    pages, cursor = [], None
    while page := ana.ask("list_episodes", limit=1, cursor=cursor):
        pages += [one["content"] for one in page["episodes"]]
        if (cursor := page["next_cursor"]) is None:
            break

    assert whole == ["Ana: I live in Berlin since 2019.", "Ana: I like tea.", "Ana: I moved to Oslo in March."]
    assert pages == whole
    assert [one["content"] for one in ana.ask("list_episodes", to="2024-05")["episodes"]] == whole[2:]
    assert [one["content"] for one in ana.ask("list_episodes", **{"from": "2024-05"})["episodes"]] == whole[:2]
    assert [one["content"] for one in ana.ask("list_episodes", known_at=recorded(ana)[1])["episodes"]] == whole[:2]
    assert "cursor: " in ana.refused("list_episodes", cursor="x")


def test_what_an_episode_says_is_listed(ana: Agent) -> None:
    episode = ana.ask("list_episodes")["episodes"][2]
    said = ana.ask("get_episode_entities", episode_uuids=[episode["uuid"]])

    assert [edge["fact"] for edge in said["edges"]] == ["Ana lives in Oslo"]
    assert {node["name"] for node in said["nodes"]} == {"Ana", "Oslo"}
    assert f"[{episode['uuid'][:8]}]" in ana.text("list_episodes")
    assert ana.ask("get_episode_entities", episode_uuids=[episode["uuid"][:8]])["edges"] == said["edges"]
    assert "no episode of this address" in ana.refused("get_episode_entities", episode_uuids=["00000000"])


def test_a_fact_is_stated_by_exact_names_once_under_a_key(writer: Agent) -> None:
    boat = {"subject": "Ana", "relation": "owns", "object": "a boat", "fact": "Ana owns a boat.", "valid_from": "2020"}
    added = writer.became(writer.ask("add_fact", **boat, idempotency_key="boat"))
    again = writer.ask("add_fact", **boat, idempotency_key="boat")

    assert [(one["fact"], one["valid_at"]) for one in added["learned"]] == [
        ("Ana owns a boat.", "2020-01-01T00:00:00Z")
    ]
    assert again["job"] == added["job"]
    assert "used for another request" in writer.refused(
        "add_fact", **{**boat, "object": "a car"}, idempotency_key="boat"
    )
    assert "valid_to: a period begins" in writer.refused("add_fact", **boat, valid_to="2019")


def test_a_fact_is_stated_with_its_source_which_explain_fact_shows(writer: Agent) -> None:
    bike = {"subject": "Ana", "relation": "owns", "object": "a bike", "fact": "Ana owns a bike."}
    added = writer.became(writer.ask("add_fact", **bike, source_description="insurance.pdf"))
    [learned] = added["learned"]

    [explained] = writer.ask("explain_fact", fact_id=learned["uuid"])["facts"]

    assert [words["source_description"] for words in explained["words"]] == ["insurance.pdf"]
    assert 'from "insurance.pdf"' in writer.text("explain_fact", fact_id=learned["uuid"])


def test_two_names_are_one_and_two_again(writer: Agent) -> None:
    writer.tell("I live in Berlin.")
    writer.tell("I work at Acme.", speaker="Anna Maria")

    def employers() -> set[str | None]:
        return {
            one["object"] for one in writer.ask("get_entity_timeline", entity="Ana", relation="works_at")["segments"]
        }

    assert employers() == set()
    both = {"entity": "Anna Maria", "into": "Ana"}
    wait_until(lambda: "From now on they are one." in writer.text("merge_entities", **both))
    assert employers() == {"Acme"}
    wait_until(lambda: "From now on they are two." in writer.text("split_entity", **both))
    assert employers() == set()


def test_agents_that_only_read_get_no_tool_that_writes(tmp_path: Path) -> None:
    data = tmp_path / "data"
    with agent(data, ASOF_MCP_PROFILE="full", ASOF_MCP_READ_ONLY="true") as reader:
        assert list(reader.tools) == [name for name in FULL if name not in WRITING]
        for tool in WRITING:
            assert "this address only reads" in reader.refused(tool)
    end(data)
