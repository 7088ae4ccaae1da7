"""Topics that are changed under a running worker: it notices within minutes, and its health says so."""

import json
from pathlib import Path

import pytest
from aiokafka.admin import AIOKafkaAdminClient

from asof.cli import app, calls
from asof.kafka.topic_watch import TopicWatch
from asof.runtime.replica_health import ReplicaProgress, write_health
from kafka_topics import alter_topic
from kafka_worker import World, until


def alter(world: World, settings: dict[str, str]) -> None:
    async def change(admin: AIOKafkaAdminClient) -> None:
        await alter_topic(admin, world.topics.messages, settings)

    world.administer(change)


def errors(watch: TopicWatch) -> tuple[str, ...]:
    watch.look()
    return watch.errors


def test_topics_that_came_to_lose_history_are_said_by_the_health_of_a_worker(
    world: World, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    good = {"retention.ms": "-1", "retention.bytes": "-1", "message.timestamp.type": "LogAppendTime"}
    watch = TopicWatch(world.connection, world.topics, seconds=0)
    watch.look()
    assert list(watch.errors) == []

    alter(world, {**good, "cleanup.policy": "compact"})
    until(lambda: errors(watch))  # the controller answers before the broker knows
    assert [error.partition(":")[0] for error in watch.errors] == [world.topics.messages]
    write_health(tmp_path, [ReplicaProgress(world.topics.messages, 0, 7, 7)], watch.errors)
    assert calls.run(app, ["worker", "--health", "--data", str(tmp_path)]) == 1
    [error] = watch.errors
    assert f"NOT WELL: {error}" in " ".join(capsys.readouterr().out.split())
    assert calls.run(app, ["worker", "--health", "--json", "--data", str(tmp_path)]) == 1
    assert json.loads(capsys.readouterr().out)["errors"] == [error]

    alter(world, {**good, "cleanup.policy": "delete"})
    until(lambda: not errors(watch))
    assert list(watch.errors) == []
    write_health(tmp_path, [ReplicaProgress(world.topics.messages, 0, 7, 7)], watch.errors)
    assert calls.run(app, ["worker", "--health", "--data", str(tmp_path)]) == 0


def test_a_worker_does_not_look_before_it_is_time(world: World) -> None:
    watch = TopicWatch(world.connection, world.topics)
    alter(world, {"cleanup.policy": "compact"})
    watch.look()
    assert list(watch.errors) == []
