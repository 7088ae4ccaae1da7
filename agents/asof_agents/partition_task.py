"""One partition that a worker has: records wait in a queue, and what takes them lives on a thread of its own.

Whoever brings the records is not trusted with more: an intake says where it goes on, reads from the topic itself what
was moved past, and passes over what it has taken.
"""

import asyncio
import logging
from collections.abc import Callable
from concurrent.futures import Future
from contextlib import suppress
from functools import partial
from queue import SimpleQueue
from threading import Thread
from typing import Any, Final, Protocol

from asof_streams.backoff import OUTAGE
from asof_streams.errors import UnavailableError, WriterBusy
from asof_streams.kafka.envelope import Raw

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


class _Thread:
    """Makes calls one after the other. It is a daemon: a call that hangs does not keep the process from ending."""

    def __init__(self, name: str) -> None:
        self._calls: SimpleQueue[tuple[Future[Any], Callable[[], Any]] | None] = SimpleQueue()
        Thread(target=self._run, name=name, daemon=True).start()

    def call(self, work: Callable[..., Any], *given: Any) -> "asyncio.Future[Any]":
        """Return what a call will give. Cancelled, it goes on where it has begun."""
        answer: Future[Any] = Future()
        self._calls.put((answer, partial(work, *given)))
        return asyncio.wrap_future(answer)

    def end(self) -> None:
        self._calls.put(None)

    def _run(self) -> None:
        while (waiting := self._calls.get()) is not None:
            answer, work = waiting
            if answer.set_running_or_notify_cancel():
                try:
                    answer.set_result(work())
                except BaseException as error:  # noqa: BLE001 - whoever asked has to judge it
                    answer.set_exception(error)


class PartitionTask:
    """One partition that is ours: its records wait in a queue, its intake lives on a thread."""

    def __init__(self, partition: int, open_intake: OpenIntake, seek: Callable[[int], Any]) -> None:
        self.offset = -1  # as of the last record taken; -1 while the partition is not open
        self._partition = partition
        self._open_intake = open_intake
        self._intake: Intake | None = None  # touched on its thread only
        self._seek = seek
        self._records: asyncio.Queue[Raw] = asyncio.Queue(AHEAD)
        self._thread = _Thread(f"partition-{partition}")
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
        self._thread.end()
        while not self._records.empty():  # whoever waits to put one more must not wait for ever
            self._records.get_nowait()

    async def _run(self) -> None:
        """Open the partition and take its records; again where the world outside failed, from its own checkpoint."""
        pauses = OUTAGE.pauses()
        while True:
            try:
                self.offset = await self._thread.call(self._open)
                await self._advance([])  # what waits already: whoever brings the records may be seconds away
                pauses = OUTAGE.pauses()
                with suppress(Exception):  # a hint: what Faust does not bring is read from the topic
                    await self._seek(self.offset)
                while True:
                    await self._advance(await self._waiting())
                    pauses = OUTAGE.pauses()
            except WriterBusy:
                raise  # another worker has the partition: not ours to fight for
            except UnavailableError as error:
                pause = next(pauses)
                _log.warning("partition %d: %s; opening it again in %.1f s", self._partition, error, pause)
            finally:
                self.offset = -1
                await asyncio.shield(self._thread.call(self._close))
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

    async def _advance(self, records: list[Raw]) -> None:
        """Have records taken, or with none all that is on the topic, in as many steps as the intake makes of it."""
        before = -1
        while self.offset > before and not (records and self.offset > records[-1].offset):
            before = self.offset
            self.offset = await self._thread.call(self._take, records)

    # On the thread.

    def _open(self) -> int:
        self._intake = self._open_intake(self._partition)
        return self._intake.offset

    def _take(self, records: list[Raw]) -> int:
        assert self._intake is not None
        self._intake.take(records)
        return self._intake.offset

    def _close(self) -> None:
        intake, self._intake = self._intake, None
        if intake is not None:
            intake.close()


def tell_failure(task: "asyncio.Task[None]", tell: Callable[[BaseException], None]) -> None:
    """Have it told where a task ends with an error."""

    def ended(task: "asyncio.Task[None]") -> None:
        if not task.cancelled() and (error := task.exception()):
            tell(error)

    task.add_done_callback(ended)
