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
from itertools import groupby, takewhile
from typing import Protocol

from asof_agents.extraction.ports import Answers
from asof_agents.extraction.registry import ExtractorRegistry
from asof_agents.handlers import entities, episodes, facts, identities, mentions, withdrawals
from asof_agents.handlers.extraction_copy import copy_extraction
from asof_agents.handlers.statement_writer import Build
from asof_agents.outcomes import outcome_counts
from asof_agents.ports import BeliefView, EpisodeView
from asof_agents.resolution.judge import Judge
from asof_agents.unexpected import park_if_unexpected
from asof_streams.episodic import (
    EntityRecorded,
    EpisodeRecorded,
    EpisodeWithdrawn,
    ExtractionAnswered,
    ExtractionFailed,
    GroupErased,
    IdentityRecorded,
    MessageParked,
    MessageRetried,
)
from asof_streams.events import Draft, Event, Record
from asof_streams.log import EventLog
from asof_streams.messages import ErasureRequest, Message, RetryRequest

_log = logging.getLogger(__name__)


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
        self.store.commit(end, self.log.head(end), self.checkpoint)

    def roll_back(self) -> None:
        """Drop the events since the last flush."""
        self._drafts = []
        self._next = self.log.end()
        self.checkpoint = self.log.checkpoint()
        self.store.rollback()


