"""The wire form of events on Kafka: CloudEvents 1.0, binary mode. Attributes are headers, the value is the payload.

Pure. Beside the standard attributes (id, source, type, time, and the extension sequence) there are ours: what makes a
batch of one cause whole (cause, place, size), the offset of the message that is the cause (offset), who wrote it (term,
writer), and how far they had read (checkpoint, and as an offset of the topic that they read, checkpointoffset).

Two types are control records, no events: a writer claims a topic, and a writer says how far it has read.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from typing import Final, NamedTuple

from asof_streams import semantic  # noqa: F401 - so that its events can be read
from asof_streams.errors import InvalidInput
from asof_streams.events import Draft
from asof_streams.ids import derive
from asof_streams.instants import parse, render
from asof_streams.messages import AnyMessage

CLAIMED: Final = "writer.claimed"  # a control record: a new writer has taken the topic over
REACHED: Final = "checkpoint.reached"  # a control record: the input was read further, and no event followed
NAMED: Final = 2  # the version of a claim from which on its writer puts its name on each of its records
JSON: Final = b"application/json"
SEALED: Final = b"application/vnd.asof.sealed"  # what asof_streams.record_sealer makes of it
_NUMBERS: Final = 2**63  # a number beyond fits no log, so no worker wrote it

Headers = list[tuple[str, bytes]]


class Raw(NamedTuple):
    """A record as Kafka gives it."""

    offset: int
    timestamp: int  # milliseconds
    key: bytes | None
    value: bytes | None
    headers: Sequence[tuple[str, bytes]]


class Outgoing(NamedTuple):
    """A record about to be sent."""

    key: bytes | None
    value: bytes | None
    headers: Headers


class Claim(NamedTuple):
    """A writer has claimed a topic: from here on, batches under earlier terms do not stand."""

    term: int
    writer: str  # tells two claims of one term apart
    named: bool  # whether the records of the writer bear its name: those of an earlier version do not
    partitions: int = 0  # that the messages topic has; 0 where an earlier version wrote it


class Checkpoint(NamedTuple):
    """A writer has read its input further, and no event followed from it."""

    position: int  # of the next event
    term: int
    checkpoint: int  # position of the input log to go on from
    writer: str = ""  # who says so; "" where its version does not
    checkpoint_offset: int = -1  # that position as the offset of a record of the input topic; -1 where it is not told


class Sent(NamedTuple):
    """An event as it was sent, not yet decoded: whether it stands, the fence decides first."""

    position: int  # that its writer gave it
    group: str
    recorded_at: int
    cause: int
    place: int
    size: int
    term: int
    type: str
    version: int
    payload: bytes
    checkpoint: int | None  # position of the input log to go on from; on the last record of each append
    writer: str  # who sent it; "" where its version does not say so
    offset: int  # of the message that caused it; -1 where its version or its log does not say so
    checkpoint_offset: int  # that position as an offset of the input topic; -1 where it is not told

    def encode(self) -> bytes:
        """Return the payload as it was sent, which is how it is kept."""
        return self.payload


def message(accepted: AnyMessage, text: bytes, id_: str) -> Outgoing:
    """Return the record of a message that was accepted at the door, as the JSON `text`."""
    headers = [*_constant("messages", accepted.type, accepted.version), ("ce_id", id_.encode())]
    return Outgoing(accepted.group_id.encode(), text, headers)


def seal(record: Outgoing, encrypt: Callable[[bytes, bytes], bytes]) -> Outgoing:
    """Return a record whose value is encrypted; `encrypt` takes the context and the value."""
    headers = [(name, SEALED if name == "content-type" else value) for name, value in record.headers]
    return Outgoing(record.key, encrypt(context_of(dict(headers)), record.value or b""), headers)


def context_of(headers: Mapping[str, bytes]) -> bytes:
    """Return the context of a record, in which its value is encrypted, by its headers."""
    return b"\0".join(headers.get(name, b"") for name in ("ce_source", "ce_type", "ce_eventversion", "ce_id"))


def claim(log: str, term: int, writer: str, partitions: int) -> Outgoing:
    """Return the control record by which a writer takes a log over; the messages topic has so many `partitions`."""
    headers = [
        *_constant(log, CLAIMED, NAMED),
        ("ce_id", writer.encode()),
        ("ce_term", b"%d" % term),
        ("ce_partitions", b"%d" % partitions),
    ]
    return Outgoing(None, b"{}", headers)


def checkpoint_reached(
    log: str, position: int, term: int, checkpoint: int, writer: str = "", checkpoint_offset: int = -1
) -> Outgoing:
    """Return the control record by which a writer says how far it has read; `position` is that of the next event."""
    headers = [
        *_constant(log, REACHED, 1),
        ("ce_id", derive("checkpoint", log, term, checkpoint).encode()),
        ("ce_term", b"%d" % term),
        *_of_writer(writer),
        ("ce_sequence", b"%020d" % position),
        *_of_checkpoint(checkpoint, checkpoint_offset),
    ]
    return Outgoing(None, b"{}", headers)


def event(
    log: str,
    position: int,
    draft: Draft,
    term: int,
    checkpoint: int | None,
    writer: str = "",
    offset: int = -1,
    checkpoint_offset: int = -1,
) -> Outgoing:
    """Return the record of an event; `position` is its own in the log, `offset` that of the message that caused it."""
    group, recorded_at, cause, place, size, happened = draft
    headers = [
        *_constant(log, happened.type, happened.version),
        ("ce_id", derive("event", log, cause, place, happened.type).encode()),
        *_of_batch(recorded_at, cause, size, term, writer, offset),
        ("ce_place", b"%d" % place),
        ("ce_sequence", b"%020d" % position),
    ]
    if checkpoint is not None:
        headers += _of_checkpoint(checkpoint, checkpoint_offset)
    return Outgoing(group.encode(), happened.encode(), headers)


def dead_letter(original: Raw, topic: str, partition: int, reason: str) -> Outgoing:
    """Return the copy of a record that was parked: as it came, and where it stands, and why it was parked."""
    added = {
        "dlq_original_topic": topic,
        "dlq_original_partition": partition,
        "dlq_original_offset": original.offset,
        "dlq_original_timestamp": original.timestamp,
        "dlq_reason": reason,
    }
    headers = [*original.headers, *((name, str(value).encode()) for name, value in added.items())]
    return Outgoing(original.key, original.value, headers)


def read(raw: Raw) -> Claim | Checkpoint | Sent | None:
    """Return the parsed record of a derived topic; None where it is not one of asof's."""
    found = dict(raw.headers)
    try:
        kind, term = found["ce_type"].decode(), int(found["ce_term"])
        if kind == CLAIMED:
            named = int(found.get("ce_eventversion", b"1")) >= NAMED
            return Claim(term, found["ce_id"].decode(), named, _number(found.get("ce_partitions", b"0")))
        writer = found.get("ce_writer", b"").decode()
        if kind == REACHED:
            reached = _number(found["ce_checkpoint"]), writer, _number(found.get("ce_checkpointoffset", b"-1"))
            return Checkpoint(_number(found["ce_sequence"]), term, *reached)
        return Sent(
            _number(found["ce_sequence"]),
            (raw.key or b"").decode(),
            parse(found["ce_time"].decode()),
            _number(found["ce_cause"]),
            _number(found["ce_place"]),
            _number(found["ce_size"]),
            term,
            kind,
            _number(found["ce_eventversion"]),
            raw.value or b"",
            _number(found["ce_checkpoint"]) if "ce_checkpoint" in found else None,
            writer,
            _number(found.get("ce_offset", b"-1")),
            _number(found.get("ce_checkpointoffset", b"-1")),
        )
    except (KeyError, ValueError, TypeError, AttributeError, InvalidInput):  # a header may have no value at all
        return None


