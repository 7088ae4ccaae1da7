"""A synchronous Kafka client: offsets, reads and sends. aiokafka runs on a thread of its own.

The logs and the engine are synchronous, and aiokafka is not; this module joins the two.
"""

import asyncio
import threading
from collections.abc import Awaitable, Callable, Coroutine, Generator, Iterable, Sequence
from concurrent.futures import CancelledError, Future
from contextlib import suppress
from typing import Any, Final, Generic, NamedTuple, Self, TypeVar

from aiokafka import AIOKafkaConsumer, AIOKafkaProducer, ConsumerRecord, TopicPartition

from asof_streams.errors import BrokerUnavailable
from asof_streams.kafka.connection import Connection
from asof_streams.kafka.envelope import Outgoing, Raw
from asof_streams.kafka.errors import translate_errors
from asof_streams.kafka.topic_rules import DERIVED_BYTES

_BATCH_BYTES: Final = 512 * 1024
_FETCH_BYTES: Final = 4 * 1024 * 1024
_FETCH_WAIT_MS: Final = 10  # a read ends at the topic's end; a fetch that waits there for more delays the next call
_CLOSE_SECONDS: Final = 5.0
_POLL_SECONDS: Final = 0.25

T = TypeVar("T")
P = TypeVar("P", AIOKafkaConsumer, AIOKafkaProducer)


class SentRun(NamedTuple):
    """Records of one produce request, at consecutive offsets: the first offset and the number of records."""

    offset: int
    size: int


