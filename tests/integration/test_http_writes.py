"""Writing to a running server beyond messages: entities and episodes, and requests that are sent again."""

import asyncio
import json
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any

import httpx2
import pytest

import asof
from api_keys import TEAM_WRITE, WRITE, sent, written
from asof.http.routes.v1 import state_facts
from asof.http.schemas.v1 import Statements
from asof.runtime.child_process import ChildProcess
from asof.service.api_keys import EVERYBODY
from asof.service.service import Service
from asof.settings import Settings
from asof_streams.ids import derive, episode_id
from asof_streams.messages import FactStatement, IdentityStatement, TimezoneStatement
from asof_streams.sqlite_log import SqliteLog
from asof_streams.sqlite_requests import KeyedRequest
from child_work import open_never
from http_server import Server, serving
from world import World

SAID: dict[str, Any] = {"content": "I live in Paris.", "role_type": "user", "role": "Ana"}
NOBODY = "00000000-0000-0000-0000-000000000000"


def node(group: str, uuid: str, name: str = "Ana", **more: str) -> dict[str, str]:
    return {"group_id": group, "uuid": uuid, "name": name, **more}


def known(server: Server, name: str, group: str) -> list[dict[str, Any]]:
    """Return what is known of a name."""
    answer = server.client.get("/v1/entity", params={"name": name, "group_id": group})
    found: list[dict[str, Any]] = answer.json().get("entities", [])
    return found


def end(data: Path) -> int:
    """Return how many messages are on the log."""
    with SqliteLog(data / "messages.sqlite") as log:
        return log.end()


# Entities.


def test_an_entity_has_the_id_it_was_stated_under_and_words_mean_it(server: Server) -> None:
    answer = server.client.post("/entity-node", json=node("nodes", "node-1", summary="A cook."))
    server.say("nodes", "I live in Rome.")

    assert answer.status_code == 201
    stated = answer.json()
    assert {**stated, "created_at": None} == {
        "uuid": "node-1",
        "name": "Ana",
        "group_id": "nodes",
        "labels": [],
        "created_at": None,
        "name_embedding": None,
        "summary": "A cook.",
        "attributes": {},
    }
    [portrait] = known(server, "Ana", "nodes")
    assert (portrait["uuid"], portrait["created_at"]) == ("node-1", stated["created_at"])
    assert "A cook." in json.dumps(portrait)
    assert [fact["source_node_uuid"] for fact in server.search("Where does Ana live?", "nodes")] == ["node-1"]
    assert [episode["content"] for episode in server.episodes("nodes")] == ["Ana(user): I live in Rome."]


def test_an_entity_stated_again_is_the_same_also_called_by_the_new_name(server: Server) -> None:
    first = server.client.post("/entity-node", json=node("again", "again-1")).json()

    second = server.client.post("/entity-node", json=node("again", "again-1", "Annie", summary="A baker.")).json()

    assert (second["name"], second["created_at"]) == ("Annie", first["created_at"])
    [portrait] = known(server, "Annie", "again")
    assert (portrait["uuid"], portrait["names"]) == ("again-1", ["Ana", "Annie"])


def test_two_groups_may_state_an_entity_under_one_id(server: Server) -> None:
    server.client.post("/entity-node", json=node("mine", "mine-1"))

    answer = server.client.post("/entity-node", json=node("theirs", "mine-1", "Bo"))

    assert (answer.status_code, answer.json()["uuid"]) == (201, "mine-1")
    assert [portrait["uuid"] for portrait in known(server, "Bo", "theirs")] == ["mine-1"]
    assert known(server, "Bo", "mine") == []


@pytest.mark.parametrize(
    ("field", "value"),
    [("uuid", ""), ("uuid", None), ("name", " "), ("name", 7), ("group_id", "no\tgroup"), ("summary", "é" * 300_000)],
)
def test_an_entity_that_is_wrong_is_refused_with_the_field(server: Server, field: str, value: object) -> None:
    before = end(server.data)

    answer = server.client.post("/entity-node", json={**node("wrong", "wrong-1"), field: value})

    assert (answer.status_code, answer.json()["detail"][0]["loc"]) == (422, ["body", field])
    assert end(server.data) == before


# Episodes.


def test_a_deleted_episode_is_not_listed_and_what_it_displaced_holds_again(server: Server) -> None:
    server.say("moved", "I live in Berlin.")
    server.say("moved", "I live in Paris.")
    berlin, paris = server.episodes("moved")

    answer = server.client.delete(f"/episode/{paris['uuid']}")

    assert (answer.status_code, answer.json()) == (200, {"message": "Episode deleted", "success": True})
    assert server.episodes("moved") == [berlin]
    [fact] = server.search("Where does Ana live?", "moved")
    assert (fact["fact"], fact["invalid_at"]) == ("Ana lives in Berlin", None)


