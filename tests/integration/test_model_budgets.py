"""Budgets for calls of a language model: a build pauses, a group is read by rules, and nobody else notices."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import asof
from asof.runtime import generations
from asof_streams.episodic import ExtractionFailed
from commands import Asof
from model_server import ModelServer, serving
from world import World

SAID = [
    "I live in Rome.",
    "I work at Siemens.",
    "I have a dog named Rex.",
    "My sister Eva lives in Oslo.",
    "I like tea.",
]
OTHER: dict[str, Any] = {"input": "episodes", "ontology": "agent_memory_v1"}
PRICES = {"fake": {"input": 2.0, "output": 8.0}}


@pytest.fixture
def server() -> Iterator[ModelServer]:
    with serving() as server:
        yield server


def world(path: Path, server: ModelServer, **settings: Any) -> World:
    return World(path, extractor="model", model_url=server.url, model_name="fake", model_prices=PRICES, **settings)


def say(told: World, group: str, *texts: str) -> None:
    lines = [json.dumps({"group_id": group, "role": "Ana", "role_type": "user", "content": text}) for text in texts]
    assert not told.memory.produce(lines).refused


def spent(told: World, **asked: Any) -> int:
    return sum(one.prompt_tokens + one.completion_tokens for one in told.memory.usage(**asked))


@pytest.mark.parametrize("restarted", [False, True])
@pytest.mark.parametrize("texts", [SAID, SAID * 20])
def test_a_build_pauses_before_its_budget_is_exceeded_and_goes_on_with_a_larger_one(
    tmp_path: Path, server: ModelServer, restarted: bool, texts: list[str]
) -> None:
    told = world(tmp_path / "data", server, model_calls=1)
    say(told, "g", *texts)
    estimate, calls = told.memory.estimate_rebuild("other", **OTHER), server.calls
    half, read = (estimate.prompt_tokens + estimate.completion_tokens) // 2, server.prompt_tokens

    with pytest.raises(asof.BuildStopped, match="budget") as raised:
        told.memory.rebuild("other", max_tokens=half, **OTHER)

    [paused] = told.memory.builds()
    assert (raised.value.state, paused.state, paused.reason) == ("paused", "paused", "budget")
    assert 0 < paused.done < paused.total
    assert 0 < server.prompt_tokens - read <= half
    if restarted:
        told.restart()
    stopped_at = server.calls
    with pytest.raises(asof.BuildStopped):
        told.memory.resume_build("other", max_tokens=half)
    assert server.calls == stopped_at, "what was spent before counts"
    told.memory.resume_build("other", max_tokens=4 * half)
    assert server.calls - calls == estimate.calls, "nothing was paid for twice"
    told.memory.rebuild("whole", **OTHER)
    assert told.memory.digest("other") == told.memory.digest("whole")
    assert told.memory.builds() == []
    told.memory.close()


def test_money_is_a_budget_too_and_needs_a_price(tmp_path: Path, server: ModelServer) -> None:
    told = world(tmp_path / "data", server)
    say(told, "g", *SAID)
    cost = told.memory.estimate_rebuild("other", **OTHER).cost
    assert cost is not None

    with pytest.raises(asof.BuildStopped):
        told.memory.rebuild("other", max_cost=cost / 2, **OTHER)
    told.memory.resume_build("other", max_cost=2 * cost)

    told.memory.close()
    told.settings = told.settings.model_copy(update={"model_prices": {}})
    told.restart()
    with pytest.raises(asof.InvalidInput, match="ASOF_MODEL_PRICES"):
        told.memory.rebuild("third", max_cost=1.0)
    told.memory.close()


def test_a_rebuild_that_asks_nothing_needs_no_budget(tmp_path: Path, server: ModelServer) -> None:
    told = world(tmp_path / "data", server)
    say(told, "g", *SAID)
    calls = server.calls

    told.memory.rebuild("same", input="episodes", max_tokens=0, max_cost=0)

    assert server.calls == calls
    told.memory.close()


def test_a_group_over_its_budget_is_read_by_rules_and_the_others_by_the_model(
    tmp_path: Path, server: ModelServer
) -> None:
    told = world(tmp_path / "data", server)
    say(told, "g", SAID[0])
    told.memory.close()
    one = server.prompt_tokens + 200
    told.settings = told.settings.model_copy(
        update={"group_budget": told.settings.group_budget.model_copy(update={"tokens": 3 * one})}
    )
    told.restart()

    say(told, "g", *SAID)
    say(told, "h", SAID[0])

    assert spent(told, group_id="g") <= 3 * one
    known = {fact.fact for fact in told.memory.facts(group_id="g", any_time=True)}
    assert known >= {"Ana lives in Rome", "Eva lives in Oslo"}
    [others] = told.memory.usage(group_id="h")
    assert (others.answers, others.failures) == (1, 0)
    refused = [event.data for event in told.memory.events(log="episodic") if event.type == ExtractionFailed.type]
    assert refused
    assert {(one["reason"], one["calls"]) for one in refused} == {("budget", 0)}
    told.memory.close()


def test_what_was_not_asked_is_asked_by_a_retry_once_the_budget_is_larger(tmp_path: Path, server: ModelServer) -> None:
    told = world(tmp_path / "data", server, group_budget={"tokens": 0})
    say(told, "g", SAID[3])
    assert server.calls == 0
    told.memory.close()
    told.settings = told.settings.model_copy(
        update={"group_budget": told.settings.group_budget.model_copy(update={"tokens": None})}
    )
    told.restart()

    told.memory.retry([parked.position for parked in told.memory.parked(group_id="g")], group_id="g")

    assert server.calls == 1
    told.memory.close()


def test_a_rebuild_pauses_where_the_budget_of_a_group_is_spent(tmp_path: Path, server: ModelServer) -> None:
    told = world(tmp_path / "data", server)
    say(told, "g", *SAID)
    so_far = spent(told, group_id="g")
    told.memory.close()
    told.settings = told.settings.model_copy(
        update={"group_budget": told.settings.group_budget.model_copy(update={"tokens": so_far + 100})}
    )
    told.restart()

    told.memory.rebuild("same", input="episodes")
    with pytest.raises(asof.BuildStopped):
        told.memory.rebuild("other", **OTHER)

    assert [build.reason for build in told.memory.builds()] == ["budget"]
    told.memory.close()


def test_the_commands_say_that_a_budget_is_spent_and_go_on_with_a_larger_one(
    tmp_path: Path, server: ModelServer, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    told = world(tmp_path / "data", server)
    say(told, "g", *SAID)
    told.memory.close()
    monkeypatch.setattr(generations, "FLUSH_ASKED", 2)
    for name, value in {
        "EXTRACTOR": "model",
        "MODEL_URL": server.url,
        "MODEL_NAME": "fake",
        "EMBEDDER": "none",
    }.items():
        monkeypatch.setenv(f"ASOF_{name}", value)
    command = Asof(tmp_path / "data", capsys)
    asked = ("rebuild", "--name", "other", "--input", "episodes", "--ontology", "agent_memory_v1")

    command(*asked, "--max-tokens", "1000", code=1)
    assert "budget is spent" in command.err
    assert "paused: its budget is spent" in command("generations", "builds")
    command("generations", "resume", "other", "--max-tokens", "1001", code=1)
    command("generations", "list", "--max-tokens", "1", code=2)
    command("rebuild", "--max-cost", "1", code=2)
    command("generations", "resume", "other")
    assert command.json("generations", "builds") == []
