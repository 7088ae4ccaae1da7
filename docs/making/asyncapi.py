"""The AsyncAPI document of docs: the topics as a client meets them, with the headers and values of their records."""

from collections.abc import Iterable
from typing import Any, NamedTuple

import yaml

from asof_streams import episodic, semantic
from asof_streams.events import Draft, Event
from asof_streams.kafka import envelope
from making import events, schemas
from making.source import described

TOP = "# Made by docs/generate.py: change the event classes, asof_streams/kafka or docs/making/asyncapi.py instead.\n"


class Header(NamedTuple):
    """What a header holds: text in UTF-8."""

    pattern: str
    meaning: str


EVENT = {  # headers of the events of derived topics
    "content-type": Header("^application/json$", "of the value"),
    "ce_specversion": Header(r"^1\.0$", "of CloudEvents"),
    "ce_id": Header("^.+$", "the event's id, the same at every replay; of a claim, what tells it from others"),
    "ce_source": Header(r"^/asof/(episodic|semantic\.[a-z0-9][a-z0-9_-]{0,62})$", "`/asof/` and the name of the log"),
    "ce_type": Header(r"^[a-z_]+\.[a-z_]+$", "the type of the event, or `writer.claimed`"),
    "ce_time": Header(
        r"^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}(\.[0-9]{6})?Z$",
        "when the message that caused it was put on the messages topic, RFC 3339 in UTC; rises strictly within a group",
    ),
    "ce_sequence": Header("^[0-9]{20}$", "its position in the log, 20 digits"),
    "ce_eventversion": Header("^[1-9][0-9]*$", "of the type"),
    "ce_cause": Header("^(-1|[0-9]+)$", "the position of that message among the messages; -1 where there is none"),
    "ce_place": Header("^[0-9]+$", "its place within its batch, from 0"),
    "ce_size": Header("^[1-9][0-9]*$", "how many events the batch has"),
    "ce_term": Header("^[1-9][0-9]*$", "of the writer: the next number with each claim"),
    "ce_checkpoint": Header(
        "^[0-9]+$", "the position of the input log to go on from; on the last record of each append alone"
    ),
}

SENT = {  # headers of the messages topic, each of which may be left out
    "ce_type": Header(
        "", "which of the three it is; left out, `content` makes a value a message, and other fields a fact"
    ),
    "ce_eventversion": Header("^[0-9]+$", "of the type; the worker stops at one that is newer than it knows"),
    "ce_source": Header("", "who sends; with `ce_id`, what makes a record known again"),
    "ce_id": Header(
        "^.+$", "the producer's own id of the record: a second one with the same source and id adds nothing"
    ),
}

DEAD = {  # headers that a dead letter has beside its own
    "dlq_original_topic": Header("^.+$", "the topic that it was taken from"),
    "dlq_original_partition": Header("^[0-9]+$", "its partition there"),
    "dlq_original_offset": Header("^[0-9]+$", "its offset there"),
    "dlq_original_timestamp": Header("^[0-9]+$", "when it was put there, in milliseconds since 1970"),
    "dlq_reason": Header("^.+$", "why it was not taken; names fields, never content"),
}

_ELSEWHERE: tuple[type[Event], ...] = (  # episodic events that semantic logs have as well
    episodic.MentionObserved,
    episodic.RelationshipStated,
    episodic.MessageParked,
    episodic.GroupErased,
)
_EPISODIC, _SEMANTIC = events.of(episodic), [*events.of(semantic), *_ELSEWHERE]
_BINDING = {"bindingVersion": "0.5.0"}
_SETTINGS = {
    "partitions": 1,
    "topicConfiguration": {
        "cleanup.policy": ["delete"],
        "retention.ms": -1,
        "retention.bytes": -1,
        "message.timestamp.type": "LogAppendTime",
    },
    **_BINDING,
}
_PREFIX = {"default": "asof", "description": "The setting kafka_prefix."}
_GENERATION = {"default": "main", "description": "The name of a generation: see asof generations."}
_KEY = {"type": "string", "description": "The group, in UTF-8; empty for what concerns a generation as a whole."}
_KEYED = {"bindings": {"kafka": {"key": _KEY, **_BINDING}}}


def names() -> tuple[list[str], list[str]]:
    """Return the headers of an event, the checkpoint that not all have among them, and those of a claim."""
    draft = Draft("default", 0, 0, 0, 1, episodic.GroupErased())
    event, claim = envelope.event("episodic", 0, draft, 1, 0), envelope.claim("episodic", 1, "w")
    return [name for name, _ in event.headers], [name for name, _ in claim.headers]


def text() -> str:
    """Return the document as YAML."""
    return TOP + yaml.dump(document(), Dumper=_Dumper, sort_keys=False, width=110, allow_unicode=True)


