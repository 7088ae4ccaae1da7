"""The profile `graphiti` of MCP: the tools of Graphiti's server, by their names and with their arguments, unchanged."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from mcp_agent import ERAS, Agent, agent, end
from patience import wait_until

ARGUMENTS = {  # of each tool of Graphiti's server, in its order
    "add_memory": {
        *("name", "episode_body", "group_id", "source", "source_description", "uuid", "reference_time"),
        *("excluded_entity_types", "custom_extraction_instructions", "previous_episode_uuids"),
        *("update_communities", "saga", "saga_previous_episode_uuid"),
    },
    "search_nodes": {"query", "group_ids", "max_nodes", "entity_types", "center_node_uuid"},
    "search_memory_facts": {
        *("query", "group_ids", "max_facts", "center_node_uuid", "edge_types"),
        *("valid_at_after", "valid_at_before", "invalid_at_after", "invalid_at_before"),
    },
    "get_episodes": {"group_ids", "max_episodes"},
    "get_entity_edge": {"uuid"},
    "delete_entity_edge": {"uuid"},
    "delete_episode": {"uuid"},
    "clear_graph": {"group_ids"},
    "get_status": set[str](),
    "summarize_saga": {"saga_name", "group_id"},
    "build_communities": {"group_ids"},
    "add_triplet": {
        *("source_node_name", "edge_name", "fact", "target_node_name"),
        *("group_id", "source_node_uuid", "target_node_uuid"),
    },
    "get_episode_entities": {"episode_uuids"},
}


@pytest.fixture(params=ERAS)
def ana(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Agent]:
    with agent(tmp_path / "data", mode=request.param, ASOF_MCP_PROFILE="graphiti") as connected:
        connected.tell("I live in Berlin since 2019.", "I work at Acme.")
        yield connected
    end(tmp_path / "data")


def fact_of(agent: Agent, value: str) -> dict[str, Any]:
    found = agent.ask("search_memory_facts", query=value)["facts"]
    return next(fact for fact in found if fact["object"] == value)


def test_all_thirteen_tools_are_there_and_their_arguments_are_taken(ana: Agent) -> None:
    assert list(ana.tools) == list(ARGUMENTS)
    for name, arguments in ARGUMENTS.items():
        listed = ana.tools[name].input_schema["properties"].keys()
        assert listed >= arguments - {"group_id", "group_ids"}, name
    assert all(name in ana.instructions for name in ("search_memory_facts", "add_memory", "clear_graph"))
    assert "recall" not in ana.instructions


def test_graphitis_calls_are_taken_with_nulls_and_lists_or_texts(ana: Agent) -> None:
    nothing: dict[str, Any] = dict.fromkeys(
        ARGUMENTS["add_memory"] - {"name", "episode_body", "source", "source_description"}
    )
    nothing["update_communities"] = False
    added = ana.ask(
        "add_memory", **nothing, name="n", episode_body="Ana likes tea.", source="text", source_description=""
    )
    wait_until(lambda: ana.ask("get_status", job=added["job"])["job"]["state"] == "done")
    for groups in (None, "default", ["default"], []):
        asked = {"query": "Ana", "group_ids": groups, "center_node_uuid": None}
        assert ana.ask("search_nodes", **asked, max_nodes=3, entity_types=None)["nodes"]
        assert ana.ask("search_memory_facts", **asked, max_facts=3, edge_types=None, valid_at_after=None)["facts"]


def test_episodes_are_listed_with_what_they_say(ana: Agent) -> None:
    episodes = ana.ask("get_episodes", max_episodes=1)["episodes"]
    said = ana.ask("get_episode_entities", episode_uuids=[episodes[0]["uuid"]])

    assert [one["content"] for one in episodes] == ["Ana: I work at Acme."]
    assert [edge["fact"] for edge in said["edges"]] == ["Ana works at Acme"]
    assert {node["name"] for node in said["nodes"]} == {"Ana", "Acme"}


def test_a_fact_is_taken_back_and_its_past_stays(ana: Agent) -> None:
    fact = fact_of(ana, "Acme")
    assert ana.ask("get_entity_edge", uuid=fact["uuid"])["fact"] == "Ana works at Acme"

    ana.ask("delete_entity_edge", uuid=fact["uuid"][:8])

    assert "no fact of this address" in ana.refused("get_entity_edge", uuid=fact["uuid"])
    before = ana.ask("search_memory_facts", query="Acme", known_at=fact["created_at"])["facts"]
    assert fact["uuid"] in {one["uuid"] for one in before}


def test_an_episode_is_taken_back_with_what_it_alone_says(ana: Agent) -> None:
    [episode] = fact_of(ana, "Acme")["episodes"]

    ana.ask("delete_episode", uuid=episode[:8])

    assert episode not in {one["uuid"] for one in ana.ask("get_episodes")["episodes"]}
    assert "Acme" not in {one["object"] for one in ana.ask("search_memory_facts", query="Acme")["facts"]}


def test_a_triplet_is_a_fact_of_exact_names(ana: Agent) -> None:
    triplet = {"source_node_name": "Ana", "edge_name": "owns", "target_node_name": "a boat"}
    added = ana.ask("add_triplet", **triplet, fact="Ana owns a boat.")

    assert [(edge["fact"], edge["name"]) for edge in added["edges"]] == [("Ana owns a boat.", "owns")]
    assert {node["name"] for node in added["nodes"]} == {"Ana", "a boat"}
    assert added["message"] == "Triplet added successfully"
    again = ana.ask("add_triplet", **triplet, fact="Ana owns a boat.", source_node_uuid="of-Graphiti")
    assert again["message"] == "Nothing changed: it was known. Not used, since names decide: source_node_uuid"


def test_communities_are_found_a_name_is_summarized_and_all_is_erased(ana: Agent) -> None:
    built = ana.ask("build_communities")
    summary = ana.ask("summarize_saga", saga_name="Ana")["summary"]
    ana.ask("clear_graph")

    assert built["community_count"] == len(built["communities"])
    assert "Ana lives in Berlin" in summary
    assert ana.ask("search_memory_facts", query="Ana", include_ended=True)["facts"] == []
