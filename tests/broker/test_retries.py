"""Retries on Kafka: a position is an offset, what follows is known from the retry on, and every copy agrees."""

import json
from collections.abc import Callable, Iterator
from datetime import timedelta
from pathlib import Path
from threading import Event
from typing import Any

import pytest

from asof.api.memory import Memory
from asof.kafka.follower import ReplicaFollower
from asof.runtime.layout import DirectoryLayout
from asof.settings import Settings
from asof_command import asof
from asof_streams.errors import NotFound
from asof_streams.kafka.envelope import Outgoing
from asof_streams.kafka.partitioning import partition_of
from http_server import serving
from kafka_worker import Dump, Running, World, dump, embedded, fact, reached, until, until_known
from model_server import ModelServer
from model_server import serving as serving_model

Start = Callable[..., Running]
END = {"group_id": "g", "op": "end", "ref": "oslo", "invalid_at": "2024-03-01T00:00:00Z"}
OSLO = {**fact(0), "object": "Oslo", "ref": "oslo", "valid_at": "2020-01-01T00:00:00Z"}
SAID = {"group_id": "g", "role": "Ana", "role_type": "user"}
REFUSED = (401, "{}")


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[ModelServer]:
    with serving_model() as server:
        monkeypatch.setenv("ASOF_EXTRACTOR", "model")
        monkeypatch.setenv("ASOF_MODEL_NAME", "fake")
        monkeypatch.setenv("ASOF_MODEL_URL", server.url)
        yield server


def reading(world: World, data: Path) -> Memory:
    """A memory that asks a copy of the topics, and writes to them."""
    return Memory(Settings(data=data, embedder="none", **world.settings()))


def followed(world: World, data: Path) -> Dump:
    """Return what is in a directory that only follows the topics."""
    with ReplicaFollower(DirectoryLayout(data), world.connection, world.topics) as follower:
        follower.catch_up()
    return dump(data)


def taken(world: World, data: Path) -> Dump:
    """Let a worker take what is on the topic; return what it made of it."""
    partition = world.partition(data)
    partition.ingest([])
    partition.close()
    return dump(data)


def twice(world: World, value: dict[str, Any]) -> int:
    """Send a message two times under one id, so that offsets are no positions any more."""
    headers = [("ce_source", b"/test"), ("ce_id", b"1")]
    return world.send_raw(world.topics.messages, [Outgoing(b"g", json.dumps(value).encode(), headers)] * 2)


