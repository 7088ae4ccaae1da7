"""A log that is replayed to a topic comes in the form that topics have, under ids that stay."""

import asyncio
from pathlib import Path

import pytest
from aiokafka.admin import AIOKafkaAdminClient, NewTopic

from asof_streams.errors import InvalidInput
from asof_streams.kafka.client import Client
from asof_streams.kafka.connection import Connection
from asof_streams.kafka.envelope import Raw
from asof_streams.kafka.partitioning import partition_of
from asof_streams.kafka.topics import Topics, create
from kafka_topics import make_topics
from kafka_worker import Partition
from world import World


@pytest.fixture
def world(tmp_path: Path):
    world = World(tmp_path / "data")
    world.tell("2021-03-01", object="Lisbon", valid_at="2020")
    world.tell("2022-03-01", object="Berlin", valid_at="2021")
    world.tell("2022-04-01", group_id="h", object="Oslo", valid_at="2022")
    yield world
    world.memory.close()


def sent(bootstrap: str, topic: str, partitions: int = 1) -> list[list[Raw]]:
    with Client(Connection(bootstrap)) as client:
        return [
            [raw for found in client.read(topic, at, 0, client.end(topic, at)) for raw in found]
            for at in range(partitions)
        ]


async def make(bootstrap: str, name: str, partitions: int) -> None:
    admin = AIOKafkaAdminClient(bootstrap_servers=bootstrap)
    await admin.start()
    try:
        await make_topics(admin, [NewTopic(name, partitions, 1)])
    finally:
        await admin.close()


def test_events_come_once_with_their_ids_in_the_partition_of_their_group_and_go_on_where_they_stopped(
    world: World, bootstrap: str, prefix: str
) -> None:
    topic = f"{prefix}.elsewhere"
    asyncio.run(make(bootstrap, topic, 2))
    target = f"kafka://{bootstrap}/{topic}"
    world.memory.replay(target)
    world.tell("2023-03-01", object="Rome", valid_at="2023")
    world.memory.replay(target)

    events = {event.id: event for event in world.memory.events()}
    found = sent(bootstrap, topic, 2)
    ids = [dict(raw.headers)["ce_id"].decode() for raws in found for raw in raws]
    assert sorted(ids) == sorted(events)
    for partition, raws in enumerate(found):
        positions = [int(dict(raw.headers)["ce_sequence"]) for raw in raws]
        assert positions == sorted(positions)
        assert {partition_of((raw.key or b"").decode(), 2) for raw in raws} <= {partition}


def test_messages_that_are_replayed_to_a_messages_topic_twice_are_taken_once_by_a_worker(
    world: World, bootstrap: str, prefix: str, tmp_path: Path
) -> None:
    topics, connection = Topics(prefix), Connection(bootstrap)
    asyncio.run(create(connection, topics, ["main"]))
    target = f"kafka://{bootstrap}/{topics.messages}"
    world.memory.replay(target, log="messages")
    world.memory.replay(target, log="messages", start=0)
    assert len(sent(bootstrap, topics.messages)[0]) == 6

    settings = world.settings.model_copy(
        update={"data": tmp_path / "worker", "kafka": bootstrap, "kafka_prefix": prefix}
    )
    from asof.runtime.layout import DirectoryLayout

    partition = Partition(DirectoryLayout(settings.data), settings, connection, topics, 0)
    try:
        partition.ingest([])
    finally:
        partition.close()
    with World(tmp_path / "worker").memory as copy:
        asked = {"any_time": True, "all_groups": True}
        told = [(fact.fact, fact.valid_at, fact.invalid_at) for fact in copy.facts(**asked)]
        assert told == [(fact.fact, fact.valid_at, fact.invalid_at) for fact in world.memory.facts(**asked)]


def test_a_topic_that_is_not_there_is_refused_and_not_made(world: World, bootstrap: str, prefix: str) -> None:
    with pytest.raises(InvalidInput, match="create it first"):
        world.memory.replay(f"kafka://{bootstrap}/{prefix}.absent")
    with Client(Connection(bootstrap)) as client:
        assert f"{prefix}.absent" not in client.topics()
