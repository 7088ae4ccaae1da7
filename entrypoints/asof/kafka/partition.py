"""One partition of the topics, taken: its directory, its logs, and the engine between them."""

from secrets import token_hex
from typing import Final

from asof.kafka.replica import adopt_generation
from asof.kafka.topic_logs import TopicLogs
from asof.runtime.layout import DirectoryLayout
from asof.runtime.replica_manifest import PATIENCE
from asof.runtime.watchdog import Watchdog
from asof.runtime.writer import open_writer
from asof.settings import Settings
from asof_streams.kafka.client import Client
from asof_streams.kafka.connection import Connection
from asof_streams.kafka.envelope import Raw
from asof_streams.kafka.topics import Topics

_STEP: Final = 5_000  # offsets read before what they say is made known


class Partition:
    """A partition whose messages are made into events here. Used by the thread that opened it.

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
        self._client = Client(connection)
        self._logs = TopicLogs(places, self._client, topics, partition, writer=token_hex(8))
        try:
            adopt_generation(places, connection, topics, partition)
            self._writer = open_writer(places, settings, self._logs.open, patience=PATIENCE, watchdog=watchdog)
        except BaseException:
            self._logs.close()
            self._client.close()
            raise

    @property
    def offset(self) -> int:
        """The offset of the next record to take."""
        return self._logs.messages.offset

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
            messages.read_up_to(min(end, start + _STEP))
        self._writer.process(flush=True)

    def close(self) -> None:
        """Release the partition; its ingested records are visible."""
        self._writer.close()
        self._logs.close()
        self._client.close()
