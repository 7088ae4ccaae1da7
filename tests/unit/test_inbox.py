"""What a record of the messages topic is, whoever sent it: a message, or a reason, and never an end of the worker."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from asof_streams.errors import DecodeError
from asof_streams.instants import LAST, parse
from asof_streams.kafka.envelope import Headers, Outgoing, Raw, context_of, dead_letter
from asof_streams.kafka.inbox import ReceivedMessage, parse_message
from asof_streams.key_store import KeyFolder
from asof_streams.messages import (
    EntityStatement,
    ErasureRequest,
    FactStatement,
    IdentityStatement,
    Message,
    RecordRefused,
    RedactionRequest,
    WithdrawalRequest,
)
from asof_streams.record_sealer import RecordSealer

SAID = {"group_id": "g", "content": "Hello", "role_type": "user"}
FACT = {"group_id": "g", "subject": "Ana", "relation": "likes", "object": "Tea"}


def received(value: Any, key: bytes | None = None, **headers: bytes | None) -> ReceivedMessage:
    value = value if isinstance(value, bytes | None) else json.dumps(value).encode()
    return parse_message(Raw(7, 1_500, key, value, [*headers.items()]))  # type: ignore[list-item]


def reason(value: Any, key: bytes | None = None, **headers: bytes | None) -> str:
    message = received(value, key, **headers).message
    assert isinstance(message, RecordRefused)
    return message.reason


def test_a_record_needs_no_headers_and_no_key() -> None:
    assert received(SAID) == ReceivedMessage(7, 1_500_000, Message(**SAID), None)
    assert received(FACT).message == FactStatement(**FACT)


@pytest.mark.parametrize("field", ["subject", "relation", "object", "op", "ref"])
def test_what_has_a_field_of_facts_and_no_content_is_a_fact(field: str) -> None:
    assert not reason({"group_id": "g", field: "x"}).startswith("content")
    assert reason(SAID | {field: "x"}).startswith(f"{field}: no such field; ")


def test_times_are_text_with_a_zone() -> None:
    message = received(SAID | {"timestamp": "2024-05-01T09:30:00+02:00"}).message

    assert isinstance(message, Message)
    assert message.timestamp == parse("2024-05-01T07:30:00Z")
    assert reason(SAID | {"timestamp": 5}).startswith("timestamp: ")


def test_a_record_that_is_dated_after_the_year_9999_is_refused_and_dates_nothing() -> None:
    value = json.dumps(SAID).encode()
    last = parse_message(Raw(7, LAST // 1_000, None, value, []))
    assert (last.message, last.appended_at) == (Message(**SAID), LAST // 1_000 * 1_000)

    for milliseconds in (LAST // 1_000 + 1, 2**63 - 1):
        refused = parse_message(Raw(7, milliseconds, None, value, []))
        reason = "the broker dated it after the year 9999: set its clock right, and send it again"
        assert (refused.message, refused.appended_at) == (RecordRefused(group_id="g", reason=reason), 0)
    with pytest.raises(DecodeError, match="upgrade asof"):
        parse_message(Raw(7, LAST, None, value, [("ce_type", b"message.sent"), ("ce_eventversion", b"99")]))


def test_the_group_may_be_left_to_the_key_and_must_be_that_of_the_key() -> None:
    assert received({k: v for k, v in SAID.items() if k != "group_id"}, b"h").message.group_id == "h"
    assert received(SAID, b"g").message.group_id == "g"
    assert reason(SAID, b"h").startswith("group_id: ")
    assert received(SAID, b"h").message.group_id == "h"


def test_a_header_says_what_it_is() -> None:
    assert isinstance(received(SAID, ce_type=b"message.sent", ce_eventversion=b"1").message, Message)
    assert received({"group_id": "g"}, ce_type=b"erasure.requested").message == ErasureRequest(group_id="g")
    assert received(b"{}", b"g", ce_type=b"erasure.requested").message == ErasureRequest(group_id="g")
    redaction = RedactionRequest(group_id="g", positions=(3, 5))
    assert received({"positions": [3, 5]}, b"g", ce_type=b"redaction.requested").message == redaction
    entity, withdrawal = {"entity_id": "e-1", "name": "Ana"}, {"episode_id": "e-2"}
    assert received(entity, b"g", ce_type=b"entity.stated").message == EntityStatement(group_id="g", **entity)
    merge = {"op": "merge", "entity": "Bob", "into": "Robert"}
    assert received(merge, b"g", ce_type=b"identity.stated").message == IdentityStatement(group_id="g", **merge)
    assert received(withdrawal, b"g", ce_type=b"withdrawal.requested").message == WithdrawalRequest(
        group_id="g", **withdrawal
    )
    assert "content" in reason(FACT, ce_type=b"message.sent")
    assert reason({"group_id": "g", "why": "law"}, ce_type=b"erasure.requested").startswith("an erasure names")
    assert "merge takes entity and into" in reason({**merge, "name": "Rob"}, b"g", ce_type=b"identity.stated")
    assert reason(SAID, ce_type=b"episode.recorded").startswith("ce_type: ")
    assert reason(SAID, ce_type=b"record.refused").startswith("ce_type: ")


@pytest.mark.parametrize(
    ("value", "type_"),
    [
        ({"group_id": "g", "entity_id": "e-1", "name": "Pot", "attributes": {"weight": "heavy"}}, b"entity.stated"),
        ({**FACT, "attributes": {"weight": "heavy"}}, b"fact.stated"),
    ],
)
def test_attributes_of_a_producers_own_are_refused_by_name_and_stop_nobody(value: Any, type_: bytes) -> None:
    assert reason(value, b"g", ce_type=type_).startswith("attributes: no such field; known are ")
    assert isinstance(received(SAID, b"g").message, Message)


def test_a_newer_version_stops_whoever_reads_it_whatever_its_value() -> None:
    for value in (SAID, b"\xff", None):
        with pytest.raises(DecodeError, match="upgrade asof"):
            received(value, ce_type=b"message.sent", ce_eventversion=b"%d" % (Message.version + 1))
    assert reason(SAID, ce_type=b"message.sent", ce_eventversion=b"two").startswith("ce_eventversion: ")


def test_a_producer_is_known_by_source_and_id_together() -> None:
    one, again = received(SAID, ce_source=b"a", ce_id=b"1"), received(FACT, ce_source=b"a", ce_id=b"1")
    others = [received(SAID, ce_source=s, ce_id=i) for s, i in ((b"b", b"1"), (b"a", b"2"), (b"", b"1"), (None, b"a1"))]

    assert one.producer == again.producer is not None
    assert len({one.producer, *(other.producer for other in others)}) == 5
    assert one.producer == bytes.fromhex("05a9c569a185ac60f5511f9760bc3f1a")  # as replicas keep it
    assert received(SAID, ce_source=b"a").producer is None
    assert received(SAID, ce_source=b"a", ce_id=b"").producer is None


@pytest.mark.parametrize(
    "value", [None, b"", b"[1]", b"null", b"\xff\xfe", b'"x"', b"[" * 200_000, b'{"a": ' + b"9" * 5_000 + b"}", b"{}"]
)
def test_what_is_no_message_is_refused_with_a_reason(value: bytes | None) -> None:
    assert reason(value)
    assert reason(value, b"g")
    assert received(value, b"g").message.group_id == "g"
    assert reason(value, b"\xff")


_BYTES = st.binary(max_size=30) | st.sampled_from(
    [
        b"message.sent",
        b"fact.stated",
        b"entity.stated",
        b"withdrawal.requested",
        b"erasure.requested",
        b"1",
        b"9" * 5_000,
    ]
)
_NAMES = st.sampled_from(["ce_type", "ce_eventversion", "ce_id", "ce_source", "content-type"])
_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=5,
)
_FIELDS = st.dictionaries(st.sampled_from([*SAID, *FACT, "timestamp", "valid_at", "op", "x"]), _VALUES, max_size=6)


@given(
    st.none() | st.binary(max_size=50) | _FIELDS.map(lambda fields: json.dumps(fields).encode()),
    st.none() | st.binary(max_size=5),
    st.lists(st.tuples(_NAMES, st.none() | _BYTES), max_size=4),
)
def test_no_record_at_all_stops_a_reader_but_one_of_a_newer_version(
    value: bytes | None, key: bytes | None, headers: Headers
) -> None:
    raw = Raw(3, 1_000, key, value, headers)
    try:
        found = parse_message(raw)
    except DecodeError:
        assert "ce_eventversion" in dict(headers)
        return
    type(found.message).model_validate_json(found.message.encode())
    copy = dead_letter(raw, "t", 0, "why")
    assert copy == Outgoing(key, value, [*headers, *copy.headers[len(headers) :]])


SEALED = {"ce_type": b"message.sent", "ce_source": b"/asof/messages", "ce_id": b"run-1"}


def sealed(folder: Path, key: bytes | None = b"g", **headers: bytes) -> Raw:
    """A message, encrypted for its group, as a producer of the memory sends it."""
    value = RecordSealer(KeyFolder(folder)).seal("g", 3, context_of(SEALED), json.dumps(SAID).encode())
    return Raw(7, 1_500, key, value, [*(SEALED | headers).items()])


def test_what_is_encrypted_is_read_with_the_key_that_it_tells_and_is_no_message_without_keys(tmp_path: Path) -> None:
    opener = RecordSealer(KeyFolder(tmp_path)).open
    plain = Raw(8, 1_500, None, json.dumps(SAID).encode(), [])

    assert parse_message(sealed(tmp_path), opener)[2:5] == (Message(**SAID), received(SAID, None, **SEALED).producer, 3)
    assert parse_message(plain, opener) == parse_message(plain)
    refused = parse_message(sealed(tmp_path))
    assert refused.message == RecordRefused(group_id="g", reason="the value must be one JSON object in UTF-8")
    assert refused.number == -1


@pytest.mark.parametrize(
    ("key", "type_", "why"),
    [
        (b"g", b"erasure.requested", "ce_type: what is encrypted names its type, which is not that of an erasure"),
        (b"", b"message.sent", "group_id: what is encrypted has its group as its key"),
        (None, b"message.sent", "group_id: what is encrypted has its group as its key"),
    ],
)
def test_what_is_encrypted_names_its_type_and_its_group(
    tmp_path: Path, key: bytes | None, type_: bytes, why: str
) -> None:
    refused = parse_message(sealed(tmp_path, key, ce_type=type_), RecordSealer(KeyFolder(tmp_path)).open).message

    assert isinstance(refused, RecordRefused)
    assert refused.reason == why


def test_what_is_encrypted_with_a_key_that_was_destroyed_was_erased(tmp_path: Path) -> None:
    refused = parse_message(sealed(tmp_path), lambda *_: None).message

    why = "it was erased: the key that it is encrypted with is destroyed"
    assert refused == RecordRefused(group_id="g", reason=why)


def test_a_version_has_nine_digits_at_most_and_a_key_is_text() -> None:
    with pytest.raises(DecodeError, match="version 999999999, newer than"):
        received(SAID, ce_type=b"message.sent", ce_eventversion=b"9" * 9)
    assert reason(SAID, ce_type=b"message.sent", ce_eventversion=b"9" * 10) == "ce_eventversion: it must be a number"
    assert reason(SAID, b"\xff") == "the key is not UTF-8"
