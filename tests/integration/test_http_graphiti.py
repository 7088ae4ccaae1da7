"""Graphiti's other routes against a running server: what its clients send, and what they know how to read."""

import json
import re
import time
from pathlib import Path

import pytest

from asof_process import run
from http_server import Server, serving
from patience import wait_until

MOVED = "I moved to Berlin in March."
NOW_PARIS = "I live in Paris now."
WITH_OFFSET = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{6})?\+00:00")
WITH_Z = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{6})?Z")
NOBODY = "00000000-0000-0000-0000-000000000000"


def moved(server: Server, group: str) -> None:
    """Tell that Ana lived in Berlin, and lives in Paris."""
    server.say(group, MOVED, timestamp="2024-04-02T00:00:00Z")
    server.say(group, NOW_PARIS, timestamp="2024-06-02T12:30:00.5Z")


def test_healthcheck_says_healthy(server: Server) -> None:
    answer = server.client.get("/healthcheck")

    assert (answer.status_code, answer.json()) == (200, {"status": "healthy"})


def test_an_answer_does_not_wait_for_the_client_to_acknowledge_its_first_packet(server: Server) -> None:
    def seconds() -> float:
        started = time.perf_counter()
        server.client.get("/healthcheck")
        return time.perf_counter() - started

    for _ in range(30):  # the first are acknowledged at once
        seconds()
    assert min(seconds() for _ in range(30)) < 0.03  # waiting for it takes 0.04


def test_search_finds_facts_with_their_four_times_also_those_that_have_ended(server: Server) -> None:
    moved(server, "search")

    found = {fact["fact"]: fact for fact in server.search("Where does Ana live?", "search")}

    berlin, paris = found["Ana lives in Berlin"], found["Ana lives in Paris"]
    assert len(found) == 2
    assert berlin["name"] == "lives_in"
    assert (berlin["valid_at"], berlin["invalid_at"]) == (
        "2024-03-01T00:00:00+00:00",
        "2024-06-02T12:30:00.500000+00:00",
    )
    assert (paris["valid_at"], paris["invalid_at"], paris["expired_at"]) == (berlin["invalid_at"], None, None)
    assert WITH_OFFSET.fullmatch(berlin["created_at"])
    assert WITH_OFFSET.fullmatch(berlin["expired_at"])
    assert berlin["source_node_uuid"] == paris["source_node_uuid"] != paris["target_node_uuid"]
    assert paris["episodes"] == [server.episodes("search")[1]["uuid"]]
    assert paris.keys() == {
        *("uuid", "name", "fact", "valid_at", "invalid_at", "created_at", "expired_at"),
        *("source_node_uuid", "target_node_uuid", "episodes"),
    }


def test_a_plan_says_in_its_sentence_that_it_is_one(server: Server) -> None:
    server.say("plans", "I'm going to Rome next week.", timestamp="2024-04-02T00:00:00Z")

    [fact] = server.client.post("/search", json={"query": "Who visited Rome?", "group_ids": ["plans"]}).json()["facts"]

    assert fact["fact"] == "Ana visited Rome (planned)"
    assert server.client.get(f"/entity-edge/{fact['uuid']}").json()["fact"] == fact["fact"]


def test_search_looks_into_the_groups_that_are_named_or_into_all(server: Server) -> None:
    for group in ("one", "two", "three"):
        server.say(group, "I live in Lusaka.", role=group.title())

    assert {f["fact"] for f in server.search("Lusaka", "one", "two")} == {"One lives in Lusaka", "Two lives in Lusaka"}
    for everywhere in ([], [""], None):
        answer = server.client.post("/search", json={"query": "Lusaka", "group_ids": everywhere})
        assert {f["fact"].partition(" ")[0] for f in answer.json()["facts"][:3]} == {"One", "Two", "Three"}
    assert server.search("Lusaka", "nobody") == []


@pytest.mark.parametrize(("most", "found"), [(1, 1), ("2", 2), (0, 0), (-1, 0), (10**30, 2)])
def test_search_gives_as_many_facts_as_are_asked_for(server: Server, most: object, found: int) -> None:
    moved(server, "most")

    assert len(server.search("Where does Ana live?", "most", max_facts=most)) == found


@pytest.mark.parametrize("query", ["", " ", '"', "a " * 200_000, "OR AND NOT NEAR(", "\x00", "日本"])
def test_any_text_is_a_query(server: Server, query: str) -> None:
    assert isinstance(server.search(query), list)


@pytest.mark.parametrize(
    "body",
    [{}, {"query": None}, {"query": "x", "max_facts": 7.5}, {"query": "x", "group_ids": "g"}, {"query": "\ud800"}],
)
def test_a_wrong_search_is_refused(server: Server, body: object) -> None:
    answer = server.client.post("/search", content=json.dumps(body), headers={"content-type": "application/json"})

    assert answer.status_code == 422


