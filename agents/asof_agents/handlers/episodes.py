"""The episodes handler: each message becomes an episode, or is parked with the reason. Pure.

The body of a message's episode is `"{role or empty}({role_type}): {content}"`, as Graphiti has it; a document's is its
content. A structured fact's body is the statement as JSON, so that a rebuild needs the episodic log alone.
"""

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

from asof_agents.extraction.registry import Ontologies
from asof_agents.handlers import posts
from asof_agents.ports import EpisodeView
from asof_streams.episodic import (
    ConsolidationRecorded,
    EntityRecorded,
    EpisodeRecorded,
    EpisodeWithdrawn,
    GroupErased,
    IdentityRecorded,
    MessageParked,
    TimezoneRecorded,
)
from asof_streams.errors import DecodeError, InvalidInput
from asof_streams.events import Event, Record
from asof_streams.ids import episode_id
from asof_streams.messages import (
    ConsolidationRequest,
    EntityStatement,
    ErasureRequest,
    FactStatement,
    IdentityStatement,
    Message,
    RecordRefused,
    RedactionRequest,
    RetryRequest,
    TimezoneStatement,
    WithdrawalRequest,
)
from asof_streams.timezones import zone_of


def record(message: Record, known: EpisodeView, ontologies: Ontologies) -> Sequence[Event]:
    """Return the episodic event of a message; nothing, if the message names an episode that exists already.

    An episode records the ontology and types that its message chose, so that every later extraction uses the same.
    DecodeError: the record is no message.
    """
    match message.event:
        case Message() as said:
            return _of_message(message, said, known, ontologies)
        case FactStatement() as stated:
            return (episode_of_fact(message, stated, known),)
        case EntityStatement(entity_id=id_, name=name, summary=summary):
            return (EntityRecorded(entity_id=id_, name=name, summary=summary),)
        case IdentityStatement() as stated:
            return (IdentityRecorded(**stated.model_dump(exclude={"group_id"})),)
        case TimezoneStatement(timezone=name):
            return (_of_timezone(name),)
        case WithdrawalRequest(episode_id=id_):
            return _of_withdrawal(message, id_, known)
        case ConsolidationRequest(undo=undo):
            return (ConsolidationRecorded(undo=undo),)
        case ErasureRequest():
            return (GroupErased(),)
        case RetryRequest() | RedactionRequest():
            return ()  # what it names, or what it leaves, is processed again, by the engine
        case RecordRefused(reason=reason):
            return (MessageParked(reason=reason),)
        case other:
            raise DecodeError(f"position {message.position}: {other.type} is not a message")


def _of_message(message: Record, said: Message, known: EpisodeView, ontologies: Ontologies) -> Sequence[Event]:
    if said.uuid is not None:
        if not _counts(message.group, said.uuid, known):
            return (MessageParked(reason="uuid: no episode of this group has it; leave it out to record a new one"),)
        return ()
    turn = partial(_turn, message, known, ontologies)
    if said.kind is not None or said.external_id is not None:
        return posts.record(message, said, known, turn)
    return (turn(said, {}),)


def _turn(
    message: Record, known: EpisodeView, ontologies: Ontologies, said: Message, more: Mapping[str, Any]
) -> EpisodeRecorded | MessageParked:
    for number, uuid in enumerate(said.previous_episode_ids or ()):
        if not _counts(message.group, uuid, known):
            reason = f"previous_episode_ids.{number}: no episode of this group has it; leave it out, or all of them"
            return MessageParked(reason=reason)
    try:
        chosen = ontologies.choose(said)
    except InvalidInput as error:
        return MessageParked(reason=str(error))
    content = "" if said.suppress_content else said.content
    is_message = said.source == "message"
    return EpisodeRecorded(
        episode_id=episode_id(message.group, message.position),
        name=said.name,
        source=said.source,
        source_description=said.source_description,
        role=said.role,
        role_type=said.role_type or "",
        body=f"{said.role}({said.role_type}): {content}" if is_message else content,
        content_length=len(content),
        valid_at=message.recorded_at if said.timestamp is None else said.timestamp,
        previous_episode_ids=said.previous_episode_ids,
        suppressed=said.suppress_content,
        update_communities=said.update_communities,
        timezone=known.timezone(message.group, message.position),
        external_id=said.external_id,
        reply_to=said.reply_to,
        is_proactive=said.is_proactive,
        author_id=said.author_id,
        **chosen,
        **more,
    )


def _is_of(group: str, uuid: str, known: EpisodeView) -> bool:
    """Whether a group has an episode with this id."""
    episode = known.episode(uuid)
    return episode is not None and episode.group_id == group


def _counts(group: str, uuid: str, known: EpisodeView) -> bool:
    """Whether a group has an episode with this id that was not withdrawn."""
    return _is_of(group, uuid, known) and not known.withdrawn(uuid)


def _of_withdrawal(message: Record, episode: str, known: EpisodeView) -> Sequence[Event]:
    if not _is_of(message.group, episode, known):
        return (MessageParked(reason="episode_id: no episode of this group has it"),)
    return () if known.withdrawn(episode) else (EpisodeWithdrawn(episode_id=episode),)


def _of_timezone(name: str) -> Event:
    try:
        zone_of(name)
    except ValueError as error:
        return MessageParked(reason=f"timezone: {error}")
    return TimezoneRecorded(timezone=name)


def episode_of_fact(message: Record, stated: FactStatement, known: EpisodeView) -> EpisodeRecorded:
    """Return the episode of a structured fact: its body is the statement as JSON."""
    body = stated.encode().decode()
    episode = EpisodeRecorded(
        episode_id=episode_id(message.group, message.position),
        name=stated.ref or "",
        source="fact",
        source_description=stated.source_description,
        role="",
        role_type="",
        body=body,
        content_length=len(body),
        valid_at=message.recorded_at if stated.said_at is None else stated.said_at,
        timezone=known.timezone(message.group, message.position),
        statement_version=stated.version,
    )
    episode.__dict__["statement"] = stated  # as reading the body would give it
    return episode
