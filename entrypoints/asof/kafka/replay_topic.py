"""The sink of a replay that sends each event to a topic of Kafka, in the form that docs/reference/topics.md has."""

import re
from collections.abc import Sequence
from typing import Final

from asof.kafka.encryption import find_keys
from asof.kafka.message_encoder import MessageEncoder
from asof.runtime.inbound_message import InboundMessage
from asof.runtime.wiring import connection_of
from asof.settings import Settings
from asof_streams.errors import InvalidInput
from asof_streams.events import Draft, Event, Record
from asof_streams.kafka.client import Client
from asof_streams.kafka.envelope import Outgoing, event
from asof_streams.kafka.partitioning import partition_of
from asof_streams.kafka.topics import Topics
from asof_streams.key_store import KeyPlace
from asof_streams.messages import FactStatement, Message, RedactionRequest

_ADDRESS: Final = re.compile(r"kafka://([^/]+)/([a-zA-Z0-9._-]{1,249})", re.ASCII)


class TopicSink:
    """Sends events to a topic that is there, those of a group in their order. Its position is kept for it.

    An event has the same id whenever it is sent. Messages have the form in which a producer sends them, with the time
    at which they were said, and a worker that reads the topic takes each id once. InvalidInput: there is no such
    address or topic.
    """

    def __init__(self, address: str, log: str, settings: Settings) -> None:
        found = _ADDRESS.fullmatch(address)
        if found is None:
            raise InvalidInput("a topic is named by kafka://HOST:PORT/TOPIC", field="target")
        brokers, self._topic = found.groups()
        self._log = log
        self._settings = settings.model_copy(update={"kafka": brokers})
        self._client = Client(connection_of(self._settings))
        try:
            self._partitions = self._client.partitions(self._topic)
            self._encoder = MessageEncoder(self._find_keys())
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
            if not isinstance(record.event, RedactionRequest):  # what it erased is not there to be sent
                of.setdefault(partition_of(record.group, self._partitions), []).append(self._outgoing(record))
        for partition, outgoing in of.items():
            self._client.send(self._topic, partition, outgoing)

    def _find_keys(self) -> KeyPlace | None:
        """Return where the keys of a memory are to whose messages topic messages go; the settings have the store.

        Those may be of the directory that is replayed, whose memory is another one.
        """
        prefix = self._topic.removesuffix(".messages")
        if self._log != "messages" or prefix == self._topic:
            return None
        return find_keys(self._client, Topics(prefix), self._settings.keys, optional=True, writes=True)

    def _outgoing(self, record: Record) -> Outgoing:
        if self._log == "messages":
            encoded = InboundMessage(_dated(record))  # type: ignore[arg-type]
            return self._encoder.encode(encoded, record.id_in(self._log))
        _, group, recorded_at, cause, place, size, term, happened = record
        return event(self._log, record.position, Draft(group, recorded_at, cause, place, size, happened), term, None)

    def close(self) -> None:
        self._client.close()


def _dated(record: Record) -> Event:
    """Return a message with the time at which it counts as said: the broker gives it another recorded time."""
    match record.event:
        case Message(timestamp=None) as said:
            return said.model_copy(update={"timestamp": record.recorded_at})
        case FactStatement(said_at=None) as stated:
            return stated.model_copy(update={"said_at": record.recorded_at})
        case other:
            return other
