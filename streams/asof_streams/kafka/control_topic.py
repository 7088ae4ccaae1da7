"""The control log on Kafka: one small topic, read whole by every process, and claimed before each decision.

The fence of derived topics holds for its records too: of two decisions at once one follows the other, and a record
that is sent twice stands once.
"""

from collections.abc import Callable
from contextlib import closing
from secrets import token_hex
from typing import Final

from asof_streams import control, conversation  # noqa: F401 - their imports register the events
from asof_streams.errors import BrokerUnavailable
from asof_streams.events import Draft, Event, decode
from asof_streams.kafka.client import Client
from asof_streams.kafka.envelope import claim, event
from asof_streams.kafka.fence import Fence
from asof_streams.kafka.topic_log import PartitionId
from asof_streams.kafka.topics import Topics

LOG: Final = "control"
_TRIES: Final = 20  # to be the only one who decides


class ControlTopic:
    """The control topic of a memory, as one process has read it. A memory without one has said nothing yet."""

    def __init__(self, client: Client, topics: Topics) -> None:
        self.at: Final = PartitionId(topics.control, 0)
        self.events: Final[list[Event]] = []  # those that stand, up to the last `catch_up`
        self.times: Final[list[int]] = []  # when each was recorded
        self.end: int | None = None  # the offset of the topic's next record then; None: there is no topic
        self._client = client
        self._fence = Fence(str(self.at))

    def catch_up(self) -> None:
        """Read up to the topic's end."""
        if self.end is None and not self._client.partitions(self.at.topic):
            return
        end = self._client.end(*self.at)
        self._fence.restart()
        with closing(self._client.read(*self.at, self._fence.offset, end)) as read:
            for records in read:
                for sent in (sent for raw in records for sent in self._fence.pass_through(raw)):
                    self.events.append(decode(sent.type, sent.version, sent.payload))
                    self.times.append(sent.recorded_at)
        self.end = end

    def append(self, decide: Callable[[], Event | None], recorded_at: int) -> None:
        """Append what is decided when all that stands was read; nothing where None is decided, as it is so already.

        decide: may refuse by raising. BrokerUnavailable: others decided again and again meanwhile.
        """
        for _ in range(_TRIES):
            self.catch_up()
            if decide() is None:
                return
            fence, writer = self._fence, token_hex(8)
            self._client.send(*self.at, [claim(LOG, fence.term + 1, writer, 0)])
            self.catch_up()
            decided = decide()
            if decided is None:
                return
            if fence.writer == writer and self._sent(decided, recorded_at):
                return
        raise BrokerUnavailable(f"{self.at}: others write to it again and again: try later")

    def _sent(self, decided: Event, recorded_at: int) -> bool:
        """Send an event, and return whether it stands: nobody claimed the topic before it came."""
        fence, position = self._fence, self._fence.position
        draft = Draft("", recorded_at, position, 0, 1, decided)
        self._client.send(*self.at, [event(LOG, position, draft, fence.term, position + 1, fence.writer)])
        self.catch_up()
        return self.events[position : position + 1] == [decided]
