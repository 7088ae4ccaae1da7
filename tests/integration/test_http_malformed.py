"""Twenty thousand malformed bodies over the routes that take one: each is refused, nothing is stored or told.

Each is made from a good body in a way that cannot leave it good. The choice is random and always the same.
"""

import json
import random
from collections import Counter
from collections.abc import Callable, Iterator
from http.client import HTTPConnection
from pathlib import Path
from typing import Any

import pytest

from asof_streams.sqlite_log import SqliteLog
from effort import tries
from http_server import Server, serving

BODIES = tries(2_000, nightly=20_000)
CANARY = "canary-7f3a1c"
JSON = "application/json"
SAID = {
    "content": f"I live in {CANARY}.",
    "role_type": "user",
    "role": "Ana",
    "name": "n1",
    "uuid": "an-episode",
    "timestamp": "2024-05-01T09:30:00Z",
    "source_description": "a chat",
}
STATED = {"subject": f"Ana {CANARY}", "relation": "lives_in", "object": "Rome"}
ACTIONS = ("switch", "drop", "pause", "resume", "cancel")  # on a generation
GOOD: dict[str, dict[str, Any]] = {
    "/messages": {"group_id": "g", "messages": [SAID, {"content": "Hi.", "role_type": "assistant"}]},
    "/entity-node": {"uuid": "n-1", "group_id": "g", "name": f"Ana {CANARY}", "summary": "A cook."},
    "/search": {"query": f"Where is {CANARY}?", "group_ids": ["g"], "max_facts": 5},
    "/get-memory": {"group_id": "g", "max_facts": 3, "center_node_uuid": None, "messages": [SAID]},
    "/groups/resolve": {"scope": "user", "key": f"github_login:{CANARY}"},
    "/v1/facts": {"group_id": "g", "statements": [STATED]},
    "/v1/what-if": {"group_id": "g", "statements": [STATED]},
    "/v1/identities": {"group_id": "g", "op": "alias", "entity": f"Ana {CANARY}", "name": "Annie"},
    "/v1/timezone": {"group_id": f"g {CANARY}", "timezone": "Europe/Berlin"},
    "/v1/settle": {"group_id": "g", "id": f"a fact {CANARY}"},
    "/v1/retry": {"group_id": f"g {CANARY}", "positions": [3]},
    "/v1/consolidate": {"group_id": f"g {CANARY}", "dry_run": True},
    "/v1/erase": {"group_id": f"g {CANARY}", "phrase": CANARY},
    "/v1/conversation/incoming": {"group_id": "g", "kind": "message", "external_id": "m-1", "content": SAID["content"]},
    "/v1/conversation/sent": {"group_id": "g", "id": f"r {CANARY}", "external_id": "m-2"},
    "/v1/conversation/due": {"group_id": f"g {CANARY}"},
    "/v1/prompts": {"prompt": "MAIN_CONVERSATION", "template": f"{CANARY} {{current_message}}"},
    "/v1/prompts/activate": {"prompt": "MAIN_CONVERSATION", "version": 1},
    **{f"/v1/generations/{action}": {"name": "second"} for action in ACTIONS},  # the log names generations
    "/v1/generations/estimate": {"name": "third", "input": "mentions"},
    "/v1/generations": {"name": "second", "input": "mentions"},  # the last: no action may find it built
}
NEEDED = {
    "/messages": ["group_id", "messages", "messages.0.content", "messages.0.role_type", "messages.1.content"],
    "/entity-node": ["uuid", "group_id", "name"],
    "/search": ["query"],
    "/get-memory": ["group_id", "center_node_uuid", "messages", "messages.0.content", "messages.0.role_type"],
    "/groups/resolve": ["scope", "key"],
    **{path: ["statements", *(f"statements.0.{f}" for f in STATED)] for path in ("/v1/facts", "/v1/what-if")},
    "/v1/identities": ["op", "entity", "name"],
    "/v1/timezone": ["timezone"],
    "/v1/settle": ["id"],
    "/v1/erase": ["group_id"],
    "/v1/conversation/incoming": ["group_id", "kind", "external_id"],
    "/v1/conversation/sent": ["group_id", "id", "external_id"],
    "/v1/conversation/due": ["group_id"],
    "/v1/prompts": ["prompt", "template"],
    "/v1/prompts/activate": ["prompt", "version"],
    **{f"/v1/generations/{action}": ["name"] for action in ACTIONS},
}
TEXTS = {  # where a text has to be, so that nothing else can be there
    "/messages": ["group_id", *(f"messages.0.{f}" for f in ("content", "role_type", "name", "source_description"))],
    "/entity-node": ["uuid", "group_id", "name", "summary"],
    "/search": ["query"],
    "/get-memory": ["group_id", "messages.0.content", "messages.0.role_type"],
    "/groups/resolve": ["scope", "key"],
    **{path: ["group_id", "statements.0.subject", "statements.0.relation"] for path in ("/v1/facts", "/v1/what-if")},
    "/v1/identities": ["group_id", "op", "entity", "name"],
    "/v1/timezone": ["group_id", "timezone"],
    "/v1/settle": ["group_id", "id"],
    "/v1/retry": ["group_id"],
    "/v1/consolidate": ["group_id"],
    "/v1/erase": ["group_id"],
    "/v1/conversation/incoming": ["group_id", "kind", "external_id", "content"],
    "/v1/conversation/sent": ["group_id", "id", "external_id"],
    "/v1/conversation/due": ["group_id"],
    "/v1/prompts": ["prompt", "template"],
    "/v1/prompts/activate": ["prompt"],
    **{path: ["input"] for path in ("/v1/generations", "/v1/generations/estimate")},
    **{f"/v1/generations/{action}": ["name"] for action in ACTIONS},
}
NO_TEXT = [5, -1, 0.5, True, [], {}, [CANARY], {"text": CANARY}, None, 10**300]
HALVES = ["\\ud800", "\\udfff", "a\\ud83d", "\\ude00\\ud83d"]


