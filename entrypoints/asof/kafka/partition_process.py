"""A partition taken in a process of its own: Faust brings records on one core, the engine works on another.

The two speak over a pipe: records one way, the offset to go on from the other. Whichever dies, the topics are whole:
without its worker the process ends at once, and without its process the worker opens the partition again.
"""

import time
from dataclasses import dataclass
from multiprocessing import active_children, forkserver, get_context
from multiprocessing.connection import Connection as Pipe
from typing import Final

from asof.kafka.partition import Partition
from asof.runtime.layout import DirectoryLayout
from asof.runtime.processes import begin_beside_parent, told
from asof.settings import Settings
from asof_streams.errors import WorkerStalled, WriterBusy
from asof_streams.kafka.connection import Connection
from asof_streams.kafka.envelope import Raw
from asof_streams.kafka.topics import Topics

_FORKS: Final = get_context("forkserver")  # of a process that has imported all this: ours has threads
_FORKS.set_forkserver_preload([__name__])
_GRACE_SECONDS: Final = 10.0
_LOCKED_SECONDS: Final = 3.0  # how long the process of a worker that was killed may take to end


def prepare() -> None:
    """Have the process started of which those of partitions are forks, while there is other work to wait for."""
    forkserver.ensure_running()


def end() -> None:
    """Kill the processes that have not let go of their partition yet, as they may be killed at any time."""
    for process in active_children():
        process.kill()


@dataclass(frozen=True, slots=True)
class Opening:
    """What a partition is opened with."""

    places: DirectoryLayout
    settings: Settings
    connection: Connection
    topics: Topics
    partition: int

    def open(self) -> Partition:
        """Open the partition. WriterBusy: another process has its directory, and keeps it."""
        until = time.monotonic() + _LOCKED_SECONDS
        while True:
            try:
                return Partition(self.places, self.settings, self.connection, self.topics, self.partition)
            except WriterBusy:
                if time.monotonic() > until:
                    raise
                time.sleep(0.1)


class PartitionProcess:
    """An intake (asof_agents.partition_task) whose work is done elsewhere."""

    def __init__(self, opening: Opening) -> None:
        self._partition = opening.partition
        self._pipe, theirs = _FORKS.Pipe()
        self._process = _FORKS.Process(target=_serve, args=(theirs, opening), daemon=True)
        self._process.start()
        theirs.close()
        try:
            self._offset = self._answer()
        except BaseException:
            self.close()
            raise

    @property
    def offset(self) -> int:
        """The offset of the next record to take."""
        return self._offset

    def ingest(self, records: list[Raw]) -> None:
        """Take records and make them known; with none, what is on the topic."""
        self._tell(records)
        self._offset = self._answer()

    def close(self) -> None:
        """Let go of the partition; what was taken is known."""
        if self._process.is_alive():
            self._tell(None)
            self._process.join(_GRACE_SECONDS)
            self._process.kill()
        self._process.join()
        self._pipe.close()

    def _tell(self, records: list[Raw] | None) -> None:
        try:
            self._pipe.send(records)
        except OSError:
            raise self._gone() from None

    def _answer(self) -> int:
        try:
            found: int | BaseException = self._pipe.recv()
        except (EOFError, OSError):
            raise self._gone() from None
        if isinstance(found, BaseException):
            raise found
        return found

    def _gone(self) -> WorkerStalled:
        return WorkerStalled(f"the process of partition {self._partition} has ended")


def _serve(pipe: Pipe, opening: Opening) -> None:
    """Do what the worker asks, and no longer than it lives."""
    begin_beside_parent()
    try:
        partition = opening.open()
    except Exception as error:  # noqa: BLE001 - whatever it is, the worker decides
        pipe.send(told(error))
        return
    try:
        pipe.send(partition.offset)
        while (records := pipe.recv()) is not None:
            partition.ingest(records)
            pipe.send(partition.offset)
    except Exception as error:  # noqa: BLE001 - whatever it is, the worker decides
        pipe.send(told(error))
    finally:
        partition.close()
