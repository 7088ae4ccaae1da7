"""Pages over MCP: of every list there is, each row once, as of the moments of the first page, and by its own cursor."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, get_args

import pytest
from pydantic import BaseModel

from asof.mcp import changes, episodes, erasures, explanations, graphiti, history, outcomes
from asof.mcp.answers import PagedAnswer
from asof.mcp.profiles import PROFILES
from asof.mcp.scope import ClientScope
from mcp_agent import Agent, agent_here, serving_here
from mcp_calls import GROUP, TOOLS

_OF_ONE_MESSAGE = "what one call changed, each list cut to the first hundred, and not_shown says how many more"
WHOLE = {
    **dict.fromkeys(("add_memory", "correct_fact", "add_fact", "merge_entities", "split_entity"), _OF_ONE_MESSAGE),
    "get_status": _OF_ONE_MESSAGE,
    "add_triplet": "one fact, and what it is about",
    "recall": "as many lines as max_tokens has place for, and left_out says how many have none",
    "what_if": "the slots that at most twenty facts touch",
    "search": "the form that ChatGPT expects has no place for it",
}
SIZES = {"search_memory_facts": "max_facts", "search_nodes": "max_nodes", "get_episodes": "max_episodes"}
SIZES |= {"list_episodes": "limit"}
PAGES = {history: "_PAGE", changes: "_PAGE", explanations: "_EXPLAINED", episodes: "_MOST_FACTS", erasures: "_PAGE"}
PAGES |= {graphiti: "_PAGE"}
LIKED = ["tea", "jazz", "chess", "plums", "snow"]
ROWS = {  # by tool, the field of its rows
    "search_memory_facts": "facts",
    "search_nodes": "nodes",
    "get_entity_timeline": "segments",
    "what_changed": "changes",
    "explain_fact": "facts",
    "compare_beliefs": "changes",
    "list_episodes": "episodes",
    "get_episodes": "episodes",
    "get_episode_entities": "edges",
    "forget": "messages",
    "build_communities": "communities",
}
OTHER: dict[str, Any] = {  # by argument, another value
    **dict.fromkeys(("query", "entity", "topic"), "Oslo"),
    **dict.fromkeys(("valid_at", "known_at", "until", "after", "to", "valid_at_before", "invalid_at_before"), "2090"),
    **dict.fromkeys(("since", "before", "from", "valid_at_after", "invalid_at_after"), "2002"),
    **dict.fromkeys(("relation", "edge_types"), "lives_in"),
    "center_node_uuid": "Berlin",
    "entity_types": ["Food"],
    "include_ended": True,
    "axis": "valid",
    "person": "Ana",
    "only_said": True,
    "everything": True,
    "episode_uuids": ["other"],
    "fact_id": "00000000",
}

SPOKEN = {  # questions about what comes, in words
    "get_entity_timeline": {"entity": "Ana", "relation": "likes", "to": "tomorrow"},
    "what_changed": {"since": "1 hour ago"},
    "explain_fact": {"entity": "Ana", "relation": "likes"},
}


@pytest.fixture(scope="module")
def ana(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Agent]:
    data = tmp_path_factory.mktemp("pages") / "data"
    with serving_here(data) as served, agent_here(served, ClientScope(group=GROUP)) as agent:
        agent.tell(*(f"I like {one}." for one in LIKED), "I live in Berlin.")
        agent.ask("add_memory", episode_body="Ana owns a boat. Ana knows Ben. Ana works at Acme.", wait_seconds=30)
        for one, other in (("Karl", "Lena"), ("Mona", "Nils"), ("Otto", "Pia")):  # a community each
            ends = {"source_node_name": one, "target_node_name": other}
            agent.ask("add_triplet", **ends, edge_name="knows", fact=f"{one} knows {other}")
        agent.embed(served[0])
        yield agent


@pytest.fixture
def small_pages(monkeypatch: pytest.MonkeyPatch) -> None:
    for module, name in PAGES.items():
        monkeypatch.setattr(module, name, 2)


def asked(agent: Agent, tool: str) -> dict[str, Any]:
    """Return the arguments of a question with several rows."""
    said = [one["uuid"] for one in agent.ask("list_episodes", limit=100)["episodes"]]
    questions: dict[str, dict[str, Any]] = {
        "search_memory_facts": {"query": "What does Ana like?"},
        "search_nodes": {"query": "Ana"},
        "get_entity_timeline": {"entity": "Ana"},
        "what_changed": {"since": "2001"},
        "explain_fact": {"entity": "Ana", "relation": "likes"},
        "compare_beliefs": {"before": "2001"},
        "list_episodes": {},
        "get_episodes": {},
        "get_episode_entities": {"episode_uuids": said},
        "forget": {"topic": "I like"},
        "build_communities": {},
    }
    return questions[tool]


def rows_of(answer: dict[str, Any], tool: str) -> list[str]:
    rows = ({**row, "probability": None} for row in answer[ROWS[tool]])  # which may change from moment to moment
    return [json.dumps(row, sort_keys=True) for row in rows]


def paged(agent: Agent, tool: str, given: dict[str, Any]) -> list[list[str]]:
    """Return the rows of all pages of two rows each; those of get_episodes go back in time."""
    size, pages, cursor = ({SIZES[tool]: 2} if tool in SIZES else {}), list[list[str]](), None
    while True:
        answer = agent.ask(tool, **given, **size, cursor=cursor)
        pages.append(rows_of(answer, tool))
        if (cursor := answer["next_cursor"]) is None:
            return pages


def lists() -> set[str]:
    """Return every tool of every profile whose answer has a list of rows, maybe within a part of it."""
    return {tool.name for tools in PROFILES.values() for tool in tools if _has_rows(tool.answer)}


def _has_rows(model: type[BaseModel]) -> bool:
    kinds = [(kind, get_args(field.annotation)) for field in model.model_fields.values() for kind in _kinds(field)]
    return any(... in others or _has_rows(kind) for kind, others in kinds)


def _kinds(field: Any) -> list[type[BaseModel]]:
    named = (field.annotation, *get_args(field.annotation))
    return [kind for kind in named if isinstance(kind, type) and issubclass(kind, BaseModel)]


def test_every_list_there_is_has_a_cursor_and_a_next_one() -> None:
    assert lists() == ROWS.keys() | WHOLE.keys()
    for tool in ROWS:
        assert issubclass(TOOLS[tool].answer, PagedAnswer), tool
        assert "cursor" in TOOLS[tool].arguments.model_fields, tool
    assert {name for name, tool in TOOLS.items() if "cursor" in tool.arguments.model_fields} == ROWS.keys()


@pytest.mark.parametrize("tool", ROWS)
def test_the_pages_of_a_list_have_each_row_once_in_the_order_of_the_whole(
    ana: Agent, tool: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    given = asked(ana, tool)
    whole = rows_of(ana.ask(tool, **given, **({SIZES[tool]: 100} if tool in SIZES else {})), tool)
    for module, name in PAGES.items():
        monkeypatch.setattr(module, name, 2)
    pages = paged(ana, tool, given)

    assert len(whole) >= 3
    assert all(len(page) == 2 for page in pages[:-1])
    assert 1 <= len(pages[-1]) <= 2
    assert [row for page in (pages[::-1] if tool == "get_episodes" else pages) for row in page] == whole


@pytest.mark.usefixtures("small_pages")
@pytest.mark.parametrize("tool", ROWS)
def test_a_cursor_is_of_its_tool_and_of_all_its_other_arguments(ana: Agent, tool: str) -> None:
    given, size = asked(ana, tool), {SIZES[tool]: 2} if tool in SIZES else {}
    cursor = ana.ask(tool, **given, **size)["next_cursor"]
    arguments = TOOLS[tool].arguments
    paging = {*arguments.PAGING, "group_id", "group_ids"}
    others = [name for name in arguments.model_json_schema(by_alias=True)["properties"] if name not in paging]

    assert {field.alias or name for name, field in arguments.model_fields.items()} == {*others, *paging} & {
        *arguments.model_json_schema(by_alias=True)["properties"]
    }
    for name in others:
        changed = {**given, **size, name: OTHER[name], "cursor": cursor}
        if changed[name] == given.get(name):
            continue
        refusal = ana.refused(tool, **changed)
        assert "cursor: it is of another list: send the other arguments" in refusal, (tool, name, refusal)
    for name in size:  # the size of a page may differ
        assert ana.ask(tool, **given, **{name: 1}, cursor=cursor)[ROWS[tool]]
    another = "list_episodes" if tool != "list_episodes" else "what_changed"
    assert "cursor: it is of another list" in ana.refused(another, **asked(ana, another), cursor=cursor)
    assert "cursor: it is no cursor" in ana.refused(tool, **given, cursor="x")


def test_what_one_message_changed_is_shown_up_to_a_number_and_the_rest_counted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(outcomes, "_SHOWN", 2)
    with serving_here(tmp_path / "data") as served, agent_here(served, ClientScope(group=GROUP)) as agent:
        [learned] = agent.tell("I like tea. I like jazz. I like chess. I like plums.")
        text = agent.text("get_status", job=learned["job"])

    assert (len(learned["learned"]), learned["not_shown"]) == (2, 2)
    assert "2 more are not shown. get_episode_entities or what_changed has the facts among them" in text


def test_of_merges_beyond_that_number_no_tool_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(outcomes, "_SHOWN", 1)
    since = "2020-01-01T00:00:00Z"
    with serving_here(tmp_path / "data") as served, agent_here(served, ClientScope(group=GROUP)) as agent:
        names = ("George Orwell is also known as Eric Blair.", "Mark Twain is also known as Samuel Clemens.")
        [learned] = agent.tell(" ".join(names))
        text = agent.text("get_status", job=learned["job"])
        changed = agent.text("what_changed", since=since)

    assert [(len(learned[name]), learned["not_shown"]) for name in ("learned", "linked")] == [(1, 2), (1, 2)]
    assert "2 more are not shown. get_episode_entities or what_changed has the facts among them, and no merges" in text
    assert "Samuel Clemens" not in text
    assert '"Mark Twain is also known as Samuel Clemens"' in changed
    assert "Same entity" not in changed


@pytest.mark.usefixtures("small_pages")
def test_a_cursor_of_one_group_is_refused_in_another(tmp_path: Path) -> None:
    with serving_here(tmp_path / "data") as served, agent_here(served, ClientScope()) as everybody:
        for group in ("a", "b"):
            everybody.tell("I like tea.", "I like jazz.", "I like plums.", group_id=group)
        cursor = everybody.ask("what_changed", since="2001", group_id="a")["next_cursor"]
        assert everybody.ask("what_changed", since="2001", group_id="a", cursor=cursor)["changes"]
        refusal = everybody.refused("what_changed", since="2001", group_id="b", cursor=cursor)
        assert "cursor: it is of another list" in refusal


@pytest.mark.usefixtures("small_pages")
@pytest.mark.parametrize("tool", [*("list_episodes", "get_episodes"), *SPOKEN])
def test_a_later_page_is_as_of_the_first_whatever_was_said_since(tmp_path: Path, tool: str) -> None:
    with serving_here(tmp_path / "data") as served, agent_here(served, ClientScope(group=GROUP)) as agent:
        agent.tell("I live in Berlin.", *(f"I like {one}." for one in LIKED))
        given = SPOKEN.get(tool, {})
        size = {SIZES[tool]: 2} if tool in SIZES else {}
        before = [row for page in paged(agent, tool, given) for row in page]
        first = agent.ask(tool, **given, **size)
        agent.tell("I like coffee.", "I like rain.")
        rows, answer = rows_of(first, tool), first
        while answer["next_cursor"] is not None:
            answer = agent.ask(tool, **given, **size, cursor=answer["next_cursor"])
            assert answer["times"] == first["times"]  # words mean what they did
            assert answer["as_of"]["known_at"] == first["as_of"]["known_at"]
            rows += rows_of(answer, tool)

    assert sorted(rows) == sorted(before)
