"""The fence of a derived topic: the records of the writer that holds it stand, in whole batches. Pure.

A topic cannot refuse a writer that was deposed and does not know it yet, so every reader passes its records over: a
record stands if its term is that of the latest claim before it, and if its batch was complete before the next claim.
All readers apply the same rule to the same order, so all see the same log. (The idea is XTDB's: terms in the records,
checked as they are read back.) Of what a writer says of its checkpoint, that of the one who holds the topic counts.
"""

from dataclasses import dataclass, field

from asof_streams.errors import DamagedLog
from asof_streams.kafka.envelope import Checkpoint, Claim, Raw, Sent, read


@dataclass(slots=True)
class Fence:
    """The progress in one topic. It can be stored, and resumed, where no batch is under way."""

    topic: str
    offset: int = 0  # the first record that may still be needed: where its batch began
    position: int = 0  # of the next record to stand
    term: int = 0  # of the latest claim; 0 before the first
    writer: str = ""
    checkpoint: int = 0  # of the input log, as far as the topic was read by this fence
    _batch: list[Sent] = field(default_factory=list)

    def restart(self) -> None:
        """Go on from `offset`: a batch that was under way is read again from its first record."""
        self._batch = []

    def pass_through(self, raw: Raw) -> list[Sent]:
        """Take the next record of the topic; return the batch that is whole by it, if one is."""
        found = read(raw)
        if isinstance(found, Claim):
            self._claimed(found)
        elif isinstance(found, Sent) and found.term == self.term:
            self._expect(raw, found)
            self._batch.append(found)
            if len(self._batch) < found.size:
                return []
            batch, self._batch = self._batch, []
            self.offset, self.position = raw.offset + 1, self.position + len(batch)
            self.checkpoint = max(self.checkpoint, batch[-1].checkpoint or 0)
            return batch
        elif isinstance(found, Checkpoint) and found.term == self.term:
            if self._batch or found.position != self.position:
                raise self._hole(raw, found.position)
            self.checkpoint = max(self.checkpoint, found.checkpoint)
        if not self._batch:
            self.offset = raw.offset + 1
        return []

    def _claimed(self, claim: Claim) -> None:
        if claim.term > self.term:
            self.term, self.writer = claim.term, claim.writer
            self._batch = []  # torn: its writer will never complete it

    def _expect(self, raw: Raw, sent: Sent) -> None:
        """Refuse a hole: one writer sends in order, so a record that does not follow means that others are gone."""
        first = self._batch[0] if self._batch else sent
        expected = (self.position + len(self._batch), len(self._batch), first.cause, first.size)
        if (sent.position, sent.place, sent.cause, sent.size) != expected:
            raise self._hole(raw, sent.position)

    def _hole(self, raw: Raw, position: int) -> DamagedLog:
        expected = self.position + len(self._batch)
        return DamagedLog(
            f"{self.topic}, offset {raw.offset}: event {position} stands where {expected} should;"
            " records of the topic are lost. Restore it, or copy it into a new one and rebuild from the messages topic"
        )
