"""Sending what was accepted at the door to the messages topic, where a worker takes it."""

from collections.abc import Sequence
from secrets import token_hex
from typing import Final

from asof.bootstrap import connection_of
from asof.lines import Line
from asof.settings import Settings
from asof_streams.kafka.client import Client
from asof_streams.kafka.envelope import Outgoing, message
from asof_streams.kafka.partitioning import partition_of
from asof_streams.kafka.topic_rules import require
from asof_streams.kafka.topics import Topics, check_messages


class Producer:
    """Sends lines to the messages topic; any number may at once. TopicUnfit: the topic would lose some, or is absent.

    Every record has an id that no other has, so that one which reaches the topic twice becomes one message.
    """

    def __init__(self, settings: Settings) -> None:
        connection, topics = connection_of(settings), Topics(settings.kafka_prefix)
        self._topic: Final = topics.messages
        self._run: Final = token_hex(8)
        self._sent = 0
        self._client = Client(connection)
        try:
            require(self._client.run(check_messages(connection, topics)))
            self._partitions = self._client.partitions(self._topic)
        except BaseException:
            self._client.close()
            raise

    def put(self, good: Sequence[Line], *, flush: bool = True) -> int:
        """Send lines, those of one group in their order; all replicas have them then. Return the first one's offset."""
        del flush  # nothing of it waits here
        of: dict[int, list[Outgoing]] = {}
        for line in good:
            self._sent += 1
            record = message(line.message, line.text, f"{self._run}-{self._sent}")
            of.setdefault(partition_of(line.message.group_id, self._partitions), []).append(record)
        offsets = [self._client.send(self._topic, partition, records)[0].offset for partition, records in of.items()]
        return offsets[0]

    def settle(self) -> None:
        """Do nothing: what follows is made by the worker."""

    def parked(self) -> int | None:
        """Return None: the worker finds that out."""
        return None

    def close(self) -> None:
        """Let go of Kafka."""
        self._client.close()
