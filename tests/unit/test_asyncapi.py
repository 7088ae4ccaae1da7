"""The description of the topics is whole, and what is sent to them and read there fits it."""

import json
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import yaml
from jsonschema import Draft202012Validator
from referencing import Registry, Resource
from referencing.jsonschema import DRAFT202012

import asof_streams
from asof_streams import control, conversation, episodic, events, messages, semantic
from asof_streams.events import Draft
from asof_streams.kafka import envelope
from asof_streams.kafka.topic_rules import RULES, TopicDescription, check_topic
from asof_streams.kafka.topics import Topics

ROOT = Path(__file__).resolve().parents[2]
FILE = ROOT / "docs" / "asyncapi.yaml"
HISTORY = ROOT / "tests" / "history"
DOCUMENT: dict[str, Any] = yaml.load(FILE.read_text("utf-8"), getattr(yaml, "CSafeLoader", yaml.SafeLoader))
CHANNELS, MESSAGES = DOCUMENT["channels"], DOCUMENT["components"]["messages"]
TYPES = {name: cls for name, cls in events.types().items() if cls.__module__.startswith(f"{asof_streams.__name__}.")}
LAYERS = (episodic.__name__, semantic.__name__, control.__name__, conversation.__name__)
DERIVED = sorted(name for name, cls in TYPES.items() if cls.__module__ in LAYERS)


@cache
def retrieve(uri: str) -> Resource[Any]:
    path = Path(uri.removeprefix("file://"))
    content = DOCUMENT if path == FILE else json.loads(path.read_text("utf-8"))
    return Resource.from_contents(content, default_specification=DRAFT202012)


def fits(pointer: str) -> Draft202012Validator:
    """Return what checks against a schema within the document."""
    registry: Registry[Any] = Registry(retrieve=retrieve)  # type: ignore[call-arg]  # attrs, which mypy reads otherwise
    return Draft202012Validator({"$ref": f"{FILE.as_uri()}#{pointer}"}, registry=registry)


def headers(sent: envelope.Outgoing) -> dict[str, str]:
    return {name: value.decode() for name, value in sent.headers}


def stored(type_: str) -> Iterator[events.Event]:
    """Yield an event of a type for each payload of its golden file."""
    version = TYPES[type_].version
    for line in (HISTORY / f"{type_}.v{version}.jsonl").read_text("utf-8").splitlines():
        yield events.decode(type_, version, json.loads(line)["payload"].encode())


def references(part: Any) -> Iterator[str]:
    if isinstance(part, dict):
        yield from (value for key, value in part.items() if key == "$ref")
        part = list(part.values())
    if isinstance(part, list):
        for one in part:
            yield from references(one)


def test_it_has_what_asyncapi_asks_of_a_document() -> None:
    assert DOCUMENT["asyncapi"] == "3.1.0"
    assert {"title", "version"} <= DOCUMENT["info"].keys()
    for channel in CHANNELS.values():
        assert channel["messages"]
        assert all(f"{{{name}}}" in channel["address"] for name in channel["parameters"])
        assert channel["address"].count("{") == len(channel["parameters"])
    for operation in DOCUMENT["operations"].values():
        assert operation["action"] in ("send", "receive")
        _, _, channel = operation["channel"]["$ref"].rpartition("/")
        assert [one["$ref"] for one in operation["messages"]] == [
            f"#/channels/{channel}/messages/{name}" for name in CHANNELS[channel]["messages"]
        ]
    for name, message in MESSAGES.items():
        assert message["name"] == name
        assert {"description", "headers", "payload"} <= message.keys()


def test_every_reference_leads_somewhere() -> None:
    found = sorted(set(references(DOCUMENT)))

    assert found
    for reference in found:
        if reference.startswith("#"):
            part = DOCUMENT
            for step in reference.removeprefix("#/").split("/"):
                part = part[step]
        else:
            assert (FILE.parent / reference).is_file(), reference


def test_every_channel_has_an_operation_and_every_message_and_schema_a_place() -> None:
    of_operations = {operation["channel"]["$ref"].rpartition("/")[2] for operation in DOCUMENT["operations"].values()}
    of_channels = {name for channel in CHANNELS.values() for name in channel["messages"]}
    named = {reference for reference in references(DOCUMENT) if not reference.startswith("#")}
    logged = {f"schemas/{name}.v{cls.version}.json" for name, cls in TYPES.items() if name in DERIVED}
    sent = {f"schemas/door/{path.name}" for path in (FILE.parent / "schemas" / "door").iterdir()}

    assert of_operations == CHANNELS.keys()
    assert of_channels == MESSAGES.keys()
    assert named == logged | sent


