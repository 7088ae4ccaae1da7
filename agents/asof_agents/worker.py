"""The Faust worker: one agent on a topic, concurrency one, an engine for each partition behind it.

The one module that uses Faust; asof.kafka.app is for its command line. Faust assigns the partitions to workers, fetches
the records and commits offsets, no more. These are only a hint: each intake keeps its own, reads from the topic itself
any records that Faust skipped, and ignores records that it has ingested already. A record that goes through a stream of
Faust costs more than all else. So a fetch goes to its partition whole, and the agent acknowledges the last of it. No
exception may leave the agent's body, because Faust acknowledges the record of a failed agent. No tables, no
transactions, no standby.
"""

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable, Collection
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any, ClassVar, Final, NamedTuple

import faust
from aiokafka import AIOKafkaConsumer, ConsumerRecord
from faust.transport.drivers import aiokafka as driver
from faust.types import TP
from mode.threads import WorkerThread

from asof_agents.partition_task import OpenPartition, PartitionTask, on_failure
from asof_streams.errors import BrokerUnavailable, UnavailableError, WorkerStalled
from asof_streams.kafka.client import raw_of
from asof_streams.kafka.connection import Connection
from asof_streams.kafka.errors import translate_errors

_log = logging.getLogger(__name__)

_STOP_SECONDS: Final = 5.0
_LOOK_SECONDS: Final = 0.01  # between looks whether Faust's thread has ended
# Without a heartbeat for so long, the broker gives the partitions to another worker. It is the least that brokers allow
# by default.
_SESSION_SECONDS: Final = 6.0
_WATCH_SECONDS: Final = 2.0  # between two reports of the partitions' progress

Deliver = Callable[[int, list[ConsumerRecord]], Awaitable[None]]
"""Takes the records of a fetch, by the number of their partition."""


class PartitionProgress(NamedTuple):
    """The offset of one partition against the end of its topic."""

    partition: int
    offset: int  # of the next record to ingest; -1 while the partition is being opened
    end: int  # of the topic: the offset of its next record
    oldest: int | None = None  # milliseconds: when the first record under way came to the topic
    restarts: int = 0  # the number of times that it was opened again after a failure
    parked: int | None = None  # messages that nothing could be made of; None: it was not opened yet


class NoPartition(NamedTuple):
    """Why a worker has no partition, and for how long."""

    seconds: float
    reason: str
    is_spare: bool  # the group gave it none, since other workers have them all


