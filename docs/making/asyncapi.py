"""The AsyncAPI document of docs: the topics as a client meets them, with the headers and values of their records."""

from collections.abc import Iterable
from typing import Any

import yaml

from asof_streams import control, conversation, episodic, semantic
from asof_streams.events import Event
from asof_streams.kafka import envelope
from asof_streams.kafka.topic_rules import RULES, Kind
from making import events, headers, schemas
from making.source import described

TOP = "# Made by docs/generate.py: change the event classes, asof_streams/kafka or docs/making instead.\n"


_ELSEWHERE: tuple[type[Event], ...] = (  # episodic events that semantic logs have as well
    episodic.MentionObserved,
    episodic.RelationshipStated,
    episodic.AttributeStated,
    episodic.ExtractionAnswered,
    episodic.ExtractionFailed,
    episodic.ExtractionRefused,
    episodic.MessageParked,
    episodic.MessageRetried,
    episodic.EpisodeWithdrawn,
    episodic.GroupErased,
)
_PROMPTS: tuple[type[Event], ...] = (conversation.PromptRegistered, conversation.PromptActivated)
_CONTROL = [*events.of(control), *_PROMPTS]
_EPISODIC, _SEMANTIC = events.of(episodic), [*events.of(semantic), *_ELSEWHERE]
_REPLIES = [cls for cls in events.of(conversation) if cls not in _PROMPTS]
_BINDING = {"bindingVersion": "0.5.0"}
_PREFIX = {"default": "asof", "description": "The setting kafka_prefix."}
_GENERATION = {"default": "main", "description": "The name of a generation: see asof generations."}
_KEY = {"type": "string", "description": "The group, in UTF-8; empty for what concerns a generation as a whole."}
_KEYED = {"bindings": {"kafka": {"key": _KEY, **_BINDING}}}


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
            "messages": _channel("messages", "What producers send.", sent, "messages"),
            "episodic": _channel("episodic", "What was recorded of each message, as worded.", _types(_EPISODIC)),
            "semantic": _channel("semantic.{generation}", "What one generation believes, and why.", _types(_SEMANTIC)),
            "replies": _channel(
                "replies", "What a bot answers, and its check-ins.", _types([*_REPLIES, episodic.GroupErased])
            ),
            "control": _channel("control", "Which generation answers, and the prompts of a bot.", _types(_CONTROL)),
            "deadLetters": _channel(
                "dead-letters", "What the messages topic had and asof could not take.", ["dead.letter"], "dead letters"
            ),
        },
        "operations": {
            "sendMessages": _operation("send", "messages", sent),
            "receiveEpisodic": _operation("receive", "episodic", _types(_EPISODIC)),
            "receiveSemantic": _operation("receive", "semantic", _types(_SEMANTIC)),
            "receiveReplies": _operation("receive", "replies", _types([*_REPLIES, episodic.GroupErased])),
            "receiveControl": _operation("receive", "control", _types(_CONTROL)),
            "receiveDeadLetters": _operation("receive", "deadLetters", ["dead.letter"]),
        },
        "components": {
            "messages": {
                **{cls.type: _sent(door) for door, cls in schemas.DOOR.items()},
                **{cls.type: _event(cls) for cls in (*_EPISODIC, *events.of(semantic), *_REPLIES, *_CONTROL)},
                envelope.CLAIMED: _claim(),
                envelope.REACHED: _checkpoint(),
                "dead.letter": _dead_letter(),
            },
            "schemas": {"eventHeaders": _event_headers()},
        },
    }


def _types(classes: list[type[Event]]) -> list[str]:
    return [*(cls.type for cls in classes), envelope.CLAIMED, envelope.REACHED]


def _channel(topic: str, about: str, messages: Iterable[str], kind: Kind = "derived") -> dict[str, Any]:
    parameters = {"prefix": _PREFIX} | ({"generation": _GENERATION} if "{generation}" in topic else {})
    return {
        "address": f"{{prefix}}.{topic}",
        "description": about,
        "messages": {name: {"$ref": f"#/components/messages/{name}"} for name in messages},
        "parameters": parameters,
        "bindings": {"kafka": {"partitions": 1, "topicConfiguration": _settings(kind), **_BINDING}},
    }


