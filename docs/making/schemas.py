"""The JSON Schemas of docs/schemas: one for each event as it is stored, and under door/ one for each thing to send."""

import json
from typing import Any

from asof_streams.episodic import IdentityRecorded
from asof_streams.events import Event
from asof_streams.messages import (
    IDENTITY_FIELDS,
    MAX_CONTENT_BYTES,
    ConsolidationRequest,
    EntityStatement,
    ErasureRequest,
    FactStatement,
    IdentityStatement,
    Message,
    RedactionRequest,
    RetryRequest,
    TimezoneStatement,
    WithdrawalRequest,
)
from making import events
from making.source import described

DOOR: dict[str, type[Event]] = {
    "message": Message,
    "fact": FactStatement,
    "entity": EntityStatement,
    "identity": IdentityStatement,
    "timezone": TimezoneStatement,
    "withdrawal": WithdrawalRequest,
    "retry": RetryRequest,
    "consolidation": ConsolidationRequest,
    "erasure": ErasureRequest,
    "redaction": RedactionRequest,
}

_DIALECT = "https://json-schema.org/draft/2020-12/schema"
_INSTANTS = {
    "at",
    "attested",
    "begin",
    "due_at",
    "edited_at",
    "granule",
    "holds",
    "invalid_at",
    "said_at",
    "timestamp",
    "until",
    "valid_at",
    "valid_from",
    "valid_to",
}
_CHARACTERS = {"content_length", "end", "start"}
_NUMBERS = {
    "calls",
    "communities_changed_nodes",
    "communities_detected",
    "completion_tokens",
    "count",
    "answers",
    "ends",
    "max_tokens",
    "turns",
    "entity_duplicates_found",
    "entity_merges_performed",
    "half_life_secs",
    "marks",
    "latency_ms",
    "nodes",
    "nodes_decayed",
    "object",
    "prompt_tokens",
    "position",
    "positions",
    "qualifiers",
    "rule",
    "prompt_version",
    "statement_version",
}  # the meaning says it
_TYPES = {"object": ["string", "number"]}  # of what a statement needs; else a text
_TIME = {  # the shape of what instants.parse_moment reads
    "type": "string",
    "pattern": (
        r"^[0-9]{4}(-[0-9]{2}(-[0-9]{2}([Tt ][0-9]{2}:[0-9]{2}(:[0-9]{2}(\.[0-9]{1,9})?)?"
        r"([Zz]|[+-][0-9]{2}:?[0-9]{2}))?)?)?$"
    ),
    "examples": ["2024-05-01T09:30:00Z", "2024-05-01"],
}

_AS_STORED = "As it stands in its log. A field that is absent is an open end, or something not said."
_AS_SENT = """\
As producers send it: a line of `asof {command}`, or the value of a record of the messages topic. There `group_id` may
be left out, and is the record's key; on a line it is needed.

What a schema cannot say, and asof refuses: a time that no calendar has, or outside the years 1 to 9999 in UTC; text
with half of a surrogate pair; {also}."""
_SENT = {
    "message": _AS_SENT.format(command="produce", also=f"a `content` of more than {MAX_CONTENT_BYTES} bytes in UTF-8"),
    "fact": _AS_SENT.format(
        command="import",
        also=f"a `fact` of more than {MAX_CONTENT_BYTES} bytes in UTF-8; a `valid_at` that is not before "
        "`invalid_at`; a whole number of more than 2^53",
    ),
} | dict.fromkeys(
    ("entity", "identity", "timezone", "withdrawal", "retry", "consolidation", "erasure", "redaction"),
    "As producers send it to the messages topic, where `group_id` may be left out, and is the record's key.",
)


def files() -> dict[str, str]:
    """Return each schema's text by its path below docs/schemas."""
    stored = {name(cls): of_event(cls) for layer in events.LAYERS for cls in events.of(layer)}
    sent = {f"door/{door}.json": of_door(door) for door in DOOR}
    return {path: json.dumps(schema, indent=2) + "\n" for path, schema in (stored | sent).items()}


def name(cls: type[Event]) -> str:
    """Return the name of the file of an event's schema."""
    return f"{cls.type}.v{cls.version}.json"


def of_event(cls: type[Event]) -> dict[str, Any]:
    """Return the schema of an event's payload in its present version."""
    made = cls.model_json_schema(mode="serialization")
    return {
        "$schema": _DIALECT,
        "$id": f"urn:asof:{cls.type}:v{cls.version}",
        "title": f"{cls.type}, version {cls.version}",
        "description": f"{described(cls)}\n\n{_AS_STORED}",
        "type": "object",
        "properties": _fields(cls, {field: _given(schema) for field, schema in made.get("properties", {}).items()}),
        "required": made.get("required", []),
        "additionalProperties": False,
        **_rules(cls),
        **_parts(made),
    }


