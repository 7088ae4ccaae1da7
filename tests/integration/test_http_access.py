"""API keys against a running server: who may do what, and to whose groups."""

import os
import re
import socket
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import httpx2
import pytest

from api_keys import ADMIN, READ, TEAM_ADMIN, TEAM_READ, TEAM_WRITE, WRITE, sent, written
from asof_process import run
from http_server import Server, serving

MOVED = "I moved to Berlin in March."
OPEN = ["/healthcheck", "/healthz", "/readyz", "/docs", "/openapi.json"]


class Told(NamedTuple):
    """What a server was told of one group."""

    position: int
    fact: str
    episode: str


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    folder = tmp_path_factory.mktemp("http")
    with serving(folder / "data", ASOF_KEYS_FILE=str(written(folder / "keys.toml"))) as running:
        yield running


@pytest.fixture(scope="module")
def ours(server: Server) -> Told:
    return tell(server, "team-a")


@pytest.fixture(scope="module")
def theirs(server: Server) -> Told:
    return tell(server, "others")


def tell(server: Server, group: str) -> Told:
    body = {"group_id": group, "messages": [{"content": MOVED, "role_type": "user", "role": "Ana"}]}
    answer = server.client.post("/messages", json=body, headers=sent(WRITE))
    position = int(answer.headers["asof-position"])
    server.settled(position, sent(READ))
    asked = {"group_id": group, "min_position": position}
    facts = server.client.get("/v1/facts", params=asked, headers=sent(READ)).json()["facts"]
    return Told(position, facts[0]["uuid"], facts[0]["episodes"][0])


def routes(server: Server) -> list[tuple[str, str]]:
    described = server.client.get("/openapi.json").json()["paths"]
    return [(method.upper(), path) for path, methods in described.items() for method in methods if path not in OPEN]


def answered(server: Server, method: str, path: str, headers: dict[str, str]) -> httpx2.Response:
    """Return what a stranger is answered, who asks again when told to."""
    while True:
        answer = server.client.request(method, path, headers=headers, content=b"not JSON")
        if answer.status_code != 429:
            return answer
        time.sleep(int(answer.headers["retry-after"]))


def test_without_a_key_or_with_a_wrong_one_nothing_is_answered_but_what_tells_nothing(server: Server) -> None:
    asked = routes(server)
    for method, path in asked:
        for headers in (
            {},
            sent("wrong-key-0123456789"),
            {"Authorization": f"Basic {ADMIN}"},
            {"Authorization": "Bearer"},
        ):
            answer = answered(server, method, path, headers)

            assert answer.status_code == 401, (method, path)
            assert answer.headers["www-authenticate"].startswith('Bearer realm="asof"')
            kind = "problem+json" if path.startswith("/v1/") else "json"
            assert answer.headers["content-type"] == f"application/{kind}"

    assert len(asked) > 15
    assert all(server.client.get(path).status_code in (200, 503) for path in OPEN)


@pytest.mark.parametrize(
    ("method", "path", "body", "least"),
    [
        ("GET", "/v1/facts", None, READ),
        ("POST", "/search", {"query": "Ana"}, READ),
        ("POST", "/groups/resolve", {"scope": "user", "key": "ana"}, READ),
        ("GET", "/v1/events", None, READ),
        ("POST", "/messages", {"group_id": "g", "messages": []}, WRITE),
        ("DELETE", "/entity-edge/nothing", None, WRITE),
        ("POST", "/entity-node", {"uuid": "u", "group_id": "g", "name": "n"}, WRITE),
        ("DELETE", "/episode/nothing", None, WRITE),
        ("DELETE", "/group/nobody", None, ADMIN),
    ],
)
def test_a_key_does_what_its_permission_names_and_what_lesser_ones_do(
    server: Server, method: str, path: str, body: Any, least: str
) -> None:
    keys = [READ, WRITE, ADMIN]
    answers = [server.client.request(method, path, json=body, headers=sent(key)) for key in keys]

    assert [answer.status_code == 403 for answer in answers] == [keys.index(key) < keys.index(least) for key in keys]
    assert all(answer.status_code != 401 for answer in answers)


def test_the_permission_that_each_route_needs_is_documented(server: Server) -> None:
    page = (Path(__file__).parents[2] / "docs/how-to/serve.md").read_text()
    rows = re.findall(r"^\| `(read|write|admin)` \| (.*)$", page, re.MULTILINE)
    asked = [(method, path) for method, path in routes(server) if method != "GET"]

    def needed(method: str, path: str) -> str:
        """An empty body is refused wherever one that is whole would do harm."""
        answers = [server.client.request(method, path, json={}, headers=sent(key)) for key in (READ, WRITE)]
        return ("read", "write", "admin")[[answer.status_code for answer in answers].count(403)]

    assert [name for name, _ in rows] == ["read", "write", "admin"]
    assert len(asked) > 20
    for method, path in asked:
        assert [name for name, row in rows if f"`{path}`" in row] == [needed(method, path)], path