class Client:
    """A connection to one cluster. A call that takes more than `timeout` seconds raises BrokerUnavailable."""

    def __init__(self, connection: Connection, *, timeout: float = 30.0) -> None:
        self.connection: Final = connection
        self._timeout = timeout
        self._closed = False
        self._beginning = threading.Lock()  # nothing may come to the loop behind its end: nobody would ever answer it
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="kafka", daemon=True)
        self._thread.start()
        self._producer = _Part(self._new_producer)
        self._reader = _Part(self._new_consumer)
        self._metadata = _Part(self._new_consumer)  # a second consumer, whose calls wait behind no fetch

    def close(self) -> None:
        """Close the connection; waiting calls raise BrokerUnavailable. Unacknowledged records may be on their topic."""
        with self._beginning:
            self._closed = True
        try:
            asyncio.run_coroutine_threadsafe(self._stop(), self._loop).result()
        finally:
            self._loop.call_soon_threadsafe(self._loop.stop)
            self._thread.join()
            self._loop.close()

    async def _stop(self) -> None:
        parts = self._producer, self._reader, self._metadata
        await _all_done(part.stop() for part in parts)  # the broker may be away, and a producer then waits for it
        await _cancel_others()
        await _all_done(part.abort() for part in parts)  # also what was cut short, or was opened only meanwhile
        await _cancel_others()  # that a stop began

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def run(self, work: Coroutine[Any, Any, T], *topics: str) -> T:
        """Run a coroutine on the loop's thread and return its result; its errors are asof's, about some topics."""
        return self._begin(work, *topics)()

    def _begin(self, work: Coroutine[Any, Any, T], *topics: str) -> Callable[[], T]:
        """Start a coroutine on the loop's thread; return a function that waits for its result."""
        future: Future[T] | None = None
        with self._beginning:
            if self._closed:
                work.close()
            else:
                future = asyncio.run_coroutine_threadsafe(self._translated(work, *topics), self._loop)

        def wait() -> T:
            try:
                if future is not None:
                    return future.result()
            except CancelledError:
                work.close()
            raise BrokerUnavailable(f"the client of {self.connection.bootstrap} is closed")

        return wait

    async def _translated(self, work: Coroutine[Any, Any, T], *topics: str) -> T:
        async with translate_errors(self.connection, *topics):
            return await asyncio.wait_for(work, self._timeout)

    # Reading.

    def extent(self, topic: str, partition: int) -> tuple[int, int]:
        """Return the first offset that a partition still has, and the offset of its next record."""
        return self.run(self._extent(TopicPartition(topic, partition)), topic)

    def end(self, topic: str, partition: int) -> int:
        """Return the offset of a partition's next record."""
        return self.ends([(topic, partition)])[topic, partition]

    def ends(self, partitions: Iterable[tuple[str, int]]) -> dict[tuple[str, int], int]:
        """Return the offset of the next record of each (topic, partition)."""
        asked = [TopicPartition(*partition) for partition in partitions]
        return self.run(self._ends(asked), *dict.fromkeys(at.topic for at in asked))

    def partitions(self, topic: str) -> int:
        """Return the number of a topic's partitions; 0: there is no such topic."""
        return self.run(self._partitions(topic))

    def topics(self) -> set[str]:
        """Return the names of all topics."""
        return self.run(self._topics())

    def read(self, topic: str, partition: int, start: int, stop: int) -> Generator[list[Raw], None, None]:
        """Yield the records at offsets [start, stop), in order, in lists of several.

        BrokerUnavailable: the broker gave no more of them for `timeout` seconds, so the range is not complete.
        """
        if start >= stop:
            return
        at, waited, source = start, 0.0, TopicPartition(topic, partition)
        self.run(self._assign(source, start))
        try:
            while at < stop:
                records, after = self.run(self._poll(source), topic)
                if within := [raw for raw in records if raw.offset < stop]:
                    yield within
                waited = 0.0 if after > at else waited + _POLL_SECONDS
                if waited >= self._timeout:
                    where = f"{topic}[{partition}], offset {at}"
                    raise BrokerUnavailable(f"{self.connection.bootstrap} gives nothing of {where}, for {waited:.0f} s")
                at = after
        finally:
            self.run(self._unassign())

    def read_one(self, topic: str, partition: int, offset: int) -> Raw | None:
        """Return the record at an offset; None: there is none, as at the marker of a transaction."""
        for records in self.read(topic, partition, offset, offset + 1):
            return records[0]
        return None

    # Sending.

    def send(self, topic: str, partition: int, records: Sequence[Outgoing]) -> list[SentRun]:
        """Send records in this order; when it returns, each of them is on the topic exactly once.

        Return their offsets, in order. After an error some of them may be on the topic, always from the first one on.
        """
        return self.begin_send(topic, partition, records)()

    def begin_send(self, topic: str, partition: int, records: Sequence[Outgoing]) -> Callable[[], list[SentRun]]:
        """Start to send records; return a function that waits and returns as `send` does."""
        return self._begin(self._send(topic, partition, records), topic)

    async def _send(self, topic: str, partition: int, records: Sequence[Outgoing]) -> list[SentRun]:
        producer = await self._producer.opened()
        batch = producer.create_batch()
        batches = [batch]
        for key, value, headers in records:
            while batch.append(key=key, value=value, timestamp=None, headers=headers) is None:
                batch = producer.create_batch()
                batches.append(batch)
        acknowledgements = []
        for full in batches:
            full.close()
            acknowledgements.append(await producer.send_batch(full, topic, partition=partition))
        done = await asyncio.gather(*acknowledgements)
        return [SentRun(first.offset, full.record_count()) for first, full in zip(done, batches, strict=True)]

    def _new_producer(self) -> AIOKafkaProducer:
        return AIOKafkaProducer(
            **self.connection.arguments(),
            acks="all",
            enable_idempotence=True,
            max_batch_size=_BATCH_BYTES,
            max_request_size=DERIVED_BYTES,
        )

    async def _assign(self, source: TopicPartition, start: int) -> None:
        """Let the reading consumer go on from an offset. It has no group: the logs keep their own offsets."""
        reader = await self._reader.opened()
        reader.assign([source])
        reader.seek(source, start)

    async def _poll(self, source: TopicPartition) -> tuple[list[Raw], int]:
        """Return the records of one poll, and the offset after them and any markers of transactions."""
        reader = await self._reader.opened()
        records = await reader.getmany(timeout_ms=int(_POLL_SECONDS * 1_000))
        return [raw_of(record) for record in records.get(source, ())], await reader.position(source)

    async def _unassign(self) -> None:
        (await self._reader.opened()).unsubscribe()

    def _new_consumer(self) -> AIOKafkaConsumer:
        return AIOKafkaConsumer(
            **self.connection.arguments(),
            enable_auto_commit=False,
            auto_offset_reset="none",
            isolation_level="read_committed",
            max_partition_fetch_bytes=_FETCH_BYTES,
            fetch_max_wait_ms=_FETCH_WAIT_MS,
        )

    async def _extent(self, at: TopicPartition) -> tuple[int, int]:
        consumer = await self._metadata.opened()
        await introduce(consumer, [at.topic])
        first, end = await consumer.beginning_offsets([at]), await consumer.end_offsets([at])
        return first[at], end[at]

    async def _ends(self, partitions: list[TopicPartition]) -> dict[tuple[str, int], int]:
        consumer = await self._metadata.opened()
        await introduce(consumer, {at.topic for at in partitions})
        ends = await consumer.end_offsets(partitions)
        return {(at.topic, at.partition): end for at, end in ends.items()}

    async def _partitions(self, topic: str) -> int:
        consumer = await self._metadata.opened()
        cluster = await consumer._client.fetch_all_metadata()  # noqa: SLF001 - its own is of the topics it was asked for
        return len(cluster.partitions_for_topic(topic) or ())

    async def _topics(self) -> set[str]:
        return set(await (await self._metadata.opened()).topics())