@dataclass(slots=True)
class Generation:
    """One generation as the engine writes it.

    recorded: returns the records of the episodic log that a message caused, by its position.
    extractors, answers: set where the generation extracts anew instead of using the episodic log's mentions.
    judge: asks a language model which entity a name means, where the rules leave it open; None: no model.
    """

    layer: Layer
    store: GenerationStore
    build: Build
    recorded: Callable[[int], list[Record]]
    extractors: ExtractorRegistry | None = None
    answers: Answers | None = None
    judge: Judge | None = None

    def ingest(self, batch: Sequence[Record], known: EpisodeView) -> None:
        """Derive the semantic events of one message from its episodic events. Batches come in the log's order."""
        first = batch[0]
        if batch[-1].position < self.layer.checkpoint:
            return
        if isinstance(first.event, MessageRetried):
            self.layer.flush()
            events = self._retry(batch, first.event.position, known)
        else:
            events = park_if_unexpected(partial(self._derive, batch, known))
        if events:
            warn_of_failures(first.cause, self.layer.log.name, events)
            self.layer.emit(first.group, first.recorded_at, first.cause, events)
        self.layer.checkpoint = batch[0].position + batch[0].size

    def _derive(self, batch: Sequence[Record], known: EpisodeView) -> list[Event]:
        first = batch[0]
        events: list[Event] = []
        if isinstance(first.event, EpisodeRecorded):
            events = self._derive_facts(batch, known)
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
        return events

    def _retry(self, batch: Sequence[Record], position: int, known: EpisodeView) -> list[Event]:
        """Return the events of a retry of the message at a position; none where it was neither parked nor failed here.

        A parked message is derived as if it came only now; of one for which a model had failed, what the model adds.
        """
        first, added = batch[0], batch[1:]
        unsettled = self.store.unsettled(position)
        if added and isinstance(added[0].event, MessageParked):
            return []
        if added and not isinstance(added[0].event, ExtractionAnswered | ExtractionFailed):
            again = park_if_unexpected(partial(self._derive, added, known))
        elif "parked" in unsettled:
            before = self._before(first.group, position, known)
            records = [first._replace(event=record.event) for record in before]
            again = park_if_unexpected(partial(self._derive, [*records, *added], known)) if before else []
        elif added or (unsettled and self.answers is not None):
            again = park_if_unexpected(partial(self._derive_more, batch, position, known))
        else:
            return []
        return [MessageRetried(position=position), *of_message(position, again)] if again or unsettled else []

    def _derive_more(self, batch: Sequence[Record], position: int, known: EpisodeView) -> list[Event]:
        """Return what a model adds to a message that was processed without it."""
        before = self._before(batch[0].group, position, known)
        if not before or not isinstance(before[0].event, EpisodeRecorded):
            return []
        episode = before[0].event
        first = batch[0]._replace(event=episode)
        if known.withdrawn(episode.episode_id):
            return []
        added, own = [record.event for record in batch[1:]], []
        if self.extractors is not None:
            before = [
                before[0],
                *(r for r in batch_of(self.layer.log, before[0].cause) if not isinstance(r.event, MessageRetried)),
            ]
            stated = [record.event for record in before]
            extractor, build = self.extractors.of(episode), self.build.digest
            own = mentions.extract(first, extractor, self.answers, known, self.store, build, stated=stated)
            added = own
        speakers = partial(self._speakers, first, known)
        more = facts.derive_semantic_events_of_retry(first, added, before, self.build, self.store, speakers, self.judge)
        return [*own, *more]

    def _before(self, group: str, position: int, known: EpisodeView) -> list[Record]:
        """Return the episodic records of a message, from its first processing that came to something."""
        episode = known.episode(episodes.episode_id(group, position))
        records = self.recorded(position if episode is None else episode.position)
        return [record for record in records if not isinstance(record.event, MessageRetried | MessageParked)]

    def _derive_facts(self, batch: Sequence[Record], known: EpisodeView) -> list[Event]:
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
    messages: returns a message by its position as its producer knows it, on Kafka its offset; None: there is none.
    """

    def __init__(
        self,
        episodic: Layer,
        store: EpisodicStore,
        extractors: ExtractorRegistry,
        generations: Collection[Generation],
        erase: Callable[[str, int], None],
        messages: Callable[[int], Record | None],
        answers: Answers | None = None,
    ) -> None:
        self.episodic = episodic
        self.store = store
        self.extractors = extractors
        self.generations = generations
        self._erase = erase
        self._message = messages
        self._answers = answers

    def ingest(self, message: Record) -> None:
        """Ingest one record of the messages log. Positions come in order; one before the checkpoint is skipped."""
        if message.position < self.episodic.checkpoint:
            return
        if isinstance(message.event, ErasureRequest | RetryRequest):
            self.flush()
        if isinstance(message.event, ErasureRequest):
            self._erase(message.group, message.position)
        if isinstance(message.event, RetryRequest):
            events = self._retry(message, message.event.position)
        else:
            events = park_if_unexpected(partial(self._record, message, message))
        warn_of_failures(message.position, self.episodic.log.name, events)
        emitted = self.episodic.emit(message.group, message.recorded_at, message.position, events) if events else []
        self.episodic.checkpoint = message.position + 1
        if emitted:
            for generation in self.generations:
                self._catch_up(generation, emitted[0].position)
                generation.ingest(emitted, self.store)

    def _catch_up(self, generation: Generation, stop: int) -> None:
        """Ingest the batches that a generation has missed: a flush may have failed after the episodic log's append."""
        if generation.layer.checkpoint < stop:
            for batch in group_batches(self.episodic.log.read(generation.layer.checkpoint, stop)):
                generation.ingest(batch, self.store)

    def _record(self, message: Record, now: Record) -> list[Event]:
        """Return the episodic events of a message; `now`: the record that causes them, the message or its retry."""
        events = list(episodes.record(message, self.store, self.extractors.ontologies))
        if events and isinstance(episode := events[0], EpisodeRecorded) and episode.source != "fact":
            recorded = now._replace(event=episode, cause=now.position)
            content = message.event.content if isinstance(message.event, Message) else None
            extractor = self.extractors.of(episode)
            events += mentions.extract(recorded, extractor, self._answers, self.store, self.store, "", content)
            if self._answers is not None:
                _log.info("episode %s, episodic: %s", episode.episode_id, outcome_counts(events))
        return events

    def _retry(self, now: Record, position: int) -> list[Event]:
        """Return the episodic events of a retry: that it is one, and what comes of a message that was parked here.

        None, where no such message of the group is left; where its content was suppressed, so that nothing can read it
        again; or where a model had failed, and none is set now.
        """
        message = self._message(position)
        if message is None or message.group != now.group or isinstance(message.event, RetryRequest | ErasureRequest):
            return []
        unsettled = self.store.unsettled(message.position)
        if unsettled and isinstance(message.event, Message) and message.event.suppress_content:
            return []
        if "failed" in unsettled and self._answers is None:
            return []
        events: list[Event] = []
        if "parked" in unsettled:
            events = park_if_unexpected(partial(self._record, message, now))
        elif "failed" in unsettled:
            events = park_if_unexpected(partial(self._extract_more, message, now))
        return [MessageRetried(position=message.position), *of_message(message.position, events)]

    def _extract_more(self, message: Record, now: Record) -> list[Event]:
        """Return what a model adds to the extraction of a message that was extracted without it."""
        row = self.store.episode(episodes.episode_id(message.group, message.position))
        before = [] if row is None else batch_of(self.episodic.log, row.position)
        stated = [record.event for record in before]
        episode = next((event for event in stated if isinstance(event, EpisodeRecorded)), None)
        if episode is None or self.store.withdrawn(episode.episode_id):
            return []
        recorded = now._replace(event=episode, cause=now.position)
        extractor = self.extractors.of(episode)
        return mentions.extract(recorded, extractor, self._answers, self.store, self.store, "", stated=stated)

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


def batch_of(log: EventLog, cause: int) -> list[Record]:
    """Return the records of an episodic or semantic log that a message caused, by its position."""
    records = log.read(log.caused_by(cause))
    return list(takewhile(lambda record: record.cause == cause, records))


def of_message(position: int, events: Iterable[Event]) -> list[Event]:
    """Return the events of a retry: those that say that it failed name the position of the message."""
    return [
        event.model_copy(update={"position": position})
        if isinstance(event, MessageParked | ExtractionFailed)
        else event
        for event in events
    ]


def warn_of_failures(position: int, log: str, events: Iterable[Event]) -> None:
    """Write a warning for each failure among the events of a message: its position and the class of the reason."""
    for event in events:
        if isinstance(event, MessageParked):
            _log.warning("message %d is parked in %s: %s", position, log, event.reason.partition(": ")[0])
        elif isinstance(event, ExtractionFailed):
            _log.warning("message %d, %s: %s failed: %s", position, log, event.prompt, event.reason)


def group_batches(records: Iterable[Record]) -> Iterator[list[Record]]:
    """Yield the records of an episodic or semantic log in batches: one for each message that caused events."""
    for _, batch in groupby(records, key=lambda r: r.cause):
        yield list(batch)
