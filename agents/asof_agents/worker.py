"""The Faust worker: one agent on the messages topic, concurrency one, an engine for each partition behind it.

The one module that knows Faust. Faust shares the partitions among workers and brings the records; it is not trusted
with more. Its offsets are a hint: an intake says where it goes on, reads from the topic itself what Faust has moved
past, and passes over what it has taken. Nothing escapes the agent's body, since Faust counts a record as done whose
agent failed. No tables, no transactions, no standby.
"""

import asyncio
import logging
from collections.abc import Callable, Coroutine
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any, ClassVar, Final, NamedTuple

import faust
from aiokafka import AIOKafkaConsumer
from faust.transport.drivers import aiokafka as driver
from faust.types import TP
from mode.threads import WorkerThread

from asof_agents.partition_task import OpenIntake, PartitionTask, tell_failure
from asof_streams.errors import BrokerUnavailable, UnavailableError, WorkerStalled
from asof_streams.kafka.connection import Connection
from asof_streams.kafka.envelope import Raw
from asof_streams.kafka.errors import guard

_log = logging.getLogger(__name__)

_STOP_SECONDS: Final = 5.0
_SESSION_SECONDS: Final = 10.0  # without a sign of life, after which another worker has its partitions
_LOOK_SECONDS: Final = 2.0  # between two looks at how far each partition is


class Reach(NamedTuple):
    """How far a partition is."""

    partition: int
    offset: int  # of the next record to take; -1 while it is being opened
    end: int  # of the topic


