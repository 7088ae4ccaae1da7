"""Messages that say how they are read, read by a language model: what it is told, and what is kept of its answers."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from asking import records
from asof_streams.episodic import EpisodeRecorded, ExtractionAnswered, ExtractionRefused
from asof_streams.instants import DAY
from model_server import ModelServer, serving
from world import World

SAID = "The parser is supplied by Initech."
TYPES = {
    "schema_id": "agent_memory_v1",
    "entity_types": {"Vendor": "A company that we buy from."},
    "relation_types": {"supplied_by": "Who delivers the source."},
}


@pytest.fixture
def server() -> Iterator[ModelServer]:
    with serving() as server:
        yield server


@pytest.fixture
def world(tmp_path: Path, server: ModelServer) -> Iterator[World]:
    world = World(tmp_path / "data", extractor="model", model_url=server.url, model_name="fake")
    yield world
    world.memory.close()


def say(world: World, *lines: dict[str, Any]) -> None:
    whole = [{"group_id": "g", "role": "Ben", "role_type": "user", **line} for line in lines]
    produced = world.memory.produce([json.dumps(line) for line in whole])
    assert produced.refused == ()
    world.now += DAY


def answer(text: str, *entities: tuple[str, str], **fact: Any) -> str:
    listed = [{"id": i, "text": name, "type": kind} for i, (name, kind) in enumerate(entities, 1)]
    stated = {"subject": 1, "relation": "", "object": 2, "stance": "holds", "quote": text, "confidence": 0.9}
    times = dict.fromkeys(("valid_from", "valid_to", "time_words"))
    return json.dumps({"entities": listed, "facts": [stated | times | fact], "attributes": []})


def events(world: World, kind: type) -> list[Any]:
    return [r.event for r in records(world.memory, "episodic") if isinstance(r.event, kind)]


def facts(world: World) -> list[str]:
    return [fact.fact for fact in world.memory.facts(group_id="g")]


def told(server: ModelServer, number: int = -1) -> str:
    return "".join(message["content"] for message in server.requests[number]["messages"])


def test_a_model_is_told_of_types_that_a_message_adds_and_may_use_them(world: World, server: ModelServer) -> None:
    server.says = lambda text: answer(text, ("parser", "Component"), ("Initech", "Vendor"), relation="supplied_by")
    say(world, {"content": SAID, **TYPES})

    assert "Vendor: A company that we buy from." in told(server)
    assert "supplied_by: Who delivers the source." in told(server)
    assert facts(world) == ["parser supplied by Initech"]


def test_a_model_fills_the_attributes_of_a_type_that_a_message_adds(world: World, server: ModelServer) -> None:
    rating = {"name": "rating", "means": "How good they are.", "choices": ["good", "bad"]}
    vendor = {"description": "A company that we buy from.", "attributes": [rating]}
    text = "The parser is supplied by Initech, a good one."
    values = [
        {"entity": 2, "name": name, "value": value, "confidence": 0.9}
        for name, value in (("rating", "good"), ("rating", "one"), ("colour", "good"))
    ]
    said = answer(text, ("parser", "Component"), ("Initech", "Vendor"), relation="supplied_by")
    server.says = lambda _: json.dumps({**json.loads(said), "attributes": values})
    say(world, {"content": text, **TYPES, "entity_types": {"Vendor": vendor}})

    assert "rating (good|bad): How good they are." in told(server)
    [entity] = world.memory.entity("Initech", group_id="g")
    assert [(each.name, each.value) for each in entity.attributes] == [("rating", "good")]
    refused = {(event.part, event.reason) for event in events(world, ExtractionRefused)}
    assert refused == {("attribute rating", "choice"), ("attribute", "name")}
    asked = len(server.requests)
    world.memory.rebuild("again", input="episodes")
    world.memory.switch("again")
    [entity] = world.memory.entity("Initech", group_id="g")
    assert [(each.name, each.value) for each in entity.attributes] == [("rating", "good")]
    assert len(server.requests) == asked


def test_a_model_is_told_of_no_types_that_another_message_added(world: World, server: ModelServer) -> None:
    server.says = lambda text: answer(text, ("parser", "Component"), ("Initech", "Vendor"), relation="supplied_by")
    say(world, {"content": SAID, **TYPES}, {"content": SAID, "schema_id": "agent_memory_v1"})

    assert sorted("Vendor" in told(server, number) for number in (0, 1)) == [False, True]
    assert [(r.part, r.reason) for r in events(world, ExtractionRefused)] == [("entity", "type"), ("fact", "id")]


def test_what_the_map_does_not_allow_is_refused_and_counted(world: World, server: ModelServer) -> None:
    server.says = lambda text: answer(text, ("parser", "Component"), ("Initech", "Vendor"), relation="supplied_by")
    pairs = [
        {"source": "Project", "target": "Vendor", "relations": ["supplied_by"]},
        {"source": "Component", "target": "Team", "relations": ["supplied_by"]},
    ]
    say(world, {"content": SAID, **TYPES, "relation_type_map": pairs})

    assert facts(world) == []
    assert [(r.part, r.reason, r.count) for r in events(world, ExtractionRefused)] == [("fact", "type", 1)]


def test_a_rebuild_reads_a_message_as_it_was_read_and_asks_nothing(world: World, server: ModelServer) -> None:
    server.says = lambda text: answer(text, ("parser", "Component"), ("Initech", "Vendor"), relation="supplied_by")
    say(world, {"content": SAID, **TYPES}, {"content": "ok", "previous_episode_ids": []})
    calls = server.calls
    world.memory.rebuild("anew", input="episodes")
    world.memory.switch("anew")

    assert facts(world) == ["parser supplied by Initech"]
    assert server.calls == calls


def test_a_model_is_shown_the_context_that_a_message_names(world: World, server: ModelServer) -> None:
    say(world, *({"content": f"My friend number {n} is a nurse."} for n in range(6)))
    first = next(r.event.episode_id for r in records(world.memory, "episodic") if isinstance(r.event, EpisodeRecorded))
    say(world, {"content": "She loves pizza.", "previous_episode_ids": [first]})

    assert [n for n in range(6) if f"number {n}" in told(server)] == [0]


def test_a_model_is_shown_the_words_of_an_agents_episode(world: World, server: ModelServer) -> None:
    server.says = lambda text: answer(
        text, ("Ana", "Person"), ("parser", "Component"), relation="owns", quote="Ana owns"
    )
    episode = "<graphiti_episode>\nsource: codex\ncontent:\nAna owns the parser.\n</graphiti_episode>"
    say(world, {"content": episode}, {"content": "ok"})

    assert not [n for n in (0, 1) if "graphiti_episode" in told(server, n) or "codex" in told(server, n)]
    assert facts(world) == ["Ana owns parser"]


def test_no_answer_about_suppressed_content_is_kept_and_nobody_is_asked_again(
    world: World, server: ModelServer
) -> None:
    server.says = lambda text: answer(text, ("parser", "Component"), ("Initech", "Vendor"), relation="supplied_by")
    said = {"content": f"{SAID[:-1]}, says the canary.", **TYPES, "suppress_content": True}
    say(world, said, {"content": "ok"})
    calls = server.calls
    world.memory.rebuild("anew", input="episodes")
    world.memory.switch("anew")
    world.restart()

    assert facts(world) == ["parser supplied by Initech"]
    assert [bool(a.answer) for a in events(world, ExtractionAnswered)] == [False, True]
    assert server.calls == calls
    assert [p for p in world.path.rglob("*") if p.is_file() and b"the canary" in p.read_bytes()] == []


def test_the_same_words_said_openly_are_asked_about_where_the_answer_was_not_kept(
    world: World, server: ModelServer
) -> None:
    server.says = lambda text: answer(text, ("parser", "Component"), ("Initech", "Vendor"), relation="supplied_by")
    said = {"content": SAID, **TYPES, "timestamp": "2024-05-01T00:00:00Z", "previous_episode_ids": []}
    say(world, {**said, "suppress_content": True})
    say(world, said)

    assert server.calls == 2
    assert [bool(a.answer) for a in events(world, ExtractionAnswered)] == [False, True]