class FaustWorker:
    """Runs until it is stopped, or until a partition fails in a way that a retry cannot mend.

    end_of: returns the end offset of a partition of the messages topic; called from any thread.
    report: called every two seconds with the progress of all assigned partitions, in order of their numbers.
    patience: seconds. A partition that stands still for longer, while its topic grows, fails the worker.
    folder: an existing directory, in which Faust makes empty folders.
    member: its name in the group, which no other running worker has. Started again under it, it has its partitions
    again at once.
    skims: whether the intake reads the records itself, and is to be told of the last one of a fetch alone.
    """

    def __init__(
        self,
        connection: Connection,
        topic: str,
        group: str,
        open_partition: OpenPartition,
        *,
        end_of: Callable[[int], int],
        report: Callable[[list[PartitionProgress]], None],
        patience: float,
        folder: Path,
        member: str,
        skims: bool = False,
    ) -> None:
        self._connection = connection
        self._topic = topic
        self._open = open_partition
        self._end_of = end_of
        self._report = report
        self._patience = patience
        self._group = group
        self._tasks: dict[int, PartitionTask] = {}
        self._without_since = time.monotonic()  # monotonic: when it last lost its partitions
        self._has_share = False  # whether its group has assigned its share, which may be empty
        self._leaving: set[asyncio.Task[None]] = set()  # stops of tasks that are under way
        self._ended: asyncio.Future[None] | None = None
        self._stopped = False  # before or after it began
        self._finishes = False
        self._skims = skims
        self._app = self._faust(connection, group, folder, member)

    async def run(self) -> None:
        """Work until `stop` is called. Raises the error that ended a partition; WorkerStalled: one stands still."""
        if self._stopped:
            return
        self._ended = asyncio.get_running_loop().create_future()
        watch = asyncio.create_task(self._watch())
        on_failure(watch, self._fail)
        start = asyncio.create_task(self._start())
        on_failure(start, self._fail)
        try:
            await self._ended
        finally:
            watch.cancel()
            start.cancel()
            await self._leave({*self._tasks})
            while self._finishes and self._leaving:
                await asyncio.wait({*self._leaving})
            await self._within_reason({*self._leaving, asyncio.create_task(self._app.stop())})

    async def _start(self) -> None:
        async with translate_errors(self._connection, self._topic):
            await self._app.start()

    async def _within_reason(self, work: "set[asyncio.Task[None]]") -> None:
        """Wait up to five seconds for some work. The rest ends with the process, and nothing is lost by that."""
        if work:
            await asyncio.wait(work, timeout=_STOP_SECONDS)

    async def _watch(self) -> None:
        """Report the progress of each partition, and fail the worker where one stands still."""
        moved: dict[int, tuple[int, float]] = {}  # by partition: its furthest offset, and when it reached that
        while True:
            await asyncio.sleep(_WATCH_SECONDS)
            if self._app.crashed:
                self._fail(BrokerUnavailable(f"Faust gave up: {type(self._app.crash_reason).__name__}"))
            with suppress(UnavailableError):  # while the broker is away, nobody can say that the topic grows
                progress = [await self._progress(partition, task) for partition, task in sorted(self._tasks.items())]
                self._report(progress)
                moved = {each.partition: self._last_move(each, moved.get(each.partition)) for each in progress}

    def _last_move(self, progress: PartitionProgress, before: tuple[int, float] | None) -> tuple[int, float]:
        now = asyncio.get_running_loop().time()
        furthest, since = before or (progress.offset, now)
        if progress.offset > furthest or progress.offset == progress.end:
            return progress.offset, now
        if now - since > self._patience:
            where = f"partition {progress.partition} of {self._topic} stands at {max(furthest, 0)} of {progress.end}"
            self._fail(WorkerStalled(f"{where}, for {now - since:.0f} s: start the worker again"))
        return furthest, since

    async def _progress(self, partition: int, task: PartitionTask) -> PartitionProgress:
        end = await asyncio.to_thread(self._end_of, partition)
        return PartitionProgress(partition, task.offset, end, task.oldest, task.restarts, task.parked)

    @property
    def unassigned(self) -> NoPartition | None:
        """Why it has no partition; None: it has one."""
        if self._tasks:
            return None
        seconds = time.monotonic() - self._without_since
        consumer = self._transport.consumer
        coordinator = None if consumer is None else consumer._coordinator  # noqa: SLF001 - aiokafka tells it nowhere
        if coordinator is None or coordinator.coordinator_id is None:
            return NoPartition(seconds, f"no broker answers as the coordinator of the group {self._group}", False)
        if not self._has_share:
            reason = f"the coordinator of the group {self._group} has not let this worker in"
            return NoPartition(seconds, reason, False)
        return NoPartition(seconds, f"other workers of the group {self._group} have all partitions", True)

    def stop(self) -> None:
        """Let `run` finish the calls under way and return; at once, where it has not begun."""
        self._stopped = True
        if self._ended is not None and not self._ended.done():
            self._ended.set_result(None)

    def finish(self) -> None:
        """Stop, but be a member of the group until the calls under way have ended, however long that takes."""
        self._finishes = True
        self.stop()

    def _fail(self, error: BaseException) -> None:
        if self._ended is not None and not self._ended.done():
            self._ended.set_exception(error)

    def _faust(self, connection: Connection, group: str, folder: Path, member: str) -> faust.App:
        app = faust.App(
            group,
            broker=[f"kafka://{server.strip()}" for server in connection.bootstrap.split(",")],
            broker_credentials=_credentials(connection),
            store="memory://",
            datadir=folder / "faust",
            broker_session_timeout=_SESSION_SECONDS,
            broker_heartbeat_interval=_SESSION_SECONDS / 4,
            consumer_group_instance_id=member,
            web_enabled=False,
            topic_allow_declare=False,
            topic_disable_leader=True,
            stream_wait_empty=False,
        )
        app.transport = self._transport = _Transport(app.conf.broker_consumer, app, self._deliver)
        topic = app.topic(self._topic, key_type=bytes, value_type=bytes, key_serializer="raw", value_serializer="raw")
        # As App.agent does, which would also let Faust's command find the agent: for that it looks for the file of each
        # module that is loaded, which takes as long as all else here.
        make: Any = app.conf.Agent
        agent = make(self._receive, app=app, channel=topic, concurrency=1, on_error=app._on_agent_error)  # noqa: SLF001
        app.agents[agent.name] = agent
        app.on_partitions_assigned.connect(self._assigned)
        app.on_partitions_revoked.connect(self._revoked)
        return app

    async def _receive(self, stream: Any) -> None:
        async for _ in stream.events():  # of records that were delivered: each is acknowledged here
            pass

    async def _deliver(self, partition: int, records: list[ConsumerRecord]) -> None:
        """Queue the records of a fetch for their partition. A full queue is waited for; Faust fetches no more then."""
        task = self._tasks.get(partition)
        if task is None:  # the partition was revoked, and another worker ingests it
            return
        if self._skims and records:  # its last, which is as old as the first that it stands for
            await task.put(raw_of(records[-1])._replace(timestamp=records[0].timestamp))
            return
        for record in records:
            await task.put(raw_of(record))

    async def _assigned(self, *arguments: Any, **_: Any) -> None:
        if self._ended is None or self._ended.done():  # the worker stops: another one gets them next
            return
        ours = self._partitions(arguments)
        self._has_share = True
        await self._leave(self._tasks.keys() - ours)
        for partition in sorted(ours - self._tasks.keys()):
            task = PartitionTask(partition, self._open, partial(self._app.consumer.seek, TP(self._topic, partition)))
            task.on_failure(self._fail)
            self._tasks[partition] = task
            _log.info("partition %d of %s is ours", partition, self._topic)

    async def _revoked(self, *arguments: Any, **_: Any) -> None:
        self._has_share = False
        await self._leave(self._partitions(arguments))

    def _partitions(self, arguments: tuple[Any, ...]) -> set[int]:
        """Return the partitions of our topic in a signal of Faust: its sender, then a set of (topic, partition)."""
        return {at.partition for at in arguments[-1] if at.topic == self._topic}

    async def _leave(self, partitions: Collection[int]) -> None:
        """Stop the tasks of some partitions, and return once they have stopped, or once the worker is to stop.

        A partition that is being opened stops only when it is open. Faust, which waits for this, could not stop before.
        """
        for partition in self._tasks.keys() & partitions:
            stop = asyncio.create_task(self._tasks.pop(partition).stop())
            self._leaving.add(stop)
            stop.add_done_callback(self._leaving.discard)
            self._without_since = time.monotonic()
        while self._leaving and self._ended is not None and not self._ended.done():
            await asyncio.wait({*self._leaving, self._ended}, return_when=asyncio.FIRST_COMPLETED)


