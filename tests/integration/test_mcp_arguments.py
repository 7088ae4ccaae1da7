"""Every argument of every tool of MCP that asks has an effect: the answer with it is another one than without it."""

import json
import re
from collections.abc import Iterator
from typing import Any, NamedTuple

import pytest

from asof.mcp.scope import ClientScope
from asof.service.api_keys import Permission
from mcp_agent import Agent, agent_here, serving_here
from mcp_calls import GROUP, TOOLS, fact_of

ELSEWHERE = {  # arguments, by what tests them of every tool that has them
    "cursor": "test_mcp_pages.py",
    "group_id": "test_mcp_isolation.py",
    "group_ids": "test_mcp_isolation.py",
    "confirmation": "test_mcp_forget.py",
}
ABOUT_THE_CALL = {"as_of", "times", "notice", "group_ids", "next_cursor", "confirmation", "receipt", "logs", "tokens"}
WHERE, EVER = {"query": "Where does Ana live?"}, {"include_ended": True}
MINUTES = re.compile(r"As of \d{4}-\d\d-\d\d \d\d:\d\d")  # of a context that is of now
EARLY = "EARLY"  # when the first message was recorded


class Effect(NamedTuple):
    """A call, one more argument, and the part of the answer that it changes; None: all but `ABOUT_THE_CALL`."""

    value: Any
    call: dict[str, Any]
    shows_in: str | None = None


EFFECTS: dict[str, dict[str, Effect]] = {
    "recall": {
        "query": Effect("Who is Ben?", WHERE, "items"),
        "valid_at": Effect("2020", WHERE, "items"),
        "known_at": Effect(EARLY, WHERE, "items"),
        "max_tokens": Effect(260, WHERE, "items"),
        "kinds": Effect(["fact"], WHERE, "items"),
        "min_probability": Effect(0.999, WHERE, "items"),
        "timezone": Effect("Asia/Tokyo", {**WHERE, "valid_at": "2024-05-01T10:00"}, "as_of.valid_at"),
    },
    "search_memory_facts": {
        "query": Effect("Does Ben like jazz?", WHERE),
        "max_facts": Effect(1, WHERE),
        "center_node_uuid": Effect("Ben", {"query": "likes"}),
        "edge_types": Effect(["likes"], WHERE),
        "valid_at": Effect("2020", WHERE),
        "known_at": Effect(EARLY, WHERE),
        "include_ended": Effect(True, WHERE),
        "valid_at_after": Effect("2025", WHERE),
        "valid_at_before": Effect("2020", WHERE),
        "invalid_at_after": Effect("2020", WHERE),
        "invalid_at_before": Effect("2025", WHERE),
    },
    "search_nodes": {
        "query": Effect("Ben", {"query": "Ana"}),
        "max_nodes": Effect(1, {"query": "Ana"}),
        "entity_types": Effect(["Location"], {"query": "Ana"}),
        "center_node_uuid": Effect("Ben", {"query": "Ana"}),
        "known_at": Effect(EARLY, {"query": "Ana"}),
    },
    "get_entity_timeline": {
        "entity": Effect("Ben", {"entity": "Ana"}),
        "relation": Effect("likes", {"entity": "Ana"}),
        "from": Effect("2025", {"entity": "Ana"}),
        "to": Effect("2020", {"entity": "Ana"}),
        "known_at": Effect(EARLY, {"entity": "Ana"}),
    },
    "what_changed": {
        "since": Effect(EARLY, {"since": "2001"}, "changes"),
        "until": Effect(EARLY, {"since": "2001"}, "changes"),
        "entity": Effect("Ben", {"since": "2001"}, "changes"),
        "axis": Effect("valid", {"since": "2023"}, "changes"),
    },
    "explain_fact": {
        "fact_id": Effect("JAZZ", {"fact_id": "BERLIN"}),
        "entity": Effect("Ben", {"entity": "Ana", "relation": "likes"}),
        "relation": Effect("lives_in", {"entity": "Ana", "relation": "likes"}),
        "known_at": Effect(EARLY, {"fact_id": "BERLIN"}),
    },
    "compare_beliefs": {
        "before": Effect(EARLY, {"before": "2001"}, "changes"),
        "after": Effect(EARLY, {"before": "2001"}, "changes"),
        "valid_at": Effect("2020", {"before": "2001"}, "changes"),
        "entity": Effect("Ben", {"before": "2001"}, "changes"),
        "relation": Effect("likes", {"before": "2001"}, "changes"),
    },
    "what_if": {
        "statements": Effect(
            [{"subject": "Ana", "relation": "lives_in", "object": "Rome", "valid_from": "2025"}],
            {"statements": [{"subject": "Ana", "relation": "lives_in", "op": "end", "valid_to": "2025"}]},
        ),
    },
    "list_episodes": {
        "from": Effect("2025", {}),
        "to": Effect("2025", {}),
        "known_at": Effect(EARLY, {}),
        "limit": Effect(1, {}),
    },
    "get_episodes": {"max_episodes": Effect(1, {})},
    "get_episode_entities": {"episode_uuids": Effect("JAZZ_EPISODE", {"episode_uuids": "BERLIN_EPISODE"})},
    "get_entity_edge": {"uuid": Effect("JAZZ", {"uuid": "BERLIN"})},
    "summarize_saga": {"saga_name": Effect("Ben", {"saga_name": "Ana"}, "summary")},
    "search": {"query": Effect("Does Ben like jazz?", WHERE)},
    "fetch": {"id": Effect("fact/JAZZ", {"id": "fact/BERLIN"})},
    "get_status": {"job": Effect(0, {}), "idempotency_key": Effect("mine", {})},
    "forget": {
        "person": Effect("Ben", {"topic": "I"}),
        "only_said": Effect(True, {"person": "Ana"}),
        "topic": Effect("Oslo", {"person": "Ana"}),
        "from": Effect("2025", {"person": "Ana"}),
        "to": Effect("2025", {"person": "Ana"}),
        "everything": Effect(True, {"topic": "I"}),
    },
}
PAIRS = [(tool, name) for tool, effects in EFFECTS.items() for name in effects]
WITHOUT = {
    ("forget", "everything"): {"topic"},
    ("forget", "person"): {"topic"},
}  # of the call, whose place it takes


