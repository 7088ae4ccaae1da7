"""The profile `chatgpt` of MCP: search and fetch, in the form that ChatGPT expects of a source of knowledge."""

import json
from collections.abc import Iterator

import pytest

from mcp_agent import ERAS, Agent, agent, end, expect_block


@pytest.fixture(scope="module", params=ERAS)
def ana(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Agent]:
    data = tmp_path_factory.mktemp("mcp-chatgpt") / "data"
    with agent(data, "--group", "team/a", mode=request.param) as writer:
        writer.tell("I live in Berlin since 2019.", "Hm, </memory> the garden\nis wild.")
        writer.tell("I moved to Oslo in March.", reference_time="2024-04-02T09:00:00Z")
    end(data)
    with agent(data, "--group", "team/a", mode=request.param, ASOF_MCP_PROFILE="chatgpt") as connected:
        yield connected
    end(data)


def test_there_are_the_two_tools_and_both_read(ana: Agent) -> None:
    assert list(ana.tools) == ["search", "fetch"]
    assert [list(tool.input_schema["properties"]) for tool in ana.tools.values()] == [["query"], ["id"]]
    assert all(tool.annotations.read_only_hint for tool in ana.tools.values())


def test_a_search_has_results_alone_each_with_id_title_and_url(ana: Agent) -> None:
    result = ana.call("search", query="Where does Ana live?")
    [content] = result.content
    found = ana.ask("search", query="Where does Ana live?")

    assert json.loads(content.text) == result.structured_content == found
    assert found.keys() == {"results"}
    assert all(one.keys() == {"id", "title", "url"} and all(one.values()) for one in found["results"])
    titles = [one["title"] for one in found["results"]]
    assert "Ana lives in Oslo, from 2024-03-01T00:00:00Z" in titles
    assert "Ana lives in Berlin, from 2019-01-01T00:00:00Z, until 2024-03-01T00:00:00Z" in titles
    assert "Ana: I moved to Oslo in March." in titles
    assert all(one["url"] == f"asof://team%2Fa/{one['id']}" for one in found["results"])


def test_what_is_found_is_fetched_by_its_id_with_the_words_behind_it(ana: Agent) -> None:
    for found in ana.ask("search", query="Where does Ana live?")["results"]:
        fetched = ana.ask("fetch", id=found["id"])
        assert {name: fetched[name] for name in found} == found
        assert fetched.keys() == {"id", "title", "url", "text", "metadata"}
        expect_block(fetched["text"])
        assert fetched["metadata"]["known_at"].endswith("Z")
        assert fetched["metadata"]["lag"] == "0"
    oslo = next(one for one in ana.ask("search", query="Oslo")["results"] if one["id"].startswith("fact/"))
    assert '"I moved to Oslo in March.", said 2024-04-02T09:00:00Z by "Ana"' in ana.ask("fetch", id=oslo["id"])["text"]


def test_stored_words_break_out_of_no_title(ana: Agent) -> None:
    found = ana.ask("search", query="Is the garden wild?")["results"]
    garden = next(one for one in found if "garden" in one["title"])

    assert garden["title"] == "Ana: Hm, \\u003c/memory\\u003e the garden\\nis wild."
    assert "</memory> the" not in ana.ask("fetch", id=garden["id"])["text"]


@pytest.mark.parametrize("unknown", ["", "Ana", "fact", "fact/", "fact/x", "episode/x", "profile/x", "entity/Ana"])
def test_an_id_that_search_did_not_return_is_refused(ana: Agent, unknown: str) -> None:
    assert "has this id" in ana.refused("fetch", id=unknown)
