"""Kafka behind synchronous calls: how far a topic goes, reading it, sending to it. aiokafka on a thread of its own.

Logs and the engine are synchronous; a network is not. Here is the one place where the two meet.
"""

import asyncio
import threading
from collections.abc import Callable, Coroutine, Iterable, Iterator, Sequence
from concurrent.futures import CancelledError, Future
from contextlib import suppress
from typing import Any, Final, NamedTuple, Self, TypeVar

from aiokafka import AIOKafkaConsumer, AIOKafkaProducer, ConsumerRecord, TopicPartition

from asof_streams.errors import BrokerUnavailable
from asof_streams.kafka.connection import Connection
from asof_streams.kafka.envelope import Outgoing, Raw
from asof_streams.kafka.errors import guard
from asof_streams.kafka.topic_rules import DERIVED_BYTES

_BATCH_BYTES: Final = 512 * 1024
_FETCH_BYTES: Final = 4 * 1024 * 1024
_FETCH_WAIT_MS: Final = 10  # reads end where a topic does: a fetch that waits for more only keeps the next one waiting
_CLOSE_SECONDS: Final = 5.0
_POLL_SECONDS: Final = 0.25

T = TypeVar("T")


class Run(NamedTuple):
    """Records that were sent together: the offset of the first, and how many."""

    offset: int
    size: int


