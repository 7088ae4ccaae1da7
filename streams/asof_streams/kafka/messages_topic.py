"""The messages log on Kafka: every record of the topic at its position, in the form in which the engine takes it.

Positions count messages, not offsets: what a producer sent twice under one id is passed over, and the marks that
transactions leave are no messages. The `cause` of a message is its offset.
"""

from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Final

from asof_streams.errors import DamagedLog, DecodeError, InvalidInput
from asof_streams.events import Draft
from asof_streams.kafka.client import Client
from asof_streams.kafka.envelope import Raw
from asof_streams.kafka.inbox import Received, receive
from asof_streams.kafka.partitioning import partition_of
from asof_streams.kafka.state import Place, State, mark
from asof_streams.kafka.topic_log import At, TopicLog
from asof_streams.messages import AnyMessage, ErasureRequest, RecordRefused


class MessagesTopic(TopicLog):
    """The copy of one partition of the messages topic; `partitions` is how many there are."""

    def __init__(self, path: Path, at: At, client: Client, state: State, partitions: int = 1) -> None:
        super().__init__(path, at, client, state)
        self._partitions: Final = partitions
        if self.end() and not self.checkpoint():
            raise InvalidInput(f"{path.parent} holds a memory that is no copy of topics: choose another directory")
        self._place = state.place(str(at))
        if self._place.offset > self.checkpoint():  # the log was deleted beside it
            state.forget()
            self._place = Place()
        self._expect_same(self._place._replace(offset=self.checkpoint()))
        for found in client.read(*at, self._place.offset, self.checkpoint()):
            self._put(found, [receive(raw) for raw in found])

    @property
    def offset(self) -> int:
        """The offset of the next record to take."""
        return self.checkpoint()

    def catch_up(self, until: int) -> None:
        """Take as much of what is on the topic as makes the log end at position `until`.

        All of it was answered before, so an erasure that it asks for takes effect here. DamagedLog: it ends before.
        """
        for found in self._client.read(*self.at, self.offset, self._client.end(*self.at)):
            start = self.end()
            if start >= until:
                return
            self.take(found, limit=until - start, answered=True)
        if self.end() < until:
            raise DamagedLog(f"{self.at} has {self.end()} messages, yet events were made from {until}: it lost its end")

    def read_up_to(self, offset: int) -> None:
        """Take what is on the topic before an offset, which is on it or its end."""
        self._expect_reached(offset, self._place)
        for found in self._client.read(*self.at, self.offset, offset):
            self.take(found)
        if self.offset < offset:  # what is left are the marks of transactions
            self.append([], checkpoint=offset)

    def take(self, found: Sequence[Raw], *, limit: int | None = None, answered: bool = False) -> None:
        """Take some more records, which must be the next ones; those taken before are passed over."""
        start = self.offset
        ahead = [self._received(raw) for raw in found if raw.offset >= start]
        taken = list(islice(self._new(ahead), limit))
        if limit is not None and len(taken) == limit:
            ahead = [received for received in ahead if received.offset <= taken[-1].offset] if taken else []
        if ahead:
            self._keep(self._dated(taken), ahead[-1].offset + 1, answered=answered)
            self._put([raw for raw in found if raw.offset <= ahead[-1].offset], ahead)

    def _keep(self, drafts: Sequence[Draft], checkpoint: int, *, answered: bool) -> None:
        """Append them. An answered erasure takes effect before it is kept, or a crash could leave it undone."""
        begun = 0
        for index, draft in enumerate(drafts):
            if answered and isinstance(draft.event, ErasureRequest):
                self.append(drafts[begun:index], checkpoint=draft.cause)
                self.erase(draft.group)
                begun = index
        self.append(drafts[begun:], checkpoint=checkpoint)

    def _received(self, raw: Raw) -> Received:
        try:
            received = receive(raw)
        except DecodeError as error:
            raise DecodeError(f"{self.at}, offset {raw.offset}: {error}") from None
        group = received.message.group_id
        if group and partition_of(group, self._partitions) != self.at.partition:
            reason = f"the group belongs to partition {partition_of(group, self._partitions)}: produce it with its key"
            return received._replace(message=RecordRefused(group_id=group, reason=reason))
        return received

    def _new(self, received: Sequence[Received]) -> Iterator[Received]:
        """Yield what no producer sent before under the same id."""
        seen = self._state.seen([r.producer for r in received if r.producer])
        for one in received:
            if one.producer is None or one.producer not in seen:
                yield one
            if one.producer is not None:
                seen.add(one.producer)

    def _dated(self, taken: Sequence[Received]) -> list[Draft]:
        """Let recorded time rise strictly within a group, whatever the broker's clock does."""
        last: dict[str, int] = {}
        drafts = []
        for one in taken:
            message: AnyMessage = one.message
            group = message.group_id
            before = last[group] if group in last else self.last_recorded(group)
            last[group] = at = max(one.appended_at, before + 1)
            drafts.append(Draft(group, at, one.offset, 0, 1, message))
        return drafts

    def _put(self, found: Sequence[Raw], received: Sequence[Received]) -> None:
        self._place = Place(offset=found[-1].offset + 1, marked=found[-1].offset, mark=mark(found[-1]))
        self._state.put(str(self.at), self._place, (r.producer for r in received if r.producer))
