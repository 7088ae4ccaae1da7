"""A derived log on Kafka, episodic or semantic: the batches of its topic that stand, appended by one writer."""

import logging
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Final

from asof_streams.chain import Row
from asof_streams.conversation import ReplyErased
from asof_streams.episodic import GroupErased, MessageParked
from asof_streams.errors import DecodeError, TopicUnfit, WriterBusy
from asof_streams.events import Draft, Event, Record, decode, event_class
from asof_streams.kafka.client import Client, SentRun
from asof_streams.kafka.envelope import Claim, Outgoing, Raw, Sent, checkpoint_reached, claim, event, read, seal
from asof_streams.kafka.fence import HIGHEST, Fence
from asof_streams.kafka.messages_topic import expect_message
from asof_streams.kafka.state import State, TopicProgress, mark
from asof_streams.kafka.topic_log import PartitionId, TopicLog
from asof_streams.messages import RedactionRequest
from asof_streams.record_sealer import is_sealed_record
from asof_streams.sealer import NOT_SEALED, Sealer
from asof_streams.sqlite_log import EncodedDraft, EncodedEvent, SqliteLog, expect_checkpoint

_log = logging.getLogger(__name__)

_ERASING: Final = frozenset({GroupErased.type, ReplyErased.type})

Park = Callable[[Sequence[tuple[int, str]]], None]
"""Takes (position of a message, why it was parked) before the log says so."""

Forget = Callable[[str, int], None]
"""Takes (a group, the position of the message that asked for its erasure) before the log keeps that it is erased."""


