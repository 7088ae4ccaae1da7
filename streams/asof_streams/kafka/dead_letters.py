"""Copies of parked records on the dead-letter topic: for people and tools; the logs do not need them.

A copy is the record as it came, with headers added that say where it stands and why it was parked. It is sent before
the parking is on the log, so after a crash it may be sent again: `dlq_original_offset` tells.
"""

from collections.abc import Sequence

from asof_streams.kafka.client import Client
from asof_streams.kafka.envelope import dead_letter
from asof_streams.kafka.messages_topic import MessagesTopic


class DeadLetters:
    """The dead-letter topic, beside the messages topic whose records are parked."""

    def __init__(self, client: Client, topic: str, messages: MessagesTopic) -> None:
        self._client = client
        self._topic = topic
        self._messages = messages

    def park(self, parked: Sequence[tuple[int, str]]) -> None:
        """Copy the messages at some positions, each with the reason why it was parked."""
        copies = []
        for position, reason in parked:
            for message in self._messages.read(position, position + 1):  # none where it was erased since
                original = self._client.one(*self._messages.at, message.cause)
                if original is not None:
                    copies.append(dead_letter(original, *self._messages.at, reason))
        if copies:
            self._client.send(self._topic, self._messages.at.partition, copies)
