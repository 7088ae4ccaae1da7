"""Batches in every codec of Kafka are read, as a client of the user's packs them and as the broker itself does."""

import asyncio
import json
from pathlib import Path

import pytest
from aiokafka import AIOKafkaProducer
from aiokafka.admin import AIOKafkaAdminClient

from asof.runtime.layout import DirectoryLayout
from asof_streams.sqlite_log import SqliteLog
from kafka_topics import alter_topic
from kafka_worker import World, dump, fact

CODECS = ["gzip", "snappy", "lz4", "zstd"]


async def produce(world: World, codec: str, numbers: range) -> None:
    """Send facts in one batch that the client packs."""
    producer = AIOKafkaProducer(
        bootstrap_servers=world.connection.bootstrap, compression_type=codec, linger_ms=100, enable_idempotence=True
    )
    async with producer:
        sent = [await producer.send(world.topics.messages, json.dumps(fact(n)).encode(), b"g", 0) for n in numbers]
        await asyncio.gather(*sent)


def packed_by_the_broker(world: World, codec: str) -> None:
    """Let the broker pack what comes to any topic from now on, in its own library."""

    async def alter(admin: AIOKafkaAdminClient) -> None:
        for topic in world.topics.all(["main"]):
            settings = {"compression.type": codec, "message.timestamp.type": "LogAppendTime"}
            await alter_topic(admin, topic, settings)

    world.administer(alter)


@pytest.mark.parametrize("codec", CODECS)
def test_batches_are_read_in_every_codec(world: World, tmp_path: Path, codec: str) -> None:
    asyncio.run(produce(world, codec, range(20)))
    packed_by_the_broker(world, codec)
    world.send(map(fact, range(20, 40)))

    partition = world.partition(tmp_path / "data")
    partition.ingest([])
    partition.close()

    with SqliteLog(DirectoryLayout(tmp_path / "data").messages) as log:
        assert [record.event.object for record in log.read()] == [f"O{n}" for n in range(40)]  # type: ignore[attr-defined]
    assert world.afresh(tmp_path / "afresh") == dump(tmp_path / "data")