class Client:
    """A connection to one cluster. Its calls wait; `timeout` says how many seconds, then it is BrokerUnavailable."""

    def __init__(self, connection: Connection, *, timeout: float = 30.0) -> None:
        self.connection: Final = connection
        self._timeout = timeout
        self._closed = False
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="kafka", daemon=True)
        self._thread.start()
        self._producer: AIOKafkaProducer | None = None
        self._reader: AIOKafkaConsumer | None = None
        self._asker: AIOKafkaConsumer | None = None  # who is not made to wait by a fetch that waits for records

    def close(self) -> None:
        """Let go of the cluster: who waits gives up. What was not acknowledged may or may not be on a topic."""
        self._closed = True
        asyncio.run_coroutine_threadsafe(self._stop(), self._loop).result()
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    async def _stop(self) -> None:
        parts = [part.stop() for part in (self._producer, self._reader, self._asker) if part is not None]
        with suppress(TimeoutError):  # it may not be there to say goodbye to
            await asyncio.wait_for(asyncio.gather(*parts, return_exceptions=True), _CLOSE_SECONDS)
        left = asyncio.all_tasks() - {asyncio.current_task()}
        for task in left:
            task.cancel()
        await asyncio.gather(*left, return_exceptions=True)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        """Wait for some work on the loop's thread, and turn its errors into ours."""
        return self._begin(work)()

    def _begin(self, work: Coroutine[Any, Any, T]) -> Callable[[], T]:
        """Begin some work on the loop's thread; what is returned waits for it."""
        begun: Future[T] | None = None
        if self._closed:
            work.close()
        else:
            begun = asyncio.run_coroutine_threadsafe(self._guarded(work), self._loop)

        def wait() -> T:
            try:
                if begun is not None:
                    return begun.result()
            except CancelledError:
                work.close()
            raise BrokerUnavailable(f"{self.connection.bootstrap} is no longer asked: the connection was closed")

        return wait

    async def _guarded(self, work: Coroutine[Any, Any, T]) -> T:
        async with guard(self.connection):
            return await asyncio.wait_for(work, self._timeout)

    # Reading.

    def extent(self, topic: str, partition: int) -> tuple[int, int]:
        """Return the first offset that a topic still has, and the one that its next record will get."""
        return self.run(self._extent(TopicPartition(topic, partition)))

    def end(self, topic: str, partition: int) -> int:
        """Return the offset that the next record of a topic will get."""
        return self.ends([(topic, partition)])[topic, partition]

    def ends(self, places: Iterable[tuple[str, int]]) -> dict[tuple[str, int], int]:
        """Return, of some partitions of topics, the offset that the next record of each will get."""
        return self.run(self._ends([TopicPartition(*at) for at in places]))

    def partitions(self, topic: str) -> int:
        """Return how many partitions a topic has; 0 where there is no such topic."""
        return self.run(self._partitions(topic))

    def topics(self) -> set[str]:
        """Return the names of all topics."""
        return self.run(self._topics())

    def read(self, topic: str, partition: int, start: int, stop: int) -> Iterator[list[Raw]]:
        """Yield the records of offsets [start, stop), in order, some at once: all of them, or BrokerUnavailable."""
        if start >= stop:
            return
        at, waited, source = start, 0.0, TopicPartition(topic, partition)
        self.run(self._turn_to(source, start))
        try:
            while at < stop:
                found, after = self.run(self._poll(source))
                if within := [raw for raw in found if raw.offset < stop]:
                    yield within
                waited = 0.0 if after > at else waited + _POLL_SECONDS
                if waited >= self._timeout:
                    where = f"{topic}[{partition}], offset {at}"
                    raise BrokerUnavailable(f"{self.connection.bootstrap} gives nothing of {where}, for {waited:.0f} s")
                at = after
        finally:
            self.run(self._turn_away())

    def one(self, topic: str, partition: int, offset: int) -> Raw | None:
        """Return the record at an offset; None where none is there."""
        for found in self.read(topic, partition, offset, offset + 1):
            return found[0]
        return None

    # Sending.

    def send(self, topic: str, partition: int, records: Sequence[Outgoing]) -> list[Run]:
        """Send records in this order; when it returns, all of them are on the topic, and none twice."""
        return self.sending(topic, partition, records)()

    def sending(self, topic: str, partition: int, records: Sequence[Outgoing]) -> Callable[[], list[Run]]:
        """Begin to send records; what is returned waits until all of them are on the topic, as `send` does."""
        return self._begin(self._send(topic, partition, records))

    async def _send(self, topic: str, partition: int, records: Sequence[Outgoing]) -> list[Run]:
        producer = await self._started_producer()
        batch = producer.create_batch()
        batches = [batch]
        for key, value, headers in records:
            while batch.append(key=key, value=value, timestamp=None, headers=headers) is None:
                batch = producer.create_batch()
                batches.append(batch)
        sent = []
        for full in batches:
            full.close()
            sent.append(await producer.send_batch(full, topic, partition=partition))
        found = await asyncio.gather(*sent)
        return [Run(done.offset, full.record_count()) for done, full in zip(found, batches, strict=True)]

    async def _started_producer(self) -> AIOKafkaProducer:
        if self._producer is None:
            producer = AIOKafkaProducer(
                **self.connection.arguments(),
                acks="all",
                enable_idempotence=True,
                max_batch_size=_BATCH_BYTES,
                max_request_size=DERIVED_BYTES,
            )
            await _start(producer)
            self._producer = producer
        return self._producer

    async def _turn_to(self, source: TopicPartition, start: int) -> None:
        """Let the one consumer that reads, which is of no group since positions are ours, go on from an offset."""
        if self._reader is None:
            self._reader = await self._consumer()
        self._reader.assign([source])
        self._reader.seek(source, start)

    async def _poll(self, source: TopicPartition) -> tuple[list[Raw], int]:
        """Return what comes within a while, and the offset to go on from: behind the marks of transactions too."""
        assert self._reader is not None
        found = await self._reader.getmany(timeout_ms=int(_POLL_SECONDS * 1_000))
        return [_raw(record) for record in found.get(source, ())], await self._reader.position(source)

    async def _turn_away(self) -> None:
        assert self._reader is not None
        self._reader.unsubscribe()

    async def _started_asker(self) -> AIOKafkaConsumer:
        if self._asker is None:
            self._asker = await self._consumer()
        return self._asker

    async def _consumer(self) -> AIOKafkaConsumer:
        consumer = AIOKafkaConsumer(
            **self.connection.arguments(),
            enable_auto_commit=False,
            auto_offset_reset="none",
            isolation_level="read_committed",
            max_partition_fetch_bytes=_FETCH_BYTES,
            fetch_max_wait_ms=_FETCH_WAIT_MS,
        )
        await _start(consumer)
        return consumer

    async def _extent(self, at: TopicPartition) -> tuple[int, int]:
        asker = await self._started_asker()
        first, end = await asker.beginning_offsets([at]), await asker.end_offsets([at])
        return first[at], end[at]

    async def _ends(self, places: list[TopicPartition]) -> dict[tuple[str, int], int]:
        found = await (await self._started_asker()).end_offsets(places)
        return {(at.topic, at.partition): end for at, end in found.items()}

    async def _partitions(self, topic: str) -> int:
        asker = await self._started_asker()
        await asker._client.force_metadata_update()  # noqa: SLF001 - what it has may be older than the topic
        return len(asker.partitions_for_topic(topic) or ())

    async def _topics(self) -> set[str]:
        return set(await (await self._started_asker()).topics())


def _raw(record: ConsumerRecord) -> Raw:
    return Raw(record.offset, record.timestamp, record.key, record.value, record.headers)


async def _start(part: AIOKafkaConsumer | AIOKafkaProducer) -> None:
    try:
        await part.start()
    except BaseException:
        await part.stop()
        raise
