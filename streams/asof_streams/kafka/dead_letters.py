"""The dead-letter topic: copies of parked records, for people and tools. No log depends on it.

A copy is the original record with more headers: its topic, partition and offset, and the reason. It is sent before the
message.parked event, so that a crash loses no copy; a crash between the two sends it twice, with the same
`dlq_original_offset`.
"""

from collections.abc import Sequence

from asof_streams.kafka.client import Client
from asof_streams.kafka.envelope import dead_letter
from asof_streams.kafka.topic_log import PartitionId
from asof_streams.sqlite_log import SqliteLog


class DeadLetters:
    """The dead-letter topic, beside the messages topic whose records are parked; `messages` is the copy of that."""

    def __init__(self, client: Client, topic: str, at: PartitionId, messages: SqliteLog) -> None:
        self._client = client
        self._topic = topic
        self._at = at
        self._messages = messages

    def park(self, parked: Sequence[tuple[int, str]]) -> None:
        """Send a copy of each parked message, given as (position, reason)."""
        copies = []
        for position, reason in parked:
            for message in self._messages.read(position, position + 1):  # none, if it has been erased
                original = self._client.read_one(*self._at, message.cause)
                if original is not None:
                    copies.append(dead_letter(original, *self._at, reason))
        if copies:
            self._client.send(self._topic, self._at.partition, copies)
