"""The engine: messages in, episodic events and the semantic events of every generation out. All that a runtime calls.

`ingest` is idempotent by position: a message already taken is skipped. Handlers are pure; the engine gives them what is
known, appends what they say and applies it, so that the next message sees it. Nothing is visible to others before
`flush`, which appends each log with its checkpoint first and commits its store after: a store can only be behind its
log, and catches up.
"""

import logging
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import groupby
from typing import Final, Protocol

from asof_agents.extraction.ports import Answers
from asof_agents.extraction.registry import Readers
from asof_agents.handlers import entities, episodes, facts, mentions, withdrawals
from asof_agents.handlers.extraction_copy import copy_extraction
from asof_agents.handlers.statement_writer import Build
from asof_agents.outcomes import outcome
from asof_agents.ports import BeliefView, EpisodeView
from asof_agents.resolution.judge import Judge
from asof_streams.episodic import EntityRecorded, EpisodeRecorded, EpisodeWithdrawn, GroupErased, MessageParked
from asof_streams.events import Draft, Event, Record
from asof_streams.log import EventLog
from asof_streams.messages import Message

_FIELD: Final = re.compile(r"(?:\w+(?=[.:]))?")  # that a reason begins with; what follows may quote the message
_log = logging.getLogger(__name__)


class LayerStore(Protocol):
    """What the engine asks of a store that follows a log."""

    def apply(self, records: Sequence[Record]) -> None:
        """Apply records, visible to this store's own reads at once and to others after commit."""
        ...

    def commit(self, position: int, head: bytes) -> None:
        """Make what was applied visible, with the position and the chain's hash that it stands for."""
        ...

    def rollback(self) -> None:
        """Forget what was applied since the last commit."""
        ...


class EpisodesStore(LayerStore, EpisodeView, Protocol):
    """A store of the episodic layer."""


class BeliefStore(LayerStore, BeliefView, EpisodeView, Protocol):
    """A store of one generation; it has episodic rows of its own where the generation extracts anew."""


class Layer:
    """One log and the store that follows it, written together."""

    def __init__(self, log: EventLog, store: LayerStore) -> None:
        self.log = log
        self.store = store
        self.input = log.checkpoint()  # position in the input log to go on from
        self._next = log.end()
        self._drafts: list[Draft] = []

    def emit(self, group: str, recorded_at: int, cause: int, events: Sequence[Event]) -> list[Record]:
        """Take the events of one cause, as one batch; returns them as they will stand in the log."""
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
        """Append what was taken, then let the store show it."""
        if not self._drafts and self.input == self.log.checkpoint():
            return
        try:
            end = self.log.append(self._drafts, checkpoint=self.input)
        except BaseException:
            self.store.rollback()
            raise
        self._drafts = []
        self.store.commit(end, self.log.head(end))

    def forget(self) -> None:
        """Drop what was taken since the last flush."""
        self._drafts = []
        self._next = self.log.end()
        self.input = self.log.checkpoint()
        self.store.rollback()


