"""Hostile messages, twenty kinds and more, at each door: refused or taken, and the next message is read as ever."""

import json
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

import asof
from asof.api.memory import Memory
from asof.cli import app, calls
from asof_streams.errors import AsofError
from asof_streams.kafka.envelope import Raw
from asof_streams.kafka.inbox import parse_message
from asof_streams.messages import RecordRefused
from http_server import Server, serving
from world import World

GOOD = b'{"group_id": "g", "role": "Ben", "role_type": "user", "content": "I live in Oslo."}'


def said(content: str, **fields: Any) -> bytes:
    return json.dumps({"group_id": "g", "role": "Ana", "role_type": "user", "content": content, **fields}).encode()


def stated(**fields: Any) -> bytes:
    return json.dumps({"group_id": "g", "subject": "Ana", "relation": "lives_in", "object": "Oslo", **fields}).encode()


KINDS: dict[str, bytes] = {
    "nothing": b"{}",
    "no JSON": b"{'content': 'x'}",
    "cut short": GOOD[:40],
    "no UTF-8": GOOD.replace(b"Oslo", b"\xff\xfe\xed\xa0\x80"),
    "UTF-16": GOOD.decode().encode("utf-16"),
    "a list": b"[" + GOOD + b"]",
    "deep nesting": b'{"content": ' + b"[" * 50_000 + b"]" * 50_000 + b"}",
    "a huge number": b'{"content": ' + b"9" * 10_000 + b"}",
    "no number": b'{"content": NaN, "timestamp": Infinity}',
    "half a pair": GOOD.replace(b"Oslo", b"\\ud800"),
    "half a pair in a name": GOOD.replace(b"Ben", b"\\udfff"),
    "half a pair in a group": GOOD.replace(b'"g"', b'"\\ud83d"'),
    "zero bytes": GOOD.replace(b"Oslo", b"Os\\u0000lo"),
    "control characters": GOOD.replace(b"Ben", b"B\\u0007\\u001b[31m\\u202e"),
    "keys twice": GOOD[:-1] + b', "content": 5, "group_id": null}',
    "an unknown field": said("x", __class__="Memory"),
    "a wrong type": said("x", role={"$ne": None}),
    "a long name": said("I live in Oslo.", role="A" * 100_000),
    "the last moment": said("Tomorrow I move to Rome.", timestamp="9999-12-31T23:59:59.999999Z"),
    "the first moment": said("Ten years ago I lived in Rome.", timestamp="0001-01-01T00:00:00Z"),
    "before the first moment": said("x", timestamp="0001-01-01T00:00:00+14:00"),
    "a group that is a path": said("x", group_id="../../etc/passwd"),
    "SQL": said("I live in Rome'); DROP TABLE facts; --", role="Ana'--"),
    "a search": said('I live in "Rome" AND NEAR(Ana* OR -lives:', role='"'),
    "a format": said("I live in %s {0.__class__} ${HOME} {{7*7}}.", role="%n"),
    "one long word": said("I live in " + "R" * 50_000 + "."),
    "invisible characters": said("I live in " + "\u200d\ufe0f\u0301" * 5_000 + "Rome."),
    "names of the engine": said("episode.recorded __init__ sqlite_schema main", role="__proto__"),
    "types of its own": said("I live in Rome.", entity_types={"__class__": "x", "Person": "A" * 5_000}),
    "an episode of nobody": said("x", previous_episode_ids=["'; --"] * 500),
    "an option of a wrong type": said("x", suppress_content="no", excluded_entity_types=[[]]),
    "a fact without an object": stated(object=""),
    "a fact of itself": stated(object="Ana"),
    "a fact that ends before it begins": stated(valid_at="2024-01-01", invalid_at="2020-01-01"),
    "a fact at the ends of time": stated(valid_at="0001-01-01", invalid_at="9999-12-31"),
    "a fact with a hostile reference": stated(ref="../'\u0000", op="retract"),
    "a fact with an unknown operation": stated(op="DROP"),
    "a fact with names that are spaces": stated(subject="\u3000 \t", object="\u200b"),
}


