"""Group ids are any text: each is one group, apart from every other, at every door."""

import json
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote

import pytest

from asof_projections.model.rows import Moment
from graph_stores import ArangoStores, SqliteStores, Stores
from http_server import Server, serving
from semantic_story import Story, entity, fact
from world import World

GROUPS = [
    "user@example.com",
    "User@example.com",
    "a/b",
    "a/b/",
    "a%2Fb",
    "a b",
    " ",
    "../..",
    "caf\u00e9",
    "cafe\u0301",
    "\U0001f600" * 200,
    "'; DROP TABLE facts; --",
    "a\u2028b",
    "Stra\u00dfe",
    "Strasse",
]


@pytest.fixture
def world(tmp_path: Path) -> Iterator[World]:
    opened = World(tmp_path / "data")
    yield opened
    opened.memory.close()


def test_each_text_is_a_group_of_its_own(world: World) -> None:
    for number, group in enumerate(GROUPS):
        world.tell(group_id=group, subject="Ana", object=f"Town {number}", ref="r")
    world.restart()

    for number, group in enumerate(GROUPS):
        assert [f.object for f in world.memory.facts(group_id=group)] == [f"Town {number}"]
    assert sorted(found.group_id for found in world.memory.groups()) == sorted(GROUPS)
    for group in GROUPS[:3]:
        world.memory.erase(group)
    assert sorted(found.group_id for found in world.memory.groups()) == sorted(GROUPS[3:])


@pytest.fixture(params=["sqlite", "arango"])
def stores(request: pytest.FixtureRequest, tmp_path: Path) -> Stores:
    return SqliteStores(tmp_path) if request.param == "sqlite" else ArangoStores()


def test_a_store_keeps_groups_of_any_text_apart(stores: Stores) -> None:
    story = Story()
    for number, group in enumerate(GROUPS):
        story.tell(entity("Ana"), entity("Rome"), fact(f"f{number}", "Ana", "lives in", "Rome"), group=group)
    with stores.writing() as store:
        store.apply(story.records)
        store.commit(len(story.records), b"head")

        for number, group in enumerate(GROUPS):
            step = store.reach(group, "Ana", Moment(None, None), None)
            assert [f.uuid for f in step.outward] == [f"f{number}"]
            assert [e.group_id for e in store.entities(group, None)] == [group, group]


def test_a_store_in_arangodb_has_groups_in_ascii_alone() -> None:
    stores, story = ArangoStores(), Story()
    story.tell(entity("Ana"), group="caf\u00e9")
    with stores.writing() as store:
        store.apply(story.records)
        store.commit(1, b"head")

        assert "caf\u00e9" not in json.dumps(json.loads(stores.stored().decode()), ensure_ascii=False)
        assert [e.group_id for e in store.entities(None, None)] == ["caf\u00e9"]


KEYS = """
[admin]
key = "admin-0123456789abcdef"
permission = "admin"

[team]
key = "team-0123456789abcdef"
permission = "write"
groups = "team/"
"""


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    folder = tmp_path_factory.mktemp("groups")
    keys = folder / "keys.toml"
    keys.write_text(KEYS, encoding="utf-8")
    keys.chmod(0o600)
    with serving(folder / "data", ASOF_EMBEDDER="none", ASOF_KEYS_FILE=str(keys)) as running:
        yield running


ADMIN = {"Authorization": "Bearer admin-0123456789abcdef"}
TEAM = {"Authorization": "Bearer team-0123456789abcdef"}


def say(server: Server, group: str, text: str, headers: dict[str, str] = ADMIN) -> int:
    said = {"content": text, "role_type": "user", "role": "Ana"}
    answer = server.client.post("/messages", json={"group_id": group, "messages": [said]}, headers=headers)
    if answer.is_success:
        server.settled(int(answer.headers["asof-position"]), headers)
    return answer.status_code


def test_every_path_takes_every_group(server: Server) -> None:
    for group in GROUPS:
        assert say(server, group, "I live in Lisbon.") == 202
    for group in GROUPS:
        path = quote(group, safe="")
        episodes = server.client.get(f"/episodes/{path}", params={"last_n": 5}, headers=ADMIN).json()
        assert [episode["group_id"] for episode in episodes] == [group]
        found = server.client.get("/v1/facts", params={"group_id": group}, headers=ADMIN).json()["facts"]
        assert [fact["group_id"] for fact in found] == [group]
    for group in GROUPS:
        assert server.client.delete(f"/group/{quote(group, safe='')}", headers=ADMIN).status_code == 200
    assert server.client.get("/v1/groups", headers=ADMIN).json()["groups"] == []


@pytest.mark.parametrize("group", ["x" * 201, "a\nb", "a\x7f"])
def test_a_message_of_no_group_fails_in_its_job_and_later_ones_run(server: Server, group: str) -> None:
    said = {"content": "Hello", "role_type": "user"}
    body = json.dumps({"group_id": group, "messages": [said]})
    answer = server.client.post("/messages", content=body, headers={**ADMIN, "Content-Type": "application/json"})
    position = int(answer.headers["asof-position"])
    server.settled(position, ADMIN)

    assert answer.status_code == 202
    assert server.client.get(f"/v1/messages/{position}", headers=ADMIN).json()["state"] == "parked"
    assert say(server, "later", "I live in Lisbon.") == 202


def test_half_of_a_surrogate_pair_in_a_group_is_refused_before_it_is_a_message(server: Server) -> None:
    body = '{"group_id": "a\\ud800", "messages": [{"content": "Hello", "role_type": "user"}]}'
    answer = server.client.post("/messages", content=body, headers={**ADMIN, "Content-Type": "application/json"})

    assert answer.status_code == 422
    assert "asof-position" not in answer.headers


def test_the_prefix_of_a_key_holds_for_groups_of_any_text(server: Server) -> None:
    assert say(server, "team/a@b.c", "I live in Lisbon.", TEAM) == 202
    for other in ("team", "Team/a@b.c", "team%2Fa@b.c", "x/team/", "te\u0301am/"):
        assert say(server, other, "I live in Lisbon.", TEAM) == 403
        path = f"/episodes/{quote(other, safe='')}"
        assert server.client.get(path, params={"last_n": 5}, headers=TEAM).status_code == 403
        assert server.client.get("/v1/facts", params={"group_id": other}, headers=TEAM).status_code == 403
    path = f"/episodes/{quote('team/a@b.c', safe='')}"
    assert len(server.client.get(path, params={"last_n": 5}, headers=TEAM).json()) == 1