@pytest.mark.parametrize(
    ("method", "path", "body"),
    [
        ("POST", "/messages", {"group_id": "others", "messages": []}),
        ("POST", "/messages", {"group_id": "", "messages": []}),
        ("POST", "/search", {"query": "Berlin", "group_ids": ["others"]}),
        ("POST", "/search", {"query": "Berlin", "group_ids": ["team-a", "others"]}),
        ("POST", "/search", {"query": "Berlin", "group_ids": [""]}),
        ("POST", "/get-memory", {"group_id": "others", "messages": [], "center_node_uuid": None}),
        ("GET", "/episodes/others?last_n=3", None),
        ("DELETE", "/group/others", None),
        ("POST", "/clear", None),
        ("GET", "/v1/facts?group_id=others", None),
        ("GET", "/v1/facts", None),
        ("GET", "/v1/facts?all_groups=true", None),
        ("GET", "/v1/search?query=Berlin&group_ids=others", None),
        ("GET", "/v1/search?query=Berlin&group_ids=team-a&group_ids=others", None),
        ("GET", "/v1/search?query=Berlin", None),
        ("GET", "/v1/entities", None),
        ("GET", "/v1/entity?name=Ana", None),
        ("GET", "/v1/history?id=Ana", None),
        ("GET", "/v1/timeline?name=Ana", None),
        ("GET", "/v1/diff?from=2020&to=2025", None),
        ("GET", "/v1/changes", None),
        ("GET", "/v1/overlapping?from=2020&to=2025&all_groups=true", None),
        ("GET", "/v1/throughout?from=2020&to=2025&group_id=others", None),
        ("GET", "/v1/neighbourhood?name=Ana&all_groups=true", None),
        ("GET", "/v1/episodes?group_id=others", None),
        ("GET", "/v1/export?all_groups=true", None),
        ("GET", "/v1/stats", None),
        ("POST", "/v1/facts", {"group_id": "others", "statements": [{"op": "retract", "ref": "x"}]}),
        ("POST", "/v1/what-if", {"statements": [{"op": "retract", "ref": "x"}]}),
    ],
)
def test_a_key_for_some_groups_is_refused_the_others_and_all_together(
    server: Server, theirs: Told, method: str, path: str, body: Any
) -> None:
    answer = server.client.request(method, path, json=body, headers=sent(TEAM_ADMIN))

    assert answer.status_code == 403
    assert "this key is for some groups only" in answer.json()["detail"]
    assert server.client.get(f"/entity-edge/{theirs.fact}", headers=sent(READ)).status_code == 200


def test_what_another_group_has_is_for_such_a_key_as_what_is_not_there(
    server: Server, ours: Told, theirs: Told
) -> None:
    def asked(key: str, told: Told) -> list[tuple[int, str]]:
        paths = [
            f"/entity-edge/{told.fact}",
            f"/v1/why?id={told.fact}",
            f"/v1/messages/{told.position}",
            f"/v1/fact?id={told.fact}",
            f"/v1/known-history?id={told.fact}",
            f"/v1/known-history?id={told.fact}&valid_at=1990",
            f"/v1/episode?id={told.episode}",
            f"/v1/history?group_id=team-a&id={told.fact}",
        ]
        answers = [server.client.get(path, headers=sent(key)) for path in paths]
        return [
            (
                a.status_code,
                a.text.replace(told.fact, "ID")
                .replace(told.episode, "ID")
                .replace(f"message {told.position}", "message N"),
            )
            for a in answers
        ]

    nowhere = Told(position=999, fact="6f2b0c1e-0000-5000-8000-000000000000", episode="no-episode")
    assert [status for status, _ in asked(TEAM_READ, ours)] == [200] * 8
    assert asked(TEAM_READ, theirs) == asked(TEAM_READ, nowhere)
    assert [status for status, _ in asked(TEAM_READ, theirs)] == [404] * 7 + [200]
    assert [status for status, _ in asked(READ, theirs)] == [200] * 8
    deleted = server.client.delete(f"/entity-edge/{theirs.fact}", headers=sent(TEAM_WRITE))
    assert deleted.status_code == 404


@pytest.mark.parametrize("log", ["messages", "episodic", "semantic"])
def test_the_feed_of_such_a_key_has_the_events_of_its_groups_alone(
    server: Server, ours: Told, theirs: Told, log: str
) -> None:
    del ours, theirs
    of_team = server.client.get("/v1/events", params={"log": log}, headers=sent(TEAM_READ)).json()
    of_all = server.client.get("/v1/events", params={"log": log}, headers=sent(READ)).json()

    assert {event["group_id"] for event in of_team["events"]} == {"team-a"}
    assert {"team-a", "others"} <= {event["group_id"] for event in of_all["events"]}
    assert of_team["next"] == of_all["next"]


