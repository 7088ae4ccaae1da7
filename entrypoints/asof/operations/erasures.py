"""Erasures: of a group, or of those of its messages that a person, words or times name; first what it would erase."""

import time
from contextlib import suppress
from dataclasses import replace
from typing import Final

from asof.operations.operation import operation
from asof.operations.writes import put
from asof.runtime.erasure import is_believed, owing, recorded_up_to, records_of
from asof.runtime.erasure_scope import chosen
from asof.runtime.replica_manifest import is_copy
from asof.service.session import Session
from asof_projections.model.answers import instant_of
from asof_projections.model.queries import ErasureQuery
from asof_projections.model.write_answers import ErasedMessage, Erasure, ErasurePreview
from asof_streams.errors import NotFound
from asof_streams.messages import ErasureRequest, RedactionRequest
from asof_streams.sqlite_log import SqliteLog

_WAIT_SECONDS: Final = 5.0  # for which workers may take to carry out an erasure
_LOOK_SECONDS: Final = 0.05


@operation()
def erasure_preview(session: Session, query: ErasureQuery) -> ErasurePreview:
    """Return what an erasure would erase, by the messages that are processed now; nothing is written.

    On Kafka it is counted in the copy of the logs that the directory has.
    """
    source = session.of(query.group_id)
    source.opened()
    records = records_of(source.places, query.group_id)
    return ErasurePreview(_chosen(session, query), tuple(replace(one, head=None) for one in records))


@operation()
def erase(session: Session, query: ErasureQuery) -> Erasure:
    """Erase a group, or a part of it, at every moment of both clocks. On Kafka records stay on the topics.

    NotFound: no message of the group fits.
    """
    position = put(session, request_of(session, query))
    if session.on_kafka:
        return _carried_out(session, query.group_id, position)
    session.writer()
    return erasure_at(session, query.group_id, position)


def _carried_out(session: Session, group: str, offset: int) -> Erasure:
    """Return the certificate of an erasure that workers carry out, once they have, or a few seconds later.

    Where the directory has no copy of the topics, none is made to see it.
    """
    if not is_copy(session.places.root):
        return Erasure(offset, None)
    until = time.monotonic() + _WAIT_SECONDS
    wanted: int | None = None
    while True:
        places = session.of(group).places
        with suppress(NotFound):  # nothing was processed yet
            wanted = recorded_up_to(places, offset) if wanted is None else wanted
            believed = wanted is not None and is_believed(places, wanted)
            if believed and (not owing(places) or time.monotonic() >= until):
                return erasure_at(session, group, offset)
        if time.monotonic() >= until:
            return Erasure(offset, None)
        time.sleep(_LOOK_SECONDS)


def request_of(session: Session, query: ErasureQuery) -> ErasureRequest | RedactionRequest:
    """Return the message that asks for an erasure. NotFound: it would erase nothing."""
    if query.is_of_all:
        return ErasureRequest(group_id=query.group_id)
    messages = _chosen(session, query)
    if not messages:
        raise NotFound(f"no message of group {query.group_id} fits")
    return RedactionRequest(group_id=query.group_id, positions=tuple(message.position for message in messages))


def erasure_at(session: Session, group: str, position: int) -> Erasure:
    """Return the certificate of an erasure of a group that was carried out.

    position: of its request, on Kafka its offset.
    """
    places = session.of(group).places
    with SqliteLog(places.messages) as log:
        at = log.caused_by(position)
        [record] = log.read(at, at + 1)
        positions = record.event.positions if isinstance(record.event, RedactionRequest) else None
        if positions is None:
            destroyed = log.destroyed(record.group, range(at))
        else:
            destroyed = log.destroyed(record.group, *(range(one, one + 1) for one in positions))
    logs = tuple(records_of(places, record.group))
    done = not owing(places)
    return Erasure(position, done, instant_of(record.recorded_at), destroyed, positions, logs)


def _chosen(session: Session, query: ErasureQuery) -> tuple[ErasedMessage, ...] | None:
    if query.is_of_all:
        return None
    source = session.of(query.group_id)
    opened = source.opened()
    found = chosen(source.places, opened.generation, opened.episodes, query)
    return tuple(ErasedMessage(*said[:5], instant_of(said.said_at)) for said in found)