def test_the_channels_are_the_topics_with_the_settings_that_they_must_have() -> None:
    topics = Topics("some")
    named = {channel["address"].format(prefix="some", generation="g2"): channel for channel in CHANNELS.values()}

    kinds = topics.all(["g2"]) | {topics.control: "derived", topics.replies: "derived"}
    assert named.keys() == kinds.keys()
    for name, kind in kinds.items():
        binding = named[name]["bindings"]["kafka"]
        given = {
            **binding["topicConfiguration"],
            "cleanup.policy": ",".join(binding["topicConfiguration"]["cleanup.policy"]),
        }
        settings = {key: str(value) for key, value in given.items()}
        described = TopicDescription(binding["partitions"], 3, {"min.insync.replicas": "2", **settings}, [0])
        assert {rule.setting for rule in RULES[kind]} == settings.keys()
        assert list(check_topic(name, kind, described, 1, "localhost:9092")) == []


def test_the_messages_topic_takes_what_producers_may_send() -> None:
    stated = (messages.FactStatement, messages.EntityStatement, messages.IdentityStatement)
    sent = (
        messages.Message,
        *stated,
        messages.TimezoneStatement,
        messages.WithdrawalRequest,
        messages.RetryRequest,
        messages.ConsolidationRequest,
        messages.ErasureRequest,
        messages.RedactionRequest,
    )

    assert CHANNELS["messages"]["messages"].keys() == {cls.type for cls in sent}


@pytest.mark.parametrize("type_", DERIVED)
def test_an_event_is_sent_with_the_headers_and_the_value_that_are_described(type_: str) -> None:
    for event in stored(type_):
        for log, checkpoint in (("episodic", None), ("semantic.main", 18), ("conversation", 18)):
            draft = Draft("ana-1", 1_714_555_800_000_001, 17, 0, 2, event)
            sent = envelope.event(log, 41, draft, 3, checkpoint)

            fits(f"/components/messages/{type_}/headers").validate(headers(sent))
            fits(f"/components/messages/{type_}/payload").validate(json.loads(sent.value))


def test_what_concerns_a_generation_as_a_whole_is_described_too() -> None:
    (event, *_) = stored("relation.declared")
    sent = envelope.event("semantic.g2-x_y", 0, Draft("", 0, -1, 0, 1, event), 1, None)

    fits("/components/messages/relation.declared/headers").validate(headers(sent))


def test_a_claim_is_sent_as_it_is_described() -> None:
    sent = envelope.claim("episodic", 3, "some-writer", 1)

    assert sent.key is None
    fits(f"/components/messages/{envelope.CLAIMED}/headers").validate(headers(sent))
    fits(f"/components/messages/{envelope.CLAIMED}/payload").validate(json.loads(sent.value))


def test_a_checkpoint_is_sent_as_it_is_described() -> None:
    sent = envelope.checkpoint_reached("semantic.main", 41, 3, 18)

    assert sent.key is None
    fits(f"/components/messages/{envelope.REACHED}/headers").validate(headers(sent))
    fits(f"/components/messages/{envelope.REACHED}/payload").validate(json.loads(sent.value))


def test_a_dead_letter_is_sent_as_it_is_described() -> None:
    own = [("ce_id", b"7"), ("trace", b"\xc3\xa9")]
    original = envelope.Raw(5, 1_714_555_800_000, b"ana-1", b"no JSON", own)
    sent = envelope.dead_letter(original, "asof.messages", 0, "the value must be one JSON object in UTF-8")

    fits("/components/messages/dead.letter/headers").validate(headers(sent))
    assert (sent.key, sent.value, sent.headers[:2]) == (original.key, original.value, own)


@pytest.mark.parametrize("name", ["ce_id", "ce_time", "ce_sequence", "ce_cause", "ce_place", "ce_size", "ce_term"])
def test_a_header_that_is_missing_or_wrong_does_not_fit(name: str) -> None:
    (event, *_) = stored("group.erased")
    sent = headers(envelope.event("episodic", 41, Draft("ana-1", 0, 17, 0, 1, event), 3, 18))
    described = fits("/components/messages/group.erased/headers")

    assert described.is_valid(sent)
    assert not described.is_valid({key: value for key, value in sent.items() if key != name})
    assert not described.is_valid({**sent, name: ""})
    assert not described.is_valid({**sent, "ce_type": "fact.ended"})
