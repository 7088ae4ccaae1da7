"""The JSON Schemas take what the logs hold, and what the messages topic takes: no more, no less."""

import json
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from asof_streams.kafka.envelope import Raw
from asof_streams.kafka.inbox import parse_message
from asof_streams.messages import (
    MAX_NAME_CHARACTERS,
    EntityStatement,
    ErasureRequest,
    FactStatement,
    IdentityStatement,
    Message,
    RecordRefused,
    RedactionRequest,
    TimezoneStatement,
    WithdrawalRequest,
)

ROOT = Path(__file__).resolve().parents[2]
SCHEMAS = ROOT / "docs" / "schemas"
HISTORY = ROOT / "tests" / "history"
STORED = sorted(path.name for path in HISTORY.glob("*.jsonl"))
DOOR: dict[str, Any] = {
    "message": Message,
    "fact": FactStatement,
    "entity": EntityStatement,
    "identity": IdentityStatement,
    "timezone": TimezoneStatement,
    "withdrawal": WithdrawalRequest,
    "erasure": ErasureRequest,
    "redaction": RedactionRequest,
}


@cache
def schema(path: str) -> Draft202012Validator:
    return Draft202012Validator(json.loads((SCHEMAS / path).read_text("utf-8")))


def taken(door: str, value: Any) -> bool:
    """Whether the messages topic takes a value under the key "ana", or under none where the value names a group."""
    key = None if isinstance(value, dict) and "group_id" in value else b"ana"
    headers = [("ce_type", DOOR[door].type.encode())]
    return not isinstance(parse_message(Raw(0, 0, key, json.dumps(value).encode(), headers)).message, RecordRefused)


def agreed(door: str, value: Any) -> bool:
    """Return whether a value is taken; the topic and the schema must say the same."""
    says = schema(f"door/{door}.json").is_valid(value)
    assert taken(door, value) is says, value
    return says


def test_every_file_is_a_schema_and_no_two_have_one_id() -> None:
    read = [json.loads(path.read_text("utf-8")) for path in SCHEMAS.rglob("*.json")]

    for one in read:
        Draft202012Validator.check_schema(one)
        assert one["$schema"] == Draft202012Validator.META_SCHEMA["$id"]
        assert one["title"]
        assert one["description"]
    assert len({one["$id"] for one in read}) == len(read)


def test_every_version_of_every_event_has_a_schema() -> None:
    assert sorted(path.stem for path in SCHEMAS.glob("*.json")) == [name.removesuffix(".jsonl") for name in STORED]


@pytest.mark.parametrize("name", STORED)
def test_what_was_ever_stored_fits_its_schema(name: str) -> None:
    payloads = [json.loads(json.loads(line)["payload"]) for line in (HISTORY / name).read_text("utf-8").splitlines()]
    fits = schema(name.removesuffix("l"))

    assert payloads
    for payload in payloads:
        fits.validate(payload)


@pytest.mark.parametrize("name", STORED)
def test_a_schema_of_an_event_refuses_what_lacks_a_field_or_has_one_too_many(name: str) -> None:
    payload = json.loads(json.loads((HISTORY / name).read_text("utf-8").splitlines()[0])["payload"])
    fits = schema(name.removesuffix("l"))

    assert not fits.is_valid({**payload, "extra": 1})
    for field in fits.schema["required"]:
        assert not fits.is_valid({key: value for key, value in payload.items() if key != field})


MESSAGE = {"content": "I moved to Berlin.", "role_type": "user"}
FACT = {"subject": "Ana", "relation": "works_at", "object": "SAP"}
MERGE = {"op": "merge", "entity": "Bob", "into": "Robert"}
STARTS = {"message": MESSAGE, "fact": FACT, "identity": MERGE}


