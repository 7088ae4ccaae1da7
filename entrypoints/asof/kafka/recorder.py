"""The recorder of one partition: it takes messages from their topic, and writes the episodic log and topic alone."""

from contextlib import ExitStack
from secrets import token_hex

from asof.kafka.encryption import find_keys, keep_keys, keys_of
from asof.kafka.replica import begin_catalog
from asof.kafka.topic_logs import TopicLogs, TopicPartitions
from asof.runtime.layout import DirectoryLayout
from asof.runtime.replica_manifest import PATIENCE
from asof.runtime.watchdog import Watchdog
from asof.runtime.writer import open_writer
from asof.settings import Settings
from asof_agents.partition_task import STEP
from asof_streams.kafka.client import Client
from asof_streams.kafka.connection import Connection
from asof_streams.kafka.envelope import Raw
from asof_streams.kafka.topics import Topics
from asof_streams.writer_lock import AGENT, WriterLock


class RecorderPartition:
    """A partition whose messages are made into episodic events here. Used by the thread that opened it.

    Opening it deposes whoever took its messages before. WriterBusy: another process has its directory.
    """

    def __init__(
        self,
        places: DirectoryLayout,
        settings: Settings,
        connection: Connection,
        topics: Topics,
        partition: int,
        watchdog: Watchdog | None = None,
    ) -> None:
        with ExitStack() as opened:
            lock = WriterLock(places.root, patience=PATIENCE, name=AGENT)
            opened.callback(lock.release)
            self._client = opened.enter_context(Client(connection))
            keep_keys([places], find_keys(self._client, topics, keys_of(settings)))
            at = TopicPartitions(places, self._client, topics, partition)
            self._logs = TopicLogs(at, writer=token_hex(8))
            opened.callback(self._logs.close)
            begin_catalog(places, settings, self._client, topics, partition)
            self._writer = open_writer(
                *(places, settings, self._logs.open),
                patience=PATIENCE,
                watchdog=watchdog,
                believes=False,
                source=at.messages,
            )
            opened.callback(self._writer.close)
            self._opened = opened.pop_all()

    @property
    def offset(self) -> int:
        """The offset of the next record to take."""
        return self._logs.messages.offset

    @property
    def parked(self) -> int:
        """The number of messages that nothing could be made of, and that were not retried since."""
        return self._writer.episodes.parked_count()

    def ingest(self, records: list[Raw]) -> None:
        """Ingest records and make them visible; with none, those on the topic. A gap before them is read there.

        Of much that has to be read it takes the first part.
        """
        messages = self._logs.messages
        start = messages.offset
        new = [raw for raw in records if raw.offset >= start]
        if new and all(raw.offset == offset for offset, raw in enumerate(new, start)):
            messages.append_records(new)
        elif new or not records:  # Faust has moved past something, or there are marks of transactions between
            end = new[-1].offset + 1 if new else self._client.end(*messages.at)
            messages.read_up_to(min(end, start + STEP))
        self._writer.process(flush=True)

    def close(self) -> None:
        """Release the partition; its ingested records are visible."""
        self._opened.close()
