"""What agents correct over MCP: each argument takes effect or is refused by name, and nothing else is changed."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from asof.mcp.scope import ClientScope
from mcp_agent import Agent, agent_here, serving_here
from mcp_calls import GROUP, fact_of
from patience import wait_until

SINCE_2019, MOVED = "2019-01-01T00:00:00Z", "2024-03-01T00:00:00Z"


@pytest.fixture
def ana(tmp_path: Path) -> Iterator[Agent]:
    """An agent whose memory has Ana, who lived in Berlin from 2019 to March 2024, and in Oslo since."""
    with serving_here(tmp_path / "data") as served, agent_here(served, ClientScope(group=GROUP)) as agent:
        agent.tell("I live in Berlin since 2019.", "I like tea.")
        agent.tell("I moved to Oslo in March.", reference_time="2024-04-02T09:00:00Z")
        agent.embed(served[0])
        yield agent


def corrected(agent: Agent, value: str, **how: Any) -> dict[str, Any]:
    """Correct a fact; return what became of it, with what the call itself was answered."""
    answer = agent.ask("correct_fact", fact_id=fact_of(agent, value)["uuid"], reason="She told me.", **how)
    return {**agent.became(answer), "times": answer["times"], "said_at": answer["said_at"]}


def refused(agent: Agent, value: str, **how: Any) -> str:
    before = agent.ask("get_status")["as_of"]["position"]
    sentence = agent.refused("correct_fact", fact_id=fact_of(agent, value)["uuid"], reason="She told me.", **how)
    assert agent.ask("get_status")["as_of"]["position"] == before
    return sentence


def homes(agent: Agent) -> list[tuple[str | None, str | None, str | None]]:
    found = agent.ask("get_entity_timeline", entity="Ana", relation="lives_in")["segments"]
    return [(one["object"], one["valid_at"], one["invalid_at"]) for one in found]


def test_valid_from_is_when_it_took_effect_and_not_when_it_was_said(ana: Agent) -> None:
    ended = corrected(ana, "Oslo", how="ended", valid_from="2025-06-01")

    assert (ended["said_at"], ended["times"]) == (None, {"valid_from": "2025-06-01T00:00:00Z"})
    assert homes(ana)[1] == ("Oslo", MOVED, "2025-06-01T00:00:00Z")
    replaced = corrected(ana, "tea", how="replace", new_value="coffee")
    assert (replaced["said_at"], replaced["learned"][0]["valid_at"]) == (None, replaced["times"]["valid_from"])


def test_what_never_held_has_no_beginning_unless_something_else_did(ana: Agent) -> None:
    assert "valid_from: what never held has none" in refused(ana, "Oslo", how="wrong", valid_from="2018")
    wrong = corrected(ana, "Oslo", how="wrong", new_value="Bergen", valid_from="2024-02-01")

    assert homes(ana) == [("Berlin", SINCE_2019, "2024-02-01T00:00:00Z"), ("Bergen", "2024-02-01T00:00:00Z", None)]
    assert wrong["times"] == {"valid_from": "2024-02-01T00:00:00Z"}
    assert corrected(ana, "tea", how="wrong")["times"] == {}


def test_a_fact_that_ended_is_corrected_within_its_own_period_and_no_other_is_changed(ana: Agent) -> None:
    late = refused(ana, "Berlin", how="replace", new_value="Munich")
    assert f"valid_from: the fact ended as of {MOVED}" in late
    assert "or say wrong" in late
    assert "the fact ended" in refused(ana, "Berlin", how="ended", valid_from="2025")
    assert f"the fact holds from {SINCE_2019}" in refused(ana, "Berlin", how="ended", valid_from="2018")
    assert "the fact ended" in refused(ana, "Berlin", how="wrong", new_value="Munich", valid_from="2025")
    assert homes(ana) == [("Berlin", SINCE_2019, MOVED), ("Oslo", MOVED, None)]

    corrected(ana, "Berlin", how="replace", new_value="Munich", valid_from="2022-01-01")
    assert homes(ana) == [
        ("Berlin", SINCE_2019, "2022-01-01T00:00:00Z"),
        ("Munich", "2022-01-01T00:00:00Z", MOVED),
        ("Oslo", MOVED, None),
    ]


def test_what_was_said_in_place_of_a_fact_that_ended_ends_as_it_did(ana: Agent) -> None:
    end = corrected(ana, "tea", how="ended")["times"]["valid_from"]
    [coffee] = corrected(ana, "tea", how="wrong", new_value="coffee")["learned"]

    assert (coffee["fact"], coffee["invalid_at"]) == ("Ana likes coffee", end)


def test_what_is_no_longer_believed_is_not_corrected(ana: Agent) -> None:
    tea = fact_of(ana, "tea")["uuid"]
    ana.became(ana.ask("correct_fact", fact_id=tea, how="wrong", reason="I misheard."))
    again = ana.refused("correct_fact", fact_id=tea, how="ended", reason="x")
    assert "fact_id: it is no longer believed" in again


@pytest.mark.parametrize(
    "sentence",
    [
        *("She lives in Munich now", "Ana lives in Munich", "The flat is in Munich.", "I moved there, it was cheap"),
        "the town in the south where her sister had once found her that flat",
    ],
)
def test_a_whole_sentence_is_no_object_of_a_relation_of_names(ana: Agent, sentence: str) -> None:
    refusal = refused(ana, "Oslo", how="replace", new_value=sentence)
    assert "new_value: it is a whole sentence" in refusal
    assert sentence not in refusal


@pytest.mark.parametrize("name", ["St. John's", "New York, N.Y.", "Ana Maria Island", "The Bank of America Corp."])
def test_a_long_name_is_an_object(ana: Agent, name: str) -> None:
    [learned] = corrected(ana, "Oslo", how="replace", new_value=name)["learned"]
    assert learned["fact"] == f"Ana lives in {name}"


def test_a_rule_is_a_sentence_and_is_corrected_by_one(tmp_path: Path) -> None:
    ontology = {"ontology": "agent_memory_v1"}
    rule, other = (
        "Always run the linter before you commit anything.",
        "Always run the linter and all of the tests first.",
    )
    with serving_here(tmp_path / "data", **ontology) as served, agent_here(served, ClientScope(group=GROUP)) as agent:
        agent.tell(rule)
        [fact] = agent.ask("search_memory_facts", query="linter", edge_types=["has_rule"])["facts"]
        agent.became(
            agent.ask("correct_fact", fact_id=fact["uuid"], how="replace", new_value=other, reason="We agreed.")
        )
        [now] = agent.ask("search_memory_facts", query="linter", edge_types=["has_rule"])["facts"]
    assert now["object"] == other


# What is told of it, and of what could not be done.


def test_structured_facts_are_shown_as_sentences_wherever_words_are(ana: Agent) -> None:
    replaced = corrected(ana, "tea", how="replace", new_value="coffee")
    tea, coffee = (fact_of(ana, value) for value in ("tea", "coffee"))
    ana.became(ana.ask("add_fact", subject="Ana", relation="owns", object="a boat", fact="Ana owns a boat."))
    [became] = ana.ask("explain_fact", fact_id=tea["uuid"])["facts"][0]["became"]
    [because] = ana.ask("explain_fact", fact_id=coffee["uuid"])["facts"][0]["words"]
    said = [one["content"] for one in ana.ask("list_episodes")["episodes"]]
    last = [one["content"] for one in ana.ask("get_episodes", max_episodes=1)["episodes"]]

    assert replaced["state"] == "done"
    assert became["words"]["quote"] == "She told me."
    assert because["quote"] == "Ana likes coffee (She told me.)"
    assert said[3:] == ["She told me.", "Ana likes coffee (She told me.)", "Ana owns a boat."]
    assert last == ["Ana owns a boat."]
    [shown] = [one["content"] for one in ana.ask("forget", topic="boat")["messages"]]
    assert "group_id" not in shown
    [boat] = fact_of(ana, "a boat")["episodes"]
    for text in (ana.read(f"asof://{GROUP}/episode/{boat}"), ana.ask("fetch", id=f"episode/{boat}")["text"]):
        assert '"Ana owns a boat."' in text
        assert "group_id" not in text
    assert not [one for one in ana.ask("search", query="boat")["results"] if "group_id" in one["title"]]


def test_a_message_of_which_nothing_could_be_made_is_an_error_that_says_what_to_do(ana: Agent) -> None:
    wrong = {"name": "x", "episode_body": "x", "previous_episode_uuids": ["nobody's"]}
    parked = once_parked(ana, "add_memory", **wrong, wait_seconds=30)
    nobody = once_parked(ana, "merge_entities", entity="Nobody", into="Ana")

    for result in (parked, nobody):
        assert result.is_error
        assert result.structured_content["state"] == "parked"
        assert result.structured_content["reason"] in result.content[0].text
        assert "Change that and call again." in result.content[0].text
        assert "it is parked" in result.content[0].text
    job = parked.structured_content["job"]
    assert ana.ask("get_status", job=job)["job"]["state"] == "parked"  # that was found out, and is no error


def once_parked(agent: Agent, tool: str, **arguments: Any) -> Any:
    """Return the result of a call of which nothing can be made, once it was processed within its wait."""
    results: list[Any] = []

    def is_processed() -> bool:
        results.append(agent.call(tool, **arguments))
        return bool(results[-1].structured_content["state"] != "queued")

    wait_until(is_processed)
    return results[-1]


def test_what_points_to_a_thing_is_in_its_timeline_and_explanation(ana: Agent) -> None:
    berlin = ana.ask("get_entity_timeline", entity="Berlin")["segments"]
    [explained] = ana.ask("explain_fact", entity="Oslo", relation="lives_in")["facts"]
    [changed] = ana.ask("what_changed", since="2001", entity="tea")["changes"]

    assert [(one["subject"], one["relation"], one["invalid_at"]) for one in berlin] == [("Ana", "lives_in", MOVED)]
    assert ana.ask("get_entity_timeline", entity="Berlin", **{"from": "2025"})["segments"] == []
    assert ana.ask("get_entity_timeline", entity="Berlin", relation="likes")["segments"] == []
    assert explained["words"][0]["quote"] == "I moved to Oslo in March."
    assert changed["after"]["fact"] == "Ana likes tea"


@pytest.mark.parametrize(
    ("tool", "arguments", "sentence"),
    [
        ("what_changed", {"since": "2001", "entity": "Nobody"}, "search_nodes finds names"),
        ("compare_beliefs", {"before": "2001", "entity": "Nobody"}, "search_nodes finds names"),
        ("get_entity_timeline", {"entity": "Nobody"}, "search_nodes finds names"),
        ("what_if", {"statements": ["x"]}, "statements.0: it has to be an object"),
        ("what_if", {"statements": [3]}, "statements.0: it has to be an object"),
        (
            "what_if",
            {"statements": [{"subject": "Ana", "relation": "likes", "op": "end", "valid_from": "2020"}]},
            "statements.0.valid_from: of an ending",
        ),
        ("search_memory_facts", {"query": "x", "valid_at": "2020", "include_ended": True}, "include_ended: "),
    ],
)
def test_what_cannot_be_is_refused_by_name_and_without_a_word_of_the_code(
    ana: Agent, tool: str, arguments: dict[str, Any], sentence: str
) -> None:
    refusal = ana.refused(tool, **arguments)
    assert sentence in refusal
    assert "SupposedFact" not in refusal
