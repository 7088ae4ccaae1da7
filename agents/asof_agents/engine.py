"""The engine turns messages into episodic events and the semantic events of every generation.

A runtime calls `ingest` for each message, then `flush`. `ingest` is idempotent by position: it skips a message that was
ingested before. Handlers are pure: the engine passes them a view of what is known and applies their events at once, so
that the next message sees them.

Order of writes: `flush` appends the events and the checkpoint to a log in one step, and commits the store after that.
A crash between the two leaves a store behind its log, never ahead of it; the store catches up when it is opened. The
episodic log is flushed before the generations' logs, so a generation may also be behind the episodic log; the next
message, or the next flush, brings it up to date.
"""

import logging
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import groupby
from typing import Protocol

from asof_agents.extraction.ports import Answers
from asof_agents.extraction.registry import ExtractorRegistry
from asof_agents.handlers import entities, episodes, facts, identities, mentions, withdrawals
from asof_agents.handlers.extraction_copy import copy_extraction
from asof_agents.handlers.statement_writer import Build
from asof_agents.outcomes import outcome_counts
from asof_agents.ports import BeliefView, EpisodeView
from asof_agents.resolution.judge import Judge
from asof_streams.episodic import (
    EntityRecorded,
    EpisodeRecorded,
    EpisodeWithdrawn,
    GroupErased,
    IdentityRecorded,
    MessageParked,
)
from asof_streams.errors import InvalidInput
from asof_streams.events import Draft, Event, Record
from asof_streams.log import EventLog
from asof_streams.messages import Message

_log = logging.getLogger(__name__)


class LayerStore(Protocol):
    """A store that follows a log, as the engine writes it."""

    def apply(self, records: Sequence[Record]) -> None:
        """Apply records: this store reads them at once, others after `commit`."""
        ...

    def commit(self, position: int, head: bytes) -> None:
        """Make the applied records visible; `position` and `head` are the log's end and its chain hash there."""
        ...

    def rollback(self) -> None:
        """Drop the records that were applied since the last commit."""
        ...


class EpisodicStore(LayerStore, EpisodeView, Protocol):
    """A store of the episodic layer."""


class GenerationStore(LayerStore, BeliefView, EpisodeView, Protocol):
    """A store of one generation. A generation that extracts anew keeps its own episodic rows there."""


class Layer:
    """One log and the store that follows it, written together."""

    def __init__(self, log: EventLog, store: LayerStore) -> None:
        self.log = log
        self.store = store
        self.checkpoint = log.checkpoint()  # the next position of the input log; durable after `flush`
        self._next = log.end()
        self._drafts: list[Draft] = []

    def emit(self, group: str, recorded_at: int, cause: int, events: Sequence[Event]) -> list[Record]:
        """Buffer the events of one cause as one batch and apply them; return the records that `flush` will append."""
        start, size, make = self._next, len(events), tuple.__new__
        records = [
            make(Record, (start + place, group, recorded_at, cause, place, size, 0, event))
            for place, event in enumerate(events)
        ]
        self._next += size
        self._drafts += [Draft(group, recorded_at, cause, place, size, event) for place, event in enumerate(events)]
        self.store.apply(records)
        return records

    @property
    def end(self) -> int:
        """The position that the next event will get."""
        return self._next

    def flush(self) -> None:
        """Append the buffered events, then commit the store. After an error neither has them."""
        if not self._drafts and self.checkpoint == self.log.checkpoint():
            return
        try:
            end = self.log.append(self._drafts, checkpoint=self.checkpoint)
        except BaseException:
            self.store.rollback()
            raise
        self._drafts = []
        self.store.commit(end, self.log.head(end))

    def roll_back(self) -> None:
        """Drop the events since the last flush."""
        self._drafts = []
        self._next = self.log.end()
        self.checkpoint = self.log.checkpoint()
        self.store.rollback()


