"""A message between the door that received it and the log that keeps it."""

import json
from dataclasses import dataclass, field
from functools import cached_property
from typing import Final

from asof_streams.errors import InvalidInput
from asof_streams.instants import render
from asof_streams.kafka.topic_rules import MESSAGE_BYTES
from asof_streams.messages import TIMES, AnyMessage

MAX_RECORD_BYTES: Final = MESSAGE_BYTES - 1024  # of a line on a topic: its key and headers need less than the rest


@dataclass(frozen=True)
class InboundMessage:
    """A validated message. A directory's log stores the event itself; a topic carries its line of JSON.

    recorded_at: given only where a history is moved in. received: the line that it came as, None where it came
    otherwise. trace: the one that it was sent in, as a W3C traceparent; it is no part of what is logged.
    """

    event: AnyMessage
    recorded_at: int | None = None
    received: bytes | None = None
    trace: str | None = field(default=None, compare=False)

    @cached_property
    def line(self) -> bytes:
        """The line of JSON for a topic, as it came or as it would be sent; made once, and only where it is needed."""
        if self.received is not None:
            return self.received
        fields = self.event.model_dump(mode="json", exclude_none=True)
        times = {name: render(fields[name]) for name in TIMES if name in fields}
        return json.dumps(fields | times, ensure_ascii=False).encode()


def check_size(line: bytes, limit: int) -> None:
    """Refuse a line that is longer than its place takes."""
    if len(line) > limit:
        raise InvalidInput(f"the line has {len(line)} bytes, the limit is {limit}")