async def introduce(consumer: AIOKafkaConsumer, topics: Iterable[str]) -> None:
    """Let a consumer know topics before it is asked where they begin or end.

    It would first ask without, and then again after a tenth of a second, once for each of them.
    """
    await asyncio.gather(*(consumer._client.add_topic(topic) for topic in topics))  # noqa: SLF001


def raw_of(record: ConsumerRecord) -> Raw:
    """Return a record as the logs take it."""
    return Raw(record.offset, record.timestamp, record.key, record.value, record.headers)


class _Part(Generic[P]):
    """A consumer or producer that is opened by whoever needs it first; callers who come meanwhile wait, and share it.

    One that cannot be opened now holds up no other.
    """

    def __init__(self, make: Callable[[], P]) -> None:
        self._make = make
        self._opening = asyncio.Lock()
        self._part: P | None = None

    async def opened(self) -> P:
        """Return it, started."""
        async with self._opening:
            if self._part is None:
                part = self._make()
                await _start(part)
                self._part = part
            return self._part

    async def stop(self) -> None:
        """Wait until what was sent is acknowledged, and close the connections."""
        if self._part is not None:
            await self._part.stop()

    async def abort(self) -> None:
        """Close the connections, also of a stop that was cut short, whatever was still to be sent."""
        if self._part is None:
            return
        client = self._part._client if isinstance(self._part, AIOKafkaConsumer) else self._part.client  # noqa: SLF001
        for connection in client._conns.values():  # noqa: SLF001
            if connection._protocol._transport is not None:  # noqa: SLF001 - aiokafka has let go of what it closes
                connection._protocol._transport.abort()  # noqa: SLF001 - a close would wait for a full buffer
        await _all_done([self._part.stop()])
        await client.close()


async def _start(part: AIOKafkaConsumer | AIOKafkaProducer) -> None:
    try:
        await part.start()
    except BaseException:
        await part.stop()
        raise


async def _all_done(work: Iterable[Awaitable[None]]) -> None:
    """Wait until all is done or has failed, or for five seconds: then cancel what is not."""
    with suppress(TimeoutError):
        await asyncio.wait_for(asyncio.gather(*work, return_exceptions=True), _CLOSE_SECONDS)


async def _cancel_others() -> None:
    """Cancel every other task of the loop, and wait until they have ended."""
    others = asyncio.all_tasks() - {asyncio.current_task()}
    for task in others:
        task.cancel()
    await asyncio.gather(*others, return_exceptions=True)