@dataclass(slots=True)
class Generation:
    """One generation as the engine writes it.

    extractors, answers: set where the generation extracts anew instead of using the episodic log's mentions.
    judge: asks a language model which entity a name means, where the rules leave it open; None: no model.
    """

    layer: Layer
    store: GenerationStore
    build: Build
    extractors: ExtractorRegistry | None = None
    answers: Answers | None = None
    judge: Judge | None = None

    def ingest(self, batch: Sequence[Record], known: EpisodeView) -> None:
        """Derive the semantic events of one message from its episodic events. Batches come in the log's order."""
        first = batch[0]
        if batch[-1].position < self.layer.checkpoint:
            return
        events: list[Event] = []
        if isinstance(first.event, EpisodeRecorded):
            try:
                events = self._derive(batch, known)
            except InvalidInput as error:
                events = [MessageParked(reason=str(error))]
            if self.judge is not None:
                _log.info("episode %s, %s: %s", first.event.episode_id, self.layer.log.name, outcome_counts(events))
        elif isinstance(first.event, EntityRecorded):
            events += entities.state(first, first.event, self.store)
        elif isinstance(first.event, IdentityRecorded):
            events += identities.state(first, first.event, self.build, self.store)
        elif isinstance(first.event, EpisodeWithdrawn):
            mentioned = known if self.extractors is None else self.store
            events += withdrawals.withdraw(first, first.event, self.build, known, mentioned, self.store)
        elif isinstance(first.event, GroupErased):
            events.append(first.event)
        if events:
            self.layer.emit(first.group, first.recorded_at, first.cause, events)
        self.layer.checkpoint = batch[0].position + batch[0].size

    def _derive(self, batch: Sequence[Record], known: EpisodeView) -> list[Event]:
        batch = self._extracted_anew(batch, known)
        own = [r.event for r in batch[1:]] if self.extractors else []
        speakers = partial(self._speakers, batch[0], known)
        return own + facts.derive_semantic_events(batch, self.build, self.store, speakers, self.judge)

    def _extracted_anew(self, batch: Sequence[Record], known: EpisodeView) -> Sequence[Record]:
        first = batch[0]
        if self.extractors is None or not isinstance(first.event, EpisodeRecorded):
            return batch
        if is_extracted_anew(first.event):
            extractor, build = self.extractors.of(first.event), self.build.digest
            events = mentions.extract(first, extractor, self.answers, known, self.store, build)
        else:
            events = copy_extraction(batch, known, self.store)
        return [first, *(first._replace(event=event) for event in events)]

    def _speakers(self, first: Record, known: EpisodeView) -> Sequence[str]:
        episode = first.event
        if not isinstance(episode, EpisodeRecorded) or episode.source != "message":
            return ()
        roles = [e.role for e in mentions.context(first.group, episode, first.cause, known)]
        return [role for role in (*roles, episode.role) if role]


def is_extracted_anew(episode: EpisodeRecorded) -> bool:
    """Whether extraction anew applies to an episode: not to structured facts, nor where the content was suppressed."""
    return episode.source != "fact" and not episode.suppressed


class Engine:
    """Turns messages into events, one after the other; the module's docstring has the order of its writes.

    erase: called with a group and the position of its erasure request, before the erasure is on any log.
    """

    def __init__(
        self,
        episodic: Layer,
        store: EpisodicStore,
        extractors: ExtractorRegistry,
        generations: Collection[Generation],
        erase: Callable[[str, int], None],
        answers: Answers | None = None,
    ) -> None:
        self.episodic = episodic
        self.store = store
        self.extractors = extractors
        self.generations = generations
        self._erase = erase
        self._answers = answers

    def ingest(self, message: Record) -> None:
        """Ingest one record of the messages log. Positions come in order; one before the checkpoint is skipped."""
        if message.position < self.episodic.checkpoint:
            return
        events = list(episodes.record(message, self.store, self.extractors.ontologies))
        if events and isinstance(events[0], GroupErased):
            self.flush()
            self._erase(message.group, message.position)
        records = self._emit(message, events)
        self.episodic.checkpoint = message.position + 1
        if records:
            for generation in self.generations:
                self._catch_up(generation, records[0].position)
                generation.ingest(records, self.store)

    def _catch_up(self, generation: Generation, stop: int) -> None:
        """Ingest the batches that a generation has missed: a flush may have failed after the episodic log's append."""
        if generation.layer.checkpoint < stop:
            for batch in group_batches(self.episodic.log.read(generation.layer.checkpoint, stop)):
                generation.ingest(batch, self.store)

    def _emit(self, message: Record, events: list[Event]) -> list[Record]:
        if not events:
            return []
        episode = events[0]
        if isinstance(episode, MessageParked):
            _log.info("message %d is parked, its event says why", message.position)
        if isinstance(episode, EpisodeRecorded) and episode.source != "fact":
            recorded = message._replace(event=episode)
            content = message.event.content if isinstance(message.event, Message) else None
            extractor = self.extractors.of(episode)
            try:
                events += mentions.extract(recorded, extractor, self._answers, self.store, self.store, "", content)
            except InvalidInput as error:
                events = [MessageParked(reason=str(error))]
            if self._answers is not None:
                _log.info("episode %s, episodic: %s", episode.episode_id, outcome_counts(events))
        return self.episodic.emit(message.group, message.recorded_at, message.position, events)

    def flush(self) -> None:
        """Make the events of all ingested messages durable, then visible."""
        self.episodic.flush()
        for generation in self.generations:
            self._catch_up(generation, self.episodic.end)
            generation.layer.flush()

    def roll_back(self) -> None:
        """Drop the events since the last flush, after an error; the next `ingest` begins with that message again."""
        self.episodic.roll_back()
        for generation in self.generations:
            generation.layer.roll_back()


def group_batches(records: Iterable[Record]) -> Iterator[list[Record]]:
    """Yield the records of an episodic or semantic log in batches: one for each message that caused events."""
    for _, batch in groupby(records, key=lambda r: r.cause):
        yield list(batch)
