"""Goals that a turn of a chat implies: a model words them, and they are objectives as long as their turn stands."""

import json
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any, TypeVar

import pytest

from asof.runtime.layout import DirectoryLayout
from asof.service.reader import Reader
from asof.service.recollection import KnownNow, RecollectionQuery
from asof_agents.conversation.material import ShownObjective
from asof_ontologies.prompts import prompt
from asof_streams.episodic import ExtractionRefused, GoalImplied
from asof_streams.instants import DAY, INF
from model_server import ModelServer, serving
from model_world import events, opened, say
from world import World

PYTHON = "I love working with Python for AI projects"
A = TypeVar("A")
BUILD = "Build AI projects using Python"


def read(*objectives: dict[str, Any]) -> str:
    return json.dumps({"entities": [], "facts": [], "attributes": [], "objectives": list(objectives)})


def implied(description: str, saliency: float, quote: str = PYTHON) -> dict[str, Any]:
    return {"description": description, "saliency": saliency, "quote": quote}


@pytest.fixture
def server() -> Iterator[ModelServer]:
    with serving() as server:
        yield server


@pytest.fixture
def world(tmp_path: Path, server: ModelServer) -> Iterator[World]:
    world = opened(tmp_path / "data", server)
    yield world
    world.memory.close()


def chat(world: World, text: str, external_id: str, kind: str = "message", **fields: Any) -> None:
    say(world, text, external_id=external_id, kind=kind, **fields)


def objectives(world: World, **asked: Any) -> list[tuple[str, float]]:
    return [(one.description, one.saliency) for one in world.memory.objectives(group_id="g", **asked)]


def asked(world: World, question: Callable[[Reader], A]) -> A:
    with closing(Reader(DirectoryLayout(world.path), world.settings, lambda: world.now)) as reader:
        return question(reader)


def test_a_goal_that_a_turn_implies_is_an_objective_with_the_greatest_saliency(
    world: World, server: ModelServer
) -> None:
    server.faults = [read(implied(BUILD, 0.7)), read(implied("build the AI projects using Python.", 0.4))]
    chat(world, PYTHON, "1")
    chat(world, f"{PYTHON}.", "2")
    assert objectives(world) == [(BUILD, 0.7)]
    chat(world, f"My goal is to {BUILD}", "3")
    assert objectives(world) == [(BUILD, 1.0)]
    [objective] = world.memory.objectives(group_id="g")
    assert objective.status == "pending"
    assert [goal.goal_id for goal in events(world, GoalImplied, "episodic")] == list(objective.goals[:2])
    assert len(objective.goals) == 3


def test_a_goal_that_a_model_words_with_to_is_the_one_that_it_words_without(world: World, server: ModelServer) -> None:
    server.faults = [read(implied("learn Rust", 0.5)), read(implied("To learn Rust.", 0.6))]
    chat(world, PYTHON, "1")
    chat(world, f"{PYTHON}.", "2")
    chat(world, "North star: to learn Rust", "3")
    assert objectives(world) == [("learn Rust", 1.0)]


def test_only_a_person_in_a_chat_is_asked_about_goals(world: World, server: ModelServer) -> None:
    server.says = lambda _: read(implied(BUILD, 0.7))
    chat(world, PYTHON, "1", role="bot", role_type="assistant")
    say(world, PYTHON)
    assert objectives(world) == []
    assert not any("objectives:" in request["messages"][0]["content"] for request in server.requests)


def test_an_edit_or_a_deletion_of_the_turn_takes_its_goal_back(world: World, server: ModelServer) -> None:
    server.faults = [read(implied(BUILD, 0.7)), read(implied(BUILD, 0.5)), read()]
    chat(world, PYTHON, "1")
    chat(world, f"{PYTHON}!", "2")
    known = world.now - DAY
    chat(world, "I like tea.", "1", kind="edit")
    assert objectives(world) == [(BUILD, 0.5)]
    chat(world, "", "2", kind="deletion")
    assert objectives(world) == []
    assert objectives(world, known_at=known) == [(BUILD, 0.7)]


