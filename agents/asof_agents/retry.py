"""A retry processes again, in every layer, a message that was parked or for which a language model had failed.

A parked message is processed as if it came only now. One for which a model had failed keeps what it has caused; the
retry adds what the model says.
"""

from collections.abc import Iterable, Sequence
from functools import partial

from asof_agents.generation import Generation
from asof_agents.handlers import facts, mentions
from asof_agents.layer import batch_of
from asof_agents.parking import park_if_unexpected
from asof_agents.ports import EpisodeView
from asof_agents.recorder import Recorder
from asof_streams.episodic import (
    EpisodeRecorded,
    EpisodeWithdrawn,
    ExtractionAnswered,
    ExtractionFailed,
    GoalWithdrawn,
    MessageParked,
    MessageRetried,
)
from asof_streams.events import Event, Record
from asof_streams.ids import episode_id
from asof_streams.messages import ErasureRequest, Message, RedactionRequest, RetryRequest


def record_again(recorder: Recorder, message: Record | None, now: Record) -> list[Event]:
    """Return the episodic events of a retry: the retry itself, and the events of a message that was parked here.

    None, where no such message of the group is left; where its content was suppressed, so that nothing can read it
    again; or where a model had failed, and none is set now.
    """
    if (
        message is None
        or message.group != now.group
        or isinstance(message.event, RetryRequest | ErasureRequest | RedactionRequest)
    ):
        return []
    unsettled = recorder.store.unsettled(message.position)
    if unsettled and isinstance(message.event, Message) and message.event.suppress_content:
        return []
    if "failed" in unsettled and recorder.answers is None:
        return []
    events: list[Event] = []
    if "parked" in unsettled:
        events = park_if_unexpected(partial(recorder.record, message, now))
    elif "failed" in unsettled:
        events = park_if_unexpected(partial(_extract_more, recorder, message, now))
    return [MessageRetried(position=message.position), *_of_message(message.position, events)]


def _extract_more(recorder: Recorder, message: Record, now: Record) -> list[Event]:
    """Return the events that a model adds to a message that was extracted without it."""
    store = recorder.store
    row = store.episode(episode_id(message.group, message.position))
    before = [] if row is None else batch_of(recorder.layer.log, row.position)
    stated = [record.event for record in before]
    episode = next((event for event in stated if isinstance(event, EpisodeRecorded)), None)
    if episode is None or store.withdrawn(episode.episode_id):
        return []
    recorded = now._replace(event=episode, cause=now.position)
    extractor = recorder.extractors.of(episode)
    return mentions.extract(recorded, extractor, recorder.answers, store, store, "", stated=stated)


def derive_again(generation: Generation, batch: Sequence[Record], position: int, known: EpisodeView) -> list[Event]:
    """Return the semantic events of a retry of the message at a position, given the retry's episodic events.

    None, where the message was neither parked nor failed here.
    """
    first, added = batch[0], batch[1:]
    unsettled = generation.store.unsettled(position)
    if added and isinstance(added[0].event, MessageParked):
        return []
    if added and not isinstance(added[0].event, ExtractionAnswered | ExtractionFailed):
        again = park_if_unexpected(partial(generation.derive, added, known, behind=1))
    elif "parked" in unsettled:
        before = _before(generation, first.group, position, known)
        withdrawn = _is_withdrawn(generation, before)
        records = [] if withdrawn else [first._replace(event=record.event) for record in before]
        again = park_if_unexpected(partial(generation.derive, [*records, *added], known, behind=1)) if records else []
    elif added or (unsettled and generation.answers is not None):
        again = park_if_unexpected(partial(_derive_more, generation, batch, position, known))
    else:
        return []
    return [MessageRetried(position=position), *_of_message(position, again)] if again or unsettled else []


def _derive_more(generation: Generation, batch: Sequence[Record], position: int, known: EpisodeView) -> list[Event]:
    """Return the events that a model adds to a message that was processed without it."""
    before = _recorded(_before(generation, batch[0].group, position, known))
    if not before or not isinstance(before[0].event, EpisodeRecorded):
        return []
    episode = before[0].event
    first = batch[0]._replace(event=episode)
    if _is_withdrawn(generation, before):
        return []
    build, store = generation.build, generation.store
    added, own = [record.event for record in batch[1:]], []
    if generation.extractors is not None:
        derived = batch_of(generation.layer.log, before[0].cause)
        before = [before[0], *(record for record in derived if not isinstance(record.event, MessageRetried))]
        stated = [record.event for record in before]
        extractor = generation.extractors.of(episode)
        own = mentions.extract(first, extractor, generation.answers, known, store, build.digest, stated=stated)
        added = own
    speakers = partial(generation.speakers, first, known)
    more = facts.derive_semantic_events_of_retry(first, added, before, build, store, speakers, generation.judge)
    return [*own, *more, *generation.objectives(first, added)]


def _is_withdrawn(generation: Generation, before: Sequence[Record]) -> bool:
    """Whether the episode of a message was withdrawn by then: a rebuild knows later withdrawals, too."""
    before = _recorded(before)
    episode = before[0].event if before else None
    return isinstance(episode, EpisodeRecorded) and generation.store.withdrawn(episode.episode_id)


def _recorded(before: Sequence[Record]) -> Sequence[Record]:
    """Return the records of a message without what it withdraws, where it is an edit."""
    return before[1:] if len(before) > 1 and isinstance(before[0].event, EpisodeWithdrawn | GoalWithdrawn) else before


def _before(generation: Generation, group: str, position: int, known: EpisodeView) -> list[Record]:
    """Return the episodic records of a message, from its first processing that came to something."""
    episode = known.episode(episode_id(group, position))
    records = generation.recorded(position if episode is None else episode.position)
    return [record for record in records if not isinstance(record.event, MessageRetried | MessageParked)]


def _of_message(position: int, events: Iterable[Event]) -> list[Event]:
    """Return the events of a retry: those that say that it failed name the position of the message."""
    return [
        event.model_copy(update={"position": position})
        if isinstance(event, MessageParked | ExtractionFailed)
        else event
        for event in events
    ]
