"""The episodes agent: one message becomes one episode, or is parked with the reason.

Pure. The body of a message is `"{role or empty}({role_type}): {content}"` (spec/add-messages 11); a document's is its
content; a structured fact's is the statement as JSON, so that the episodic log alone is enough to build facts again.
"""

from collections.abc import Sequence

from asof_agents.ports import EpisodesKnown
from asof_streams.episodic import EntityRecorded, EpisodeRecorded, EpisodeWithdrawn, GroupErased, MessageParked
from asof_streams.errors import DecodeError
from asof_streams.events import Event, Record
from asof_streams.ids import derive
from asof_streams.messages import (
    EntityStatement,
    ErasureRequest,
    FactStatement,
    Message,
    RecordRefused,
    WithdrawalRequest,
)


def episode_id(group: str, position: int) -> str:
    """Return the id of the episode that the message at this position becomes."""
    return derive("episode", group, position)


def record(message: Record, known: EpisodesKnown) -> Sequence[Event]:
    """Return the episode of a message; nothing where it names one that is there already."""
    match message.event:
        case Message() as said:
            return _of_message(message, said, known)
        case FactStatement() as stated:
            return (_of_fact(message, stated),)
        case EntityStatement(entity_id=id_, name=name, summary=summary):
            return (EntityRecorded(entity_id=id_, name=name, summary=summary),)
        case WithdrawalRequest(episode_id=id_):
            return _of_withdrawal(message, id_, known)
        case ErasureRequest():
            return (GroupErased(),)
        case RecordRefused(reason=reason):
            return (MessageParked(reason=reason),)
        case other:
            raise DecodeError(f"position {message.position}: {other.type} is not a message")


def _of_message(message: Record, said: Message, known: EpisodesKnown) -> Sequence[Event]:
    if said.uuid is not None:
        named = known.episode(said.uuid)
        if named is None or named.group_id != message.group:
            return (MessageParked(reason="uuid: no episode of this group has it; leave it out to record a new one"),)
        return ()
    is_message = said.source == "message"
    return (
        EpisodeRecorded(
            episode_id=episode_id(message.group, message.position),
            name=said.name,
            source=said.source,
            source_description=said.source_description,
            role=said.role,
            role_type=said.role_type or "",
            body=f"{said.role}({said.role_type}): {said.content}" if is_message else said.content,
            content_length=len(said.content),
            valid_at=message.recorded_at if said.timestamp is None else said.timestamp,
        ),
    )


def _of_withdrawal(message: Record, episode: str, known: EpisodesKnown) -> Sequence[Event]:
    named = known.episode(episode)
    if named is None or named.group_id != message.group:
        return (MessageParked(reason="episode_id: no episode of this group has it"),)
    return () if known.withdrawn(episode) else (EpisodeWithdrawn(episode_id=episode),)


def _of_fact(message: Record, stated: FactStatement) -> EpisodeRecorded:
    body = stated.encode().decode()
    return EpisodeRecorded(
        episode_id=episode_id(message.group, message.position),
        name=stated.ref or "",
        source="fact",
        source_description="",
        role="",
        role_type="",
        body=body,
        content_length=len(body),
        valid_at=message.recorded_at if stated.said_at is None else stated.said_at,
    )