def _settings(kind: Kind) -> dict[str, Any]:
    """Return what a topic must be set to, in the types that AsyncAPI wants."""
    wanted = {rule.setting: rule.wanted for rule in RULES[kind]}
    typed = {name: int(value) if value.lstrip("-").isdigit() else value for name, value in wanted.items()}
    return typed | {"cleanup.policy": [wanted["cleanup.policy"]]}


def _operation(action: str, channel: str, messages: Iterable[str]) -> dict[str, Any]:
    return {
        "action": action,
        "channel": {"$ref": f"#/channels/{channel}"},
        "messages": [{"$ref": f"#/channels/{channel}/messages/{name}"} for name in messages],
    }


def _sent(door: str) -> dict[str, Any]:
    cls = schemas.DOOR[door]
    sent = _headers(headers.SENT, [])
    sent["properties"]["ce_type"]["const"] = cls.type
    return _message(cls.type, described(cls), sent, {"$ref": f"schemas/door/{door}.json"}) | _KEYED


_OPTIONAL = ("ce_checkpoint", "ce_writer", "ce_offset", "ce_checkpointoffset")  # earlier versions sent the first alone


def _event(cls: type[Event]) -> dict[str, Any]:
    own = {"ce_type": {"const": cls.type}, "ce_eventversion": {"const": str(cls.version)}}
    sent = {"allOf": [{"$ref": "#/components/schemas/eventHeaders"}, {"type": "object", "properties": own}]}
    return _message(cls.type, described(cls), sent, {"$ref": f"schemas/{schemas.name(cls)}"}) | _KEYED


def _event_headers() -> dict[str, Any]:
    event = headers.of_event()
    return _headers(
        {name: headers.EVENT[name] for name in event},
        [name for name in event if name not in _OPTIONAL],
    )


def _claim() -> dict[str, Any]:
    return _control(envelope.CLAIMED, headers.of_claim(), "a writer has taken the topic over")


def _checkpoint() -> dict[str, Any]:
    about = "its writer has read the input log up to ce_checkpoint, and no event followed"
    return _control(envelope.REACHED, headers.of_checkpoint(), about)


def _control(type_: str, names: list[str], about: str) -> dict[str, Any]:
    left_out = ("ce_writer", "ce_checkpointoffset")  # by earlier versions
    sent = _headers({name: headers.EVENT[name] for name in names}, [name for name in names if name not in left_out])
    sent["properties"]["ce_type"]["const"] = type_
    about = f"A control record, no event: {about}. It has no key."
    return _message(type_, about, sent, {"type": "object", "maxProperties": 0})


def _dead_letter() -> dict[str, Any]:
    about = "A record of the messages topic that could not be taken: key, value and headers as they were, and why."
    dead = headers.of_dead_letter()
    sent = _headers({name: headers.DEAD[name] for name in dead}, dead)
    value = {"description": "The value as it was sent: any bytes."}
    return _message("dead.letter", about, sent, value) | {"contentType": "application/octet-stream"}


def _message(name: str, about: str, sent: dict[str, Any], payload: dict[str, Any]) -> dict[str, Any]:
    return {
        "name": name,
        "description": about,
        "headers": sent,
        "payload": payload,
    }


def _headers(known: dict[str, headers.Header], required: list[str]) -> dict[str, Any]:
    properties = {
        name: {"type": "string", "description": header.meaning}
        | ({"pattern": header.pattern} if header.pattern else {})
        for name, header in known.items()
    }
    return {"type": "object", "properties": properties} | ({"required": required} if required else {})


class _Dumper(yaml.SafeDumper):
    """Writes each value where it stands, never a reference to it, and long text as a block."""

    def ignore_aliases(self, data: Any) -> bool:  # noqa: ARG002
        return True


def _block(dumper: yaml.SafeDumper, value: str) -> yaml.ScalarNode:
    return dumper.represent_scalar("tag:yaml.org,2002:str", value, style="|" if "\n" in value else None)


_Dumper.add_representer(str, _block)
