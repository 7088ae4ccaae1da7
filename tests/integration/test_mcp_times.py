"""Times over MCP: each answer has the moments that it used, and each of its times has a zone, over all tools."""

import re
from collections.abc import Iterator
from datetime import UTC, datetime
from itertools import chain
from pathlib import Path
from typing import Any

import pytest

from asof.mcp.arguments import read_time
from asof.mcp.pictures import picture_of
from mcp_agent import QUOTED, Agent
from mcp_calls import TOOLS, agent_of_ana, calls

WITHOUT_MOMENTS = {"search"}  # ChatGPT's, whose form has no place for them
NAMED_AS_TIMES = re.compile(r"(^|_)(at|from|to|since|until|before|after|time)($|_)")
TIME = re.compile(r"\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?)?(?P<zone>Z|[+-]\d\d:\d\d)?")
ZONE_OF_ALL = re.compile(r"Times are of \S+\. ")
SAID = {
    "known_at": "now",
    "valid_to": "tomorrow",
    "to": "tomorrow",  # by argument, words or a date that fit the other times of a good call
    **dict.fromkeys(("valid_at", "from", "since", "before", "valid_from", "reference_time"), "last May"),
    **dict.fromkeys(("valid_at_after", "invalid_at_after"), "May 2024"),
    **dict.fromkeys(("until", "after", "valid_at_before", "invalid_at_before"), "2 days ago"),
}


@pytest.fixture(scope="module")
def answered(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """The result of a good call of every tool."""
    with agent_of_ana(tmp_path_factory.mktemp("times") / "data") as agent:
        return {tool: agent.call(tool, **arguments) for tool, arguments in calls(agent)}


def texts_of(value: Any) -> Iterator[str]:
    """Yield every text of structured content."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict | list):
        yield from chain.from_iterable(map(texts_of, value.values() if isinstance(value, dict) else value))


def zoneless(text: str) -> list[str]:
    """Return the times of a text that are outside quotes and have no zone."""
    outside = QUOTED.sub('""', text)
    if ZONE_OF_ALL.search(outside):
        outside = re.sub(r"\d{4}-\d\d-\d\d( \d\d:\d\d)?(?![\dT])", "", outside)
    return [found[0] for found in TIME.finditer(outside) if not found["zone"]]


def test_a_good_call_of_every_tool_there_is(answered: dict[str, Any]) -> None:
    assert answered.keys() == TOOLS.keys()
    for tool, result in answered.items():
        assert not result.is_error, (tool, result.content[0].text)


def test_every_answer_has_the_moments_that_it_is_of_with_position_and_lag(answered: dict[str, Any]) -> None:
    for tool in answered.keys() - WITHOUT_MOMENTS:
        structured, text = answered[tool].structured_content, answered[tool].content[0].text
        moments = structured["metadata" if tool == "fetch" else "as_of"]
        assert {"known_at", "position", "lag"} <= moments.keys(), tool
        if tool != "clear_graph":  # of which nothing is known any more
            assert moments["known_at"] in text, tool
        if moments.get("valid_at"):
            assert moments["valid_at"] in text, tool
        assert f"position {moments['position']}, {moments['lag']} waiting" in text, tool


def test_every_time_of_every_answer_has_its_zone(answered: dict[str, Any]) -> None:
    assert zoneless('as of 2024-05-01T10:00:00, "2024-05-01" and 2024-05-02') == ["2024-05-01T10:00:00", "2024-05-02"]
    for tool, result in answered.items():
        texts = [result.content[0].text] if tool not in ("search", "fetch") else []
        for text in (*texts, *texts_of(result.structured_content)):
            if TIME.fullmatch(text) or "<memory>" in text or tool in ("search", "fetch"):
                assert not zoneless(text), (tool, text)
    for tool, given in (("recall", {"query": "Ana"}), ("summarize_saga", {"saga_name": "Ana"})):
        assert ZONE_OF_ALL.search(answered[tool].content[0].text), (tool, given)


def test_the_picture_of_a_fact_names_its_zone() -> None:
    assert "UTC" in picture_of([])


def times_of(tool: str) -> set[str]:
    """Return the arguments of a tool that are times, by the schema that agents see."""
    found = TOOLS[tool].arguments.model_json_schema(by_alias=True)["properties"]
    return {name for name in found if NAMED_AS_TIMES.search(name)}


def test_every_time_of_every_call_is_in_the_answer_as_an_instant(tmp_path: Path) -> None:
    seen: set[str] = set()
    with agent_of_ana(tmp_path / "data") as agent:
        for tool, arguments in calls(agent):
            for name in sorted(times_of(tool)):
                given = {**arguments, name: SAID[name]}
                if tool == "correct_fact":
                    given[name] = "now"  # within the fact's period
                expect_instant(agent, tool, name, given)
                seen.add(tool)
            if tool != "correct_fact":  # which has replaced the fact by now
                agent.call(tool, **arguments)
        supposed = {"subject": "Ana", "relation": "lives_in", "object": "Rome", "valid_from": "last May"}
        expect_instant(agent, "what_if", "statements.0.valid_from", {"statements": [supposed]}, "last May")

    assert seen == {tool for tool in TOOLS if times_of(tool)}
    assert len(seen) >= 12


def expect_instant(agent: Agent, tool: str, name: str, given: dict[str, Any], words: str | None = None) -> None:
    result = agent.call(tool, **given)
    assert not result.is_error, (tool, name, result.content[0].text)
    words = words or given[name]
    shown = result.structured_content["times"][name]
    instant = read_time(name, words, UTC)
    assert instant is not None
    days = abs(datetime.fromisoformat(shown).timestamp() - instant / 1e6) / 86_400
    assert days <= 1, (tool, name, shown)  # midnight may have passed
    assert datetime.fromisoformat(shown).tzinfo is not None
    assert shown in result.content[0].text, (tool, name, result.content[0].text)
