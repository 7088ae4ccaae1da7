"""The worker process: topics checked, Faust started, its state of health written beside the data."""

import asyncio
import signal

from asof.kafka.membership import Membership
from asof.kafka.partition_process import Opening, PartitionProcess, partition_server
from asof.kafka.topic_watch import LOOK_SECONDS, TopicWatch
from asof.runtime.fork_server import ForkServer
from asof.runtime.layout import DirectoryLayout
from asof.runtime.replica_health import ReplicaProgress, write_health
from asof.runtime.replica_manifest import ReplicaManifest, keep, places_of
from asof.runtime.wiring import connection_of
from asof.settings import Settings
from asof_agents.worker import FaustWorker, PartitionProgress
from asof_streams.kafka.client import Client
from asof_streams.kafka.connection import Connection
from asof_streams.kafka.topic_rules import require
from asof_streams.kafka.topics import Topics, check


async def work(settings: Settings) -> None:
    """Take messages from the topics until a signal says stop. TopicUnfit: a topic would lose history or order."""
    connection, topics, places = connection_of(settings), Topics(settings.kafka_prefix), DirectoryLayout(settings.data)
    server = partition_server()  # it imports while the topics are checked
    try:
        require(await check(connection, topics))
        await _process(settings, connection, topics, places, server)
    finally:
        server.kill()


async def _process(
    settings: Settings, connection: Connection, topics: Topics, places: DirectoryLayout, server: ForkServer
) -> None:
    client = await asyncio.to_thread(Client, connection)
    membership = Membership(places.root)
    try:
        count = await asyncio.to_thread(client.partitions, topics.messages)
        keep(places.root, ReplicaManifest(topics.prefix, count))

        topic_watch = TopicWatch(connection, topics)

        def open_partition(partition: int) -> PartitionProcess:
            there = places_of(places, partition, count)
            return PartitionProcess(server, Opening(there, settings, connection, topics, partition))

        def report(reached: list[PartitionProgress]) -> None:
            progress = [ReplicaProgress(topics.messages, *reach) for reach in reached]
            write_health(places.root, progress, topic_watch.errors)

        worker = FaustWorker(
            connection,
            topics.messages,
            f"{topics.prefix}.workers",
            open_partition,
            end_of=lambda partition: client.end(topics.messages, partition),
            report=report,
            patience=settings.worker_patience,
            folder=places.root,
            member=membership.name,
        )
        for number in (signal.SIGTERM, signal.SIGINT):
            asyncio.get_running_loop().add_signal_handler(number, worker.stop)
        looks = asyncio.create_task(_look(topic_watch))
        try:
            await worker.run()
        finally:
            looks.cancel()
    finally:
        membership.release()
        await asyncio.to_thread(client.close)


async def _look(topic_watch: TopicWatch) -> None:
    while True:
        await asyncio.sleep(LOOK_SECONDS)
        await asyncio.to_thread(topic_watch.look)
