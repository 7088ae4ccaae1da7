"""A partition in a process of its own: Faust delivers records on one core, the engine ingests them on another.

The worker sends records, and the process answers with the offset to continue from. Whichever dies, the topics are
whole: the process ends with its worker, and a worker whose process ended opens the partition again.
"""

from contextlib import closing
from dataclasses import dataclass
from typing import Final

from asof.kafka.partition import Partition
from asof.runtime.child_process import Channel, ChannelClosed
from asof.runtime.fork_server import ForkServer
from asof.runtime.layout import DirectoryLayout
from asof.runtime.processes import log_to_stderr
from asof.runtime.watchdog import Watchdog
from asof.settings import Settings
from asof_streams.errors import WorkerStalled
from asof_streams.kafka.connection import Connection
from asof_streams.kafka.envelope import Raw
from asof_streams.kafka.topics import Topics

_GRACE_SECONDS: Final = 10.0


@dataclass(frozen=True, slots=True)
class Opening:
    """The arguments of a Partition, which its process opens."""

    places: DirectoryLayout
    settings: Settings
    connection: Connection
    topics: Topics
    partition: int

    def open(self) -> Partition:
        """Open the partition. WriterBusy: another process has its directory, and keeps it."""
        watchdog = Watchdog(self.settings.message_seconds)
        return Partition(self.places, self.settings, self.connection, self.topics, self.partition, watchdog)


def partition_server() -> ForkServer:
    """Return a server with the modules of a partition imported. The calling thread has to live as long as it."""
    return ForkServer(__name__)


class PartitionProcess:
    """An intake (asof_agents.partition_task) whose work is done elsewhere."""

    def __init__(self, server: ForkServer, opening: Opening) -> None:
        self._partition = opening.partition
        self._child = server.start(_serve, opening)
        try:
            self._offset = self._receive()
        except BaseException:
            self.close()
            raise

    @property
    def offset(self) -> int:
        """The offset of the next record to ingest."""
        return self._offset

    def ingest(self, records: list[Raw]) -> None:
        """Ingest records and let readers see them; with none, those on the topic."""
        try:
            self._child.send(records)
        except ChannelClosed:
            raise self._gone() from None
        self._offset = self._receive()

    def close(self) -> None:
        """Release the partition; its ingested records are visible."""
        self._child.stop(_GRACE_SECONDS)

    def _receive(self) -> int:
        try:
            offset: int = self._child.receive()
        except ChannelClosed:
            raise self._gone() from None
        return offset

    def _gone(self) -> WorkerStalled:
        return WorkerStalled(f"the process of partition {self._partition} has ended")


def _serve(channel: Channel, opening: Opening) -> None:
    """Ingest the records that the worker sends, and answer with the next offset."""
    log_to_stderr(opening.settings, "asof_agents", "asof_streams")
    with closing(opening.open()) as partition:
        channel.send(partition.offset)
        while True:
            partition.ingest(channel.receive())
            channel.send(partition.offset)
