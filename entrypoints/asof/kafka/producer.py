"""The producer: messages that the door accepted go to the messages topic, for a worker."""

from collections.abc import Sequence
from itertools import chain
from secrets import token_hex
from typing import Final

from asof.kafka.encryption import find_keys, keys_of
from asof.kafka.message_encoder import MessageEncoder
from asof.runtime import span_names
from asof.runtime.inbound_message import InboundMessage
from asof.runtime.suppression import suppressed
from asof.runtime.wiring import connection_of
from asof.settings import Settings
from asof_streams import tracing
from asof_streams.kafka.client import Client
from asof_streams.kafka.envelope import Outgoing
from asof_streams.kafka.partitioning import partition_of
from asof_streams.kafka.topic_rules import require
from asof_streams.kafka.topics import Topics, check_messages
from asof_streams.tracing import Value


class Producer:
    """Sends to the messages topic; any number may at once. TopicUnfit: the topic would lose some, or is absent.

    InvalidInput: content is encrypted, and the settings have no keys, or the other way round. KeysUnavailable.

    Every record has an id that no other has, so that one which reaches the topic twice becomes one message.
    """

    def __init__(self, settings: Settings) -> None:
        connection, topics = connection_of(settings), Topics(settings.kafka_prefix)
        self._topic: Final = topics.messages
        self._run: Final = token_hex(8)
        self._sent = 0
        self._suppresses = settings.suppress_content
        self._client = Client(connection)
        try:
            require(self._client.run(check_messages(connection, topics)))
            self.partitions = self._client.partitions(self._topic)
            self._encoder = MessageEncoder(find_keys(self._client, topics, keys_of(settings), writes=True))
        except BaseException:
            self._client.close()
            raise

    def put(self, messages: Sequence[InboundMessage], *, flush: bool = True) -> int:
        """Send messages, those of a group in their order; all replicas have them then. Return the first offset."""
        del flush  # nothing of it waits here
        if self._suppresses:
            messages = [InboundMessage(suppressed(message.event)) for message in messages]
        return self.send(messages, [None] * len(messages))[0]

    def send(self, messages: Sequence[InboundMessage], ids: Sequence[str | None]) -> list[int]:
        """Send messages, each under its id, or one that no other has; return their offsets."""
        with tracing.span(f"send {self._topic}", self._described(len(messages)), "producer"):
            return self._send(messages, ids)

    def _described(self, count: int) -> dict[str, Value | None]:
        return {
            span_names.MESSAGING_SYSTEM: "kafka",
            span_names.MESSAGING_OPERATION: "send",
            span_names.MESSAGING_TYPE: "send",
            span_names.DESTINATION: self._topic,
            span_names.BATCH: count,
        }

    def _send(self, messages: Sequence[InboundMessage], ids: Sequence[str | None]) -> list[int]:
        of: dict[int, list[tuple[int, Outgoing]]] = {}
        around = tracing.trace()
        for number, (inbound, id_) in enumerate(zip(messages, ids, strict=True)):
            self._sent += 1
            record = self._encoder.encode(inbound, id_ or f"{self._run}-{self._sent}")
            if (trace := inbound.trace or around) is not None:
                record.headers.append((tracing.TRACEPARENT, trace.encode()))
            of.setdefault(partition_of(inbound.event.group_id, self.partitions), []).append((number, record))
        offsets = [0] * len(messages)
        for partition, records in of.items():
            runs = self._client.send(self._topic, partition, [record for _, record in records])
            sent = chain.from_iterable(range(run.offset, run.offset + run.size) for run in runs)
            for (number, _), offset in zip(records, sent, strict=True):
                offsets[number] = offset
        return offsets

    def end(self) -> int:
        """Return the offset that the next record of the first partition will have."""
        return self._client.end(self._topic, 0)

    def flush(self) -> None:
        """Do nothing: the worker processes the messages."""

    def parked(self) -> int | None:
        """Return None: the worker finds that out."""
        return None

    def close(self) -> None:
        """Let go of Kafka."""
        self._client.close()