def test_the_past_of_a_deleted_episode_can_still_be_asked_about(server: Server) -> None:
    server.say("past", "I live in Lima.")
    [fact] = server.search("Lima", "past")
    [episode] = server.episodes("past")
    server.client.delete(f"/episode/{episode['uuid']}")

    def objects(**at: str) -> list[str]:
        params = {"group_id": "past", "any_time": "true", **at}
        return [found["object"] for found in server.client.get("/v1/facts", params=params).json()["facts"]]

    assert (objects(), objects(known_at=fact["created_at"])) == ([], ["Lima"])
    why = server.client.get("/v1/why", params={"id": fact["uuid"]}).json()
    assert [said["quote"] for said in why["evidence"]] == ["I live in Lima."]
    assert [became["kind"] for became in why["consequences"]] == ["retracted"]


@pytest.mark.parametrize("uuid", [NOBODY, "%00", "Ana"])
def test_an_episode_that_is_not_there_cannot_be_deleted(server: Server, uuid: str) -> None:
    before = end(server.data)

    answer = server.client.delete(f"/episode/{uuid}")

    assert answer.status_code == 404
    assert answer.json()["detail"].endswith("not found")
    assert end(server.data) == before


def test_an_episode_is_deleted_once(server: Server) -> None:
    server.say("once", "I live in Lima.")
    [episode] = server.episodes("once")

    answers = [server.client.delete(f"/episode/{episode['uuid']}").status_code for _ in range(2)]

    assert answers == [200, 404]


def test_entities_and_deleted_episodes_are_there_again_after_a_restart_and_a_rebuild(tmp_path: Path) -> None:
    data = tmp_path / "data"

    def seen(server: Server) -> object:
        return server.episodes("g"), server.search("live", "g"), known(server, "Ana", "g")

    with serving(data) as server:
        server.client.post("/entity-node", json=node("g", "node-1", summary="A cook."))
        server.say("g", "I live in Berlin.", "I live in Paris.")
        server.client.delete(f"/episode/{server.episodes('g')[1]['uuid']}")
        before = seen(server)
        assert server.end() == 0
    with serving(data) as server:
        assert seen(server) == before
        assert server.end() == 0
    with asof.open(data) as memory:
        assert all(check.ok for check in memory.verify())
        memory.rebuild(name="anew")
        assert memory.digest("anew") == memory.digest("main")


# Sent again.


def post(server: Server, group: str, key: str, **more: Any) -> httpx2.Response:
    body = {"group_id": group, "messages": [{**SAID, **more}, SAID]}
    return server.client.post("/messages", json=body, headers={"Idempotency-Key": key})


def test_messages_sent_again_under_their_key_are_taken_once_and_answered_as_before(server: Server) -> None:
    before = end(server.data)

    first, again = post(server, "twice", "twice"), post(server, "twice", "twice")

    assert first.status_code == again.status_code == 202
    assert first.json() == again.json()
    for header in ("asof-position", "asof-episode-id"):
        assert first.headers[header] == again.headers[header]
    assert end(server.data) == before + 2


def test_a_key_used_for_anything_else_is_refused_and_nothing_is_stored(server: Server) -> None:
    post(server, "other", "other")
    before = end(server.data)

    for answer in (
        post(server, "other", "other", content="I live in Rome."),
        server.client.post("/entity-node", json=node("other", "other-1"), headers={"Idempotency-Key": "other"}),
        server.client.delete("/group/other", headers={"Idempotency-Key": "other"}),
    ):
        assert answer.status_code == 422
        assert "this key was used for another request" in answer.json()["detail"][0]["msg"]
    assert end(server.data) == before


@pytest.mark.parametrize("key", ["", "k" * 256])
def test_a_key_that_is_none_is_refused(server: Server, key: str) -> None:
    answer = post(server, "no-key", key)

    assert (answer.status_code, answer.json()["detail"][0]["loc"]) == (422, ["header", "Idempotency-Key"])


def test_requests_that_come_twice_at_once_are_done_once(server: Server) -> None:
    before = end(server.data)

    with ThreadPoolExecutor(8) as clients:
        answers = list(clients.map(lambda n: post(server, "at-once", f"at-once-{n % 10}"), range(80)))

    assert len({answer.headers["asof-position"] for answer in answers}) == 10
    assert end(server.data) == before + 20


