"""A generation: one build and policy by which episodic events become semantic ones, with its log and its store."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import partial

from asof_agents.consolidation.cycle import Consolidator, consolidator_of
from asof_agents.consolidation.undo import undo
from asof_agents.extraction.ports import Answers
from asof_agents.extraction.registry import ExtractorRegistry
from asof_agents.handlers import entities, facts, identities, mentions, objectives, withdrawals
from asof_agents.handlers.extraction_copy import copy_extraction
from asof_agents.handlers.statement_writer import Build
from asof_agents.layer import GenerationStore, Layer
from asof_agents.meter import UNMETERED, IngestionMeter
from asof_agents.outcomes import log_outcome
from asof_agents.parking import park_if_unexpected
from asof_agents.ports import EpisodeView
from asof_agents.resolution.judge import Judge
from asof_streams.episodic import (
    ConsolidationRecorded,
    EntityRecorded,
    EpisodeRecorded,
    EpisodeWithdrawn,
    GoalDeclared,
    GoalImplied,
    GoalWithdrawn,
    GroupErased,
    IdentityRecorded,
    MessageParked,
    MessageRetried,
)
from asof_streams.events import Event, Record
from asof_streams.ids import episode_id


@dataclass(slots=True)
class Generation:
    """One generation as the engine writes it.

    recorded: returns the records of the episodic log that a message caused, by its position.
    extractors, answers: set where the generation extracts anew instead of using the episodic log's mentions.
    judge: asks a language model which entity a name means, where the rules leave it open; None: no model.
    consolidator: makes the passes of consolidation. meter: counts what it derives, and measures the phases.
    """

    layer: Layer
    store: GenerationStore
    build: Build
    recorded: Callable[[int], list[Record]]
    extractors: ExtractorRegistry | None = None
    answers: Answers | None = None
    judge: Judge | None = None
    consolidator: Consolidator = field(default_factory=consolidator_of)
    meter: IngestionMeter = UNMETERED

    def derive(self, batch: Sequence[Record], known: EpisodeView, *, behind: int = 0) -> list[Event]:
        """Return the semantic events of one message, given its episodic events.

        behind: how many events will stand before these in their batch.
        """
        first = batch[0]
        if len(batch) > 1 and isinstance(first.event, EpisodeWithdrawn | GoalWithdrawn):
            return self._derive_edit(batch, known, behind)
        events: list[Event] = []
        if isinstance(first.event, EpisodeRecorded):
            events = self._derive_facts(batch, known)
            if self.judge is not None:
                log_outcome(first.event.episode_id, self.layer.log.name, events)
            if self.consolidator.is_due(first, self.store, known):
                events += self._consolidate(first)
        elif isinstance(first.event, EntityRecorded):
            events += entities.state(first, first.event, self.store)
        elif isinstance(first.event, IdentityRecorded):
            events += identities.state(first, first.event, self.build, self.store)
        elif isinstance(first.event, EpisodeWithdrawn):
            mentioned = known if self.extractors is None else self.store
            retried = self._retried(first.event.episode_id, known)
            events += withdrawals.withdraw(first, first.event, self.build, known, mentioned, self.store, retried)
            events += objectives.withdraw_implied(first.event.episode_id, self.store)
        elif isinstance(first.event, GoalDeclared):
            events += objectives.declare(first.group, first.event, self.build.digest, self.store)
        elif isinstance(first.event, GoalWithdrawn):
            events += objectives.withdraw(first.event, self.store)
        elif isinstance(first.event, ConsolidationRecorded):
            events += undo(first, self.store) if first.event.undo else self._consolidate(first)
        elif isinstance(first.event, GroupErased):
            events.append(first.event)
        return events

    def _derive_edit(self, batch: Sequence[Record], known: EpisodeView, behind: int) -> list[Event]:
        """Return the events of an edit: first of what it withdraws, then, with that applied, of what it says instead.

        Where the second part is parked, the first stands, and a retry does not do it again.
        """
        first, events = batch[0], list[Event]()
        is_done = isinstance(first.event, EpisodeWithdrawn) and self.store.withdrawn(first.event.episode_id)
        if not is_done:
            events = self.derive(batch[:1], known)
            self.layer.apply_ahead(first.group, first.recorded_at, first.cause, events, behind)
        return [*events, *park_if_unexpected(partial(self.derive, batch[1:], known))]

    def _consolidate(self, first: Record) -> list[Event]:
        """Return the events of a pass over what was known before the message of a record."""
        return self.consolidator.consolidate(first, self.store, self.build.ontology.is_value)

    def speakers(self, first: Record, known: EpisodeView) -> Sequence[str]:
        """Return the roles of an episode and of the turns before it; none for an episode outside a conversation."""
        episode = first.event
        if not isinstance(episode, EpisodeRecorded) or episode.source != "message":
            return ()
        roles = [e.role for e in mentions.context(first.group, episode, first.cause, known)]
        return [role for role in (*roles, episode.role) if role]

    def _retried(self, uuid: str, known: EpisodeView) -> list[int]:
        """Return when the message of an episode was retried here; its retry may have recorded the episode."""
        episode = known.episode(uuid)
        if episode is None:
            return []
        position = episode.position
        if episode_id(episode.group_id, position) != uuid:  # the position of the retry that recorded it
            retries = (record.event for record in self.recorded(position))
            position = next((event.position for event in retries if isinstance(event, MessageRetried)), position)
        return self.store.retried(position)

    def _derive_facts(self, batch: Sequence[Record], known: EpisodeView) -> list[Event]:
        if len(batch) == 1 and _is_structured(batch[0].event):
            return facts.derive_semantic_events(batch, self.build, self.store)
        batch = self._extracted_anew(batch, known)
        own = [r.event for r in batch[1:]] if self.extractors else []
        speakers = partial(self.speakers, batch[0], known)
        events = facts.derive_semantic_events(batch, self.build, self.store, speakers, self.judge, self.meter)
        is_parked = MessageParked in map(type, events)
        raised = [] if is_parked else self.objectives(batch[0], (record.event for record in batch[1:]))
        return [*own, *events, *raised]

    def objectives(self, first: Record, extracted: Iterable[Event]) -> list[Event]:
        """Return the objectives that the goals in an extraction of an episode raise."""
        goals = [event for event in extracted if type(event) is GoalImplied]  # a third of what isinstance costs
        if not goals or not isinstance(first.event, EpisodeRecorded):
            return []
        return objectives.imply(first.group, first.event, goals, self.build.digest, self.store)

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


def is_extracted_anew(episode: EpisodeRecorded) -> bool:
    """Whether extraction anew applies to an episode: not to structured facts, nor where the content was suppressed."""
    return episode.source != "fact" and not episode.suppressed


def _is_structured(event: Event) -> bool:
    """Whether an event is the episode of a structured fact, of which nothing is extracted."""
    return isinstance(event, EpisodeRecorded) and event.source == "fact"