@pytest.mark.parametrize(
    ("answered", "reason"),
    [
        (implied(BUILD, 0.7, quote="I hate it"), "span"),
        (implied(BUILD, 1.1), "saliency"),
        (implied(" . ", 0.7), "description"),
        (implied("x" * 501, 0.7), "description"),
        (implied("a\x00b", 0.7), "description"),
        ({"description": BUILD}, "schema"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_what_the_turn_does_not_support_is_refused(
    world: World, server: ModelServer, answered: dict[str, Any], reason: str
) -> None:
    server.faults = [read(answered)]
    chat(world, PYTHON, "1")
    assert objectives(world) == []
    assert [(one.part, one.reason) for one in events(world, ExtractionRefused, "episodic")] == [("objective", reason)]


def test_of_many_goals_of_one_turn_four_are_kept_and_all_are_taken_back(world: World, server: ModelServer) -> None:
    server.faults = [read(*(implied(f"build {number} projects", 0.5) for number in range(6)))]
    chat(world, PYTHON, "1")
    assert [description for description, _ in objectives(world)] == [f"build {number} projects" for number in range(4)]
    chat(world, "", "1", kind="deletion")
    assert objectives(world) == []


@pytest.mark.parametrize("source", ["mentions", "episodes"])
def test_a_rebuild_without_the_model_has_the_same_objectives(world: World, server: ModelServer, source: str) -> None:
    server.faults = [read(implied(BUILD, 0.7)), read(implied(BUILD, 0.9), implied("learn Rust", 0.3))]
    chat(world, PYTHON, "1")
    chat(world, PYTHON, "2")
    before, calls = objectives(world), server.calls
    assert before == [(BUILD, 0.9), ("learn Rust", 0.3)]
    server.faults = [(500, "{}")] * 20
    world.memory.rebuild("anew", input=source)
    world.memory.switch("anew")
    assert (objectives(world), server.calls) == (before, calls)


def test_a_retry_adds_the_goals_of_a_turn_for_which_the_model_had_failed(world: World, server: ModelServer) -> None:
    server.faults = ["no JSON"] * 2
    chat(world, PYTHON, "1")
    assert objectives(world) == []
    server.faults = [read(implied(BUILD, 0.7))]
    world.memory.retry(group_id="g")
    assert objectives(world) == [(BUILD, 0.7)]
    chat(world, "", "1", kind="deletion")
    assert objectives(world) == []


def test_suppressed_words_leave_the_goal_and_an_erasure_leaves_nothing(world: World, server: ModelServer) -> None:
    server.faults = [read(implied(BUILD, 0.7))]
    chat(world, PYTHON, "1", suppress_content=True)
    assert objectives(world) == [(BUILD, 0.7)]
    world.memory.rebuild("anew", input="episodes")
    world.memory.switch("anew")
    assert objectives(world) == [(BUILD, 0.7)]
    world.memory.erase("g")
    assert objectives(world) == []
    assert not any(b"projects using" in file.read_bytes() for file in world.path.rglob("*") if file.is_file())


def test_the_prompt_of_chats_is_of_the_version_that_generations_need_not_note() -> None:
    assert prompt("extract_chat").version_id == "extract_chat-1@d03ba546341f", (
        "note its version in the name of what extracts"
    )


def test_an_implied_goal_is_of_who_said_its_turn(world: World, server: ModelServer) -> None:
    server.faults = [read(implied(BUILD, 0.7)), read(implied("write a book", 0.6)), *["no JSON"] * 2]
    chat(world, PYTHON, "1", role="Ana")
    chat(world, PYTHON, "2", role="Bob")
    chat(world, PYTHON, "3", role="Cy")
    server.faults = [read(implied("learn Rust", 0.5))]
    world.memory.retry(group_id="g")
    chat(world, "My goal is to write a book", "4", role="Ana")
    world.memory.import_facts([{"subject": "Ana", "relation": "likes", "object": "tea", "group_id": "g"}])

    def told(speaker: str, text: str) -> list[str]:
        query = RecollectionQuery("g", text, speaker, INF, with_context=False)
        return [objective.sentence for objective in asked(world, query).objectives]

    assert told("ana", "What are my goals?") == ["a goal: write a book", f"a goal: {BUILD}"]
    assert told("Bob", "What do you know about me?") == ["a goal: write a book"]
    assert told("Cy", "What are my goals?") == ["a goal: learn Rust"]
    assert told("Dan", "What are my goals?") == told("", "What are my goals?") == []
    shown = [one.sentence for one in asked(world, KnownNow("g")) if isinstance(one, ShownObjective)]
    assert shown == ["a goal of Bob and Ana: write a book", f"a goal of Ana: {BUILD}", "a goal of Cy: learn Rust"]
