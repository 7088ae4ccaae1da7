"""A partition of an agent in a process of its own: Faust delivers records on one core, another ingests them.

The worker sends records, and the process answers with the offset to continue from. Whichever dies, the topics are
whole: the process ends with its worker, and a worker whose process ended opens the partition again.
"""

from contextlib import closing
from dataclasses import dataclass
from typing import Final, Protocol

from asof.kafka.believer import BelieverPartition
from asof.kafka.recorder import RecorderPartition
from asof.runtime.child_process import Channel, ChannelClosed
from asof.runtime.fork_server import ForkServer
from asof.runtime.layout import DirectoryLayout
from asof.runtime.processes import log_to_stderr
from asof.runtime.watchdog import Watchdog
from asof.settings import Settings
from asof_agents.partition_task import PartitionIntake
from asof_projections.generations import GenerationInfo
from asof_streams.errors import WorkerStalled
from asof_streams.kafka.connection import Connection
from asof_streams.kafka.envelope import Raw
from asof_streams.kafka.topics import Topics

_GRACE_SECONDS: Final = 10.0


class Opening(Protocol):
    """The arguments of an agent's partition, which its process opens."""

    @property
    def settings(self) -> Settings:
        """The settings of the worker."""
        ...

    def open(self) -> PartitionIntake:
        """Open the partition. WriterBusy: another process has its part of the directory, and keeps it."""
        ...

    def needed(self, records: list[Raw]) -> list[Raw]:
        """Return what the process needs of the records that Faust delivered."""
        ...


@dataclass(frozen=True, slots=True)
class RecorderOpening:
    """The arguments of a RecorderPartition."""

    places: DirectoryLayout
    settings: Settings
    connection: Connection
    topics: Topics
    partition: int

    def open(self) -> PartitionIntake:
        watchdog = Watchdog(self.settings.message_seconds)
        return RecorderPartition(self.places, self.settings, self.connection, self.topics, self.partition, watchdog)

    def needed(self, records: list[Raw]) -> list[Raw]:
        return records


@dataclass(frozen=True, slots=True)
class BelieverOpening:
    """The arguments of a BelieverPartition."""

    places: DirectoryLayout
    settings: Settings
    connection: Connection
    topics: Topics
    partition: int
    generation: str
    info: GenerationInfo | None
    beside: bool

    def open(self) -> PartitionIntake:
        return BelieverPartition(
            self.places,
            self.settings,
            self.connection,
            self.topics,
            self.partition,
            self.generation,
            info=self.info,
            beside=self.beside,
            watchdog=Watchdog(self.settings.message_seconds),
        )

    def needed(self, records: list[Raw]) -> list[Raw]:
        """Return the last one, without what is in it: the events are read from the log."""
        return [raw._replace(key=None, value=None, headers=()) for raw in records[-1:]]


def partition_server() -> ForkServer:
    """Return a server with the modules of a partition imported. The calling thread has to live as long as it."""
    return ForkServer(__name__)


class PartitionProcess:
    """An intake (asof_agents.partition_task) whose work is done elsewhere."""

    def __init__(self, server: ForkServer, opening: Opening, partition: int) -> None:
        self._partition = partition
        self._opening = opening
        self._child = server.start(_serve, opening)
        try:
            self._offset, self._parked = self._receive()
        except BaseException:
            self.close()
            raise

    @property
    def offset(self) -> int:
        """The offset of the next record to ingest."""
        return self._offset

    @property
    def parked(self) -> int:
        """The number of messages that nothing could be made of, and that were not retried since."""
        return self._parked

    def ingest(self, records: list[Raw]) -> None:
        """Ingest records and let readers see them; with none, those on the topic."""
        try:
            self._child.send(self._opening.needed(records))
        except ChannelClosed:
            raise self._gone() from None
        self._offset, self._parked = self._receive()

    def close(self) -> None:
        """Release the partition; its ingested records are visible."""
        self._child.stop(_GRACE_SECONDS)

    def _receive(self) -> tuple[int, int]:
        try:
            progress: tuple[int, int] = self._child.receive()
        except ChannelClosed:
            raise self._gone() from None
        return progress

    def _gone(self) -> WorkerStalled:
        return WorkerStalled(f"the process of partition {self._partition} has ended")


def _serve(channel: Channel, opening: Opening) -> None:
    """Ingest the records that the worker sends, and answer with the next offset and how many messages are parked."""
    log_to_stderr(opening.settings, "asof_agents", "asof_streams")
    with closing(opening.open()) as partition:
        channel.send((partition.offset, partition.parked))
        while True:
            partition.ingest(channel.receive())
            channel.send((partition.offset, partition.parked))