@pytest.fixture(scope="module")
def known(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Agent, dict[str, str]]]:
    """An agent whose memory has Ana and Ben, and what stands for its ids and times in the calls."""
    data = tmp_path_factory.mktemp("arguments") / "data"
    with serving_here(data) as served, agent_here(served, ClientScope(group=GROUP)) as agent:
        agent.tell("I live in Berlin since 2019.", "I like tea.")
        agent.tell("I moved to Oslo in March.", reference_time="2024-04-02T09:00:00Z")
        agent.tell("I like jazz.", "Ana is my friend.", speaker="Ben")
        agent.ask("add_memory", episode_body="I like rain.", idempotency_key="mine", wait_seconds=30)
        agent.embed(served[0])
        berlin, jazz = fact_of(agent, "Berlin"), fact_of(agent, "jazz")
        first = agent.ask("list_episodes", limit=1)["episodes"][0]
        yield (
            agent,
            {
                "BERLIN_EPISODE": berlin["episodes"][0],
                "JAZZ_EPISODE": jazz["episodes"][0],
                "BERLIN": berlin["uuid"],
                "JAZZ": jazz["uuid"],
                EARLY: first["created_at"],
            },
        )


def shown(known: tuple[Agent, dict[str, str]], tool: str, call: dict[str, Any], part: str | None) -> str:
    """Return what a call is answered, but for what every answer says of the call itself."""
    agent, names = known
    written = json.dumps(call)
    for name, value in names.items():
        written = written.replace(name, value)
    answer: Any = agent.ask(tool, **json.loads(written))
    if part is None:
        answer = {name: value for name, value in answer.items() if name not in ABOUT_THE_CALL}
        for fact in answer.get("facts", ()):
            fact.pop("probability", None)  # which may change from moment to moment
    else:
        for name in part.split("."):
            answer = answer[name]
    return MINUTES.sub("TIME", json.dumps(answer, sort_keys=True))


def test_every_argument_of_every_tool_that_asks_is_tried() -> None:
    asking = {name for name, tool in TOOLS.items() if tool.needs is Permission.READ} | {"forget"}
    assert EFFECTS.keys() == asking
    for tool, effects in EFFECTS.items():
        arguments = TOOLS[tool].arguments.model_json_schema(by_alias=True)["properties"]
        assert effects.keys() == arguments.keys() - ELSEWHERE.keys(), tool


@pytest.mark.parametrize(("tool", "argument"), PAIRS)
def test_an_argument_has_an_effect(known: tuple[Agent, dict[str, str]], tool: str, argument: str) -> None:
    value, call, part = EFFECTS[tool][argument]
    left_out = WITHOUT.get((tool, argument), set())
    changed = {name: given for name, given in call.items() if name not in left_out} | {argument: value}
    without = shown(known, tool, call, part)

    assert shown(known, tool, call, part) == without  # it is the argument, and nothing else, that makes another answer
    assert shown(known, tool, changed, part) != without