def raw(body: object) -> bytes:
    return json.dumps(body).encode()


def changed(path: str, where: str, change: Callable[[Any, str | int], None]) -> dict[str, Any]:
    """Return a good body with a change at a place."""
    body: dict[str, Any] = json.loads(json.dumps(GOOD[path]))
    *way, last = (int(part) if part.isdigit() else part for part in where.split("."))
    part: Any = body
    for step in way:
        part = part[step]
    change(part, last)
    return body


def with_value(path: str, where: str, value: object) -> dict[str, Any]:
    return changed(path, where, lambda part, last: part.__setitem__(last, value))


def cut_short(path: str, chance: random.Random) -> bytes:
    whole = raw(GOOD[path])
    return whole[: chance.randrange(len(whole))]


def not_utf8(path: str, chance: random.Random) -> bytes:
    whole = raw(GOOD[path])
    at = whole.index(CANARY.encode()) + chance.randrange(len(CANARY)) if CANARY.encode() in whole else len(whole) // 2
    return whole[:at] + chance.choice([b"\xff", b"\xc3", b"\xed\xa0\x80", b"\xf8\x88", b"\x80"]) + whole[at:]


def wrong_type(path: str, chance: random.Random) -> bytes:
    return raw(with_value(path, chance.choice(TEXTS[path]), chance.choice(NO_TEXT)))


def left_out(path: str, chance: random.Random) -> bytes:
    if path not in NEEDED:  # all has a default
        return wrong_type(path, chance)
    return raw(changed(path, chance.choice(NEEDED[path]), lambda part, last: part.pop(last)))


def nested(path: str, chance: random.Random) -> bytes:
    depth, (opening, closing) = chance.choice([3, 50, 900, 5_000, 50_000]), chance.choice([("[", "]"), ('{"a":', "}")])
    body = raw(with_value(path, chance.choice(TEXTS[path]), "HERE"))
    inner = opening * depth + ("1" if closing == "}" else "") + closing * depth
    return body.replace(b'"HERE"', inner.encode())


def number(path: str, chance: random.Random) -> bytes:
    numbers = [
        "1e999",
        "-1e999",
        "9" * 5_000,
        "0." + "1" * 5_000,
        "NaN",
        "Infinity",
        "-Infinity",
        "1e-999",
        "0x10",
        "01",
    ]
    body = raw(with_value(path, chance.choice(TEXTS[path]), "HERE"))
    return body.replace(b'"HERE"', chance.choice(numbers).encode())


def half_a_pair(path: str, chance: random.Random) -> bytes:
    body = raw(with_value(path, chance.choice(TEXTS[path]), "HERE"))
    return body.replace(b'"HERE"', f'"{chance.choice(HALVES)}"'.encode())


def twice(path: str, chance: random.Random) -> bytes:
    where = chance.choice([text for text in TEXTS[path] if "." not in text])
    again = f', "{where}": {json.dumps(chance.choice(NO_TEXT))}}}'
    return raw(GOOD[path])[:-1] + again.encode()


def no_object(path: str, chance: random.Random) -> bytes:
    del path
    return chance.choice(
        [b"", b"null", b"[]", b"1", b"true", b'"{}"', b"[{}]", b" ", b"{", b"}", b"\x00", b"[" * 9_999]
    )


def not_json(path: str, chance: random.Random) -> bytes:
    whole = raw(GOOD[path])
    text = (CANARY if CANARY.encode() in whole else next(iter(GOOD[path]))).encode()
    return chance.choice(
        [
            whole + b"}",
            whole + whole,
            whole.replace(b'"', b"'"),
            whole.replace(b":", b"=", 1),
            whole.replace(b"{", b"{, ", 1),
            whole[:-1] + b",}",
            b"// a body\n" + whole,
            whole.replace(text, text + b"\n"),
            whole.replace(text, text + b"\x00"),
        ]
    )


