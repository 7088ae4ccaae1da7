"""The messages log on Kafka: a copy of one partition of the messages topic, as a log that the engine reads.

A position counts messages and is not an offset: a record that a producer sent again under the same id gets no position,
nor does the marker of a transaction. The `cause` of a message is its offset.

Where content is encrypted, a message has two keys: the one that its sender chose, of the record on the topic, and that
of its position, of the copy here and of all events that are made of it. The state of the directory has the numbers of
the first, which an erasure destroys too. A message that was sent in the clear has the second key alone.
"""

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Final

from asof_streams import tracing
from asof_streams.chain import Row
from asof_streams.errors import DamagedLog, DecodeError, InvalidInput, KeysUnavailable, TopicUnfit
from asof_streams.events import Draft, Event
from asof_streams.instants import DAY, LAST
from asof_streams.kafka.client import Client
from asof_streams.kafka.envelope import Raw
from asof_streams.kafka.inbox import Opener, ReceivedMessage, parse_message
from asof_streams.kafka.partitioning import partition_of
from asof_streams.kafka.rewritten_records import restored
from asof_streams.kafka.state import State, TopicProgress
from asof_streams.kafka.state import mark as mark_of
from asof_streams.kafka.topic_log import PartitionId, TopicLog
from asof_streams.messages import AnyMessage, ErasureRequest, RecordRefused, RedactionRequest
from asof_streams.record_sealer import runs_of
from asof_streams.sealer import NOT_SEALED, Sealer
from asof_streams.sqlite_log import SqliteLog

_LAST: Final = LAST - DAY