def test_a_worker_processes_a_parked_message_again_and_every_copy_knows_it_from_then_on(
    world: World, start: Start, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in world.settings().items():
        monkeypatch.setenv(f"ASOF_{name.upper()}", value)
    monkeypatch.setenv("ASOF_EMBEDDER", "none")
    read = str(tmp_path / "read")
    twice(world, {**fact(1), "object": "tea"})
    until_known(running := start(world), world.send([END, OSLO]))
    [parked] = json.loads(asof("parked", "--group", "g", "--json", "--data", read).out)
    assert (parked["position"], parked["state"]) == (2, "parked")
    with reading(world, tmp_path / "read") as memory:
        before = memory.facts(group_id="g", about="S0", any_time=True)

    retried = asof("retry", "--group", "g", "--json", "--data", read)
    assert json.loads(retried.out) == [{"position": 2, "request": 4}]
    until_known(running, 5)
    running.stop()

    assert json.loads(asof("parked", "--group", "g", "--json", "--data", read).out) == []
    with reading(world, tmp_path / "read") as memory:
        [ended] = memory.facts(group_id="g", about="S0", any_time=True)
        assert str(ended.invalid_at).startswith("2024-03-01")
        request = next(e.recorded_at for e in memory.events("messages") if e.type == "retry.requested")
        known = request - timedelta(microseconds=1)
        assert memory.facts(group_id="g", about="S0", any_time=True, known_at=known) == before
    found = dump(running.data)
    assert found == dump(tmp_path / "read") == followed(world, tmp_path / "followed") == world.afresh(tmp_path / "new")


def test_a_served_worker_retries_what_a_model_left_to_the_rules(
    world: World, start: Start, server: ModelServer, tmp_path: Path
) -> None:
    server.faults = ["no JSON"] * 4
    worker = start(world, "worker")
    until_known(worker, world.send([{**SAID, "content": "I live in Paris."}, {**SAID, "content": "I like chess."}]))
    settings = {f"ASOF_{name.upper()}": value for name, value in world.settings().items()}
    with serving(tmp_path / "served", **settings) as served:
        served.settled(1)
        assert len(served.search("Paris chess", "g")) == 2
        failed = served.client.get("/v1/parked?group_id=g").json()["messages"]
        assert [(row["position"], row["state"], row["reason"]) for row in failed] == [
            (0, "failed", "not JSON"),
            (1, "failed", "not JSON"),
        ]
        answer = served.client.post("/v1/retry", json={"group_id": "g", "positions": [1]})
        assert (answer.status_code, answer.json()) == (202, {"retries": [{"position": 1, "request": 2}]})
        served.settled(2)

        assert [row["position"] for row in served.client.get("/v1/parked?group_id=g").json()["messages"]] == [0]
        assert served.client.post("/v1/retry", json={"group_id": "g", "positions": [9]}).status_code == 404
        assert served.end() == 0
    worker.stop()
    assert dump(tmp_path / "served") == dump(tmp_path / "worker") == world.afresh(tmp_path / "new")


def test_what_failed_and_what_was_retried_is_on_the_topics_and_no_copy_asks_again(
    world: World, server: ModelServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("asof_agents.extraction.llm.chat_model.time.sleep", lambda _: None)
    server.faults = [REFUSED] * 99
    texts = ["I live in Berlin.", "My sister Eva lives in Rome.", "I work at Siemens."]
    world.send([{**SAID, "content": text} for text in texts])
    failed = taken(world, tmp_path / "data")
    assert [row[-2].type for row in failed.episodic].count("extraction.failed") == len(texts)
    with Memory(Settings(data=tmp_path / "data", embedder="none")) as memory:
        assert "Ana works at Siemens" in [found.fact for found in memory.facts(group_id="g")]
    server.faults = []
    calls = server.calls
    world.send([{"group_id": "g", "position": n} for n in (1, 0, 99)], ce_type=b"retry.requested")
    found = taken(world, tmp_path / "data")
    assert [row[-2].type for row in found.episodic].count("message.retried") == 2
    assert server.calls == calls + 2
    with Memory(Settings(data=tmp_path / "data", embedder="none")) as memory:
        assert [row.position for row in memory.parked(group_id="g")] == [2]

    assert followed(world, tmp_path / "followed") == found == world.afresh(tmp_path / "new")
    assert server.calls == calls + 2


def test_retries_of_parked_messages_are_the_same_through_kafka(world: World, tmp_path: Path) -> None:
    world.send([END, OSLO, b"no JSON"])
    world.send([{"group_id": "g", "position": n} for n in (0, 0, 1, 2, 7)], ce_type=b"retry.requested")

    found = taken(world, tmp_path / "data")

    assert found.unplaced() == embedded(world, tmp_path / "data", tmp_path / "embedded")
    assert found == world.afresh(tmp_path / "new")


def test_a_message_that_is_parked_again_by_a_retry_is_the_one_that_is_copied(world: World, tmp_path: Path) -> None:
    world.send([END])
    world.send([{"group_id": "g", "position": 0}], ce_type=b"retry.requested")
    taken(world, tmp_path / "data")

    letters = world.records(world.topics.dead_letters)
    assert [json.loads(letter.value or b"") for letter in letters] == [END, END]
    assert [dict(letter.headers)["dlq_original_offset"] for letter in letters] == [b"0", b"0"]


def test_records_that_name_no_group_are_left_out_of_a_retry_of_all(world: World, tmp_path: Path) -> None:
    world.send([b"no JSON", END, OSLO])
    taken(world, tmp_path / "data")

    with reading(world, tmp_path / "read") as memory:
        assert [row.group_id for row in memory.parked(all_groups=True)] == ["", "g"]
        assert [row.position for row in memory.retry(all_groups=True)] == [1]


def test_a_retry_finds_its_message_in_the_partition_of_its_group(bootstrap: str, prefix: str, tmp_path: Path) -> None:
    with World(bootstrap, prefix, partitions=2) as world:
        groups = {partition_of(group, 2): group for group in "abcdefgh"}
        for number, group in groups.items():
            world.send([{**END, "group_id": group}, {**OSLO, "group_id": group}], number)
            partition = world.partition(tmp_path / "data" / f"partition-{number}", number)
            partition.ingest([])
            partition.close()

        with reading(world, tmp_path / "read") as memory:
            for group in groups.values():
                assert [row.position for row in memory.retry([0], group_id=group)] == [0]
                with pytest.raises(NotFound):
                    memory.retry([9], group_id=group)
        for number in groups:
            assert len(world.records(world.topics.messages, number)) == 3


def test_a_worker_that_waits_for_a_model_stops_when_asked(world: World, start: Start, server: ModelServer) -> None:
    answers = Event()
    server.says = lambda _: str(answers.wait())
    running = start(world)
    world.send([{**SAID, "content": "I live in Paris."}])
    until(lambda: server.calls, running)
    running.stop()
    answers.set()
    server.says = None
    assert reached(running.data)[1] == 0

    until_known(running := start(world), 1)
    running.stop()
    assert [row[-2].type for row in dump(running.data).episodic].count("episode.recorded") == 1
