"""The messages topic as the intake's log: what is given is on all replicas before anybody is told that it was taken."""

from collections.abc import Iterator, Sequence
from typing import Self

from asof.kafka.producer import Producer
from asof.runtime.json_lines import MAX_RECORD_BYTES, Line, check_size, line_as_sent
from asof.settings import Settings
from asof_streams.errors import InvalidInput
from asof_streams.messages import AnyMessage
from asof_streams.sqlite_requests import KeyedRequest


class Topic:
    """Sends to the one partition of the messages topic. InvalidInput: there are several. TopicUnfit: it is not fit."""

    def __init__(self, settings: Settings) -> None:
        self._producer = Producer(settings)
        if self._producer.partitions != 1:
            self.close()
            raise InvalidInput(
                f"asof serve answers from topics of one partition, and these have {self._producer.partitions}: produce "
                "with asof produce, and ask with asof or from Python, where each question names its group"
            )

    def accept_each(
        self, given: Sequence[tuple[Sequence[AnyMessage], KeyedRequest | None]], *, clock: int
    ) -> list[range | InvalidInput]:
        """Send what several give; return at which offsets the messages of each are, or why they cannot be sent.

        What is sent again under the same request is on the topic again, and one message.
        """
        del clock  # the broker has one of its own
        lines: list[Line] = []
        ids: list[str | None] = []
        sizes: list[int | InvalidInput] = []
        for messages, request in given:
            try:
                found = [_line(message) for message in messages]
            except InvalidInput as error:
                sizes.append(error)
                continue
            lines += found
            ids += [None if request is None else f"{request.key.hex()}-{n}" for n in range(len(found))]
            sizes.append(len(found))
        offsets = iter(self._producer.send(lines, ids) if lines else ())
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


def _line(message: AnyMessage) -> Line:
    line = line_as_sent(message)
    check_size(line.text, MAX_RECORD_BYTES)
    return line
