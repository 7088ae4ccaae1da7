"""Facts that a message ends in words that no rule knows: which a language model is shown, and what its answer does."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from asof_streams.episodic import ExtractionAnswered, ExtractionFailed, ExtractionRefused
from asof_streams.messages import WithdrawalRequest
from model_server import ModelServer, serving
from model_world import events, facts, opened, prompts, say
from world import World

TOLD = ["I own a Honda Civic.", "I live in Oslo.", "I play the guitar."]
DITCHED = "The Civic finally died, so I ditched the Honda."


@pytest.fixture
def server() -> Iterator[ModelServer]:
    with serving() as server:
        yield server


@pytest.fixture
def world(tmp_path: Path, server: ModelServer) -> Iterator[World]:
    told = opened(tmp_path / "data", server)
    yield told
    told.memory.close()


def ending(words: str, confidence: float = 0.9) -> Any:
    """Return a model that ends the facts with a word."""
    return lambda _, shown: json.dumps(
        {"ended": [{"fact": n, "confidence": confidence} for n, fact in shown.items() if words in fact]}
    )


def silent(server: ModelServer) -> None:
    """Let the model find no fact in what is said from now on, as the rules would."""
    server.says = lambda _: json.dumps({"entities": [], "facts": [], "attributes": []})


def finds_ended(server: ModelServer, relation: str) -> None:
    """Let the model find that a relation of the speaker to a band ended, in whatever is said from now on."""
    fact = {"subject": 0, "relation": relation, "object": 1, "stance": "ended", "confidence": 0.9}
    times = {"valid_from": None, "valid_to": None, "time_words": None}
    server.says = lambda text: json.dumps(
        {
            "entities": [{"id": 1, "text": "band", "type": "Organization"}],
            "facts": [{**fact, **times, "quote": text}],
            "attributes": [],
        }
    )


def test_a_model_is_shown_the_facts_that_hold_of_what_a_message_names_and_ends_those_that_it_says(world, server):
    say(world, *TOLD)
    silent(server)
    server.ends = ending("Civic")
    before = facts(world)
    say(world, DITCHED)

    [shown] = prompts(server, "Facts")
    assert DITCHED in shown
    assert "Honda Civic" in shown
    assert "Oslo" not in shown  # the message has none of its words
    assert before - facts(world) == {fact for fact in before if "Civic" in fact}
    [effect] = [world.memory.message(len(TOLD)).effect]
    assert [belief.object for belief in effect.ended] == ["Honda Civic"]
    [answered] = events(world, ExtractionAnswered)
    assert (answered.prompt, answered.prompt_version) == ("end", 1)


def test_most_messages_ask_of_no_ending(world, server):
    say(world, *TOLD, "The Honda Civic is red.", "I like Oslo.", "Something else died.")

    assert prompts(server, "Facts") == []


def test_an_ending_that_no_fact_meets_is_a_question_and_one_that_rules_know_is_none(world, server):
    say(world, *TOLD)
    finds_ended(server, "member_of")
    server.ends = ending("guitar")
    say(world, "No band for me.")

    [shown] = prompts(server, "Facts")
    assert "guitar" in shown
    assert not any("guitar" in fact for fact in facts(world))
    server.says = None
    say(world, "I work at Acme.", "I left Acme.")
    assert not any("Acme" in fact for fact in facts(world))
    assert len(prompts(server, "Facts")) == 1


@pytest.mark.parametrize(
    ("relation", "before", "questions"),
    [
        ("works_at", "I like tea.", 1),
        ("likes", "I like tea.", 1),
        ("works_at", "I work at Acme.", 0),  # which the band was before
        ("visited", "I like tea.", 0),  # what was done cannot end
    ],
)
def test_an_ending_that_no_fact_meets_is_a_question_unless_another_value_holds_there_or_it_was_done(
    world, server, relation, before, questions
):
    say(world, *TOLD, before)
    finds_ended(server, relation)
    say(world, "No band for me.")

    assert len(prompts(server, "Facts")) == questions


def test_an_ending_of_one_of_many_that_hold_is_no_question(world, server):
    say(world, *TOLD, "I sold the Honda Civic.")

    assert not any("Civic" in fact for fact in facts(world))
    assert prompts(server, "Facts") == []


def test_an_answer_about_endings_is_recorded_and_no_rebuild_asks_again(world, server):
    say(world, *TOLD)
    silent(server)
    server.ends = ending("Civic")
    say(world, DITCHED)
    before, calls = facts(world), server.calls

    for source in ("mentions", "episodes"):
        world.memory.rebuild(f"from-{source}", input=source)
        world.memory.switch(f"from-{source}")
        assert facts(world) == before
    assert server.calls == calls
    assert world.memory.digest("from-mentions") == world.memory.digest("main")


def test_a_question_that_fails_leaves_what_the_rules_find_and_a_retry_asks_again(world, server):
    say(world, *TOLD)
    before = facts(world)
    silent(server)
    server.ends = lambda *_: "no JSON"
    say(world, DITCHED)

    assert facts(world) == before
    [failed] = events(world, ExtractionFailed)
    assert (failed.prompt, failed.reason, failed.calls) == ("end", "not JSON", 2)
    server.ends = ending("Civic")
    world.memory.rebuild("kept")
    assert world.memory.digest("kept") == world.memory.digest("main")
    world.memory.retry(group_id="g")
    assert before - facts(world) == {fact for fact in before if "Civic" in fact}


def test_a_retry_asks_once_about_the_facts_of_all_whom_its_message_names(world, server):
    say(world, *TOLD, "My friend Ben owns a Honda Civic.")
    quoted = {"entities": [{"id": 1, "text": "Ben", "type": "Person"}], "facts": [], "attributes": []}
    server.says = lambda _: json.dumps(quoted)
    server.ends = lambda *_: "no JSON"
    say(world, "Ben finally ditched the Honda Civic.")
    server.ends = ending("Ben runs")
    asked = len(prompts(server, "Facts"))
    world.memory.retry(group_id="g")

    [shown] = prompts(server, "Facts")[asked:]
    assert {"Ana", "Ben"} == {fact.split()[1] for fact in shown.splitlines() if fact.endswith(" Honda Civic")}
    assert {fact.subject for fact in world.memory.facts(group_id="g", object="Honda Civic")} == {"Ana"}


def test_a_retry_that_extracts_asks_once_about_what_the_rules_had_found_too(world, server, monkeypatch):
    monkeypatch.setattr("asof_agents.extraction.llm.chat_model.time.sleep", lambda _: None)
    say(world, *TOLD, "My friend Ben lives in Bonn.")
    server.faults = [(401, "{}")] * 9
    say(world, "Ben finally ditched the Honda and left Bonn behind.")
    server.faults = []
    silent(server)
    asked = len(prompts(server, "Facts"))
    world.memory.retry(group_id="g")

    [shown] = prompts(server, "Facts")[asked:]
    assert ". Ben lives in " in shown


def test_an_answer_ends_no_fact_that_was_not_shown_and_none_of_which_it_is_unsure(world, server):
    say(world, *TOLD)
    before = facts(world)
    silent(server)
    server.ends = lambda *_: json.dumps(
        {"ended": [{"fact": n, "confidence": 1.0} for n in (0, -1, 7, 10**9)] + [{"fact": 1, "confidence": 0.5}]}
    )
    say(world, DITCHED)

    assert facts(world) == before
    server.ends = lambda *_: json.dumps({"ended": "all"})
    say(world, f"{DITCHED} Really.")
    assert facts(world) == before
    assert {(event.reason, event.count) for event in events(world, ExtractionRefused)} == {
        ("id", 4),
        ("unsure", 1),
        ("schema", 1),
    }


def test_what_a_model_ended_holds_again_when_the_message_is_withdrawn(world, server):
    say(world, *TOLD)
    before = facts(world)
    silent(server)
    server.ends = ending("Civic")
    say(world, DITCHED)
    [last] = [episode for episode in world.memory.episodes(group_id="g") if episode.content == DITCHED]
    world.send(WithdrawalRequest(group_id="g", episode_id=last.uuid))

    assert facts(world) == before


def test_a_directory_whose_configuration_does_not_say_so_asks_of_no_ending(tmp_path, server):
    told = opened(tmp_path / "other", server, ingestion={"min_confidence": 0.1})
    say(told, *TOLD)
    silent(server)
    say(told, DITCHED)

    assert prompts(server, "Facts") == []
    told.memory.close()