class EventTopic(TopicLog):
    """The copy of a derived log. Anyone may catch up; the writer that has claimed it may append.

    What is appended goes to the topic first, and is kept only when it stands there. `source` is the log that this one
    is made from: its positions are what the checkpoint counts. A checkpoint that no event carries goes to the topic as
    a record of its own, so that every reader knows how far the source was read. `forget` is told of every erasure that
    others wrote. `partitions`: that the messages topic has, which may not be another number than when this was written.
    """

    def __init__(
        self,
        path: Path,
        at: PartitionId,
        client: Client,
        state: State,
        source: SqliteLog,
        park: Park,
        forget: Forget,
        partitions: int,
    ) -> None:
        super().__init__(path, at, client, state)
        self._partitions: Final = partitions
        self._source: Final = source
        self._is_of_messages: Final = source.name == "messages"  # of which the cause is the offset
        self._park = park
        self._forget = forget
        self._progress = state.progress(str(at))
        forged = self._progress.term > HIGHEST and not self._progress.named  # a claim that an earlier version took
        if forged or self._progress.position > self.end():  # or the log was deleted beside it
            self._progress = TopicProgress()
        self._expect_same(self._progress)
        self._fence = Fence(str(at), *self._progress[:4], named=bool(self._progress.named))
        self._cause = self._progress.cause, self._progress.caused_at
        self._reached = self._progress.reached, self._progress.reached_at  # a position of the source, and its offset
        self._noted = (-1, -1)
        self._mine = False

    @property
    def offset(self) -> int:
        """The offset of the first record that may still be needed."""
        return self._fence.offset

    def catch_up(self, end: int | None = None) -> None:
        """Copy the batches that have come to stand since the last time; `end`: the topic's end, if that is known."""
        if end is None:
            end = self._client.end(*self.at)
        self._expect_reached(end, self._progress)
        self._fence.restart()
        for found in self._client.read(*self.at, self.offset, end):
            self.append_records(found)
        if self._fence.position < self.end():
            raise self._another(self._progress, f"{self._fence.position} events stand in it, {self.end()} were read")

    def append_records(self, found: Sequence[Raw]) -> None:
        """Copy the batches that stand among more records, which must be the next ones."""
        stands: list[Sent] = []
        for raw in found:
            stands += self._fence.pass_through(raw)
        expect_partitions(str(self.at), self._fence.partitions, self._partitions)
        self._report_refused()
        self._cause = next(((sent.cause, sent.offset) for sent in reversed(stands) if sent.offset >= 0), self._cause)
        end = self.end()
        self._keep([sent for sent in stands if sent.position >= end])
        if self._fence.checkpoint_offset >= 0:
            self._reached = self._fence.checkpoint, self._fence.checkpoint_offset
        if self._fence.checkpoint > self.checkpoint():
            super().append([], checkpoint=self._fence.checkpoint)
        if found:
            self._put(found[-1])

    def _report_refused(self) -> None:
        if refused := self._fence.refused:
            _log.warning(
                "%s: %d records that no worker wrote are passed over; the first is at offset %d: %s."
                " Only workers should be allowed to write there",
                *(self.at, len(refused), *refused[0]),
            )
            refused.clear()

    def _keep(self, new: Sequence[Sent]) -> None:
        """Append them as sent. An erasure takes effect before it is kept, or a crash could leave it undone."""
        begun = 0
        for index, sent in enumerate(new):
            if sent.type in _ERASING:
                self._append_sent(new[begun:index])
                self._erase_as_sent(sent)
                begun = index
        self._append_sent(new[begun:])

    def _erase_as_sent(self, sent: Sent) -> None:
        self._forget(sent.group, sent.cause)
        if sent.type == GroupErased.type:
            self.erase(sent.group)
        else:
            self.redact(sent.group, ReplyErased.model_validate_json(sent.payload).positions)

    def _append_sent(self, new: Sequence[Sent]) -> None:
        if not new:
            return
        for type_, version in {(sent.type, sent.version) for sent in new}:
            self._expect_known(type_, version, new)
        checkpoints = [sent.checkpoint for sent in new if sent.checkpoint is not None]
        with self._writing() as head:
            drafts = [(s.group, s.recorded_at, s.cause, s.place, s.size, s) for s in new]
            self._write(head, drafts, max([head.checkpoint, *checkpoints]))

    # Writing.

    def take_over(self, writer: str) -> None:
        """Become the one writer of the topic; `writer` is a name that no other has. Whoever was, is deposed."""
        self.catch_up()
        while self._fence.writer != writer:
            self._client.send(*self.at, [claim(self.name, self._fence.term + 1, writer, self._partitions)])
            self.catch_up()
        self._mine = True

    def expect_source(self) -> None:
        """Check that the messages still have the positions from which the events were made. TopicUnfit: they do not."""
        if self._is_of_messages:
            expect_message(self._source, *self._cause)
            position, offset = self._reached
            expect_message(self._source, position - 1, offset - 1)

    def expect_input(self, input_: PartitionId) -> None:
        """Check that the episodic topic still has, where this was derived up to, the event before it.

        TopicUnfit: it has another there, or none.
        """
        position, offset = self._reached
        if position <= 0 or offset <= 0:
            return
        lies_there = offset <= self._client.end(*input_)
        raw = self._client.read_one(*input_, offset - 1) if lies_there else None
        found = read(raw) if raw is not None else None
        if isinstance(found, Claim):
            return
        after = found.position + isinstance(found, Sent) if found is not None else -1
        if after != position:
            raise TopicUnfit(
                f"{input_}: event {position - 1} stood before offset {offset} when {self.at} was derived from it, and"
                f" now {'nothing' if found is None else f'event {after - 1}'} does. Restore the topic"
            )

    def note_input(self, position: int, offset: int) -> None:
        """Know at which offset of the source's topic a position stands: the checkpoint there will tell it."""
        self._noted = position, offset

    def _offset_of(self, checkpoint: int) -> int:
        """Return the offset of the source's topic to go on from at a checkpoint; -1: it is not known."""
        if self._is_of_messages:
            return self._source.cause_of(checkpoint - 1) + 1 if 0 < checkpoint <= self._source.end() else -1
        return self._noted[1] if self._noted[0] == checkpoint else -1

    def last_cause(self) -> int:
        """Return the position of the last message that this log has an answer to; -1 where it has none."""
        end = self.end()
        cause: int = self._records.rows(end - 1, end)[0][3] if end else -1
        return cause

    def go_on(self) -> None:
        """Move the checkpoint behind all that was answered: a writer may have stopped within an append.

        The topic is told, where it does not say so already: one that an older version wrote has such gaps. Where a
        group is told again, later causes come before earlier ones, so there only what the topic says counts.
        """
        last, checkpoint = self.last_cause(), self.checkpoint()
        of_messages = self._is_of_messages
        for record in self._source.read(checkpoint) if of_messages or not self._ends_erased() else ():
            if (record.position if of_messages else record.cause) > last or _is_told_again(record.event):
                break
            checkpoint = record.position + 1
        self.append([], checkpoint=checkpoint)

    def _ends_erased(self) -> bool:
        """Whether the last event is the erasure of a group, which says itself how far its writer had read."""
        end = self.end()
        return end > 0 and self._records.rows(end - 1, end)[0][7] == GroupErased.type

    def of_group(self, group: str) -> Iterator[Record]:
        """Yield the records of a group that are not erased, in order.

        Where a writer stopped while it told the group again, they are those from before, as the topic still has them.
        """
        records = list(super().of_group(group))
        begun = next((r for r in records if isinstance(r.event, GroupErased) and r.cause >= self.checkpoint()), None)
        yield from records if begun is None else self._on_topic(group, begun.position)

    def _on_topic(self, group: str, stop: int) -> Iterator[Record]:
        """Yield the records of a group before a position, as the topic has them, whose key is not destroyed."""
        fence = Fence(str(self.at))
        for found in self._client.read(*self.at, 0, self._fence.offset):
            for sent in chain.from_iterable(map(fence.pass_through, found)):
                if sent.group == group and sent.position < stop and (payload := self._payload_of(sent)) is not None:
                    event_ = decode(sent.type, sent.version, payload)
                    yield Record(sent.position, *sent[1:6], sent.term, event_)

    def _payload_of(self, sent: Sent) -> bytes | None:
        """Return the payload of an event of the topic in the clear; None: it is empty, or its key is destroyed."""
        if not sent.payload:
            return None
        if not is_sealed_record(sent.payload):
            return sent.payload
        envelope = (sent.position, *sent[1:6], sent.term, sent.type, sent.version)
        return self._expect_sealer().records.open(sent.group, self._context(envelope), sent.payload)

    def append(self, drafts: Sequence[Draft], *, checkpoint: int) -> int:
        if not drafts and checkpoint <= self._fence.checkpoint:
            return super().append(drafts, checkpoint=checkpoint)
        if not self._mine:
            raise WriterBusy(f"{self.at}: not taken over, or lost; open it again")
        self._mine = False  # after any error it is unknown what stands, until it is taken over again
        if parked := [
            _parked(d.cause, d.event) for d in drafts if isinstance(d.event, MessageParked) if self._is_new(d)
        ]:
            self._park(parked)
        reached_at = self._offset_of(checkpoint)
        records = self._records_of(drafts, checkpoint, reached_at)
        fence = self._fence
        control = checkpoint_reached(self.name, fence.position, fence.term, checkpoint, fence.writer, reached_at)
        with self._writing() as head:  # kept while it is on its way, and for good when it stands
            expect_checkpoint(self.name, checkpoint, head)
            sent = self._client.begin_send(*self.at, records or [control])
            end = self._write(head, _as_sent(drafts, records), checkpoint).position
            self._expect_to_stand(sent(), len(drafts))
        self._fence.checkpoint = checkpoint
        if reached_at >= 0:
            self._reached = checkpoint, reached_at
        self._put()
        self._mine = True
        return end

    def _is_new(self, draft: Draft) -> bool:
        """Whether an episodic event is not told again; of beliefs nobody knows."""
        return not self._is_of_messages or draft.cause >= self.checkpoint()

    def _records_of(self, drafts: Sequence[Draft], checkpoint: int, reached_at: int) -> list[Outgoing]:
        fence, last, records = self._fence, len(drafts) - 1, list[Outgoing]()
        for i, draft in enumerate(drafts):
            if self._is_of_messages and draft.cause not in (-1, self._cause[0]):
                self._cause = draft.cause, self._source.cause_of(draft.cause)
            offset = self._cause[1] if draft.cause == self._cause[0] else -1
            told, told_at = (checkpoint, reached_at) if i == last else (None, -1)
            sent = event(self.name, fence.position + i, draft, fence.term, told, fence.writer, offset, told_at)
            records.append(self._encrypted(draft, sent))
        return records

    def _encrypted(self, draft: Draft, record: Outgoing) -> Outgoing:
        """Return a record as it is sent where content is encrypted; what concerns a generation alone is of no group."""
        if self._sealer is None or not draft.group or draft.cause < 0 or draft.event.type in NOT_SEALED:
            return record
        return seal(record, partial(self._sealer.records.seal, draft.group, draft.cause))

    def _seal(self, sealer: Sealer, envelope: Row, salt: bytes, payload: bytes) -> bytes:
        """Return a payload as it is on the topic."""
        del sealer, envelope, salt
        return payload

    def _expect_to_stand(self, runs: Sequence[SentRun], count: int) -> None:
        """Go on from where the records came to stand. WriterBusy: they do not, since another has taken over."""
        offset = self._fence.offset
        for run in runs:
            if run.offset != offset:
                self._read_back(self._fence.position + count)
                return
            offset += run.size
        self._fence.offset, self._fence.position = offset, self._fence.position + count

    def _read_back(self, end: int) -> None:
        """Catch up: another writer has appended meanwhile."""
        term = self._fence.term
        for found in self._client.read(*self.at, self._fence.offset, self._client.end(*self.at)):
            for raw in found:
                self._fence.pass_through(raw)
        if self._fence.term != term or self._fence.position != end:
            raise WriterBusy(f"{self.at}: another worker has taken over; this one must stop")

    def _put(self, last: Raw | None = None) -> None:
        """Keep how far the topic is read, and a mark of the last record read."""
        fence, before = self._fence, self._progress
        marked = (before.marked, before.mark) if last is None else (last.offset, mark(last))
        self._progress = TopicProgress(
            fence.offset, fence.position, fence.term, fence.writer, *marked, fence.named, *self._cause, *self._reached
        )
        self._state.put(str(self.at), self._progress)

    def _expect_known(self, type_: str, version: int, new: Sequence[Sent]) -> None:
        try:
            event_class(type_, version)
        except DecodeError as error:
            first = next(sent.position for sent in new if (sent.type, sent.version) == (type_, version))
            raise DecodeError(f"{self.at}, event {first}: {error}") from None


def expect_partitions(written: str, then: int, now: int) -> None:
    """Refuse topics that have another number of partitions now than when this was written. TopicUnfit: they have."""
    if then not in (0, now):
        raise TopicUnfit(
            f"{written} was written when there were {then} partitions, and now there are {now}: groups live elsewhere"
            " than their history. The number stays: take new topics"
            f" (asof topics create --prefix NAME --partitions {now}), and replay into them what a directory has, for"
            f" each partition P (asof replay kafka://HOST:PORT/NAME.messages --log messages --data DIR --partition P)"
        )


def _is_told_again(event: Event) -> bool:
    """Whether a message has its group told again, which is answered once the topic says so, and not before."""
    return isinstance(event, RedactionRequest) and bool(event.positions)


def _parked(cause: int, event: MessageParked) -> tuple[int, str]:
    """Return the position of a message that was parked, by itself or by its retry, and the reason."""
    return cause if event.position is None else event.position, event.reason


def _as_sent(drafts: Sequence[Draft], records: Sequence[Outgoing]) -> list[EncodedDraft]:
    return [
        (*draft[:5], EncodedEvent(draft.event.type, draft.event.version, record.value or b""))
        for draft, record in zip(drafts, records, strict=True)
    ]
