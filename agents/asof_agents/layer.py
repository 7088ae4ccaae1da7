"""A layer: one log and the store that follows it, written together."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby, repeat, takewhile
from operator import itemgetter
from typing import Final, Protocol

from asof_agents.ports import ConsolidationView, EpisodeView
from asof_streams.events import Draft, Event, Record
from asof_streams.log import EventLog

_AS_DRAFT: Final = itemgetter(*map(Record._fields.index, Draft._fields))
_CAUSE: Final = itemgetter(Record._fields.index("cause"))


class LayerStore(Protocol):
    """A store that follows a log, as the engine writes it."""

    def apply(self, records: Sequence[Record]) -> None:
        """Apply records: this store reads them at once, others after `commit`."""
        ...

    def commit(self, position: int, head: bytes, checkpoint: int) -> None:
        """Make the applied records visible; `position` and `head` are the log's end and its chain hash there.

        checkpoint: that of the log, with which readers of two layers see a message in both or in neither.
        """
        ...

    def rollback(self) -> None:
        """Drop the records that were applied since the last commit."""
        ...


class EpisodicStore(LayerStore, EpisodeView, Protocol):
    """A store of the episodic layer."""


class GenerationStore(LayerStore, ConsolidationView, EpisodeView, Protocol):
    """A store of one generation. A generation that extracts anew keeps its own episodic rows there."""


class Layer:
    """One log and the store that follows it, written together."""

    def __init__(self, log: EventLog, store: LayerStore) -> None:
        self.log = log
        self.store = store
        self.checkpoint = self._durable = log.checkpoint()  # the next position of the input log; durable after `flush`
        self._next = self._committed = log.end()
        self._is_behind = False  # whether the store lacks what was appended from `_committed` on
        self._drafts: list[Draft] = []
        self._last_batch: list[Record] = []  # of the last message that caused any, of those that were emitted here

    def emit(self, group: str, recorded_at: int, cause: int, events: Sequence[Event]) -> list[Record]:
        """Buffer the events of one cause as one batch and apply them; return the records that `flush` will append."""
        self.catch_up()
        records = self._number(group, recorded_at, cause, events)
        self._drafts += map(tuple.__new__, repeat(Draft), map(_AS_DRAFT, records))  # without a loop: of every event
        self.store.apply(records)
        if records and self._is_last(cause):
            self._last_batch = records
        return records

    def _is_last(self, cause: int) -> bool:
        """Whether no later message has caused anything: an earlier one may be told again."""
        if self._last_batch:
            return cause >= self._last_batch[0].cause
        return self.log.caused_by(cause) >= self.log.end()

    def batch(self, cause: int) -> list[Record]:
        """Return the records that a message caused, in order; [] if it caused none.

        Of the last message that caused any, and of later ones, this is known without a look into the log.
        """
        if self._last_batch and cause >= self._last_batch[0].cause:
            return self._last_batch if cause == self._last_batch[0].cause else []
        return batch_of(self.log, cause)

    def _number(self, group: str, recorded_at: int, cause: int, events: Sequence[Event]) -> list[Record]:
        """Return the events of one cause as the next records of the log."""
        start, size, make = self._next, len(events), tuple.__new__
        self._next += size
        return [
            make(Record, (start + place, group, recorded_at, cause, place, size, 0, event))
            for place, event in enumerate(events)
        ]

    def apply_ahead(self, group: str, recorded_at: int, cause: int, events: Sequence[Event], behind: int) -> None:
        """Apply the first events of a batch whose others follow from them; `emit` then is to begin with the same.

        behind: how many events of the batch will stand before them.
        """
        start = self._next + behind
        self.store.apply(
            [
                Record(start + place, group, recorded_at, cause, behind + place, len(events), 0, event)
                for place, event in enumerate(events)
            ]
        )

    @property
    def end(self) -> int:
        """The position that the next event will get."""
        return self._next

    def flush(self) -> None:
        """Append the buffered events, then commit the store. After an error neither has them, or the log alone."""
        self.catch_up()
        if not self._drafts and self.checkpoint == self._durable:
            return
        try:
            end = self.log.append(self._drafts, checkpoint=self.checkpoint)
        except BaseException:
            self.store.rollback()
            raise
        self._drafts = []
        self._durable = self.checkpoint
        self._is_behind = True
        self.store.commit(end, self.log.head(end), self.checkpoint)
        self._committed, self._is_behind = end, False

    def catch_up(self) -> None:
        """Let the store follow what it lacks of the log, where its commit failed: to be called before it is read."""
        if self._is_behind:
            self.store.rollback()
            end = self.log.end()
            self.store.apply(list(self.log.read(self._committed, end)))
            self.store.commit(end, self.log.head(end), self.log.checkpoint())
            self._committed, self._is_behind = end, False

    def settle(self) -> None:
        """Wait until whoever reads the log has all that was flushed: here, once `flush` has returned."""

    def roll_back(self) -> None:
        """Drop the events since the last flush."""
        self._drafts, self._last_batch = [], []
        self._next = self.log.end()
        self.checkpoint = self._durable = self.log.checkpoint()
        self.store.rollback()


def batch_of(log: EventLog, cause: int) -> list[Record]:
    """Return the records of an episodic or semantic log that a message caused, by its position."""
    last = next(log.read(max(0, log.end() - 1)), None)
    if last is not None and last.cause == cause:  # so it is mostly, where a message was just written
        return [*log.read(last.position + 1 - last.size, last.position), last]
    for start in log.told(cause):
        if found := list(takewhile(lambda record: record.cause == cause, log.read(start))):
            return found
    return []


def group_batches(records: Iterable[Record]) -> Iterator[list[Record]]:
    """Yield the records of an episodic or semantic log in batches: one for each message that caused events."""
    for _, batch in groupby(records, _CAUSE):
        yield list(batch)