def test_a_group_id_that_is_none_is_refused_by_search(server: Server) -> None:
    answer = server.client.post("/search", json={"query": "x", "group_ids": ["no\tgroup"]})

    assert (answer.status_code, answer.json()["detail"][0]["loc"]) == (422, ["body", "group_ids"])


def test_get_memory_finds_facts_for_a_conversation(server: Server) -> None:
    moved(server, "memory")
    said = {"content": "Does Ana live in Paris?", "role_type": "user", "role": None}
    body = {"group_id": "memory", "max_facts": 1, "center_node_uuid": None, "messages": [said]}

    answer = server.client.post("/get-memory", json=body)

    assert [fact["fact"] for fact in answer.json()["facts"]] == ["Ana lives in Paris"]
    assert server.client.post("/get-memory", json={**body, "messages": []}).json() == {"facts": []}
    assert server.client.post("/get-memory", json={**body, "center_node_uuid": "nobody"}).json() == answer.json()
    del body["center_node_uuid"]
    assert server.client.post("/get-memory", json=body).json()["detail"][0]["loc"] == ["body", "center_node_uuid"]


def test_episodes_are_the_last_that_were_said_by_now_earliest_first(server: Server) -> None:
    for day in (3, 1, 2):
        server.say("episodes", f"Day {day}.", timestamp=f"2024-05-0{day}T00:00:00Z")
    server.say("episodes", "Not yet.", timestamp="2999-01-01T00:00:00Z")

    last = server.episodes("episodes", 2)

    assert [episode["content"] for episode in last] == ["Ana(user): Day 2.", "Ana(user): Day 3."]
    assert last[0].keys() == {
        *("uuid", "name", "group_id", "labels", "created_at", "source", "source_description", "content"),
        *("valid_at", "entity_edges", "episode_metadata"),
    }
    assert last[0]["valid_at"] == "2024-05-02T00:00:00Z"
    assert WITH_Z.fullmatch(last[0]["created_at"])
    assert (server.episodes("episodes", 0), server.episodes("episodes", -1), server.episodes("nobody")) == ([], [], [])
    assert len(server.episodes("episodes", 10**30)) == 3


def test_episodes_can_be_counted_beyond_a_thousand_as_clients_do(server: Server) -> None:
    server.say("counted", *(f"Turn {n}." for n in range(1_001)))

    assert len(server.episodes("counted", 10_000)) == 1_001


def test_an_episode_lists_the_facts_that_rest_on_it(server: Server) -> None:
    moved(server, "edges")
    facts = {fact["fact"]: fact["uuid"] for fact in server.search("Ana", "edges")}

    first, second = server.episodes("edges")

    assert first["entity_edges"] == [facts["Ana lives in Berlin"]]
    assert second["entity_edges"] == [facts["Ana lives in Paris"]]


def test_an_episode_lists_each_new_fact_and_a_fact_each_episode_that_states_it(server: Server) -> None:
    for text in ("I like chess. I like tea.", "I like tea. I like jazz.", "Hm."):
        server.say("several", text)
    facts = {fact["uuid"]: fact for fact in server.search("Ana likes", "several")}
    episodes = server.episodes("several")

    listed = [sorted(facts[uuid]["fact"] for uuid in episode["entity_edges"]) for episode in episodes]
    assert listed == [["Ana likes chess", "Ana likes tea"], ["Ana likes jazz"], []]
    stated_by = {fact["fact"]: fact["episodes"] for fact in facts.values()}
    assert stated_by["Ana likes tea"] == [episodes[0]["uuid"], episodes[1]["uuid"]]


@pytest.mark.parametrize("query", ["", "?last_n=", "?last_n=x", "?last_n=1.5"])
def test_episodes_need_a_number(server: Server, query: str) -> None:
    answer = server.client.get(f"/episodes/anybody{query}")

    assert (answer.status_code, answer.json()["detail"][0]["loc"]) == (422, ["query", "last_n"])


def test_a_fact_can_be_looked_up_and_deleted_and_what_it_had_displaced_holds_again(server: Server) -> None:
    moved(server, "edge")
    berlin, paris = sorted(server.search("Where does Ana live?", "edge"), key=lambda fact: fact["fact"])
    assert server.client.get(f"/entity-edge/{paris['uuid']}").json() == paris

    answer = server.client.delete(f"/entity-edge/{paris['uuid']}")

    assert (answer.status_code, answer.json()) == (200, {"message": "Entity Edge deleted", "success": True})
    for call in (server.client.get, server.client.delete):
        gone = call(f"/entity-edge/{paris['uuid']}")
        assert (gone.status_code, gone.json()) == (404, {"detail": f"edge {paris['uuid']} not found"})
    assert server.client.get(f"/entity-edge/{berlin['uuid']}").json()["invalid_at"] is None


def test_no_fact_has_an_id_that_is_not_there_nor_a_name(server: Server) -> None:
    moved(server, "names")

    for uuid in (NOBODY, "Ana", "%00"):
        assert server.client.get(f"/entity-edge/{uuid}").status_code == 404
        assert server.client.delete(f"/entity-edge/{uuid}").status_code == 404