class MessagesTopic(TopicLog):
    """The copy of one partition of the messages topic, which has `partitions` of them. One thread uses it.

    mark: the offset below which the topic was rewritten; 0: nowhere.
    InvalidInput: the directory holds an embedded memory, which is no copy of a topic.
    """

    def __init__(
        self, path: Path, at: PartitionId, client: Client, state: State, partitions: int = 1, mark: int = 0
    ) -> None:
        super().__init__(path, at, client, state)
        self._partitions: Final = partitions
        self._mark: Final = mark
        if self.end() and not self.checkpoint():
            raise InvalidInput(f"{path.parent} holds a memory that is no copy of topics: choose another directory")
        self._opener: Final[Opener | None] = None if self._sealer is None else self._open
        self._progress = state.progress(str(at))
        if self._progress.offset > self.checkpoint():  # somebody deleted the log, but not the state file
            state.clear()
            self._progress = TopicProgress()
        self._expect_same(self._progress._replace(offset=self.checkpoint()))
        for found in client.read(*at, self._progress.offset, self.checkpoint()):
            received = [parse_message(raw, self._opener) for raw in self._restored(found)]
            self._put_numbers(received)
            self._put(found, received)

    @property
    def offset(self) -> int:
        """The offset of the next record to append."""
        return self.checkpoint()

    def offset_of(self, position: int) -> int:
        """Return the offset of the message at a position that the log has."""
        offset: int = self._records.rows(position, position + 1)[0][3]
        return offset

    def catch_up(self, until: int) -> None:
        """Append records of the topic until the log ends at position `until`.

        The derived topics already have the events of these messages, so an erasure among them takes effect here, and
        no engine will carry it out later. DamagedLog: the topic ends before `until`.
        """
        for found in self._client.read(*self.at, self.offset, self._client.end(*self.at)):
            start = self.end()
            if start >= until:
                return
            self.append_records(found, limit=until - start, answered=True)
        if self.end() < until:
            raise DamagedLog(f"{self.at} has {self.end()} messages, yet events were made from {until}: it lost its end")

    def read_up_to(self, offset: int) -> None:
        """Append the records before an offset, which is at most the topic's end."""
        self._expect_reached(offset, self._progress)
        for found in self._client.read(*self.at, self.offset, offset):
            self.append_records(found)
        if self.offset < offset:  # only markers of transactions are left
            self.append([], checkpoint=offset)

    def append_records(self, records: Sequence[Raw], *, limit: int | None = None, answered: bool = False) -> None:
        """Append the next records of the partition, without those that the log has already.

        limit: of messages to append, None: all. answered: the derived topics have the events of these messages.
        """
        start = self.offset
        received = [self._received(raw) for raw in self._restored(records) if raw.offset >= start]
        new = list(islice(self._without_duplicates(received), limit))
        if limit is not None and len(new) == limit:
            received = [each for each in received if each.offset <= new[-1].offset] if new else []
        if received:
            self._put_numbers(received)
            start = self.end()
            self._keep(self._dated(new), received[-1].offset + 1, answered=answered)
            self._put([raw for raw in records if raw.offset <= received[-1].offset], received)
            self._note_traces(start, new)

    def _note_traces(self, start: int, new: Sequence[ReceivedMessage]) -> None:
        """Keep the traces that messages from a position on were sent in, where somebody looks at traces."""
        traces = [(position, each.trace) for position, each in enumerate(new, start) if each.trace is not None]
        if traces and tracing.is_on():
            self.note_traces(traces, clock=new[-1].appended_at)

    def _keep(self, drafts: Sequence[Draft], checkpoint: int, *, answered: bool) -> None:
        """Append messages. An answered erasure is carried out before its request is on the log.

        In the other order a crash between the two would leave the group's data for ever: the request would count as
        done.
        """
        begun = 0
        for index, draft in enumerate(drafts):
            if answered and isinstance(draft.event, ErasureRequest | RedactionRequest):
                self.append(drafts[begun:index], checkpoint=draft.cause)
                self._carry_out(draft.event, self.end())
                begun = index
        self.append(drafts[begun:], checkpoint=checkpoint)

    def erase_as_asked(self, position: int) -> None:
        """Carry out the erasure that the message at a position asked for, if the log has that message.

        If it does not yet, what it names is erased when it is appended as an answered one, or by an engine.
        """
        for request in self.read(position, position + 1):
            self._carry_out(request.event, position)

    def _carry_out(self, request: Event, before: int) -> None:
        if isinstance(request, RedactionRequest):
            self.redact(request.group_id, [at for at in request.positions if at < before])
        elif isinstance(request, ErasureRequest):
            self.erase(request.group_id, before=before)

    def _restored(self, records: Iterable[Raw]) -> Iterator[Raw]:
        """Yield records as they were before the topic was rewritten."""
        for raw in records:
            try:
                if (found := restored(raw, self._mark)) is not None:
                    yield found
            except TopicUnfit as error:
                raise TopicUnfit(f"{self.at}, {error}") from None

    def _received(self, raw: Raw) -> ReceivedMessage:
        try:
            received = parse_message(raw, self._opener)
        except DecodeError as error:
            raise DecodeError(f"{self.at}, offset {raw.offset}: {error}") from None
        group = received.message.group_id
        if group and partition_of(group, self._partitions) != self.at.partition:
            reason = f"the group belongs to partition {partition_of(group, self._partitions)}: produce it with its key"
            return received._replace(message=RecordRefused(group_id=group, reason=reason))
        return received

    def _open(self, group: str, context: bytes, value: bytes) -> bytes | None:
        """Open an encrypted message. InvalidInput: nobody who has the keys sent it. KeysUnavailable: they are not here.

        Where the store has the keys of all that was taken of the group, a record of another key is not of this memory.
        """
        records = self._expect_sealer().records
        try:
            return records.open(group, context, value)
        except KeysUnavailable:
            records.expect(group)
            raise InvalidInput("it is not encrypted with a key of this memory") from None

    def _seal(self, sealer: Sealer, envelope: Row, salt: bytes, payload: bytes) -> bytes:
        del salt
        position, group, *_, type_, _ = envelope
        if type_ in NOT_SEALED or not group:
            return payload
        return sealer.records.seal(group, position, self._context(envelope), payload)

    def _destroy_keys(self, group: str, stop: int) -> None:
        """Destroy the keys of a group's messages before a position, here and on the topic."""
        if self._sealer is not None:
            before = self.offset_of(stop) if stop < self.end() else self.offset
            self._sealer.destroy(group, range(stop), *runs_of(self._state.numbers(group, before)))
            self._state.remove_numbers(group, before)

    def _destroy_keys_at(self, group: str, positions: Sequence[int]) -> None:
        """Destroy the keys of some messages of a group, here and on the topic, also of records that repeat them."""
        if self._sealer is not None:
            numbers = self._state.numbers_at(group, [self.offset_of(at) for at in positions])
            self._sealer.destroy(group, *(range(key, key + 1) for key in (*positions, *numbers)))

    def _put_numbers(self, received: Sequence[ReceivedMessage]) -> None:
        self._state.put_numbers((r.offset, r.message.group_id, r.number, r.producer) for r in received if r.number >= 0)

    def _without_duplicates(self, received: Sequence[ReceivedMessage]) -> Iterator[ReceivedMessage]:
        """Yield the messages whose producer did not send them before under the same id."""
        seen = self._state.seen([r.producer for r in received if r.producer])
        for each in received:
            if each.producer is None or each.producer not in seen:
                yield each
            if each.producer is not None:
                seen.add(each.producer)

    def _dated(self, received: Sequence[ReceivedMessage]) -> list[Draft]:
        """Return drafts whose recorded time rises strictly within a group, even if the broker's clock goes back.

        It depends on the group's own records alone, as in every version: a replica that is made anew has to find the
        times with which the derived topics were written. A time on the calendar's last day is taken for the one before,
        so that there is room after it.
        """
        last: dict[str, int] = {}
        drafts = []
        for each in received:
            message: AnyMessage = each.message
            group = message.group_id
            before = last[group] if group in last else self.last_recorded(group)
            last[group] = at = max(min(each.appended_at, _LAST), before + 1)
            drafts.append(Draft(group, at, each.offset, 0, 1, message))
        return drafts

    def _put(self, records: Sequence[Raw], received: Sequence[ReceivedMessage]) -> None:
        last = records[-1]
        self._progress = TopicProgress(offset=last.offset + 1, marked=last.offset, mark=mark_of(last))
        self._state.put(str(self.at), self._progress, (r.producer for r in received if r.producer))


def expect_message(log: SqliteLog, position: int, offset: int) -> None:
    """Check that the message at a position is the one at this offset, if a copy of the topic has one there.

    TopicUnfit: it is another, as records before it are gone from the topic, so that all after them have moved up.
    """
    if 0 <= position < log.end() and (found := log.cause_of(position)) != offset:
        raise TopicUnfit(
            f"{log.path}: message {position} was the record at offset {offset} when events were made of it, and now"
            f" is that at {found}: records before it are gone, as by compaction. Restore the topic, or go on in a"
            " directory that was made before"
        )
