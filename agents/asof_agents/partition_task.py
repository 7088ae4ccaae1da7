"""One partition that a worker has: records wait in a queue, and what takes them lives on a thread of its own.

Whoever brings the records is not trusted with more: an intake says where it goes on, reads from the topic itself what
was moved past, and passes over what it has taken.
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

AHEAD: Final = 5_000  # records of a partition that wait for its engine, at most: then Faust waits
_QUIET_SECONDS: Final = 2.0  # without a record from Faust before the topic itself is asked

OpenIntake = Callable[[int], "Intake"]
"""Opens a partition to take its messages; called on the thread that will use it."""


class Intake(Protocol):
    """What takes the messages of one partition. Used by one thread."""

    @property
    def offset(self) -> int:
        """The offset of the next record to take."""
        ...

    def take(self, records: list[Raw]) -> None:
        """Take records, or with none what is on the topic: it is known when this returns.

        Of many it may take only the first: the offset says how far it is, and they are offered again.
        """
        ...

    def close(self) -> None:
        """Let go of the partition."""
        ...


class PartitionTask:
    """One partition that is ours: its records wait in a queue, its intake lives on a thread."""

    def __init__(self, partition: int, open_intake: OpenIntake, seek: Callable[[int], Any]) -> None:
        self.offset = -1  # as of the last record taken; -1 while the partition is not open
        self._partition = partition
        self._open_intake = open_intake
        self._seek = seek
        self._records: asyncio.Queue[Raw] = asyncio.Queue(AHEAD)
        self._task = asyncio.create_task(self._run())

    async def put(self, record: Raw) -> None:
        if not self._task.done():
            await self._records.put(record)

    def failed(self, tell: Callable[[BaseException], None]) -> None:
        """Have it told where the lane ended with an error."""
        tell_failure(self._task, tell)

    async def stop(self) -> None:
        """Finish what is being taken, and let go."""
        self._task.cancel()
        with suppress(asyncio.CancelledError, Exception):
            await self._task
        while not self._records.empty():  # whoever waits to put one more must not wait for ever
            self._records.get_nowait()

    async def _run(self) -> None:
        """Open the partition and take its records; again where the world outside failed, from its own checkpoint."""
        pauses = OUTAGE.pauses()
        while True:
            pool = ResourcePool(f"partition-{self._partition}", self._open)
            try:
                self.offset = await asyncio.wrap_future(pool.submit(lambda intake: intake.offset))
                await self._advance(pool, [])  # what waits already: whoever brings the records may be seconds away
                pauses = OUTAGE.pauses()
                with suppress(Exception):  # a hint: what Faust does not bring is read from the topic
                    await self._seek(self.offset)
                while True:
                    await self._advance(pool, await self._waiting())
                    pauses = OUTAGE.pauses()
            except WriterBusy:
                raise  # another worker has the partition: not ours to fight for
            except UnavailableError as error:
                pause = next(pauses)
                _log.warning("partition %d: %s; opening it again in %.1f s", self._partition, error, pause)
            finally:
                self.offset = -1
                [closed] = pool.finish()
                await asyncio.shield(asyncio.wrap_future(closed))
            await asyncio.sleep(pause)

    async def _waiting(self) -> list[Raw]:
        """Return all records that wait; none where none came for a while."""
        try:
            records = [await asyncio.wait_for(self._records.get(), _QUIET_SECONDS)]
        except TimeoutError:
            return []
        while not self._records.empty():
            records.append(self._records.get_nowait())
        return records

    async def _advance(self, pool: ResourcePool[Intake], records: list[Raw]) -> None:
        """Have records taken, or with none all that is on the topic, in as many steps as the intake makes of it."""

        def take(intake: Intake) -> int:
            intake.take(records)
            return intake.offset

        before = -1
        while self.offset > before and not (records and self.offset > records[-1].offset):
            before = self.offset
            self.offset = await asyncio.wrap_future(pool.submit(take))

    def _open(self) -> AbstractContextManager[Intake]:
        return closing(self._open_intake(self._partition))


def tell_failure(task: "asyncio.Task[None]", tell: Callable[[BaseException], None]) -> None:
    """Have it told where a task ends with an error."""

    def ended(task: "asyncio.Task[None]") -> None:
        if not task.cancelled() and (error := task.exception()):
            tell(error)

    task.add_done_callback(ended)
