"""A messages topic that was compacted for a while has lost messages: whoever reads it anew finds that out."""

import json
from pathlib import Path

import pytest
from aiokafka.admin import AIOKafkaAdminClient

from asof.kafka.follower import ReplicaFollower
from asof.runtime.layout import DirectoryLayout
from asof_streams.errors import TopicUnfit
from asof_streams.kafka.envelope import Outgoing
from kafka_topics import alter_topic
from kafka_worker import World, dump, fact, until

COMPACTED = {
    "cleanup.policy": "compact",
    "segment.ms": "100",
    "min.cleanable.dirty.ratio": "0.001",
    "max.compaction.lag.ms": "1",
    "message.timestamp.type": "LogAppendTime",
}
GOOD = {"cleanup.policy": "delete", "retention.ms": "-1", "message.timestamp.type": "LogAppendTime"}


def alter(world: World, settings: dict[str, str]) -> None:
    async def change(admin: AIOKafkaAdminClient) -> None:
        await alter_topic(admin, world.topics.messages, settings)

    world.administer(change)


def send(world: World, *numbers: int, group: str = "g") -> None:
    facts = [Outgoing(group.encode(), json.dumps(fact(n, group)).encode(), []) for n in numbers]
    world.send_raw(world.topics.messages, facts)


def compact(world: World, gone: int) -> None:
    """Let the broker compact the topic until the record at this offset is gone; then somebody mends its settings."""
    alter(world, COMPACTED)
    numbers = iter(range(100, 10_000))

    def compacted() -> bool:
        send(world, next(numbers))  # so that a segment begins, and the one before it is compacted
        return gone not in [raw.offset for raw in world.records(world.topics.messages)]

    until(compacted)
    alter(world, GOOD)


def test_messages_that_compaction_took_are_missed_by_whoever_reads_the_topic_anew(world: World, tmp_path: Path) -> None:
    partition = world.partition(tmp_path / "data")
    send(world, *range(9))
    send(world, 9, group="other")
    partition.ingest([])
    partition.close()
    compact(world, gone=0)
    send(world, *range(20_000, 20_010))  # as many as are gone

    with pytest.raises(TopicUnfit, match=r"records before it are gone, as by compaction"):
        world.partition(tmp_path / "anew")
    with (
        ReplicaFollower(DirectoryLayout(tmp_path / "followed"), world.connection, world.topics) as follower,
        pytest.raises(TopicUnfit, match=r"records before it are gone, as by compaction"),
    ):
        follower.catch_up()

    with_all = world.partition(tmp_path / "data")  # who has them goes on
    with_all.ingest([])
    with_all.close()
    assert len(dump(tmp_path / "data").messages) > 10

    compact(world, gone=world.client.end(world.topics.messages, 0) - 1)
    with pytest.raises(TopicUnfit, match=r"has lost the record at offset \d+, as by compaction.*keep .*data"):
        world.partition(tmp_path / "data")
