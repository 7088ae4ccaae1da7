"""The import of another memory's export: its entities, facts and memories, with their times, each once."""

from hashlib import sha256
from pathlib import Path
from typing import Final

from asof.runtime.foreign_exports import ForeignExport, Product, read_export, refusal
from asof.runtime.inbound_message import InboundMessage
from asof.runtime.ingestion import ingest
from asof.runtime.wiring import Progress
from asof.service.session import Session
from asof_projections.model.write_answers import Imported, Produced, Refused
from asof_streams.errors import InvalidInput
from asof_streams.instants import NEG
from asof_streams.messages import AnyMessage, EntityStatement, FactStatement, Message
from asof_streams.sqlite_log import SqliteLog

_Key = tuple[str, str, str | None]
_CORRECTED: Final = {"assert", "correct"}
_LATE: Final = InvalidInput(
    "its group has later records here: import it without --recorded, to be known from now on", field="created_at"
)


def import_export(
    session: Session,
    product: Product,
    file: Path,
    *,
    group_id: str,
    recorded: bool = False,
    strict: bool = False,
    dry_run: bool = False,
    acknowledged: Progress | None = None,
) -> Imported:
    """Add what an export of another memory states; what was added before is passed over, and a changed fact corrected.

    `group_id` is the group of items that name none. recorded: each is known since the other memory knew it. dry_run:
    only count. InvalidInput: it is no export, or on Kafka `recorded`, since the broker's clock says what is known.
    """
    if recorded and session.on_kafka:
        raise InvalidInput("on Kafka the broker's clock says when it was recorded, so leave this out", field="recorded")
    try:
        data = file.read_bytes()
    except OSError as error:
        raise InvalidInput(f"{file} cannot be read: {error.strerror}", field="file") from None
    export = read_export(product, data, group_id, recorded=recorded)
    with session.lock:
        new, known, late = _new(session, export)
        refused = tuple(sorted((*export.refused, *late), key=lambda one: one.line))
        if dry_run or (strict and refused):
            done = Produced(0, refused, None, None)
        else:
            done = ingest([*new, *refused], session.sink, strict=False, acknowledged=acknowledged)
    count = [type(one.event) for one in new].count
    return Imported(
        count(EntityStatement),
        count(FactStatement),
        count(Message),
        known,
        export.left_out,
        done.accepted,
        refused,
        done.parked,
    )


def _new(session: Session, export: ForeignExport) -> tuple[list[InboundMessage], int, list[Refused]]:
    """Return the messages that the log does not have, how many it has, and the items that are too late for it.

    A fact that it has otherwise becomes its correction.
    """
    groups = {one.message.event.group_id for one in export.messages}
    known: dict[_Key, bytes] = {}
    earliest: dict[str, int] = {}
    for source in session.sources.every():
        if source.places.messages.exists():
            with SqliteLog(source.places.messages) as log:
                for record in log.read():
                    if record.group in groups and (key := _key(record.event)):  # type: ignore[arg-type]
                        known[key] = _digest(record.event)  # type: ignore[arg-type]
                for group in groups:
                    earliest[group] = max(log.earliest(group), earliest.get(group, NEG))
    new: list[InboundMessage] = []
    late: dict[str, Refused] = {}
    passed = 0
    for item, inbound in export.messages:
        message, recorded_at = inbound.event, inbound.recorded_at
        key, digest = _key(message), _digest(message)
        if key is None or known.get(key) == digest:
            passed += 1
            continue
        if item.where in late:  # such as the end of a fact that is refused
            continue
        if recorded_at is not None and recorded_at < earliest.get(message.group_id, NEG):
            late[item.where] = refusal(item, _LATE)
            continue
        changed = key in known and isinstance(message, FactStatement) and message.op == "assert"
        stated = message.model_copy(update={"op": "correct"}) if changed else message
        new.append(InboundMessage(stated, recorded_at))
        known[key] = digest
    return new, passed, list(late.values())


def _key(message: AnyMessage) -> _Key | None:
    """Return what is the same of a message whenever it is imported; None: no import states it."""
    match message:
        case FactStatement(ref=str() as ref):
            return "fact" if message.op in _CORRECTED else message.op, message.group_id, ref
        case EntityStatement():
            return "entity", message.group_id, message.entity_id
        case Message(source_description="mem0"):
            return "message", message.group_id, message.name
        case _:
            return None


def _digest(message: AnyMessage) -> bytes:
    if isinstance(message, FactStatement) and message.op in _CORRECTED:
        message = message.model_copy(update={"op": "assert"})
    return sha256(message.encode()).digest()
