"""The messages topic as the intake's log: messages are on all replicas before they are acknowledged."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Self

from asof.kafka.producer import Producer
from asof.runtime.inbound_message import MAX_RECORD_BYTES, InboundMessage, check_size
from asof.settings import Settings
from asof_streams.errors import InvalidInput
from asof_streams.instants import INF
from asof_streams.messages import AnyMessage, Message, RecordRefused
from asof_streams.sqlite_requests import Submission


class Topic:
    """Sends to the one partition of the messages topic. InvalidInput: there are several. TopicUnfit: it is not fit."""

    def __init__(self, settings: Settings) -> None:
        self._producer = Producer(settings)
        if self._producer.partitions != 1:
            self.close()
            raise InvalidInput(
                "asof serve, chat and discord need topics of one partition, as positions and the feed are one order, "
                f"and {settings.kafka_prefix}.messages has {self._producer.partitions}: give each share of the groups "
                "its own topics, worker and service (asof topics create --prefix NAME, then asof worker and "
                "asof serve with ASOF_KAFKA_PREFIX=NAME), or ask about one group with a command, such as "
                "asof facts --group ID",
                "kafka_prefix",
            )

    def latest(self) -> int:
        """Return the end of time: the broker has a clock of its own."""
        return INF

    def accept_each(self, submissions: Sequence[Submission], *, clock: int) -> list[range | InvalidInput]:
        """Send the messages of several callers; return the offsets of each, or why they cannot be sent.

        What is sent again under the same request is on the topic again, and one message.
        """
        del clock  # the broker has one of its own
        inbound: list[InboundMessage] = []
        ids: list[str | None] = []
        sizes: list[int | InvalidInput] = []
        for messages, request, trace in submissions:
            try:
                found = [replace(outbound(message), trace=trace) for message in messages]
            except InvalidInput as error:
                sizes.append(error)
                continue
            inbound += found
            ids += [None if request is None else f"{request.key.hex()}-{n}" for n in range(len(found))]
            sizes.append(len(found))
        offsets = iter(self._producer.send(inbound, ids) if inbound else ())
        return [self._range(size, offsets) if isinstance(size, int) else size for size in sizes]

    def _range(self, size: int, offsets: Iterator[int]) -> range:
        start = next(offsets) if size else self._producer.end()
        last = start
        for _ in range(size - 1):
            last = next(offsets)
        return range(start, last + 1 if size else start)

    def close(self) -> None:
        """Let go of Kafka."""
        self._producer.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def outbound(message: AnyMessage) -> InboundMessage:
    """Return a message as it is sent to the topic. InvalidInput: it is too long for one.

    One that was refused for its group is sent without a group, so that the worker refuses it for the same reason.
    """
    if isinstance(message, RecordRefused):
        return InboundMessage(Message.model_construct(group_id=""), received=b'{"group_id": ""}')
    sent = InboundMessage(message)
    check_size(sent.line, MAX_RECORD_BYTES)
    return sent
