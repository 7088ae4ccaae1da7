"""The mentions agent: both examples of the episodic graph's specification from end to end, and its rules one by one."""

import json

import pytest

from asking import records
from asof_agents.handlers.episodes import episode_id
from world import World

BOOKS = [
    {
        "role_type": "user",
        "timestamp": "2024-01-01T10:00:00Z",
        "content": "I'm interested in George Orwell's books, especially Animal Farm.",
    },
    {
        "role_type": "assistant",
        "timestamp": "2024-01-01T10:00:15Z",
        "content": "Animal Farm and 1984 are two of his most famous works. He also wrote Burmese Days, reflecting his"
        " time in British Burma.",
    },
]


@pytest.fixture
def world(tmp_path):
    world = World(tmp_path / "data")
    yield world
    world.memory.close()


def say(world, *turns, **fields):
    lines = [{"group_id": "g", "role_type": "user", **fields, **t} for t in turns]
    produced = world.memory.produce([json.dumps(line) for line in lines])
    assert (produced.refused, produced.parked) == ((), 0)


def graph(world):
    """The episodic graph as exported: nodes and edges with words for ids, and the whole."""
    whole = json.loads("".join(world.memory.export(episodic=True, group_id="g")))
    turns = {episode["id"]: number for number, episode in enumerate(whole["episodes"])}
    words = {n["id"]: n["mention"] for n in whole["nodes"]}
    nodes = {(turns[n["episode_id"]], n["mention"], n["type"].casefold()) for n in whole["nodes"]}
    edges = {
        (turns[e["episode_id"]], words[e["source"]], e["type"].casefold(), words[e["target"]]) for e in whole["edges"]
    }
    return nodes, edges, whole


def test_the_first_example_comes_out_exactly(world):
    say(world, {"content": "George Orwell is a British author"}, {"content": "He is also known as Eric Blair"})

    nodes, edges, _ = graph(world)
    assert nodes == {
        (0, "George Orwell", "person"),
        (0, "British author", "profession"),
        (1, "Eric Blair", "person"),
    }
    assert edges == {
        (0, "George Orwell", "is_a", "British author"),
        (1, "George Orwell", "also_known_as", "Eric Blair"),
    }


def test_the_second_example_comes_out_exactly(world):
    """Its JSON shows two edges; the third is stated by the text as plainly: "He also wrote Burmese Days"."""
    say(world, *BOOKS)

    nodes, edges, _ = graph(world)
    assert nodes == {
        (0, "George Orwell", "person"),
        (0, "Animal Farm", "book"),
        (1, "1984", "book"),
        (1, "Burmese Days", "book"),
        (1, "British Burma", "location"),
    }
    assert edges == {
        (1, "George Orwell", "wrote", "Animal Farm"),
        (1, "George Orwell", "wrote", "1984"),
        (1, "George Orwell", "wrote", "Burmese Days"),
    }


def test_what_was_mentioned_or_stated_is_dated_by_its_turn_never_by_the_world(world):
    say(world, *BOOKS)

    _, _, whole = graph(world)
    times = ["2024-01-01T10:00:00Z", "2024-01-01T10:00:15Z"]
    assert [e["validAt"] for e in whole["episodes"]] == times
    assert [n["validAt"] for n in whole["nodes"]] == [times[0]] * 2 + [times[1]] * 3
    assert {e["validAt"] for e in whole["edges"]} == {times[1]}
    created = {part["createdAt"] for kind in ("nodes", "edges", "episodes") for part in whole[kind]}
    assert all(moment.startswith("2024-01-01T00:00:00") for moment in created)  # the clock of this test


def test_one_entity_mentioned_twice_in_a_turn_is_one_mention(world):
    say(world, {"content": "Berlin is big. Ana lives in Berlin."})

    observed = [r.event for r in records(world.memory, "episodic") if r.event.type == "mention.observed"]
    assert [e.text for e in observed].count("Berlin") == 1


@pytest.mark.parametrize(("between", "repeats"), [(0, True), (3, True), (4, False)])
def test_a_mention_repeats_one_of_the_last_four_messages(world, between, repeats):
    say(
        world,
        {"content": "Ana lives in Berlin."},
        *[{"content": "Hm."}] * between,
        {"content": "Berlin is where Ana lives."},
    )

    observed = [r.event for r in records(world.memory, "episodic") if r.event.type == "mention.observed"]
    first, *_, last = [e for e in observed if e.text == "Berlin"]
    assert last.repeats == (first.mention_id if repeats else None)


@pytest.mark.parametrize("other", [{"group_id": "h"}, {"source": "text"}, {"timestamp": "2030-01-01T00:00:00Z"}])
def test_context_is_of_the_same_group_and_source_and_was_said_before(world, other):
    first = {"content": "Ana lives in Berlin.", "timestamp": "2024-01-01T00:00:00Z"} | other
    say(world, first, {"content": "Ana lives in Berlin.", "timestamp": "2024-01-02T00:00:00Z"})

    observed = [r.event for r in records(world.memory, "episodic") if r.event.type == "mention.observed"]
    assert len(observed) == 4
    assert {e.repeats for e in observed} == {None}


def test_the_context_of_a_message_is_of_the_episodes_that_it_names_however_long_ago(world):
    say(world, {"content": "Ana lives in Berlin."}, *[{"content": "Hm."}] * 5)
    say(world, {"content": "Berlin is where Ana lives.", "previous_episode_ids": [episode_id("g", 0)]})

    observed = [r.event for r in records(world.memory, "episodic") if r.event.type == "mention.observed"]
    first, last = [e for e in observed if e.text == "Berlin"]
    assert last.repeats == first.mention_id


def test_turns_of_the_same_moment_are_context_in_the_order_in_which_they_came(world):
    at = "2024-01-01T00:00:00Z"
    say(
        world,
        {"content": "George Orwell is a writer.", "timestamp": at},
        {"content": "He lives in London.", "timestamp": at},
    )

    assert (1, "George Orwell", "lives_in", "London") in graph(world)[1]