def document() -> dict[str, Any]:
    """Return the document."""
    sent = {cls.type: door for door, cls in schemas.DOOR.items()}
    return {
        "asyncapi": "3.1.0",
        "info": {
            "title": "The topics of asof",
            "version": "1",
            "description": "What a client sends to asof over Kafka, and what it can read there. "
            "docs/reference/topics.md says which records of a derived topic stand.",
            "license": {"name": "Apache-2.0"},
        },
        "defaultContentType": "application/json",
        "channels": {
            "messages": _channel("messages", "What producers send.", sent),
            "episodic": _channel("episodic", "What was recorded of each message, as worded.", _types(_EPISODIC)),
            "semantic": _channel("semantic.{generation}", "What one generation believes, and why.", _types(_SEMANTIC)),
            "deadLetters": _channel(
                "dead-letters", "What the messages topic had and asof could not take.", ["dead.letter"]
            ),
        },
        "operations": {
            "sendMessages": _operation("send", "messages", sent),
            "receiveEpisodic": _operation("receive", "episodic", _types(_EPISODIC)),
            "receiveSemantic": _operation("receive", "semantic", _types(_SEMANTIC)),
            "receiveDeadLetters": _operation("receive", "deadLetters", ["dead.letter"]),
        },
        "components": {
            "messages": {
                **{cls.type: _sent(door) for door, cls in schemas.DOOR.items()},
                **{cls.type: _event(cls) for cls in (*_EPISODIC, *events.of(semantic))},
                envelope.CLAIMED: _claim(),
                "dead.letter": _dead_letter(),
            },
            "schemas": {"eventHeaders": _event_headers()},
        },
    }


def _types(classes: list[type[Event]]) -> list[str]:
    return [*(cls.type for cls in classes), envelope.CLAIMED]


def _channel(topic: str, about: str, messages: Iterable[str]) -> dict[str, Any]:
    parameters = {"prefix": _PREFIX} | ({"generation": _GENERATION} if "{generation}" in topic else {})
    return {
        "address": f"{{prefix}}.{topic}",
        "description": about,
        "messages": {name: {"$ref": f"#/components/messages/{name}"} for name in messages},
        "parameters": parameters,
        "bindings": {"kafka": _SETTINGS},
    }


def _operation(action: str, channel: str, messages: Iterable[str]) -> dict[str, Any]:
    return {
        "action": action,
        "channel": {"$ref": f"#/channels/{channel}"},
        "messages": [{"$ref": f"#/channels/{channel}/messages/{name}"} for name in messages],
    }


def _sent(door: str) -> dict[str, Any]:
    cls = schemas.DOOR[door]
    headers = _headers(SENT, [])
    headers["properties"]["ce_type"]["const"] = cls.type
    return _message(cls.type, described(cls), headers, {"$ref": f"schemas/door/{door}.json"}) | _KEYED


def _event(cls: type[Event]) -> dict[str, Any]:
    own = {"ce_type": {"const": cls.type}, "ce_eventversion": {"const": str(cls.version)}}
    headers = {"allOf": [{"$ref": "#/components/schemas/eventHeaders"}, {"type": "object", "properties": own}]}
    return _message(cls.type, described(cls), headers, {"$ref": f"schemas/{schemas.name(cls)}"}) | _KEYED


def _event_headers() -> dict[str, Any]:
    event, _ = names()
    return _headers({name: EVENT[name] for name in event}, [name for name in event if name != "ce_checkpoint"])


def _claim() -> dict[str, Any]:
    _, claim = names()
    headers = _headers({name: EVENT[name] for name in claim}, claim)
    headers["properties"]["ce_type"]["const"] = envelope.CLAIMED
    about = "A control record, no event: a writer has taken the topic over. It has no key."
    return _message(envelope.CLAIMED, about, headers, {"type": "object", "maxProperties": 0})


def _dead_letter() -> dict[str, Any]:
    about = "A record of the messages topic that could not be taken: key, value and headers as they were, and why."
    value = {"description": "The value as it was sent: any bytes."}
    dead = _message("dead.letter", about, _headers(DEAD, [*DEAD]), value)
    return dead | {"contentType": "application/octet-stream"}


def _message(name: str, about: str, headers: dict[str, Any], payload: dict[str, Any]) -> dict[str, Any]:
    return {
        "name": name,
        "description": about,
        "headers": headers,
        "payload": payload,
    }


def _headers(headers: dict[str, Header], required: list[str]) -> dict[str, Any]:
    properties = {
        name: {"type": "string", "description": header.meaning}
        | ({"pattern": header.pattern} if header.pattern else {})
        for name, header in headers.items()
    }
    return {"type": "object", "properties": properties} | ({"required": required} if required else {})


class _Dumper(yaml.SafeDumper):
    """Writes each value where it stands, never a reference to it, and long text as a block."""

    def ignore_aliases(self, data: Any) -> bool:  # noqa: ARG002
        return True


def _block(dumper: yaml.SafeDumper, value: str) -> yaml.ScalarNode:
    return dumper.represent_scalar("tag:yaml.org,2002:str", value, style="|" if "\n" in value else None)


_Dumper.add_representer(str, _block)