@dataclass(slots=True)
class Generation:
    """One generation being written: its layer, what builds it, its own readers where it extracts anew.

    judge: decides whom a name means where the rules do not; None where no model is asked.
    """

    layer: Layer
    store: BeliefStore
    build: Build
    readers: Readers | None = None
    answers: Answers | None = None
    judge: Judge | None = None

    def ingest(self, batch: Sequence[Record], known: EpisodeView) -> None:
        """Take the episodic events of one message, in the order of the episodic log."""
        first = batch[0]
        if batch[-1].position < self.layer.input:
            return
        events: list[Event] = []
        if isinstance(first.event, EpisodeRecorded):
            batch = self._extracted_anew(batch, known)
            events += [r.event for r in batch[1:]] if self.readers else []
            events += facts.believe(batch, self.build, self.store, partial(self._speakers, first, known), self.judge)
            if self.judge is not None:
                _log.info("episode %s, %s: %s", first.event.episode_id, self.layer.log.name, outcome(events))
        elif isinstance(first.event, EntityRecorded):
            events += entities.state(first, first.event, self.store)
        elif isinstance(first.event, EpisodeWithdrawn):
            seen = known if self.readers is None else self.store
            events += withdrawals.withdraw(first, first.event, self.build, known, seen, self.store)
        elif isinstance(first.event, GroupErased):
            events.append(first.event)
        if events:
            self.layer.emit(first.group, first.recorded_at, first.cause, events)
        self.layer.input = batch[0].position + batch[0].size

    def _extracted_anew(self, batch: Sequence[Record], known: EpisodeView) -> Sequence[Record]:
        first = batch[0]
        if self.readers is None or not isinstance(first.event, EpisodeRecorded):
            return batch
        if is_read_anew(first.event):
            extractor, build = self.readers.of(first.event), self.build.digest
            found = mentions.extract(first, extractor, self.answers, known, self.store, build)
        else:
            found = copy_extraction(batch, known, self.store)
        return [first, *(first._replace(event=event) for event in found)]

    def _speakers(self, first: Record, known: EpisodeView) -> Sequence[str]:
        episode = first.event
        if not isinstance(episode, EpisodeRecorded) or episode.source != "message":
            return ()
        roles = [e.role for e in mentions.context(first.group, episode, first.cause, known)]
        return [role for role in (*roles, episode.role) if role]


def is_read_anew(episode: EpisodeRecorded) -> bool:
    """Whether a generation that extracts anew reads an episode: of suppressed content, what was found in it stands."""
    return episode.source != "fact" and not episode.suppressed


class Engine:
    """Turns messages into events, one after the other; see the module's docstring for the order of its writes."""

    def __init__(
        self,
        episodic: Layer,
        store: EpisodesStore,
        readers: Readers,
        generations: Sequence[Generation],
        erase: Callable[[str, int], None],
        answers: Answers | None = None,
    ) -> None:
        self.episodic = episodic
        self.store = store
        self.readers = readers
        self.generations = generations
        self._erase = erase
        self._answers = answers

    def ingest(self, message: Record) -> None:
        """Take one message of the messages log. Positions must come in order; those taken before are skipped."""
        if message.position < self.episodic.input:
            return
        events = list(episodes.record(message, self.store, self.readers.ontologies))
        if events and isinstance(events[0], GroupErased):
            self.flush()
            self._erase(message.group, message.position)
        records = self._emit(message, events)
        self.episodic.input = message.position + 1
        if records:
            for generation in self.generations:
                self._follow(generation, records[0].position)
                generation.ingest(records, self.store)

    def _follow(self, generation: Generation, stop: int) -> None:
        """Give a generation what it missed: a flush that failed may have kept the episodic events, and not its own."""
        if generation.layer.input < stop:
            for batch in batches(self.episodic.log.read(generation.layer.input, stop)):
                generation.ingest(batch, self.store)

    def _emit(self, message: Record, events: list[Event]) -> list[Record]:
        if not events:
            return []
        episode = events[0]
        if isinstance(episode, MessageParked):
            field = _FIELD.match(episode.reason)
            _log.info("message %d is parked, its event says why: %s", message.position, field and field[0])
        if isinstance(episode, EpisodeRecorded) and episode.source != "fact":
            recorded, said = message._replace(event=episode), message.event
            content = said.content if isinstance(said, Message) else None
            reader = self.readers.of(episode)
            events += mentions.extract(recorded, reader, self._answers, self.store, self.store, "", content)
            if self._answers is not None:
                _log.info("episode %s, episodic: %s", episode.episode_id, outcome(events))
        return self.episodic.emit(message.group, message.recorded_at, message.position, events)

    def flush(self) -> None:
        """Make everything taken so far durable and visible."""
        self.episodic.flush()
        for generation in self.generations:
            self._follow(generation, self.episodic.end)
            generation.layer.flush()

    def forget(self) -> None:
        """Drop everything taken since the last flush, after an error."""
        self.episodic.forget()
        for generation in self.generations:
            generation.layer.forget()


def batches(records: Iterable[Record]) -> Iterator[list[Record]]:
    """Group the records of an episodic or semantic log by the message that caused them."""
    for _, batch in groupby(records, key=lambda r: r.cause):
        yield list(batch)