def test_a_key_is_known_after_the_server_was_killed(tmp_path: Path) -> None:
    with serving(tmp_path / "data") as server:
        first = post(server, "killed", "killed")
    with serving(tmp_path / "data") as server:
        again = post(server, "killed", "killed")

    assert first.headers["asof-position"] == again.headers["asof-position"] == "0"
    assert end(tmp_path / "data") == 2


def test_what_deletes_is_done_once_under_a_key_though_nothing_is_left_to_delete(server: Server) -> None:
    server.say("deletes", "I live in Lima.", "I live in Oslo.")
    [fact, _] = server.search("live", "deletes")
    [episode, _] = server.episodes("deletes")

    for path in (f"/entity-edge/{fact['uuid']}", f"/episode/{episode['uuid']}", "/group/deletes"):
        answers = [server.client.delete(path, headers={"Idempotency-Key": path}) for _ in range(2)]
        assert [answer.status_code for answer in answers] == [200, 200], path
        assert answers[0].json() == answers[1].json()


def test_each_caller_has_idempotency_keys_of_its_own(tmp_path: Path) -> None:
    with serving(tmp_path / "data", ASOF_KEYS_FILE=str(written(tmp_path / "keys.toml"))) as server:
        answers = [
            server.client.post(
                "/messages",
                json={"group_id": "team-a", "messages": [SAID]},
                headers={"Idempotency-Key": "same", **sent(key)},
            )
            for key in (WRITE, TEAM_WRITE, WRITE)
        ]

    assert [answer.headers["asof-position"] for answer in answers] == ["0", "1", "0"]


def test_a_group_that_was_erased_is_not_erased_again_by_the_same_request(server: Server) -> None:
    server.say("forgotten", "I live in Lima.")
    server.client.delete("/group/forgotten", headers={"Idempotency-Key": "forget"})
    server.say("forgotten", "I live in Oslo.")

    answer = server.client.delete("/group/forgotten", headers={"Idempotency-Key": "forget"})

    assert answer.status_code == 200
    assert [fact["fact"] for fact in server.search("live", "forgotten")] == ["Ana lives in Oslo"]


def test_a_request_that_is_sent_again_is_answered_alike_where_its_short_ref_means_several_by_then(
    tmp_path: Path,
) -> None:
    group, first, second, short = "c77986", 184, 193, "c48dc99f"  # two merges whose ids begin alike, found by search
    ids = [derive("merge", episode_id(group, position)) for position in (first, second)]
    assert [merge[:8] for merge in ids] == [short, short]
    world = World(tmp_path / "data")
    likes = {"group_id": group, "relation": "likes", "object": "Tea"}
    people = [FactStatement(subject=name, **likes) for name in ("Bo", "Rob", "Al")]
    fillers = [TimezoneStatement(group_id="other", timezone="Europe/Berlin")] * second
    merge = IdentityStatement(group_id=group, op="merge", entity="Rob", into="Bo")
    world.send(*people, *fillers[: first - len(people)], merge, *fillers[: second - first - 2])
    world.memory.close()
    request = {"group_id": group, "statements": [{"op": "retract", "ref": short}]}

    with serving(tmp_path / "data") as server:
        post = partial(server.client.post, params={"wait": True})
        before = post("/v1/facts", json=request, headers={"Idempotency-Key": "k"})
        post("/v1/identities", json={"group_id": group, "op": "merge", "entity": "Al", "into": "Bo"})
        again = post("/v1/facts", json=request, headers={"Idempotency-Key": "k"})
        other = post("/v1/facts", json=request)

    assert before.json()["outcomes"][0]["state"] == "done"
    assert (again.status_code, again.json()["positions"]) == (202, before.json()["positions"])
    assert (other.status_code, other.json()["field"]) == (422, "statements.0.ref")


def test_structured_facts_under_a_key_are_taken_once_while_the_memory_is_still_being_opened(tmp_path: Path) -> None:
    stated = {"subject": "Bo", "relation": "likes", "object": "Tea"}
    given, request = Statements.model_validate({"group_id": "g", "statements": [stated]}), KeyedRequest(b"k", b"said")

    def start_child(_: object, settings: Settings) -> ChildProcess:
        return ChildProcess(open_never, settings)

    settings = Settings(data=tmp_path / "data", embedder="none")
    nothing = lambda *_: None  # noqa: E731
    with Service(settings, nothing, nothing, nothing, start_child) as service:
        answers = [asyncio.run(state_facts(given, service, EVERYBODY, request)) for _ in range(2)]

    assert [answer.positions for answer in answers] == [[0], [0]]
