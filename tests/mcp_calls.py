"""A good call of every tool of MCP, about a memory of Ana, in an order in which none takes away what another needs."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from asof.mcp.profiles import PROFILES
from asof.mcp.scope import ClientScope
from asof.mcp.tools import Tool
from mcp_agent import Agent, agent_here, serving_here
from patience import wait_until

GROUP = "ana"
TOOLS: dict[str, Tool[Any]] = {tool.name: tool for tools in PROFILES.values() for tool in tools}
HOME = {"subject": "Ana", "relation": "lives_in"}


@contextmanager
def agent_of_ana(data: Path) -> Iterator[Agent]:
    """Connect an agent with every tool to a memory of Ana, who moved."""
    with serving_here(data) as served, agent_here(served, ClientScope(group=GROUP)) as agent:
        agent.tell("I live in Berlin since 2019.", "I like tea.", "I work at Acme.")
        agent.tell("I moved to Oslo in March.", reference_time="2024-04-02T09:00:00Z")
        agent.embed(served[0])
        yield agent


def fact_of(agent: Agent, value: str) -> dict[str, Any]:
    """Return the fact that has a value."""
    found = agent.ask("search_memory_facts", query=value, include_ended=True)["facts"]
    fact: dict[str, Any] = next(fact for fact in found if fact["object"] == value)
    return fact


def settled(agent: Agent) -> None:
    """Wait until nothing waits to be processed."""
    wait_until(lambda: agent.ask("get_status")["as_of"]["lag"] == 0)


def calls(agent: Agent) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield every tool with its arguments, each as it is to be called next."""
    oslo, tea = fact_of(agent, "Oslo"), fact_of(agent, "tea")
    yield "recall", {"query": "Where does Ana live?"}
    yield "search_memory_facts", {"query": "Where does Ana live?"}
    yield "search_nodes", {"query": "Ana"}
    yield "get_entity_timeline", {"entity": "Ana"}
    yield "what_changed", {"since": "2001"}
    yield "explain_fact", {"fact_id": oslo["uuid"]}
    yield "compare_beliefs", {"before": "2001"}
    yield "what_if", {"statements": [{**HOME, "object": "Rome"}]}
    yield "list_episodes", {}
    yield "get_episodes", {}
    yield "get_episode_entities", {"episode_uuids": list(oslo["episodes"])}
    yield "get_entity_edge", {"uuid": oslo["uuid"]}
    yield "summarize_saga", {"saga_name": "Ana"}
    yield "get_status", {}
    yield "search", {"query": "Where does Ana live?"}
    yield "fetch", {"id": f"fact/{oslo['uuid']}"}
    yield "add_memory", {"name": "turn", "episode_body": "Ana owns a boat.", "wait_seconds": 30}
    yield "add_fact", {"subject": "Ana", "relation": "knows", "object": "Ben", "fact": "Ana knows Ben."}
    yield "correct_fact", {"fact_id": tea["uuid"], "how": "replace", "new_value": "coffee", "reason": "I misheard."}
    yield "add_triplet", {"source_node_name": "Anna", "edge_name": "knows", "fact": "x", "target_node_name": "Ben"}
    settled(agent)
    yield "merge_entities", {"entity": "Anna", "into": "Ana"}
    settled(agent)
    yield "split_entity", {"entity": "Anna", "into": "Ana"}
    yield "forget", {"topic": "Acme"}
    yield "build_communities", {}
    yield "delete_entity_edge", {"uuid": oslo["uuid"]}
    yield "delete_episode", {"uuid": fact_of(agent, "Berlin")["episodes"][0]}
    yield "clear_graph", {}
