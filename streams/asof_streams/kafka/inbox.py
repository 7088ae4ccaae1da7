"""Parses the records of the messages topic, to which any client may produce. Pure.

A record's value is a JSON object as in a line of `asof produce` or `asof import`; all headers are optional. A record
that is no message is not lost: it becomes a record.refused at its position, and is parked with the reason.
"""

import hashlib
import json
import re
from collections.abc import Callable
from typing import Any, Final, NamedTuple

from asof_streams.errors import DecodeError, InvalidInput
from asof_streams.instants import LAST
from asof_streams.kafka.envelope import Raw, context_of
from asof_streams.messages import (
    AnyMessage,
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
    accept,
    check_group,
)
from asof_streams.record_sealer import is_sealed_record, number_of
from asof_streams.tracing import TRACEPARENT

_Kind = (
    type[Message]
    | type[FactStatement]
    | type[EntityStatement]
    | type[IdentityStatement]
    | type[TimezoneStatement]
    | type[WithdrawalRequest]
    | type[RetryRequest]
    | type[ConsolidationRequest]
    | type[ErasureRequest]
    | type[RedactionRequest]
)
_EVERY: Final[tuple[_Kind, ...]] = (
    Message,
    FactStatement,
    EntityStatement,
    IdentityStatement,
    TimezoneStatement,
    WithdrawalRequest,
    RetryRequest,
    ConsolidationRequest,
    ErasureRequest,
    RedactionRequest,
)
_KINDS: Final[dict[str, _Kind]] = {kind.type: kind for kind in _EVERY}
_OF_FACTS: Final = frozenset({"subject", "relation", "object", "op", "ref"})

_DIGITS: Final = 9
_TRACE: Final = re.compile(rb"[0-9a-f]{2}-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}")


Opener = Callable[[str, bytes, bytes], bytes | None]
"""Takes a group, the context of a record and its encrypted value; returns the value, or None: its key was destroyed.

InvalidInput: it was not encrypted with a key of the memory.
"""


class ReceivedMessage(NamedTuple):
    """One record of the messages topic."""

    offset: int
    appended_at: int  # by the broker's clock, in microseconds; 0 where that is behind the calendar's end
    message: AnyMessage
    producer: bytes | None  # a hash of the producer and its id of the record; None: there is no id
    number: int = -1  # of the key that it was found to be encrypted with; -1: none
    trace: str | None = None  # the one that it was sent in, as a W3C traceparent


def parse_message(raw: Raw, opener: Opener | None = None) -> ReceivedMessage:
    """Return the message of a record, or a RecordRefused with the reason.

    opener: of encrypted values, where there are any. DecodeError: a newer version of asof wrote the record, so this one
    must stop before it loses anything.
    """
    headers = {name: value for name, value in raw.headers if value is not None}
    appended_at = raw.timestamp * 1_000
    if undated := appended_at > LAST:
        appended_at = 0  # the group's next messages would follow what is parked, at the end of time
    number = -1
    try:
        if opener is not None and is_sealed_record(raw.value):
            raw, number = _opened(raw, headers, opener), number_of(raw.value or b"")
        message = _message(raw, headers)
        if undated:
            raise InvalidInput("the broker dated it after the year 9999: set its clock right, and send it again")
    except InvalidInput as error:
        message = RecordRefused(group_id=_group_of(raw), reason=str(error))
    return ReceivedMessage(raw.offset, appended_at, message, _key(headers), number, _trace(headers))


def _trace(headers: dict[str, bytes]) -> str | None:
    trace = headers.get(TRACEPARENT, b"")
    return trace.decode() if _TRACE.fullmatch(trace) else None


def _opened(raw: Raw, headers: dict[str, bytes], opener: Opener) -> Raw:
    """Return a record as it was before it was encrypted."""
    kind = _kind_of(headers)
    if kind in (None, ErasureRequest, RedactionRequest):
        raise InvalidInput("what is encrypted names its type, which is not that of an erasure", field="ce_type")
    if not raw.key:
        raise InvalidInput("what is encrypted has its group as its key", field="group_id")
    group = check_group(_text(raw.key, "the key"))
    opened = opener(group, context_of(headers), raw.value or b"")
    if opened is None:
        raise InvalidInput("it was erased: the key that it is encrypted with is destroyed")
    return raw._replace(value=opened)


def _message(raw: Raw, headers: dict[str, bytes]) -> AnyMessage:
    kind = _kind_of(headers)  # first, because a newer version of the value may not be JSON
    fields = _fields(raw.value)
    if kind is None:
        kind = FactStatement if "content" not in fields and fields.keys() & _OF_FACTS else Message
    if raw.key:
        group = _text(raw.key, "the key")
        if fields.setdefault("group_id", group) != group:
            raise InvalidInput(
                "it is not the record's key, which decides where a group's messages go", field="group_id"
            )
    if kind is ErasureRequest:
        if fields.keys() != {"group_id"} or not isinstance(fields["group_id"], str):
            raise InvalidInput("an erasure names its group_id, and nothing else")
        return ErasureRequest(group_id=check_group(fields["group_id"]))
    return accept(kind, fields)


def _kind_of(headers: dict[str, bytes]) -> _Kind | None:
    """Return the class that `ce_type` names; None: there is no such header."""
    if (type_ := headers.get("ce_type")) is None:
        return None
    kind = _KINDS.get(_text(type_, "ce_type"))
    if kind is None:
        raise InvalidInput(f"it is none of {', '.join(_KINDS)}", field="ce_type")
    version = headers.get("ce_eventversion", b"1")
    if not version.isdigit() or len(version) > _DIGITS:
        raise InvalidInput("it must be a number", field="ce_eventversion")
    if int(version) > kind.version:
        raise DecodeError(f"offset holds {kind.type} version {int(version)}, newer than {kind.version}: upgrade asof")
    return kind


def _fields(value: bytes | None) -> dict[str, Any]:
    try:
        fields = json.loads(value or b"")
    except (ValueError, RecursionError):  # UnicodeDecodeError is a ValueError
        raise InvalidInput("the value must be one JSON object in UTF-8") from None
    if not isinstance(fields, dict):
        raise InvalidInput("the value must be one JSON object in UTF-8")
    return fields


def _text(value: bytes, name: str) -> str:
    try:
        return value.decode()
    except UnicodeDecodeError:
        raise InvalidInput(f"{name} is not UTF-8") from None


def _group_of(raw: Raw) -> str:
    """Return the group that a refused record names, so that its owner sees it; "" if it names none."""
    try:
        group = (raw.key or b"").decode() or _fields(raw.value).get("group_id")
        return check_group(group) if isinstance(group, str) else ""
    except (InvalidInput, UnicodeDecodeError):
        return ""


def _key(headers: dict[str, bytes]) -> bytes | None:
    id_ = headers.get("ce_id")
    if not id_:
        return None
    return hashlib.sha256(headers.get("ce_source", b"") + b"\x00" + id_).digest()[:16]
