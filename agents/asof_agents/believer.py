"""A believer follows the episodic log and derives the beliefs of one generation from it, message after message."""

from collections.abc import Callable, Iterator, Sequence

from asof_agents.engine import ingest_batch
from asof_agents.extraction.llm.journal import Journal
from asof_agents.generation import Generation
from asof_agents.layer import group_batches
from asof_agents.parking import warn_of_failures
from asof_agents.ports import EpisodeView
from asof_agents.prefetcher import prefetch_batches
from asof_streams.episodic import GroupErased, MessageParked, MessageRetried
from asof_streams.events import Event, Record
from asof_streams.log import EventLog


class Believer:
    """One generation beside the episodic log that another process may write; what it knows of may be further.

    erase: called with a group, and the position of the message that asked for its erasure, before that is on the
    generation's log.
    """

    def __init__(
        self,
        generation: Generation,
        episodic: EventLog,
        episodes: EpisodeView,
        erase: Callable[[str, int], None],
        journal: Journal | None = None,
    ) -> None:
        self._generation = generation
        self._episodic = episodic
        self._episodes = episodes
        self._erase = erase
        self._journal = journal
        self._batch: Sequence[Record] = ()

    @property
    def checkpoint(self) -> int:
        """The position of the next episodic event to read."""
        return self._generation.layer.checkpoint

    def messages(self, stop: int) -> Iterator[Record]:
        """Yield the first record of each message that is not ingested yet and stands before a position."""
        batches = group_batches(self._episodic.read(self.checkpoint, stop))
        if self._journal is not None and self._generation.extractors is not None:
            batches = prefetch_batches(batches, self._generation, self._episodes, self._journal)
        for self._batch in batches:
            yield self._batch[0]

    def ingest(self, message: Record) -> None:
        """Derive the beliefs of a message, given its first record."""
        erases = isinstance(message.event, GroupErased)
        if erases:
            self._generation.layer.flush()
            self._erase(message.group, message.cause)
        ingest_batch(self._generation, self._batch_of(message), self._episodes)
        if erases:  # alone, so that a crash cannot keep it without how far this has read: earlier causes follow it
            self._generation.layer.flush()

    def park(self, message: Record, reason: str) -> None:
        """Record, in the place of its beliefs, that a message was given up."""
        events: list[Event] = [MessageParked(reason=reason)]
        if isinstance(message.event, MessageRetried):
            events = [message.event, MessageParked(reason=reason, position=message.event.position)]
        layer = self._generation.layer
        warn_of_failures(message.cause, layer.log.name, events)
        layer.emit(message.group, message.recorded_at, message.cause, events)
        layer.checkpoint = message.position + message.size

    def flush(self, stop: int | None = None) -> None:
        """Make all that was derived durable, then visible; `stop`: a position before which all was ingested."""
        layer = self._generation.layer
        layer.checkpoint = max(layer.checkpoint, stop or 0)
        layer.flush()
        if self._journal is not None:
            self._journal.discard_recorded()

    def roll_back(self) -> None:
        """Drop all since the last flush."""
        self._generation.layer.roll_back()

    def _batch_of(self, message: Record) -> Sequence[Record]:
        if self._batch and self._batch[0].position == message.position:
            return self._batch
        return list(self._episodic.read(message.position, message.position + message.size))
