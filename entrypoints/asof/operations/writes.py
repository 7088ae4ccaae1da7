"""The writes: each puts a message on the log, durably, and everything else follows from it."""

from collections.abc import Iterable, Mapping
from contextlib import nullcontext
from io import BufferedReader, BytesIO, StringIO, TextIOWrapper
from typing import Any, Final

from asof.operations.ids import with_whole_ref
from asof.operations.operation import operation
from asof.operations.times import in_instants
from asof.runtime import json_lines
from asof.runtime.inbound_message import MAX_RECORD_BYTES, InboundMessage, check_size
from asof.runtime.ingestion import ingest
from asof.runtime.processes import SeldomCollections
from asof.runtime.wiring import Progress, load_ontology
from asof.service.session import Session
from asof_projections.model.write_answers import Added, Produced, Requested
from asof_streams.errors import InvalidInput
from asof_streams.ids import episode_id
from asof_streams.messages import (
    AnyMessage,
    EntityStatement,
    FactStatement,
    Message,
    TimezoneStatement,
    WithdrawalRequest,
    check_group,
    in_database,
    in_scope,
)


@operation()
def add(session: Session, query: Message) -> Added:
    """Add one message. It is durable when this returns."""
    if session.on_kafka:
        return Added(put(session, query), None)
    position = put(session, query)
    writer = session.writer()
    episode: str | None = query.uuid or episode_id(query.group_id, position)
    if (query.kind or query.external_id) is not None and writer.episodes.episode(str(episode)) is None:
        episode = None  # of a chat not every message is a turn, nor new
    effect = writer.effect(position, worded=query.uuid is None and episode is not None)
    report = None if effect is None else writer.report(position)
    return Added(position, episode, effect, report)


@operation()
def state_fact(session: Session, query: FactStatement) -> Requested:
    """State, end, correct or retract a structured fact: exact names, nothing is extracted.

    What ends, corrects or retracts names a fact by its producer's ref, or by its id, of which eight letters suffice.
    """
    return request(session, with_whole_ref(session, query))


@operation()
def state_entity(session: Session, query: EntityStatement) -> Requested:
    """State an entity under an id of the producer's own."""
    return request(session, in_scope(query))


@operation()
def state_timezone(session: Session, query: TimezoneStatement) -> Requested:
    """State the time zone of a group: by its days "yesterday" is read in the messages from here on."""
    return request(session, in_database(query))


@operation()
def withdraw(session: Session, query: WithdrawalRequest) -> Requested:
    """Withdraw an episode: what rests on it alone is retracted; its past can still be asked about."""
    return request(session, query)


def request(session: Session, message: AnyMessage) -> Requested:
    """Put a message without words on the log, durably; return its position, and what it did where that is known."""
    position = put(session, message)
    return Requested(position, None if session.on_kafka else session.writer().effect(position, worded=False))


def put(session: Session, message: AnyMessage) -> int:
    """Put a message on the log, durably; return its position."""
    inbound = InboundMessage(message)
    if session.on_kafka:
        check_size(inbound.line, MAX_RECORD_BYTES)
    return session.sink().put([inbound])


Lines = Iterable[bytes | str | Mapping[str, Any]]
_INERT: Final = frozenset({list, tuple, BufferedReader, TextIOWrapper, BytesIO, StringIO})  # sources without own code


def produce(session: Session, source: Lines, *, group_id: str, strict: bool, acknowledged: Progress | None) -> Produced:
    """Add messages given as JSON lines or dicts. A bad one is refused with its reason; `strict`: then all are.

    `group_id` is the group of the lines that name none. Times in words are seen from when a line is read, and the
    log has the instants.
    """
    read = _of_group(group_id, json_lines.as_message)
    times = _as_of_now(session)
    return _take_lines(session, source, read, times, strict=strict, acknowledged=acknowledged)


def import_facts(
    session: Session,
    source: Lines,
    *,
    group_id: str,
    recorded: bool,
    ontology: str | None,
    strict: bool,
    acknowledged: Progress | None,
) -> Produced:
    """Add structured facts given as JSON lines, or as dicts: exact names, nothing is extracted.

    `group_id` is the group of the lines that name none. Times in words are read as by `produce`; but where a history
    is moved in, nobody says from when they are seen, and they are refused.
    """
    if recorded and session.on_kafka:
        raise InvalidInput(
            "on Kafka the broker's clock says when a fact was recorded, so leave this out", field="recorded"
        )
    known = load_ontology(ontology) if ontology else None
    read = json_lines.as_fact(recorded=recorded, ontology=known, now=session.now())
    times = dict if recorded else _as_of_now(session)
    return _take_lines(session, source, _of_group(group_id, read), times, strict=strict, acknowledged=acknowledged)


def _as_of_now(session: Session) -> json_lines.Times:
    """Return a reader of times in words that sees them from the moment at which a line is read."""
    return lambda fields: in_instants(fields, session.now)


def _of_group(group: str, read: json_lines.Read) -> json_lines.Read:
    """Return a reader that gives a line without a group this one. InvalidInput: it is no group id."""
    try:
        check_group(group)
    except InvalidInput as error:
        raise error.within("group_id") from None
    return lambda fields: read({"group_id": group, **fields})


def _take_lines(
    session: Session,
    source: Lines,
    read: json_lines.Read,
    times: json_lines.Times,
    *,
    strict: bool,
    acknowledged: Progress | None,
) -> Produced:
    lines = json_lines.read_lines(source, read, session.line_limit, times=times)
    # Any other source may leave large cycles. Between chunks all that these came to would be searched for some.
    with session.lock, SeldomCollections() if type(source) in _INERT else nullcontext():
        return ingest(lines, session.sink, strict=strict, acknowledged=acknowledged)
