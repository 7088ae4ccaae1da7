"""The same messages through Kafka and a real Faust worker, and embedded: event for event the same."""

import json
from collections import Counter
from collections.abc import Callable
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest

from kafka_worker import Dump, Running, World, dump, embedded, fact, until_known
from replay import READ_OTHERWISE

Start = Callable[..., Running]


def through_kafka(world: World, start: Start, end: int) -> Dump:
    """Return what a worker makes of what is on the topic, which ends at an offset."""
    running = start(world)
    until_known(running, end)
    running.stop()
    return dump(running.data)


def expect_equal(found: Dump, world: World, tmp_path: Path) -> None:
    """Compare what a worker made with the embedded runtime, and with what a new directory reads from the topics."""
    wanted = embedded(world, tmp_path / "data", tmp_path / "embedded")
    for name in ("messages", "episodic", "semantic"):
        assert getattr(found.unplaced(), name) == getattr(wanted, name)
    assert found.digest == wanted.digest
    assert world.afresh(tmp_path / "afresh") == found


def test_the_demo_conversation_is_the_same_through_kafka(world: World, start: Start, tmp_path: Path) -> None:
    lines = [
        json.loads(line) for line in files("asof.cli").joinpath("demo_conversation.jsonl").read_bytes().splitlines()
    ]
    end = world.send([{k: v for k, v in line.items() if k != "recorded_at"} for line in lines])

    found = through_kafka(world, start, end)

    assert len(found.messages) == len(lines)
    assert Counter(type(row[-2]).__name__ for row in found.semantic)["FactAsserted"] > 10
    expect_equal(found, world, tmp_path)


def test_messages_that_say_how_they_are_read_are_the_same_through_kafka(
    world: World, start: Start, tmp_path: Path
) -> None:
    spoken = {"group_id": "g", "role": "Ana", "role_type": "user"}
    end = world.send([{**spoken, **line} for line in READ_OTHERWISE])

    found = through_kafka(world, start, end)

    kinds = Counter(type(row[-2]).__name__ for row in found.episodic)
    assert (kinds["EpisodeRecorded"], kinds["MessageParked"]) == (6, 2)
    assert Counter(type(row[-2]).__name__ for row in found.semantic)["RelationDeclared"] > 9
    expect_equal(found, world, tmp_path)


def test_content_that_is_not_to_be_kept_is_in_no_copy_of_a_worker_and_on_no_topic_of_events(
    world: World, start: Start, tmp_path: Path
) -> None:
    quiet = {"group_id": "g", "role": "Ana", "role_type": "user", "suppress_content": True}
    end = world.send([{**quiet, "content": "I moved to Berlin, said the canary."}, {**quiet, "content": "Good night."}])

    found = through_kafka(world, start, end)
    again = tmp_path / "again"

    assert found.messages == []
    assert Counter(type(row[-2]).__name__ for row in found.semantic)["FactAsserted"] == 1
    expect_equal(found, world, tmp_path)
    world.partition(again).close()
    for topic in (world.topics.episodic, world.topics.semantic("main")):
        assert not [raw for raw in world.records(topic) if b"the canary" in (raw.value or b"")]
    assert not [path for path in again.rglob("*") if path.is_file() and b"the canary" in path.read_bytes()]


@pytest.mark.data
@pytest.mark.parametrize("number", [26, 30])
def test_a_real_conversation_is_the_same_through_kafka(
    world: World, start: Start, tmp_path: Path, data_dir: Path, number: int
) -> None:
    lines = (data_dir / "locomo-dev" / f"locomo-conv-{number}.jsonl").read_bytes().splitlines()

    found = through_kafka(world, start, world.send(lines))

    assert len(found.messages) == len(lines)
    assert len(found.semantic) > 100
    expect_equal(found, world, tmp_path)


def test_all_that_can_be_on_the_topic_is_the_same_through_kafka(world: World, start: Start, tmp_path: Path) -> None:
    """Facts of three groups that contradict each other, poison, unknown references, and an erasure half way."""
    sent: list[bytes | dict[str, Any]] = []
    for number in range(90):
        sent.append(fact(number, "abc"[number % 3]))
        if number % 10 == 4:
            sent += [b"\xff no JSON", {"group_id": "a", "op": "retract", "ref": f"nobody-{number}"}]
    middle = world.send(sent)
    world.send([{"group_id": "b"}], ce_type=b"erasure.requested")
    end = world.send([*sent, {"group_id": "b", "content": "I live in Oslo.", "role": "Eva", "role_type": "user"}])

    found = through_kafka(world, start, end)

    assert end == 2 * middle + 2
    assert Counter(type(row[-2]).__name__ for row in found.episodic)["GroupErased"] == 1
    assert Counter(type(row[-2]).__name__ for row in found.episodic)["MessageParked"] == 18
    expect_equal(found, world, tmp_path)


def test_statements_of_identity_are_the_same_through_kafka(world: World, start: Start, tmp_path: Path) -> None:
    world.send([fact(0) | {"subject": name} for name in ("Bob", "Robert")])
    pair, alias = {"entity": "Bob", "into": "Robert"}, {"entity": "Robert", "name": "Rob"}
    stated = [{"op": op, **pair} for op in ("merge", "split")] + [{"op": op, **alias} for op in ("alias", "unalias")]
    end = world.send([{"group_id": "g", **line} for line in [*stated, stated[-1]]], ce_type=b"identity.stated")

    found = through_kafka(world, start, end)

    assert Counter(type(row[-2]).__name__ for row in found.episodic)["IdentityRecorded"] == len(stated) + 1
    kinds = Counter(type(row[-2]).__name__ for row in found.semantic)
    made = ("EntityMerged", "EntityUnmerged", "EntityDescribed", "EntityUndescribed", "MessageParked")
    assert [kinds[kind] for kind in made] == [1, 1, 1, 1, 1]
    expect_equal(found, world, tmp_path)


def test_a_pass_of_consolidation_and_its_undoing_are_the_same_through_kafka(
    world: World, start: Start, tmp_path: Path
) -> None:
    world.send([fact(0) | {"subject": name} for name in ("Bob", "ACME Corp", "Acme corp.")])
    world.send([{"group_id": "g"}], ce_type=b"consolidation.requested")
    world.send([fact(1) | {"subject": name} for name in ("Eve", "Cleo")])
    end = world.send([{"group_id": "g"}, {"group_id": "g", "undo": True}], ce_type=b"consolidation.requested")

    found = through_kafka(world, start, end)

    kinds = Counter(type(row[-2]).__name__ for row in found.semantic)
    assert [kinds[kind] for kind in ("MemoryConsolidated", "MemoryUnconsolidated", "EntityMerged")] == [2, 1, 1]
    assert kinds["CommunityFormed"] + kinds["CommunityJoined"] > 1
    expect_equal(found, world, tmp_path)
