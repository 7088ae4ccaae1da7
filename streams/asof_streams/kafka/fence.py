"""The fence of a derived topic: the records of the writer that holds it stand, in whole batches. Pure.

A topic cannot refuse a writer that was deposed and does not know it yet, so every reader passes its records over: a
record stands if its term is that of the latest claim before it, and if its batch was complete before the next claim.
All readers apply the same rule to the same order, so all see the same log. (The idea is XTDB's: terms in the records,
checked as they are read back.) Of what a writer says of its checkpoint, that of the one who holds the topic counts.

Nor can a topic refuse what no worker wrote, forged or copied. A claim stands only if its term is near the latest, or a
forged one could use all terms up; a writer is known by its name, which it puts on each record; and a record whose
position was taken already is a copy. The fence passes all of these over, and keeps what it refused, for the log.
"""

from dataclasses import dataclass, field
from typing import Final, NamedTuple

from asof_streams.errors import DamagedLog
from asof_streams.kafka.envelope import Checkpoint, Claim, Raw, Sent, read

LEAP: Final = 1_000  # a writer claims the next term; compaction that was on for a while may have taken some claims
HIGHEST: Final = (
    2**62
)  # that is claimed on a topic of an earlier version, which took any; takeovers count on from there


class RefusedRecord(NamedTuple):
    """A record that no worker of asof wrote, and how that shows."""

    offset: int
    reason: str


@dataclass(slots=True)
class Fence:
    """The progress in one topic. It can be stored, and resumed, where no batch is under way."""

    topic: str
    offset: int = 0  # the first record that may still be needed: where its batch began
    position: int = 0  # of the next record to stand
    term: int = 0  # of the latest claim; 0 before the first
    writer: str = ""
    named: bool = False  # whether the records of that writer bear its name
    checkpoint: int = 0  # of the input log, as far as the topic was read by this fence
    checkpoint_offset: int = -1  # the same as an offset of the input topic; -1: it is not told
    partitions: int = 0  # of the messages topic, as the latest claim read by this fence has it; 0: none says so
    refused: list[RefusedRecord] = field(default_factory=list)  # since somebody took note of it, and cleared it
    _batch: list[Sent] = field(default_factory=list)

    def restart(self) -> None:
        """Go on from `offset`: a batch that was under way is read again from its first record."""
        self._batch = []

    def pass_through(self, raw: Raw) -> list[Sent]:
        """Take the next record of the topic; return the batch that is whole by it, if one is."""
        found = read(raw)
        if isinstance(found, Claim):
            self._claimed(raw, found)
        elif found is not None and self._is_next(raw, found):
            if isinstance(found, Checkpoint):
                self._reached(found.checkpoint, found.checkpoint_offset)
            else:
                self._batch.append(found)
                if len(self._batch) == found.size:
                    return self._whole(raw)
        if not self._batch:
            self.offset = raw.offset + 1
        return []

    def _whole(self, raw: Raw) -> list[Sent]:
        batch, self._batch = self._batch, []
        self.offset, self.position = raw.offset + 1, self.position + len(batch)
        self._reached(batch[-1].checkpoint or 0, batch[-1].checkpoint_offset)
        return batch

    def _reached(self, checkpoint: int, offset: int) -> None:
        if checkpoint >= self.checkpoint:
            self.checkpoint, self.checkpoint_offset = checkpoint, offset

    def _claimed(self, raw: Raw, claim: Claim) -> None:
        if claim.term > max(self.term + 1, self.term + LEAP if self.named else HIGHEST):
            self._refuse(raw, "it claims a term far from the latest")
        elif claim.term > self.term:
            self.term, self.writer, self.named, partitions = claim
            self.partitions = partitions or self.partitions
            self._batch = []  # torn: its writer will never complete it

    def _is_next(self, raw: Raw, found: Sent | Checkpoint) -> bool:
        """Whether a record is the next one of the writer that holds the topic. DamagedLog: others before it are gone.

        One writer sends in order, so a position that is too high means a hole. No loss leaves one that is too low, or
        another batch at the right one.
        """
        if found.term < self.term:  # of a writer that was deposed
            return False
        if found.term > self.term:
            return self._refuse(raw, "its term was not claimed")
        if self.named and found.writer != self.writer:
            return self._refuse(raw, "it does not bear the name of the writer that holds the topic")
        expected = self.position + len(self._batch)
        if found.position < expected:
            return self._refuse(raw, "another record has its position")
        if found.position > expected or (isinstance(found, Checkpoint) and self._batch):
            raise self._hole(raw, found.position)
        return isinstance(found, Checkpoint) or self._continues(found) or self._refuse(raw, "it is of no batch")

    def _continues(self, sent: Sent) -> bool:
        count, first = len(self._batch), (self._batch or [sent])[0]
        return sent.size > count and (sent.place, sent.cause, sent.size) == (count, first.cause, first.size)

    def _refuse(self, raw: Raw, reason: str) -> bool:
        self.refused.append(RefusedRecord(raw.offset, reason))
        return False

    def _hole(self, raw: Raw, position: int) -> DamagedLog:
        expected = self.position + len(self._batch)
        return DamagedLog(
            f"{self.topic}, offset {raw.offset}: event {position} stands where {expected} should;"
            " records of the topic are lost. Restore it, or copy it into a new one and rebuild from the messages topic"
        )