@pytest.fixture(scope="module")
def memory(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Memory]:
    with asof.open(tmp_path_factory.mktemp("memory") / "data", embedder="none") as opened:
        yield opened


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with serving(tmp_path_factory.mktemp("messages") / "data") as running:
        yield running


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> World:
    return World(tmp_path_factory.mktemp("topic") / "data")


def works(memory: Memory) -> None:
    memory.produce([GOOD])
    before = memory.stats()["parked"]
    memory.produce([GOOD])
    assert memory.stats()["parked"] == before
    assert "Oslo" in [fact.object for fact in memory.facts(group_id="g", about="Ben", any_time=True)]


@pytest.mark.parametrize("kind", KINDS)
def test_a_hostile_line_stops_no_memory(memory: Memory, kind: str) -> None:
    for take in (memory.produce, memory.import_facts):
        produced = take([KINDS[kind]])
        assert produced.accepted + len(produced.refused) == 1
        for refused in produced.refused:
            assert "Oslo" not in refused.reason

    works(memory)


@pytest.mark.parametrize("kind", KINDS)
def test_hostile_arguments_stop_no_memory(memory: Memory, kind: str) -> None:
    try:
        fields = json.loads(KINDS[kind])
    except (ValueError, RecursionError):
        fields = {"content": repr(KINDS[kind])}
    if isinstance(fields, dict):
        fields.setdefault("content", "x")
        for tell in (memory.add, memory.state_fact):
            with suppress(AsofError, TypeError):  # TypeError: no such argument
                tell(**fields)

    works(memory)


@pytest.mark.parametrize("kind", KINDS)
def test_a_hostile_record_of_a_topic_stops_no_worker(world: World, kind: str) -> None:
    for key, headers in ((b"g", ()), (None, ()), (b"\xff", ()), (b"g", (("ce_type", b"\xff"), ("ce_id", b"\x00")))):
        received = parse_message(Raw(0, 2**40, key, KINDS[kind], headers))
        assert received.message.type
        if isinstance(received.message, RecordRefused):
            assert "Oslo" not in received.message.reason
        world.send(received.message)

    works(world.memory)


@pytest.mark.parametrize("kind", KINDS)
def test_a_hostile_body_stops_no_service(server: Server, kind: str) -> None:
    line = KINDS[kind]
    paths = server.client.get("/openapi.json").json()["paths"]
    with_body = [path for path, methods in paths.items() if any("requestBody" in about for about in methods.values())]
    inside = {
        "/messages": b'{"group_id": "g", "messages": [%s]}',
        "/v1/facts": b'{"group_id": "g", "statements": [%s]}',
        "/v1/what-if": b'{"group_id": "g", "statements": [%s]}',
        "/get-memory": b'{"group_id": "g", "center_node_uuid": null, "messages": [%s]}',
    }
    assert inside.keys() < set(with_body)
    for path in with_body:
        body = inside.get(path, b"%s") % line
        answer = server.client.post(path, content=body, headers={"Content-Type": "application/json"})
        assert answer.status_code < 500, (path, answer.text)

    server.say("after", "I live in Oslo.", role="Ben")
    assert server.search("Where does Ben live?", "after")
    assert "Traceback" not in server.log


def test_hostile_files_end_no_command_with_a_traceback(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ASOF_EMBEDDER", "none")
    file = tmp_path / "lines.jsonl"
    file.write_bytes(b"\n".join([*KINDS.values(), GOOD, b""]))
    data = ["--data", str(tmp_path / "data")]
    for command in ("produce", "import"):
        assert calls.run(app, [command, str(file), *data]) == 1
        assert "Traceback" not in capsys.readouterr().err

    assert calls.run(app, ["facts", "--about", "Ben", "--group", "g", *data]) == 0
    assert "Oslo" in capsys.readouterr().out
    assert calls.run(app, ["verify", *data]) == 0
