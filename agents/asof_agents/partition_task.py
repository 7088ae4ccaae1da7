"""One assigned partition of a worker: a queue of records, and a thread on which they are ingested.

The consumer that delivers the records decides nothing else. The intake keeps its own offset, reads from the topic
itself any records that the consumer skipped, and ignores records that it has ingested already.
"""

import asyncio
import logging
from collections.abc import Callable
from contextlib import AbstractContextManager, closing, suppress
from typing import Any, Final, Protocol

from asof_streams.backoff import OUTAGE
from asof_streams.errors import UnavailableError, WriterBusy
from asof_streams.kafka.envelope import Raw
from asof_streams.resource_pool import ResourcePool

_log = logging.getLogger(__name__)

AHEAD: Final = 5_000  # records that may wait in the queue; a full queue makes Faust wait
STEP: Final = 1_000  # records ingested before what follows from them is made known: whoever follows works meanwhile
_QUIET_SECONDS: Final = 2.0  # without a record from Faust, after which the topic itself is read

OpenPartition = Callable[[int], "PartitionIntake"]
"""Opens the intake of a partition, by its number; called on the thread that will use the intake."""


class PartitionIntake(Protocol):
    """Ingests the messages of one partition. Used by one thread."""

    @property
    def offset(self) -> int:
        """The offset of the next record to ingest."""
        ...

    @property
    def parked(self) -> int:
        """The number of messages that nothing could be made of, and that were not retried since."""
        ...

    def ingest(self, records: list[Raw]) -> None:
        """Ingest records; an empty list means every record on the topic. Readers see them when this returns.

        It may stop before the last one: `offset` says how far it came, and the caller offers the rest again.
        """
        ...

    def close(self) -> None:
        """Release the partition."""
        ...


class PartitionTask:
    """One assigned partition: its queue of records, and its intake on a thread. Made in a running event loop."""

    def __init__(self, partition: int, open_partition: OpenPartition, seek: Callable[[int], Any]) -> None:
        self.offset = -1  # of the next record to ingest; -1 while the partition is not open
        self.oldest: int | None = None  # milliseconds: when the first record under way came to the topic
        self.restarts = 0  # the number of times that it was opened again after a failure
        self.parked: int | None = None  # messages; None: it was not opened yet
        self._partition = partition
        self._open_partition = open_partition
        self._seek = seek
        self._records: asyncio.Queue[Raw] = asyncio.Queue(AHEAD)
        self._task = asyncio.create_task(self._run())

    async def put(self, record: Raw) -> None:
        """Queue a record; wait while the queue is full. After a failure records are dropped."""
        if not self._task.done():
            await self._records.put(record)

    def on_failure(self, report: Callable[[BaseException], None]) -> None:
        """Call `report` with the error that ends this task."""
        on_failure(self._task, report)

    async def stop(self) -> None:
        """Finish the call under way, close the intake and drop the queued records."""
        self._task.cancel()
        with suppress(asyncio.CancelledError, Exception):
            await self._task
        while not self._records.empty():  # a put() that waits for room must not wait for ever
            self._records.get_nowait()

    async def _run(self) -> None:
        """Open the partition and ingest its records. After an UnavailableError, open it again from its checkpoint."""
        pauses = OUTAGE.pauses()
        while True:
            pool = ResourcePool(f"partition-{self._partition}", self._open)
            try:
                self.offset = await asyncio.wrap_future(pool.submit(lambda intake: intake.offset))
                await self._advance(pool, [])  # at once: the consumer's first record may be seconds away
                pauses = OUTAGE.pauses()
                with suppress(Exception):  # a hint alone: records that Faust does not deliver are read from the topic
                    await self._seek(self.offset)
                while True:
                    await self._advance(pool, await self._queued())
                    pauses = OUTAGE.pauses()
            except WriterBusy:
                raise  # another worker owns the partition now: taking it back would start a fight
            except UnavailableError as error:
                pause = next(pauses)
                self.restarts += 1
                _log.warning("partition %d: %s; opening it again in %.1f s", self._partition, error, pause)
            finally:
                self.offset = -1
                [closed] = pool.finish()
                await asyncio.shield(asyncio.wrap_future(closed))
            await asyncio.sleep(pause)

    async def _queued(self) -> list[Raw]:
        """Return the queued records, a step's at most; an empty list after two seconds without one."""
        try:
            records = [await asyncio.wait_for(self._records.get(), _QUIET_SECONDS)]
        except TimeoutError:
            return []
        while len(records) < STEP and not self._records.empty():
            records.append(self._records.get_nowait())
        self.oldest = records[0].timestamp
        return records

    async def _advance(self, pool: ResourcePool[PartitionIntake], records: list[Raw]) -> None:
        """Ingest records (none: the rest of the topic) in as many steps as the intake needs."""

        def ingest(intake: PartitionIntake) -> tuple[int, int]:
            intake.ingest(records)
            return intake.offset, intake.parked

        before = -1
        while self.offset > before and not (records and self.offset > records[-1].offset):
            before = self.offset
            self.offset, self.parked = await asyncio.wrap_future(pool.submit(ingest))
        self.oldest = None

    def _open(self) -> AbstractContextManager[PartitionIntake]:
        return closing(self._open_partition(self._partition))


def on_failure(task: "asyncio.Task[None]", report: Callable[[BaseException], None]) -> None:
    """Call `report` with the error that ends a task; a cancelled task reports nothing."""

    def ended(task: "asyncio.Task[None]") -> None:
        if not task.cancelled() and (error := task.exception()):
            report(error)

    task.add_done_callback(ended)