def test_a_deleted_group_is_gone_and_the_others_stay(server: Server) -> None:
    for group in ("gone", "stays"):
        server.say(group, "I live in Kampala.")

    for group in ("gone", "never-there"):
        answer = server.client.delete(f"/group/{group}")
        assert (answer.status_code, answer.json()) == (200, {"message": "Group deleted", "success": True})

    assert server.episodes("gone") == server.search("Kampala", "gone") == []
    assert len(server.episodes("stays")) == len(server.search("Kampala", "stays")) == 1
    assert server.client.delete("/group/no%09group").status_code == 422


def test_clear_erases_all_groups_and_what_comes_after_is_kept(tmp_path: Path) -> None:
    with serving(tmp_path / "data") as server:
        assert server.client.post("/clear").json() == {"message": "Graph cleared", "success": True}
        server.say("one", "I live in Paris.")
        server.say("two", "I live in Oslo.")

        answer = server.client.post("/clear")

        assert (answer.status_code, answer.json()) == (200, {"message": "Graph cleared", "success": True})
        assert server.search("live") == server.episodes("one") == server.episodes("two") == []
        server.say("one", "I live in Lima.")
        assert [fact["fact"] for fact in server.search("live")] == ["Ana lives in Lima"]


@pytest.mark.parametrize(
    ("method", "path", "status", "detail"),
    [
        ("PUT", "/messages", 405, "Method Not Allowed"),
        ("HEAD", "/healthcheck", 405, None),
        ("GET", "/nothing", 404, "Not Found"),
        ("POST", "/messages/", 307, None),
    ],
)
def test_other_requests_are_answered_as_by_graphiti(
    server: Server, method: str, path: str, status: int, detail: str | None
) -> None:
    answer = server.client.request(method, path)

    assert answer.status_code == status
    assert detail is None or answer.json() == {"detail": detail}


def test_a_body_that_is_not_said_to_be_json_is_refused(server: Server) -> None:
    answer = server.client.post("/search", content=b'{"query": "x"}', headers={"content-type": "text/plain"})

    assert (answer.status_code, answer.json()["detail"][0]["type"]) == (422, "model_attributes_type")


def test_the_api_describes_every_route_and_every_answer_of_its_own(server: Server) -> None:
    described = server.client.get("/openapi.json").json()["paths"]

    assert {(method, path) for path, methods in described.items() for method in methods} >= {
        ("get", "/healthcheck"),
        ("post", "/messages"),
        ("post", "/entity-node"),
        ("get", "/entity-edge/{uuid}"),
        ("delete", "/entity-edge/{uuid}"),
        ("delete", "/group/{group_id}"),
        ("delete", "/episode/{uuid}"),
        ("post", "/clear"),
        ("post", "/search"),
        ("get", "/episodes/{group_id}"),
        ("post", "/get-memory"),
    }
    assert "404" in described["/entity-edge/{uuid}"]["get"]["responses"]


@pytest.mark.parametrize(
    ("options", "code", "word"),
    [
        (["--host", "0.0.0.0"], 2, "only this machine"),
        (["--host", "example.com"], 2, "only this machine"),
        (["--port", "99999"], 2, "--port"),
    ],
)
def test_an_address_that_others_can_reach_is_not_served(
    tmp_path: Path, options: list[str], code: int, word: str
) -> None:
    ended = run("serve", "--data", str(tmp_path), *options)

    assert ended.returncode == code
    assert word in ended.stderr
    assert ended.stdout == ""


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"Host": "evil.example"}, 403),
        ({"Host": "evil.example:8000"}, 403),
        ({"Host": "[half"}, 403),
        ({"Origin": "https://evil.example"}, 403),
        ({"Origin": "null"}, 403),
        ({"Origin": "http://localhost:3000"}, 200),
        ({"Host": "localhost"}, 200),
        ({"Host": "[::1]:8000"}, 200),
    ],
)
def test_no_page_of_another_site_can_use_the_service(server: Server, headers: dict[str, str], status: int) -> None:
    answer = server.client.get("/healthcheck", headers=headers)

    assert answer.status_code == status


def test_a_directory_or_a_port_that_is_taken_is_said_in_one_line(server: Server, tmp_path: Path) -> None:
    port = server.url.rpartition(":")[2]
    for options, code, word in [
        (["--data", str(server.data), "--port", "0"], 1, "is writing here"),
        (["--data", str(tmp_path), "--port", port], 2, "cannot be taken"),
    ]:
        ended = run("serve", *options)

        assert ended.returncode == code
        assert word in ended.stderr
        assert ended.stderr.count("\n") == 1


def test_other_processes_read_the_directory_of_a_running_server(server: Server) -> None:
    server.say("shared", "I live in Quito.")

    def told() -> bool:
        return "Ana lives in Quito" in run("facts", "--data", str(server.data), "--group", "shared").stdout

    wait_until(told)
