"""The facts handler: derives a generation's semantic events from the episodic events of one message. Pure.

Statements of chat are in `chat_statements`, structured facts in `structured_facts`, the consequences for older facts
in `invalidations`.
"""

from collections.abc import Sequence
from dataclasses import replace

from asof_agents.handlers.admission import admit
from asof_agents.handlers.attributes import weigh_attributes
from asof_agents.handlers.chat_statements import ChatStatements
from asof_agents.handlers.communities import assign_communities
from asof_agents.handlers.statement_writer import Build
from asof_agents.handlers.structured_facts import state
from asof_agents.meter import UNMETERED, IngestionMeter
from asof_agents.ports import BeliefView
from asof_agents.resolution.entities import Resolver, Speakers
from asof_agents.resolution.episode_resolver import EpisodeResolver
from asof_agents.resolution.judge import Judge
from asof_streams.episodic import EpisodeRecorded, MentionObserved, MessageParked
from asof_streams.errors import InvalidInput, NotFound
from asof_streams.events import Event, Record


def derive_semantic_events(
    batch: Sequence[Record],
    build: Build,
    known: BeliefView,
    speakers: Speakers = tuple,
    judge: Judge | None = None,
    meter: IngestionMeter = UNMETERED,
) -> list[Event]:
    """Return the semantic events of one message; if one of its statements is invalid, only the reason as a parking."""
    episode = batch[0].event
    if not isinstance(episode, EpisodeRecorded):
        return []
    if episode.source == "fact":
        return _of_fact(batch[0], episode, build, known)
    if episode.is_of_bot:
        judge = None  # it ends nothing
    extracted = admit([record.event for record in batch[1:]], build.ingestion)
    if not extracted and judge is None and not _acts_alone(episode):
        return []  # as of most messages of chat: there is nothing to resolve, state or end
    chat = _chat(batch[0], episode, build, known, speakers)
    try:
        chat.state(extracted, judge, meter)
    except (InvalidInput, NotFound) as error:
        return [MessageParked(reason=str(error))]
    with meter.phases["contradiction_detection"]:
        return _events(chat, extracted, known)


def _of_fact(first: Record, episode: EpisodeRecorded, build: Build, known: BeliefView) -> list[Event]:
    try:
        return state(first, episode, build, known)
    except (InvalidInput, NotFound) as error:
        return [MessageParked(reason=str(error))]


def _acts_alone(episode: EpisodeRecorded) -> bool:
    """Whether an episode of which nothing was extracted may have an effect: its own ontology may be gone by now."""
    return episode.ontology is not None or bool(episode.update_communities)


def derive_semantic_events_of_retry(
    first: Record,
    added: Sequence[Event],
    before: Sequence[Record],
    build: Build,
    known: BeliefView,
    speakers: Speakers,
    judge: Judge | None,
) -> list[Event]:
    """Return the semantic events of a retried message that had some before.

    first: the episode, as recorded by the retry. added: what its extraction found now and had not before.
    before: the records of its first processing; of the names in them that were taken to be new, judge is asked again,
    and which facts the message ends, whether by what was found before or now.
    """
    episode = first.event
    assert isinstance(episode, EpisodeRecorded)
    chat = _chat(first, episode, build, known, speakers, retried=True)
    added = admit(added, build.ingestion)
    chat.state(added, None if judge is None else replace(judge, endings=None))  # of endings it is asked once, below
    if judge is not None and build.ingestion.enable_entity_resolution:
        mentions = [record.event for record in before if isinstance(record.event, MentionObserved)]
        chat.names.resolve_again(mentions, before[0].recorded_at, judge)
    if judge is not None and judge.endings is not None:
        chat.end_by_judge([*(record.event for record in before), *added], judge)
    return _events(chat, added, known)


def _events(chat: ChatStatements, extracted: Sequence[Event], known: BeliefView) -> list[Event]:
    events = chat.events()
    if extracted:
        events += weigh_attributes(extracted, chat.names, known)
    if chat.episode.update_communities:
        events += assign_communities(events, chat.names, known)
    return events


def _chat(
    first: Record,
    episode: EpisodeRecorded,
    build: Build,
    known: BeliefView,
    speakers: Speakers,
    *,
    retried: bool = False,
) -> ChatStatements:
    is_value = build.ontology_of(episode).is_value
    about = (known, build.digest, first.group, first.recorded_at, episode)
    resolver = Resolver if build.ingestion.enable_entity_resolution else EpisodeResolver
    names = resolver(*about, speakers=speakers, is_value=is_value, cause=first.cause)
    return ChatStatements(names, build, first.cause, retried=retried)
