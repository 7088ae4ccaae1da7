"""The sink of a replay that sends each event to a topic of Kafka, in the form that docs/reference/topics.md has."""

import re
from collections.abc import Sequence
from typing import Final

from asof.runtime.inbound_message import InboundMessage
from asof.runtime.wiring import connection_of
from asof.settings import Settings
from asof_streams.errors import InvalidInput
from asof_streams.events import Draft, Record
from asof_streams.kafka.client import Client
from asof_streams.kafka.envelope import Outgoing, event, message
from asof_streams.kafka.partitioning import partition_of

_ADDRESS: Final = re.compile(r"kafka://([^/]+)/([a-zA-Z0-9._-]{1,249})", re.ASCII)


class TopicSink:
    """Sends events to a topic that is there, those of a group in their order. Its position is kept for it.

    An event has the same id whenever it is sent. Messages have the form in which a producer sends them, and a worker
    that reads the topic takes each id once. InvalidInput: there is no such address or topic.
    """

    def __init__(self, address: str, log: str, settings: Settings) -> None:
        found = _ADDRESS.fullmatch(address)
        if found is None:
            raise InvalidInput("a topic is named by kafka://HOST:PORT/TOPIC", field="target")
        brokers, self._topic = found.groups()
        self._log = log
        self._client = Client(connection_of(settings.model_copy(update={"kafka": brokers})))
        try:
            self._partitions = self._client.partitions(self._topic)
        except BaseException:
            self._client.close()
            raise
        if not self._partitions:
            self._client.close()
            raise InvalidInput(f"there is no topic {self._topic}: create it first", field="target")

    def position(self) -> int | None:
        return None

    def apply(self, records: Sequence[Record]) -> None:
        of: dict[int, list[Outgoing]] = {}
        for record in records:
            of.setdefault(partition_of(record.group, self._partitions), []).append(self._outgoing(record))
        for partition, outgoing in of.items():
            self._client.send(self._topic, partition, outgoing)

    def _outgoing(self, record: Record) -> Outgoing:
        if self._log == "messages":
            sent = record.event
            return message(sent, InboundMessage(sent).line, record.id_in(self._log))  # type: ignore[arg-type]
        _, group, recorded_at, cause, place, size, term, happened = record
        return event(self._log, record.position, Draft(group, recorded_at, cause, place, size, happened), term, None)

    def close(self) -> None:
        self._client.close()