@pytest.mark.parametrize(
    ("door", "value"),
    [
        ("message", MESSAGE),
        ("message", {**MESSAGE, "group_id": "g-1"}),
        ("message", {"content": "", "source": "text"}),
        ("message", {"content": "{}", "source": "json", "role_type": None, "uuid": None, "timestamp": None}),
        ("message", {**MESSAGE, "timestamp": "2024-05-01t09:30+0200", "name": "n" * MAX_NAME_CHARACTERS}),
        ("message", {**MESSAGE, "timestamp": "2024-05-01 09:30:00.123456789z"}),
        ("message", {**MESSAGE, "timestamp": "2024-05-01"}),
        ("message", {**MESSAGE, "timestamp": "2024"}),
        ("fact", FACT),
        ("fact", {**FACT, "op": "correct", "ref": "f1", "confidence": 1}),
        ("fact", {**FACT, "valid_at": "2024-01-01T00:00:00Z", "invalid_at": None, "confidence": 0.5}),
        ("fact", {"op": "end", "subject": "Ana", "relation": "works_at", "object": None}),
        ("fact", {**FACT, "object": 42, "object_type": None, "qualifiers": None}),
        ("fact", {**FACT, "object": -1.5e300, "qualifiers": {"role": "cook", "hours": 37.5}}),
        ("fact", {"op": "end", "subject": "Ana", "relation": "age", "object": 42, "qualifiers": {}}),
        ("fact", {"op": "end", "ref": "f1"}),
        ("fact", {"op": "retract", "ref": "f1", "subject": None}),
        ("entity", {"entity_id": "e-1", "name": "Ana"}),
        ("entity", {"group_id": "g-1", "entity_id": "e-1", "name": "Ana", "summary": ""}),
        ("identity", MERGE),
        ("identity", {**MERGE, "op": "split", "merge_id": None, "group_id": "g-1"}),
        ("identity", {"op": "split", "merge_id": "m-1"}),
        ("identity", {"op": "alias", "entity": "Robert", "name": "Rob"}),
        ("identity", {"op": "unalias", "entity": "Robert", "name": "Rob"}),
        ("timezone", {"timezone": "Europe/Berlin"}),
        ("withdrawal", {"episode_id": "e-1"}),
        ("erasure", {}),
        ("erasure", {"group_id": "g-1"}),
        ("redaction", {"positions": [0, 17]}),
        ("redaction", {"group_id": "g-1", "positions": []}),
    ],
)
def test_what_is_taken_fits_the_schema(door: str, value: dict[str, Any]) -> None:
    assert agreed(door, value)


@pytest.mark.parametrize(
    ("door", "value"),
    [
        ("message", {}),
        ("message", []),
        ("message", {"content": "c"}),
        ("message", {"content": "c", "source": "message"}),
        ("message", {"content": "c", "role_type": None}),
        ("message", {**MESSAGE, "content": None}),
        ("message", {**MESSAGE, "group_id": None}),
        ("message", {**MESSAGE, "group_id": "no\tgroup"}),
        ("message", {**MESSAGE, "uuid": " "}),
        ("message", {**MESSAGE, "role": None}),
        ("message", {**MESSAGE, "name": "n" * (MAX_NAME_CHARACTERS + 1)}),
        ("message", {**MESSAGE, "timestamp": 1_700_000_000}),
        ("message", {**MESSAGE, "timestamp": "2024-05-01T09:30:00"}),
        ("message", {**MESSAGE, "timestamp": "2024-05-01 09:30"}),
        ("message", {**MESSAGE, "timestamp": "2024-5-1"}),
        ("message", {**MESSAGE, "role_type": "tool"}),
        ("message", {**MESSAGE, "subject": "Ana"}),
        ("fact", {}),
        ("fact", {"subject": "Ana", "relation": "works_at"}),
        ("fact", {**FACT, "object": None}),
        ("fact", {**FACT, "object": ""}),
        ("fact", {**FACT, "op": None}),
        ("fact", {**FACT, "confidence": "0.9"}),
        ("fact", {**FACT, "confidence": True}),
        ("fact", {**FACT, "confidence": 1.01}),
        ("fact", {**FACT, "object": True}),
        ("fact", {**FACT, "object": 42, "object_type": "City"}),
        ("fact", {**FACT, "qualifiers": {"role": None}}),
        ("fact", {**FACT, "qualifiers": {" ": 1}}),
        ("fact", {**FACT, "op": "end", "qualifiers": {"role": "cook"}}),
        ("fact", {"op": "correct", "ref": "f1"}),
        ("fact", {"op": "end", "relation": "works_at"}),
        ("fact", {"op": "retract", "subject": "Ana", "relation": "works_at"}),
        ("entity", {"entity_id": "e-1"}),
        ("entity", {"entity_id": "", "name": "Ana"}),
        ("entity", {"entity_id": "e-1", "name": "Ana", "summary": None}),
        ("identity", {**MERGE, "op": None}),
        ("identity", {**MERGE, "into": None}),
        ("identity", {**MERGE, "entity": " "}),
        ("identity", {**MERGE, "name": "Rob"}),
        ("identity", {**MERGE, "op": "split", "merge_id": "m-1"}),
        ("identity", {**MERGE, "op": "alias"}),
        ("identity", {"op": "unalias", "entity": "Robert", "merge_id": "m-1"}),
        ("timezone", {"timezone": "localtime"}),
        ("timezone", {"timezone": "Europe/../Berlin"}),
        ("withdrawal", {}),
        ("withdrawal", {"episode_id": " "}),
        ("erasure", {"group_id": ""}),
        ("erasure", {"group_id": "g-1", "content": "c"}),
        ("redaction", {}),
        ("redaction", {"positions": [-1]}),
        ("redaction", {"positions": [True]}),
        ("redaction", {"positions": [0.5]}),
        ("redaction", {"positions": "01"}),
        ("redaction", {"positions": None}),
    ],
)
def test_what_is_refused_does_not_fit_the_schema(door: str, value: Any) -> None:
    assert not agreed(door, value)


