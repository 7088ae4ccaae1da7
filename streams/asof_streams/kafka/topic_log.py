"""A log that is a copy of one partition of a topic. The topic is the truth; readers use the copy.

So everything that reads a log reads these logs too, from any position and without a network.
"""

from pathlib import Path
from typing import Final, NamedTuple

from asof_streams.errors import TopicUnfit
from asof_streams.kafka.client import Client
from asof_streams.kafka.state import State, TopicProgress, mark
from asof_streams.sqlite_log import SqliteLog


class PartitionId(NamedTuple):
    """One partition of a topic."""

    topic: str
    partition: int

    def __str__(self) -> str:
        return f"{self.topic}[{self.partition}]"


class TopicLog(SqliteLog):
    """The base of both kinds of copy: it knows its partition, and checks that the topic is still the same one."""

    def __init__(self, path: Path, at: PartitionId, client: Client, state: State) -> None:
        super().__init__(path, writable=True, durable=False)  # after a power cut the topic still has the records
        self.at: Final = at
        self._client = client
        self._state = state

    def _expect_same(self, place: TopicProgress) -> None:
        """Check that the topic is the one that was read up to `place`, and has all of it. TopicUnfit: it is not."""
        first, end = self._client.extent(*self.at)
        if first > 0:
            raise TopicUnfit(
                f"{self.at} begins at offset {first}: what stood before is lost. Restore the topic from a backup, and "
                "let nothing delete from it (asof topics check)"
            )
        self._expect_reached(end, place)
        if place.marked >= 0:
            found = self._client.read_one(*self.at, place.marked)
            if found is None:
                raise TopicUnfit(
                    f"{self.at} has lost the record at offset {place.marked}, as by compaction (asof topics check). "
                    f"Restore the topic, and keep {self.path.parent}, which has what was there"
                )
            if mark(found) != place.mark:
                raise self._another(place, f"offset {place.marked} holds another record")

    def _expect_reached(self, end: int, place: TopicProgress) -> None:
        if end < place.offset:
            raise self._another(place, f"it ends at offset {end}")

    def _another(self, place: TopicProgress, found: str) -> TopicUnfit:
        return TopicUnfit(
            f"{self.at} is not the topic that was read up to offset {place.offset}: {found}. Was it made anew, or cut "
            f"short? Restore it, or delete {self.path.parent} to begin again with what is there"
        )
