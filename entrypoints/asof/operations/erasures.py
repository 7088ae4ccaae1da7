"""Erasures: of a group, or of those of its messages that a person, words or times name; first what it would erase."""

from dataclasses import replace

from asof.operations.operation import operation
from asof.operations.writes import put
from asof.runtime.erasure import owing, records_of
from asof.runtime.erasure_scope import chosen
from asof.service.session import Session
from asof_projections.model.answers import ErasedMessage, Erasure, ErasurePreview, instant_of
from asof_projections.model.queries import ErasureQuery
from asof_streams.errors import InvalidInput, NotFound
from asof_streams.messages import ErasureRequest, RedactionRequest
from asof_streams.sqlite_log import SqliteLog


@operation()
def erasure_preview(session: Session, query: ErasureQuery) -> ErasurePreview:
    """Return what an erasure would erase, by the messages that are processed now; nothing is written.

    InvalidInput: the logs are topics.
    """
    if session.on_kafka:
        raise InvalidInput("what topics hold of a group is not counted")
    records = records_of(session.places, query.group_id)
    return ErasurePreview(_chosen(session, query), tuple(replace(one, head=None) for one in records))


@operation()
def erase(session: Session, query: ErasureQuery) -> Erasure:
    """Erase a group, or a part of it, at every moment of both clocks. On Kafka records stay on the topics.

    NotFound: no message of the group fits. InvalidInput: a part of it, on Kafka.
    """
    position = put(session, request_of(session, query))
    if session.on_kafka:
        return Erasure(position, None)
    session.writer()
    return erasure_at(session, position)


def request_of(session: Session, query: ErasureQuery) -> ErasureRequest | RedactionRequest:
    """Return the message that asks for an erasure. NotFound: it would erase nothing."""
    if query.is_of_all:
        return ErasureRequest(group_id=query.group_id)
    if session.on_kafka:
        raise InvalidInput("of topics a group can be erased as a whole, and no part of it", field=query.part)
    messages = _chosen(session, query)
    if not messages:
        raise NotFound(f"no message of group {query.group_id} fits")
    return RedactionRequest(group_id=query.group_id, positions=tuple(message.position for message in messages))


def erasure_at(session: Session, position: int) -> Erasure:
    """Return the certificate of an erasure that was carried out, by the position of its request."""
    with SqliteLog(session.places.messages) as log:
        [record] = log.read(position, position + 1)
        positions = record.event.positions if isinstance(record.event, RedactionRequest) else None
        if positions is None:
            destroyed = log.destroyed(record.group, range(position))
        else:
            destroyed = log.destroyed(record.group, *(range(at, at + 1) for at in positions))
    logs = tuple(records_of(session.places, record.group))
    done = not owing(session.places)
    return Erasure(position, done, instant_of(record.recorded_at), destroyed, positions, logs)


def _chosen(session: Session, query: ErasureQuery) -> tuple[ErasedMessage, ...] | None:
    if query.is_of_all:
        return None
    source = session.of(query.group_id)
    opened = source.opened()
    found = chosen(source.places, opened.generation, opened.episodes, query)
    return tuple(ErasedMessage(*said[:5], instant_of(said.said_at)) for said in found)