ANY = [
    "",
    " ",
    "Ana",
    "a-1",
    "text",
    "end",
    "retract",
    "split",
    "user",
    "2024-05-01T09:30:00Z",
    None,
    0,
    1,
    0.5,
    -1,
    True,
    [],
    {},
    {"Ana": 1},
]


@pytest.mark.parametrize("door", STARTS)
def test_the_topic_and_the_schema_agree_on_each_field(door: str) -> None:
    said = {name: {agreed(door, {**STARTS[door], name: value}) for value in ANY} for name in DOOR[door].model_fields}

    assert {name for name, answers in said.items() if answers != {True, False}} == set()


@given(st.sampled_from([*STARTS]), st.data())
def test_the_topic_and_the_schema_agree_on_any_fields(door: str, data: st.DataObject) -> None:
    start = STARTS[door]
    changed = data.draw(
        st.dictionaries(st.sampled_from([*DOOR[door].model_fields, "extra"]), st.sampled_from(ANY), max_size=4)
    )
    left_out = data.draw(st.sets(st.sampled_from([*start]), max_size=2))
    value = {name: given_ for name, given_ in {**start, **changed}.items() if name not in left_out}
    if value.get("valid_at") is not None:
        value.pop("invalid_at", None)  # that it comes after valid_at, a schema cannot say

    agreed(door, value)


@pytest.mark.parametrize(
    ("door", "value"),
    [
        ("message", {**MESSAGE, "timestamp": "2024-02-30T00:00:00Z"}),
        ("message", {**MESSAGE, "timestamp": "0001-01-01T00:00:00+01:00"}),
        ("message", {**MESSAGE, "content": "\ud800"}),
        ("message", {**MESSAGE, "content": "é" * 300_000}),
        ("fact", {**FACT, "fact": "é" * 300_000}),
        ("fact", {**FACT, "valid_at": "2024-01-01T00:00:00Z", "invalid_at": "2023-01-01T00:00:00Z"}),
        ("fact", {**FACT, "object": 2**53 + 1}),
    ],
)
def test_only_what_the_schemas_say_that_they_cannot_say_is_refused_beyond_them(door: str, value: Any) -> None:
    assert schema(f"door/{door}.json").is_valid(value)
    assert not taken(door, value)
    assert "What a schema cannot say" in schema(f"door/{door}.json").schema["description"]