def too_long(path: str, chance: random.Random) -> bytes:
    places = {
        "/messages": ("messages.0.role", 1_001),
        "/entity-node": ("name", 1_001),
        "/groups/resolve": ("key", 1_001),
    }
    where, length = places.get(path, ("", 0))
    return raw(with_value(path, where, "x" * length)) if where else wrong_type(path, chance)


def wrong_time(path: str, chance: random.Random) -> bytes:
    if path != "/messages":
        return wrong_type(path, chance)
    times = ["soon", "", "2024-13-01", "2024-02-30T00:00:00Z", {}, [], True, 1e300, None, "0001-01-01T00:00:00+09:00"]
    return raw(with_value(path, "messages.0.timestamp", chance.choice(times)))


def wrong_option(path: str, chance: random.Random) -> bytes:
    if path != "/messages":
        return wrong_type(path, chance)
    options = {
        "entity_types": [5, CANARY, [CANARY], {"A": 5}, {"A": None}, {"A": {"B": "C"}}],
        "excluded_entity_types": [5, CANARY, {"A": "B"}, [5], [None], [[]]],
        "relation_types": [True, CANARY, ["a"], {"a": []}],
        "relation_type_map": [
            5,
            CANARY,
            {"a": 1},
            [5],
            [{"source": "A"}],
            [{"source": 1, "target": 2, "relations": 3}],
        ],
        "previous_episode_ids": [5, CANARY, [5], [None], {"a": "b"}],
        "suppress_content": [CANARY, 5, [], {}, None],
        "update_communities": ["maybe", -1, [True], {}, None],
    }
    option = chance.choice(list(options))
    return raw(with_value(path, f"messages.0.{option}", chance.choice(options[option])))


WAYS = [
    *(cut_short, not_utf8, wrong_type, left_out, nested, number, half_a_pair, twice, no_object, not_json),
    *(too_long, wrong_time, wrong_option),
]


def malformed(count: int) -> Iterator[tuple[str, str, bytes]]:
    chance = random.Random(7)
    for number_ in range(count):
        path = list(GOOD)[number_ % len(GOOD)]
        way = WAYS[number_ // len(GOOD) % len(WAYS)]
        yield way.__name__, path, way(path, chance)


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with serving(tmp_path_factory.mktemp("http") / "data") as running:
        running.say("before", "I live in Rome.")
        yield running


def end(data: Path) -> int:
    with SqliteLog(data / "messages.sqlite") as log:
        return log.end()


def test_every_body_that_there_is_is_made_malformed(server: Server) -> None:
    paths = server.client.get("/openapi.json").json()["paths"]

    assert {path for path, methods in paths.items() if any("requestBody" in about for about in methods.values())} == (
        GOOD.keys()
    )


def test_the_bodies_that_they_are_made_from_are_good(server: Server) -> None:
    for path, body in GOOD.items():
        answer = server.client.post(path, json=body)
        assert answer.is_success or answer.status_code == 404, (path, answer.text)  # or names what is not there


@pytest.mark.parametrize("kind", [{}, {"Content-Type": "application/x-www-form-urlencoded"}, {"Content-Type": JSON}])
@pytest.mark.parametrize("body", [b"", b'"a text"'])
def test_what_is_no_object_or_not_sent_as_json_is_refused_with_what_to_send(
    server: Server, kind: dict[str, str], body: bytes
) -> None:
    for path in (path for path in GOOD if path.startswith("/v1/")):
        answer = server.client.post(path, content=body, headers=kind)

        assert (answer.status_code, answer.json()["detail"]) == (
            422,
            "the body must be a JSON object, sent as application/json",
        )


def test_a_malformed_body_is_refused_and_nothing_is_stored_or_told(server: Server) -> None:
    position = server.client.post(
        "/messages", json={"group_id": "g", "messages": [{"content": ".", "role_type": "user"}]}
    )
    server.settled(int(position.headers["asof-position"]))
    before, logged = end(server.data), len(server.log)
    connection = HTTPConnection(server.url.removeprefix("http://"))
    statuses: Counter[int] = Counter()

    for way, path, body in malformed(BODIES):
        connection.request("POST", path, body, {"Content-Type": JSON})
        answer = connection.getresponse()
        text = answer.read()
        assert answer.status in {400, 422}, (way, path, body[:200], answer.status)
        assert json.loads(text)["detail"], (way, path, body[:200])
        assert CANARY.encode() not in text, (way, path)
        statuses[answer.status] += 1
    connection.close()

    assert statuses.total() == BODIES
    assert statuses[400] > BODIES // 20
    assert statuses[422] > BODIES // 2
    assert end(server.data) == before
    said = server.log[logged:]
    assert "Traceback" not in said
    assert "Error" not in said
    assert CANARY not in server.log
    assert server.client.get("/healthcheck").status_code == 200