def _number(text: bytes) -> int:
    """Return the number that a header holds. ValueError: it is none, or is greater than any that a log can hold."""
    number = int(text)
    if abs(number) >= _NUMBERS:
        raise ValueError("too great for a log")
    return number


@lru_cache(maxsize=256)
def _constant(log: str, type_: str, version: int) -> Headers:
    """Return the headers that all events of one kind in one log have."""
    return [
        ("content-type", JSON),
        ("ce_specversion", b"1.0"),
        ("ce_source", f"/asof/{log}".encode()),
        ("ce_type", type_.encode()),
        ("ce_eventversion", b"%d" % version),
    ]


def _of_writer(writer: str) -> Headers:
    """Return the header that names the writer; none for "", as earlier versions sent it."""
    return [("ce_writer", writer.encode())] if writer else []


def _of_checkpoint(checkpoint: int, offset: int) -> Headers:
    """Return the headers that say how far the input was read; its offset is left out where it is not known."""
    told = [("ce_checkpointoffset", b"%d" % offset)] if offset >= 0 else []
    return [("ce_checkpoint", b"%d" % checkpoint), *told]


@lru_cache(maxsize=1)
def _of_batch(recorded_at: int, cause: int, size: int, term: int, writer: str, offset: int) -> Headers:
    """Return the headers that all events of one batch have."""
    return [
        ("ce_time", (render(recorded_at) or "").encode()),
        ("ce_cause", b"%d" % cause),
        ("ce_size", b"%d" % size),
        ("ce_term", b"%d" % term),
        *_of_writer(writer),
        *([("ce_offset", b"%d" % offset)] if offset >= 0 else []),
    ]