def of_door(door: str) -> dict[str, Any]:
    """Return the schema of what accept() and the messages topic take: times are text, and null is as good as absent."""
    cls = DOOR[door]
    made = cls.model_json_schema(mode="validation")
    return {
        "$schema": _DIALECT,
        "$id": f"urn:asof:door:{door}",
        "title": f"{cls.type}, as it is sent",
        "description": f"{described(cls)}\n\n{_SENT[door]}",
        "type": "object",
        "properties": _fields(cls, {field: _text_of_time(schema) for field, schema in made["properties"].items()}),
        "required": [field for field in made["required"] if field != "group_id"],
        "additionalProperties": False,
        **_rules(cls),
        **_parts(made),
    }


def _fields(cls: type[Event], schemas: dict[str, dict[str, Any]]) -> dict[str, Any]:
    known = events.meanings(cls)
    return {
        field: {"description": _in_its_unit(field, known[field], schema)}
        | {key: value for key, value in schema.items() if key != "title"}
        for field, schema in schemas.items()
    }


def _in_its_unit(field: str, meaning: str, schema: dict[str, Any]) -> str:
    if "integer" not in json.dumps(schema):
        return meaning
    if field in _INSTANTS:
        return f"{meaning}; UTC microseconds since 1970"
    if field in _NUMBERS:
        return meaning
    assert field in _CHARACTERS, f"say in which unit {field} is"
    return meaning if "character" in meaning else f"{meaning}, in characters"


def _given(schema: dict[str, Any]) -> dict[str, Any]:
    """Return what a field is where it is there: an absent value is left out, never written as null."""
    match schema:
        case {"anyOf": [one, {"type": "null"}]}:
            return dict(one)
        case {"anyOf": [*several, {"type": "null"}]}:
            return schema | {"anyOf": several}
    return schema


def _text_of_time(schema: dict[str, Any]) -> dict[str, Any]:
    """Return a field as it is sent: every integer that a producer gives is a time."""
    match schema:
        case {"anyOf": [{"type": "integer"}, null]}:
            return schema | {"anyOf": [_TIME, null]}
    return schema


def _parts(made: dict[str, Any]) -> dict[str, Any]:
    """Return the schemas of the parts that fields have."""
    return {"$defs": made["$defs"]} if "$defs" in made else {}


def _rules(cls: type[Event]) -> dict[str, Any]:
    """Return what holds between fields, which the models check in code."""
    if cls is Message:
        return {
            "anyOf": [
                _has("role_type"),
                {"required": ["source"], "properties": {"source": {"not": {"const": "message"}}}},
            ]
        }
    if cls is FactStatement:
        return {
            "anyOf": [
                _has("subject", "relation", "object"),
                _has("subject", "relation", op=["end"]),
                _has("ref", op=["end", "retract"]),
            ],
            "allOf": [
                {
                    "if": {"required": ["object"], "properties": {"object": {"type": "number"}}},
                    "then": {"properties": {"object_type": {"type": "null"}}},
                },
                {
                    "if": {"required": ["op"], "properties": {"op": {"enum": ["end", "retract"]}}},
                    "then": {"properties": {"qualifiers": {"type": ["object", "null"], "maxProperties": 0}}},
                },
            ],
        }
    if cls in (IdentityStatement, IdentityRecorded):
        return {"anyOf": [_has_only(op, fields) for op, sets in IDENTITY_FIELDS.items() for fields in sets]}
    return {}


def _has_only(op: str, fields: set[str]) -> dict[str, Any]:
    """Return the rule that an op takes these fields, and none of those that others take."""
    rule = _has(*sorted(fields), op=[op])
    others = {field for sets in IDENTITY_FIELDS.values() for named in sets for field in named} - fields
    rule["properties"] |= {field: {"type": "null"} for field in sorted(others)}
    return rule


def _has(*fields: str, op: list[str] | None = None) -> dict[str, Any]:
    needed: dict[str, Any] = {
        "required": [*fields],
        "properties": {field: {"type": _TYPES.get(field, "string")} for field in fields},
    }
    if op is not None:
        needed["required"] = [*fields, "op"]
        needed["properties"] |= {"op": {"enum": op}}
    return needed