class _Daemon(WorkerThread):
    """Faust's consumer thread as a daemon: one that hangs does not keep the process from ending."""

    def __init__(self, *arguments: Any, **named: Any) -> None:
        super().__init__(*arguments, **named)
        self.daemon = True


class _ConsumerThread(driver.AIOKafkaConsumerThread):
    """Faust's consumer, by the fetch, and without the records of aborted transactions, which Faust would deliver."""

    Worker: type[WorkerThread] = _Daemon
    transport: "_Transport"

    async def stop(self) -> None:
        """Stop the consumer, and wait for its thread, which may still wait for this loop: in Faust this loop stands."""
        if not self._started.is_set():
            return
        thread, self._thread = self._thread, None
        await super().stop()
        while thread is not None and not thread.is_stopped.is_set():  # noqa: ASYNC110 - an event of threads
            await asyncio.sleep(_LOOK_SECONDS)

    async def on_thread_stop(self) -> None:
        """Stop the consumer. Without a broker that fails, and a waiter for the thread would never hear of its end."""
        with suppress(asyncio.CancelledError, Exception):
            await super().on_thread_stop()

    async def getmany(self, active_partitions: Any, timeout: float) -> Any:  # noqa: ASYNC109 - Faust's signature
        """Fetch records and deliver them; return the last of each partition."""
        fetched = await super().getmany(active_partitions, timeout) or {}
        for at, records in fetched.items():
            await self.transport.deliver(at.partition, records)
        return {at: records[-1:] for at, records in fetched.items()}

    def _create_worker_consumer(self, transport: Any) -> AIOKafkaConsumer:
        consumer = super()._create_worker_consumer(transport)
        consumer._isolation_level = "read_committed"  # noqa: SLF001 - Faust has no setting for it
        self.transport.consumer = consumer
        return consumer


class _Consumer(driver.Consumer):
    def _new_consumer_thread(self) -> _ConsumerThread:
        return _ConsumerThread(self, loop=self.loop, beacon=self.beacon)

    async def _add_gap(self, *_: object) -> None:
        """Keep nothing of the records between two that went through a stream: they were delivered."""

    def _new_offset(self, tp: TP) -> int | None:
        """Return the offset to commit, behind the last record that was acknowledged; None: none was."""
        acked = self._acked.pop(tp, None)
        self._acked_index.pop(tp, None)
        return max(acked) + 1 if acked else None


class _Transport(driver.Transport):
    Consumer: ClassVar[type] = _Consumer

    def __init__(self, url: Any, app: faust.App, deliver: Deliver) -> None:
        super().__init__(url, app)
        self.deliver: Final = deliver
        self.consumer: AIOKafkaConsumer | None = None  # once Faust has made it, in its thread


def _credentials(connection: Connection) -> Any:
    arguments = connection.arguments()
    context = arguments.get("ssl_context")
    if connection.uses_sasl:
        return faust.SASLCredentials(
            username=arguments["sasl_plain_username"],
            password=arguments["sasl_plain_password"],
            mechanism=arguments["sasl_mechanism"],
            ssl_context=context,
        )
    return faust.SSLCredentials(context) if context else None