class Worker:
    """Runs until it is stopped, or until something failed that will not mend by itself.

    `end_of` tells where the messages topic ends, from any thread; `report` is told every other second how far all is.
    A partition that stands still for `patience` seconds, while its topic goes on, fails the worker. `folder` exists:
    Faust makes empty folders in it.
    """

    def __init__(
        self,
        connection: Connection,
        topic: str,
        group: str,
        open_intake: OpenIntake,
        *,
        end_of: Callable[[int], int],
        report: Callable[[list[Reach]], None],
        patience: float,
        folder: Path,
    ) -> None:
        self._connection = connection
        self._topic = topic
        self._open = open_intake
        self._end_of = end_of
        self._report = report
        self._patience = patience
        self._lanes: dict[int, PartitionTask] = {}
        self._ended: asyncio.Future[None] | None = None
        self._app = self._faust(connection, group, folder)

    async def run(self) -> None:
        """Work until `stop` is called. Raises what made a partition fail; UnavailableError: one stands still."""
        self._ended = asyncio.get_running_loop().create_future()
        watch = asyncio.create_task(self._watch())
        tell_failure(watch, self._fail)
        start = asyncio.create_task(self._start())
        tell_failure(start, self._fail)
        try:
            await self._ended
        finally:
            watch.cancel()
            start.cancel()
            await self._within_reason(self._app.stop(), *(lane.stop() for lane in self._lanes.values()))

    async def _start(self) -> None:
        async with guard(self._connection, self._topic):
            await self._app.start()

    async def _within_reason(self, *work: Coroutine[Any, Any, None]) -> None:
        """Wait for what should end soon. What does not, ends with the process: nothing is lost by that."""
        await asyncio.wait([asyncio.create_task(one) for one in work], timeout=_STOP_SECONDS)

    async def _watch(self) -> None:
        """Look how far each partition is, and whether it moves."""
        moved: dict[int, tuple[int, float]] = {}  # by partition: how far it came, and since when it is there
        while True:
            await asyncio.sleep(_LOOK_SECONDS)
            if self._app.crashed:
                self._fail(BrokerUnavailable(f"Faust gave up: {type(self._app.crash_reason).__name__}"))
            with suppress(UnavailableError):  # a topic that cannot be seen is not seen to grow
                reached = [await self._reach(partition, lane) for partition, lane in sorted(self._lanes.items())]
                self._report(reached)
                moved = {reach.partition: self._moved(reach, moved.get(reach.partition)) for reach in reached}

    def _moved(self, reach: Reach, before: tuple[int, float] | None) -> tuple[int, float]:
        now = asyncio.get_running_loop().time()
        far, since = before or (reach.offset, now)
        if reach.offset > far or reach.offset == reach.end:
            return reach.offset, now
        if now - since > self._patience:
            where = f"partition {reach.partition} of {self._topic} stands at {max(far, 0)} of {reach.end}"
            self._fail(WorkerStalled(f"{where}, for {now - since:.0f} s: start the worker again"))
        return far, since

    async def _reach(self, partition: int, lane: PartitionTask) -> Reach:
        return Reach(partition, lane.offset, await asyncio.to_thread(self._end_of, partition))

    def stop(self) -> None:
        """Let `run` finish what is under way and return."""
        if self._ended is not None and not self._ended.done():
            self._ended.set_result(None)

    def _fail(self, error: BaseException) -> None:
        if self._ended is not None and not self._ended.done():
            self._ended.set_exception(error)

    def _faust(self, connection: Connection, group: str, folder: Path) -> faust.App:
        app = faust.App(
            group,
            broker=[f"kafka://{server.strip()}" for server in connection.bootstrap.split(",")],
            broker_credentials=_credentials(connection),
            store="memory://",
            datadir=folder / "faust",
            broker_session_timeout=_SESSION_SECONDS,
            web_enabled=False,
            topic_allow_declare=False,
            topic_disable_leader=True,
            stream_wait_empty=False,
        )
        app.transport = _Transport(app.conf.broker_consumer, app)
        topic = app.topic(self._topic, key_type=bytes, value_type=bytes, key_serializer="raw", value_serializer="raw")
        app.agent(topic, concurrency=1)(self._receive)
        app.on_partitions_assigned.connect(self._assigned)
        app.on_partitions_revoked.connect(self._revoked)
        return app

    async def _receive(self, stream: Any) -> None:
        async for event in stream.events():
            message = event.message
            lane = self._lanes.get(message.partition)
            if lane is not None:  # else it was revoked, and somebody else takes it
                timestamp = round(message.timestamp * 1_000)
                await lane.put(Raw(message.offset, timestamp, message.key, message.value, message.headers))

    async def _assigned(self, *given: Any, **_: Any) -> None:
        ours = self._partitions(given)
        await self._leave(self._lanes.keys() - ours)
        for partition in sorted(ours - self._lanes.keys()):
            lane = PartitionTask(partition, self._open, partial(self._app.consumer.seek, TP(self._topic, partition)))
            lane.failed(self._fail)
            self._lanes[partition] = lane
            _log.info("partition %d of %s is ours", partition, self._topic)

    async def _revoked(self, *given: Any, **_: Any) -> None:
        await self._leave(self._partitions(given))

    def _partitions(self, given: tuple[Any, ...]) -> set[int]:
        """Return our partitions of what Faust's signal gives: itself, and a set of (topic, partition)."""
        return {at.partition for at in given[-1] if at.topic == self._topic}

    async def _leave(self, partitions: set[int]) -> None:
        leaving = [self._lanes.pop(partition) for partition in partitions if partition in self._lanes]
        await asyncio.gather(*(lane.stop() for lane in leaving))


class _Daemon(WorkerThread):
    """Faust's thread for what brings the records; one that hangs does not keep the process from ending."""

    def __init__(self, *given: Any, **named: Any) -> None:
        super().__init__(*given, **named)
        self.daemon = True


class _ConsumerThread(driver.AIOKafkaConsumerThread):
    """Faust's, but for records of transactions that were taken back: Faust would bring them too."""

    Worker: type[WorkerThread] = _Daemon

    def _create_worker_consumer(self, transport: Any) -> AIOKafkaConsumer:
        consumer = super()._create_worker_consumer(transport)
        consumer._isolation_level = "read_committed"  # noqa: SLF001 - Faust has no setting for it
        return consumer


class _Consumer(driver.Consumer):
    def _new_consumer_thread(self) -> _ConsumerThread:
        return _ConsumerThread(self, loop=self.loop, beacon=self.beacon)


class _Transport(driver.Transport):
    Consumer: ClassVar[type] = _Consumer


def _credentials(connection: Connection) -> Any:
    given = connection.arguments()
    context = given.get("ssl_context")
    if connection.uses_sasl:
        return faust.SASLCredentials(
            username=given["sasl_plain_username"],
            password=given["sasl_plain_password"],
            mechanism=given["sasl_mechanism"],
            ssl_context=context,
        )
    return faust.SSLCredentials(context) if context else None