def test_no_route_shows_such_a_key_what_another_group_was_told(server: Server, ours: Told, theirs: Told) -> None:
    secret = "Berlin"
    [episode] = server.client.get("/episodes/others?last_n=1", headers=sent(READ)).json()
    edge = server.client.get(f"/entity-edge/{theirs.fact}", headers=sent(READ)).json()
    ids = [theirs.fact, episode["uuid"], edge["source_node_uuid"], edge["target_node_uuid"], "Ana"]
    common = {"valid_at": "2030", "last_n": "9", "from": "0", "to": "9", "query": "Ana lives", "relation": "lives_in"}
    body = {"query": "Ana", "messages": [], "center_node_uuid": None, "scope": "user", "key": "k", "name": "Ana"}
    described = server.client.get("/openapi.json").json()["paths"]
    asked = 0
    for method, path in routes(server):
        if method == "DELETE" or path in ("/clear", "/messages"):
            continue
        for some in ids:
            named = {**common, "id": some, "name": some, "about": some, "uuid": some}
            for group in ({}, {"group_id": "others"}, {"group_id": "empty"}):
                filled = path.format(uuid=some, group_id="others", position=theirs.position, generation="g1")
                request = {"json": {**body, "uuid": some, **group}} if method == "POST" else {}
                known = {p["name"] for p in described[path][method.lower()].get("parameters", [])}
                params = {name: value for name, value in (named | group).items() if name in known}
                open_to_all = server.client.request(method, filled, params=params, headers=sent(READ), **request)
                answer = server.client.request(method, filled, params=params, headers=sent(TEAM_READ), **request)
                assert secret not in answer.text, (method, path, params)
                asked += secret in open_to_all.text
                if group:
                    params |= {"group_id": "team-z"} if "group_id" in known else {}
                    own = server.client.request(method, filled, params=params, headers=sent(TEAM_READ), **request)
                    assert secret not in own.text, (method, path, params)

    assert asked > 30
    assert server.client.get("/v1/facts?group_id=team-a", headers=sent(TEAM_READ)).text.count(secret)
    assert ours.fact != theirs.fact


def test_with_a_key_a_request_may_be_addressed_to_any_host(server: Server) -> None:
    headers = {"Host": "memory.example", "Origin": "https://app.example"}

    assert server.client.get("/v1/facts", headers=headers | sent(READ)).status_code == 200
    assert server.client.get("/v1/facts", headers=headers).status_code == 401


def test_with_keys_any_address_is_served(tmp_path: Path) -> None:
    keys = written(tmp_path / "keys.toml")
    with serving(tmp_path / "data", host="0.0.0.0", ASOF_KEYS_FILE=str(keys)) as server:
        port = int(server.url.rpartition(":")[2])
        with socket.create_connection(("127.0.0.1", port)) as connection:
            connection.sendall(b"GET /healthcheck HTTP/1.1\r\nHost: memory.example\r\nConnection: close\r\n\r\n")
            answer = connection.makefile("rb").read()

    assert answer.startswith(b"HTTP/1.1 200")


@pytest.mark.parametrize(
    ("text", "word"),
    [
        (None, "No such file"),
        ("", "one key at least"),
        ("not TOML ''", "not a TOML file"),
        ('[a]\nkey = "SECRET"\npermission = "read"', "a.key"),
        ('[a]\nkey = "SECRET with spaces in it"\npermission = "read"', "a.key"),
        ('[a]\nkey = "SECRET-0123456789"\npermission = "everything"', "a.permission"),
        ('[a]\nkey = "SECRET-0123456789"\npermission = "read"\ngroup = "team-"', "a.group"),
        ('[a]\nkey = "SECRET-0123456789"\npermission = "read"\n' * 2, "not a TOML file"),
        (
            '[a]\nkey = "SECRET-0123456789"\npermission = "read"\n[b]\nkey = "SECRET-0123456789"\npermission = "admin"',
            "none twice",
        ),
    ],
)
def test_a_file_of_keys_that_cannot_be_used_is_refused_without_a_word_of_a_key(
    tmp_path: Path, text: str | None, word: str
) -> None:
    keys = tmp_path / "keys.toml"
    if text is not None:
        keys.write_text(text)
        keys.chmod(0o600)
    ended = run("serve", "--port", "0", folder=tmp_path, environment={**os.environ, "ASOF_KEYS_FILE": str(keys)})

    assert ended.returncode == 2
    assert word in ended.stderr
    assert "SECRET" not in ended.stderr
    assert ended.stderr.count("\n") == 1
