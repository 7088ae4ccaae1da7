"""The Faust worker: one agent on the messages topic, concurrency one, an engine for each partition behind it.

The one module that knows Faust. Faust shares the partitions among workers and brings the records; it is not trusted
with more. Its offsets are a hint: an intake says where it goes on, reads from the topic itself what Faust has moved
past, and passes over what it has taken. Nothing escapes the agent's body, since Faust counts a record as done whose
agent failed. No tables, no transactions, no standby.
"""

import asyncio
import logging
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import partial
from typing import Any, ClassVar, Final, NamedTuple, Protocol

import faust
from aiokafka import AIOKafkaConsumer
from faust.transport.drivers import aiokafka as driver
from faust.types import TP

from asof_streams.errors import BrokerUnavailable, UnavailableError, WorkerStalled, WriterBusy
from asof_streams.kafka.connection import Connection
from asof_streams.kafka.envelope import Raw

_log = logging.getLogger(__name__)

AHEAD: Final = 5_000  # records of a partition that wait for its engine, at most: then Faust waits
_QUIET_SECONDS: Final = 2.0  # without a record from Faust before the topic itself is asked
_PAUSES: Final = (0.5, 1.0, 2.0, 5.0, 10.0)  # seconds before a partition is opened again
_STOP_SECONDS: Final = 10.0
_LOOK_SECONDS: Final = 2.0  # between two looks at how far each partition is

OpenIntake = Callable[[int], "Intake"]
"""Opens a partition to take its messages; called on the thread that will use it."""


class Reach(NamedTuple):
    """How far a partition is."""

    partition: int
    offset: int  # of the next record to take; -1 while it is being opened
    end: int  # of the topic


class Intake(Protocol):
    """What takes the messages of one partition. Used by one thread."""

    @property
    def offset(self) -> int:
        """The offset of the next record to take."""
        ...

    def take(self, records: list[Raw]) -> None:
        """Take records, in order: what they say is known when it returns. None: look for what is on the topic."""
        ...

    def close(self) -> None:
        """Let go of the partition."""
        ...


class _Lane:
    """One partition that is ours: its records wait in a queue, its intake lives on a thread."""

    def __init__(self, partition: int, open_intake: OpenIntake, seek: Callable[[int], Any]) -> None:
        self.offset = -1  # as of the last record taken
        self._partition = partition
        self._open = open_intake
        self._seek = seek
        self._records: asyncio.Queue[Raw] = asyncio.Queue(AHEAD)
        self._thread = ThreadPoolExecutor(1, f"partition-{partition}")
        self._task = asyncio.create_task(self._run())

    async def put(self, record: Raw) -> None:
        await self._records.put(record)

    def failed(self, tell: Callable[[BaseException], None]) -> None:
        """Have it told where the lane ended with an error."""

        def ended(task: "asyncio.Task[None]") -> None:
            if not task.cancelled() and (error := task.exception()):
                tell(error)

        self._task.add_done_callback(ended)

    async def stop(self) -> None:
        """Finish what is being taken, and let go."""
        self._task.cancel()
        with suppress(asyncio.CancelledError, Exception):
            await self._task
        await asyncio.to_thread(self._thread.shutdown)

    async def _run(self) -> None:
        """Open the partition and take its records; again where the world outside failed, from its own checkpoint."""
        failures = 0
        while True:
            intake: Intake | None = None
            try:
                intake = await self._in_thread(self._open, self._partition)
                self.offset = await self._in_thread(_offset, intake)
                await self._seek(self.offset)
                while True:
                    records = await self._waiting()
                    self.offset = await self._in_thread(_take, intake, records)
                    failures = 0
            except WriterBusy:
                raise  # another worker has the partition: not ours to fight for
            except UnavailableError as error:
                pause = _PAUSES[min(failures, len(_PAUSES) - 1)]
                failures += 1
                _log.warning("partition %d: %s; opening it again in %.1f s", self._partition, error, pause)
                await asyncio.sleep(pause)
            finally:
                if intake is not None:
                    await asyncio.shield(self._in_thread(intake.close))

    async def _waiting(self) -> list[Raw]:
        """Return all records that wait; none where none came for a while."""
        try:
            records = [await asyncio.wait_for(self._records.get(), _QUIET_SECONDS)]
        except TimeoutError:
            return []
        while not self._records.empty():
            records.append(self._records.get_nowait())
        return records

    async def _in_thread(self, work: Callable[..., Any], *given: Any) -> Any:
        return await asyncio.get_running_loop().run_in_executor(self._thread, work, *given)


def _offset(intake: Intake) -> int:
    return intake.offset


def _take(intake: Intake, records: list[Raw]) -> int:
    intake.take(records)
    return intake.offset


class Worker:
    """Runs until it is stopped, or until something failed that will not mend by itself.

    `end_of` tells where the messages topic ends, from any thread; `report` is told every other second how far all is.
    A partition that stands still for `patience` seconds, while its topic goes on, fails the worker.
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
    ) -> None:
        self._topic = topic
        self._open = open_intake
        self._end_of = end_of
        self._report = report
        self._patience = patience
        self._lanes: dict[int, _Lane] = {}
        self._ended: asyncio.Future[None] | None = None
        self._app = self._faust(connection, group)

    async def run(self) -> None:
        """Work until `stop` is called. Raises what made a partition fail; UnavailableError: one stands still."""
        self._ended = asyncio.get_running_loop().create_future()
        watch = asyncio.create_task(self._watch())
        try:
            await self._app.start()
            await self._ended
        finally:
            watch.cancel()
            await asyncio.gather(*(lane.stop() for lane in self._lanes.values()))
            with suppress(TimeoutError):
                await asyncio.wait_for(self._app.stop(), _STOP_SECONDS)

    async def _watch(self) -> None:
        """Look how far each partition is, and whether it moves."""
        moved: dict[int, tuple[int, float]] = {}  # by partition: an offset, and since when it is that
        while True:
            await asyncio.sleep(_LOOK_SECONDS)
            now = asyncio.get_running_loop().time()
            if self._app.crashed:
                self._fail(BrokerUnavailable(f"Faust gave up: {type(self._app.crash_reason).__name__}"))
            with suppress(UnavailableError):  # a topic that cannot be seen is not seen to grow
                reached = [await self._reach(partition, lane) for partition, lane in sorted(self._lanes.items())]
                self._report(reached)
                for partition, offset, end in reached:
                    last, since = moved.get(partition, (offset, now))
                    if offset != last or offset == end:
                        since = now
                    moved[partition] = (offset, since)
                    if now - since > self._patience:
                        self._fail(WorkerStalled(f"partition {partition} of {self._topic} stands at {offset} of {end}"))

    async def _reach(self, partition: int, lane: _Lane) -> Reach:
        return Reach(partition, lane.offset, await asyncio.to_thread(self._end_of, partition))

    def stop(self) -> None:
        """Let `run` finish what is under way and return."""
        if self._ended is not None and not self._ended.done():
            self._ended.set_result(None)

    def _fail(self, error: BaseException) -> None:
        if self._ended is not None and not self._ended.done():
            self._ended.set_exception(error)

    def _faust(self, connection: Connection, group: str) -> faust.App:
        app = faust.App(
            group,
            broker=[f"kafka://{server.strip()}" for server in connection.bootstrap.split(",")],
            broker_credentials=_credentials(connection),
            store="memory://",
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
            lane = _Lane(partition, self._open, partial(self._app.consumer.seek, TP(self._topic, partition)))
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


class _ConsumerThread(driver.AIOKafkaConsumerThread):
    """Faust's, but for records of transactions that were taken back: Faust would bring them too."""

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
