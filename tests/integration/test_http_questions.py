"""The routes under /v1 against a running server: the answers of the Python API, as of a moment on two clocks."""

import json
import xml.etree.ElementTree as ET
from collections.abc import Iterator
from io import BytesIO
from typing import Any

import httpx2
import pytest
from pyarrow.parquet import read_table

import asof
from asof.api.memory import Memory
from http_server import Server, serving
from patience import wait_until


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A server that was told that Ana moved from Lisbon to Berlin, and Ben lives in Leeds."""
    with serving(tmp_path_factory.mktemp("http") / "data") as running:
        running.say("g", "I live in Lisbon.", timestamp="2019-01-01T00:00:00Z")
        running.say("g", "I moved to Berlin.", timestamp="2023-05-01T00:00:00Z")
        running.say("g", "I live in Leeds.", role="Ben", timestamp="2020-06-01T00:00:00Z")
        running.say("other", "I live in Lima.", timestamp="2020-06-01T00:00:00Z")
        running.say("kin", "My sister Eva works at SAP.", role="Zoe", update_communities=True)
        wait_until(lambda: has_vectors(running))
        yield running


def has_vectors(server: Server) -> bool:
    """Whether searches compare all facts and turns in meaning, as those in Python do."""
    found = get(server, "search", query="Who lives where?", all_groups=True)
    return (found["unavailable"], found["vectors_behind"]) == (None, 0)


@pytest.fixture(scope="module")
def memory(server: Server) -> Iterator[Memory]:
    with asof.open(server.data, embedder="hash") as opened:
        yield opened


def get(server: Server, path: str, **parameters: Any) -> Any:
    answer = server.client.get(f"/v1/{path}", params=parameters)
    assert answer.status_code == 200, answer.text
    return answer.json()


def berlin(server: Server) -> str:
    [fact] = get(server, "facts", group_id="g", object="Berlin")["facts"]
    return str(fact["uuid"])


def asked(memory: Memory, path: str, parameters: dict[str, Any]) -> Any:
    """Return the answer of the Python API to the question of a route, as JSON."""
    python = {"from": "start", "to": "stop"}
    given = {python.get(name, name): value for name, value in parameters.items()}
    found = getattr(memory, path.replace("-", "_"))(**given)
    return [item.to_json() for item in found] if isinstance(found, list) else found.to_json()


@pytest.mark.parametrize(
    ("path", "parameters", "part"),
    [
        ("facts", {"group_id": "g"}, "facts"),
        ("facts", {"all_groups": True}, "facts"),
        ("facts", {"group_id": "g", "about": "Ana", "valid_at": "2020"}, "facts"),
        ("facts", {"group_id": "g", "about": "Ana", "any_time": True}, "facts"),
        ("facts", {"group_id": "g", "known_at": "2020"}, "facts"),
        ("overlapping", {"group_id": "g", "from": "2020", "to": "2024"}, "facts"),
        ("throughout", {"group_id": "g", "from": "2020-07", "to": "2021"}, "segments"),
        ("search", {"query": "Leeds", "group_id": "g"}, "facts"),
        ("search", {"query": "Ana", "valid_at": "2020", "all_groups": True}, "facts"),
        ("search", {"query": "lives", "group_ids": ["g", "other"], "relations": ["lives_in", "likes"]}, "facts"),
        ("search", {"query": "sister", "group_id": "kin", "center": "Eva", "hops": 1}, "facts"),
        ("search", {"query": "lives", "all_groups": True, "entity_types": ["Person"]}, "facts"),
        ("context", {"query": "Where does Ana live?", "group_id": "g", "valid_at": "2024"}, None),
        (
            "context",
            {"query": "Leeds", "group_id": "g", "valid_at": "2024", "budget": 200, "timezone": "Asia/Tokyo"},
            None,
        ),
        ("entities", {"all_groups": True}, "entities"),
        ("entities", {"group_id": "g", "like": "Berlinn", "limit": 3}, "entities"),
        ("entity", {"name": "Ana", "group_id": "g"}, "entities"),
        ("neighbourhood", {"name": "Ana", "group_id": "g", "hops": 1}, "hops"),
        ("communities", {"group_id": "kin"}, "communities"),
        ("history", {"id": "Ana", "group_id": "g"}, "versions"),
        ("history", {"id": "Ana", "group_id": "g", "known_at": "2100"}, "versions"),
        ("timeline", {"name": "Ana", "relation": "lives_in", "all_groups": True}, "segments"),
        ("diff", {"from": "2020", "to": "2024", "group_id": "g"}, "changes"),
        ("diff", {"from": "2024,2020", "to": "2024", "group_id": "g"}, "changes"),
        ("episodes", {"group_id": "g"}, "episodes"),
        ("episodes", {"group_id": "g", "from": "2020", "to": "2021"}, "episodes"),
        ("groups", {}, "groups"),
        ("changes", {"after": 0, "group_id": "g"}, None),
    ],
)
def test_a_question_is_answered_as_in_python(
    server: Server, memory: Memory, path: str, parameters: dict[str, Any], part: str | None
) -> None:
    answer = get(server, path, **parameters)
    found = answer if part is None else answer[part]

    assert found == asked(memory, path, parameters)
    assert found or parameters.get("known_at")


def test_a_search_over_several_groups_finds_the_facts_of_these_alone(server: Server) -> None:
    found = get(server, "search", query="Who lives where?", group_ids=["g", "other"])["facts"]

    assert {fact["group_id"] for fact in found} == {"g", "other"}


@pytest.mark.parametrize(
    ("wrong", "field"),
    [
        ({"group_ids": ["g"], "group_id": "other"}, "group_ids"),
        ({"group_ids": ["g"], "all_groups": True}, "group_ids"),
        ({"group_ids": ["g", "no\tgroup"]}, "group_ids.1"),
        ({"hops": 2}, "hops"),
    ],
)
def test_filters_of_a_search_that_cannot_be_are_refused_by_name(server: Server, wrong: Any, field: str) -> None:
    answer = server.client.get("/v1/search", params={"query": "x", **wrong})

    assert answer.status_code == 422
    assert answer.json()["field"] == field


def test_times_are_read_in_words_and_told_in_headers(server: Server) -> None:
    parameters = {"group_id": "g", "about": "Ana", "valid_at": "spring 2020", "known_at": "now"}
    answer = server.client.get("/v1/facts", params=parameters)

    assert [fact["object"] for fact in answer.json()["facts"]] == ["Lisbon"]
    assert answer.headers["asof-valid-at"].startswith("2020-03-")
    assert "asof-known-at" in answer.headers
    changed = server.client.get("/v1/diff", params={"group_id": "g", "from": "spring 2020", "to": "1 June 2024,now"})
    assert (
        changed.json()["changes"]
        == get(server, "diff", group_id="g", **{"from": "2020-03", "to": "2024-06"})["changes"]
    )
    assert changed.headers["asof-from"].startswith("2020-03-")
    assert changed.headers["asof-to"].startswith("2024-06-01T00:00:00Z,2")
    period = server.client.get("/v1/episodes", params={"group_id": "g", "from": "spring 2020", "to": "now"})
    assert period.headers["asof-from"] == changed.headers["asof-from"]
    refused = server.client.get("/v1/facts", params={"valid_at": "noon"})
    assert (refused.status_code, refused.json()["field"]) == (422, "valid_at")
    assert "it may mean" in refused.json()["detail"]


@pytest.mark.parametrize("path", ["why", "fact", "known-history"])
def test_a_question_about_an_id_is_answered_as_in_python(server: Server, memory: Memory, path: str) -> None:
    answer = get(server, path, id=berlin(server))

    assert answer.get("periods", answer) == asked(memory, path, {"id": berlin(server)})


def test_a_moment_on_each_clock_is_asked_for_apart(server: Server) -> None:
    def where(**moment: str) -> list[str]:
        return [fact["object"] for fact in get(server, "facts", group_id="g", about="Ana", **moment)["facts"]]

    [now] = get(server, "facts", group_id="g", object="Berlin")["facts"]

    assert where() == ["Berlin"]
    assert where(valid_at="2020-01-01") == ["Lisbon"]
    assert where(known_at=now["created_at"]) == ["Berlin"]
    assert where(known_at="2020") == []


def test_long_lists_come_page_by_page(server: Server) -> None:
    whole = get(server, "entities", all_groups=True)["entities"]
    found, cursor = [], {}
    for _ in whole:
        page = get(server, "entities", all_groups=True, limit=1, **cursor)
        found += page["entities"]
        cursor = {"cursor": page["next"]}

    assert found == whole
    assert cursor == {"cursor": None}
    assert len(get(server, "facts", group_id="g", limit=2)["facts"]) == 2


def test_the_cursor_of_another_question_or_another_known_moment_beside_it_is_refused(server: Server) -> None:
    cursor = get(server, "facts", group_id="g", limit=1)["next"]

    for path, given, field in ("entities", {}, "cursor"), ("facts", {"known_at": "2100"}, "known_at"):
        answer = server.client.get(f"/v1/{path}", params={"group_id": "g", "cursor": cursor, **given})
        assert answer.status_code == 422
        assert answer.json()["detail"].startswith(f"{field}: ")


def test_a_later_page_is_as_of_the_moments_of_the_first(server: Server) -> None:
    server.say("pages", "I live in Lisbon. I work at SAP.", "I have a cat.", role="Uma")
    whole = get(server, "facts", group_id="pages")["facts"]
    first = get(server, "facts", group_id="pages", limit=1)

    server.say("pages", "I moved to Berlin.", "I have a dog.", role="Uma")
    found, cursor = first["facts"], first["next"]
    while cursor is not None:
        page = get(server, "facts", group_id="pages", limit=1, cursor=cursor)
        found, cursor = found + page["facts"], page["next"]

    assert len(whole) > 1
    assert [fact["uuid"] for fact in found] == [fact["uuid"] for fact in whole]


def test_the_events_of_a_log_come_page_by_page(server: Server, memory: Memory) -> None:
    found, start = [], 0
    while page := get(server, "events", log="episodic", limit=3, **{"from": start})["events"]:
        found += page
        start += 3

    assert found == [event.to_json() for event in memory.events("episodic")]
    assert get(server, "events", **{"from": 10**9}) == {"events": [], "next": 10**9}


def test_an_answer_can_be_made_to_wait_for_what_one_wrote(server: Server) -> None:
    for n in range(20):
        said = {"content": f"I live in Town{n}.", "role_type": "user", "role": f"P{n}"}
        answer = server.client.post("/messages", json={"group_id": "waits", "messages": [said]})
        position = answer.headers["asof-position"]

        [fact] = get(server, "facts", group_id="waits", about=f"P{n}", min_position=position)["facts"]
        assert fact["object"] == f"Town{n}"


def test_a_message_is_done_with_what_it_changed(server: Server) -> None:
    answer = server.say("done", "I live in Rome.", timestamp="2024-01-01T00:00:00Z")

    done = get(server, f"messages/{answer.headers['asof-position']}")

    assert (done["state"], done["group_id"], done["mentions"]) == ("done", "done", 2)
    assert done["episode_id"] == answer.headers["asof-episode-id"]
    assert [(change["change"], change["fact"]["object"]) for change in done["changes"]] == [("opened", "Rome")]


def test_a_message_is_parked_with_the_reason(server: Server) -> None:
    for group, uuid, reason in [("no\tgroup", None, "group_id: "), ("parked", "nobody", "uuid: no episode of")]:
        position = server.say(group, "Hello.", uuid=uuid).headers["asof-position"]

        found = get(server, f"messages/{position}")

        assert found["state"] == "parked"
        assert found["reason"].startswith(reason)


def test_a_message_is_queued_until_it_is_processed(server: Server) -> None:
    said = [{"content": f"I moved to Town{n}.", "role_type": "user", "role": "Ana"} for n in range(500)]
    first = int(server.client.post("/messages", json={"group_id": "long", "messages": said}).headers["asof-position"])
    last = first + len(said) - 1

    queued = get(server, f"messages/{last}")
    done = get(server, f"messages/{last}", min_position=last)

    assert (queued["position"], queued["state"]) == (last, "queued")
    assert 0 < queued["ahead"] < 500
    assert done["state"] == "done"


def test_a_message_of_an_erased_group_says_so(server: Server) -> None:
    position = server.say("erased", "I live in Rome.").headers["asof-position"]

    server.client.delete("/group/erased")

    assert get(server, f"messages/{position}") == {"position": int(position), "state": "erased"}


@pytest.mark.parametrize(
    ("path", "status", "word"),
    [
        ("facts?valid_at=soon", 422, "valid_at: "),
        ("facts?group_id=%00", 422, "group_id: a group id has 1 to 200 characters, and no control character"),
        ("facts?limit=0", 422, "limit: "),
        ("facts?cursor=x", 422, "cursor: "),
        ("facts?min_position=-1", 422, "min_position: "),
        ("search", 422, "query: "),
        ("context?query=x&timezone=Nowhere", 422, "timezone: no time zone of this name"),
        ("context?query=x&budget=10", 422, "budget: "),
        ("diff?from=2024&to=soon", 422, "to: "),
        ("events?log=none", 422, "log: "),
        ("overlapping?from=2024&to=2020", 422, "to: a period begins before it ends"),
        ("episodes?from=2024&to=2020", 422, "to: a period begins before it ends"),
        ("search?query=x&profile=pipeline&from=2024&to=2020", 422, "to: a period begins before it ends"),
        ("erasure-preview?group_id=g&from=2024&to=2024", 422, "to: a period begins before it ends"),
        ("erasure-preview?group_id=g&phrase=%20", 422, "phrase: there are no words in it"),
        ("erasure-preview?group_id=g&person=", 422, "person: it must not be empty"),
        ("facts?all_groups=true&group_id=g", 422, "all_groups: leave group_id out, or this"),
        ("facts?any_time=true&valid_at=2024", 422, "any_time: leave valid_at out, or this"),
        ("facts?valid_at=2024-05-01T09:30:00", 422, "valid_at: a time needs its offset: add Z or +hh:mm"),
        ("why?id=nobody", 404, "no fact has the id nobody"),
        ("fact?id=nobody", 404, "no fact has the id nobody"),
        ("known-history?id=nobody", 404, "no fact has the id nobody"),
        ("episode?id=nobody", 404, "no episode has the id nobody"),
        ("messages/1000000", 404, "no message"),
        ("messages/-1", 404, "no message"),
        ("messages/x", 422, "position: "),
        ("nothing", 404, "Not Found"),
    ],
)
def test_what_is_wrong_is_told_as_a_problem(server: Server, path: str, status: int, word: str) -> None:
    answer = server.client.get(f"/v1/{path}")

    problem = answer.json()
    assert (answer.status_code, problem["status"]) == (status, status)
    assert answer.headers["content-type"] == "application/problem+json"
    assert word in problem["detail"]
    assert problem.keys() - {"field"} == {"type", "title", "status", "detail"}
    assert problem.get("field") == (word.partition(": ")[0] if status == 422 and ": " in word else None)


@pytest.mark.parametrize(
    ("path", "refusal"),
    [
        ("facts?groupid=g", "groupid: no such parameter; did you mean group_id?"),
        ("facts?group_id=g&about=Ana&about=Ben", "about: it has 2 values; give one"),
        ("facts?%C3%A4%20b=1", "(a name): no such parameter; known are "),
        ("messages/0?minposition=0", "minposition: no such parameter; did you mean min_position?"),
        ("stats?group=g", "group: no such parameter; known are min_position"),
        ("generations?nam=main", "nam: no such parameter; known are min_position"),
        ("events?form=3", "form: no such parameter; did you mean from?"),
        ("events/stream?group=g", "group: no such parameter; did you mean group_id?"),
        ("export?formatt=json", "formatt: no such parameter; did you mean format?"),
    ],
)
def test_an_unknown_parameter_or_a_second_value_is_refused_by_name(server: Server, path: str, refusal: str) -> None:
    answer = server.client.get(f"/v1/{path}")

    assert answer.status_code == 422
    assert answer.headers["content-type"] == "application/problem+json"
    assert answer.json()["detail"].startswith(refusal)


@pytest.mark.parametrize(
    ("path", "part"),
    [
        ("facts?about=Nobody", "facts"),
        ("overlapping?about=Nobody&from=2020&to=2024", "facts"),
        ("throughout?about=Nobody&from=2020&to=2024", "segments"),
        ("entity?name=Nobody", "entities"),
        ("neighbourhood?name=Nobody", "hops"),
        ("timeline?name=Nobody", "segments"),
        ("history?id=Nobody", "versions"),
        ("diff?about=Nobody&from=2020&to=2024", "changes"),
        ("facts?relation=unheard_of", "facts"),
        ("facts?group_id=nobody", "facts"),
        ("communities?group_id=nobody", "communities"),
        ("episodes?group_id=nobody", "episodes"),
        ("groups?prefix=nobody", "groups"),
    ],
)
def test_an_unknown_name_or_group_is_answered_with_an_empty_list(server: Server, path: str, part: str) -> None:
    answer = server.client.get(f"/v1/{path}")

    assert (answer.status_code, answer.json()[part]) == (200, [])


def test_a_question_is_about_the_default_group_unless_it_asks_for_all(server: Server) -> None:
    server.say("default", "I live in Oslo.", role="Dag")

    def people(**params: Any) -> set[str]:
        return {fact["subject"] for fact in get(server, "facts", relation="lives_in", **params)["facts"]}

    assert people() == {"Dag"}
    assert people(all_groups=True) >= {"Ana", "Ben", "Dag"}


def test_an_episode_is_found_by_its_id_until_it_is_withdrawn(server: Server) -> None:
    uuid = server.say("withdrawn", "I live in Rome.").headers["asof-episode-id"]

    assert get(server, "episode", id=uuid)["content"] == "I live in Rome."
    server.client.delete(f"/episode/{uuid}")
    assert server.client.get("/v1/episode", params={"id": uuid}).status_code == 404


def test_groups_are_listed_with_the_number_of_their_episodes(server: Server) -> None:
    groups = get(server, "groups")["groups"]

    assert {group["group_id"]: group["episodes"] for group in groups}["g"] == 3
    assert [group["group_id"] for group in groups] == sorted(group["group_id"] for group in groups)
    assert [group["group_id"] for group in get(server, "groups", prefix="ki")["groups"]] == ["kin"]


def test_stats_and_generations_are_those_of_python(server: Server, memory: Memory) -> None:
    stats, generations = get(server, "stats"), get(server, "generations")

    assert (stats["messages"], stats["active"]) == (memory.stats()["messages"], "main")
    assert (generations["active"], [each["name"] for each in generations["generations"]]) == ("main", ["main"])


def test_the_graph_is_exported_as_of_a_moment_in_each_form(server: Server) -> None:
    def exported(**params: Any) -> httpx2.Response:
        answer = server.client.get("/v1/export", params={"group_id": "g", **params})
        assert answer.status_code == 200, answer.text
        return answer

    def objects(**params: Any) -> str:
        return json.dumps(exported(**params).json())

    assert "Berlin" in objects()
    assert "Lisbon" not in json.dumps(exported().json()["edges"])
    assert "known_at" not in objects()
    assert "Berlin" not in objects(known_at="2020")
    assert "I live in Lisbon" not in objects()
    assert "Lisbon" in objects(episodic=True)
    graphml = exported(format="graphml")
    assert graphml.headers["content-type"].startswith("application/xml")
    assert ET.fromstring(graphml.content).tag.endswith("graphml")
    parquet = exported(format="parquet")
    assert parquet.headers["content-type"] == "application/vnd.apache.parquet"
    facts = [edge["id"] for edge in exported().json()["edges"]]
    assert read_table(BytesIO(parquet.content))["id"].to_pylist() == facts != []


STATEMENT = {"subject": "Bo", "relation": "lives_in", "object": "Rome", "valid_at": "2024-01-01"}


def test_structured_facts_are_stated_in_order_and_can_be_asked_about(server: Server) -> None:
    moved = {**STATEMENT, "object": "Bonn", "valid_at": "2025-01-01"}

    answer = server.client.post("/v1/facts", json={"group_id": "stated", "statements": [STATEMENT, moved]})
    first, second = answer.json()["positions"]

    assert (answer.status_code, second) == (202, first + 1)
    facts = get(server, "facts", group_id="stated", any_time=True, min_position=second)["facts"]
    assert [(fact["object"], fact["valid_at"], fact["invalid_at"]) for fact in facts] == [
        ("Rome", "2024-01-01T00:00:00Z", "2025-01-01T00:00:00Z"),
        ("Bonn", "2025-01-01T00:00:00Z", None),
    ]


def test_a_number_and_qualifiers_are_stated_and_answered_as_they_are(server: Server) -> None:
    counted = {"subject": "Bo", "relation": "height", "object": 1.620, "qualifiers": {"by": "Ana", "page": 2}}

    taken = server.client.post("/v1/facts", json={"group_id": "counted", "statements": [counted]})
    refused = server.client.post("/v1/facts", json={"statements": [{**counted, "object": True}]})

    [fact] = get(server, "facts", group_id="counted", min_position=taken.json()["positions"][0])["facts"]
    assert (fact["object"], fact["value"], fact["qualifiers"]) == ("1.62", 1.62, {"by": "Ana", "page": 2})
    assert (refused.status_code, refused.json()["field"]) == (422, "statements.0.object")


def test_a_structured_fact_says_where_it_comes_from_and_why_shows_it(server: Server) -> None:
    told = {"subject": "Bo", "relation": "height", "object": 1.7, "source_description": "passport"}

    taken = server.client.post("/v1/facts", json={"group_id": "sourced", "statements": [told]})
    refused = server.client.post("/v1/facts", json={"statements": [{**told, "source_description": "p" * 1_001}]})

    [fact] = get(server, "facts", group_id="sourced", min_position=taken.json()["positions"][0])["facts"]
    [evidence] = get(server, "why", id=fact["uuid"])["evidence"]
    assert evidence["source_description"] == "passport"
    assert (refused.status_code, refused.json()["field"]) == (422, "statements.0.source_description")


def test_structured_facts_under_an_idempotency_key_are_stated_once(server: Server) -> None:
    body, headers = {"group_id": "once", "statements": [STATEMENT]}, {"Idempotency-Key": "once"}

    first, again = (server.client.post("/v1/facts", json=body, headers=headers) for _ in range(2))
    other = server.client.post("/v1/facts", json={**body, "group_id": "another"}, headers=headers)

    assert (first.status_code, again.status_code, again.json()) == (202, 202, first.json())
    assert other.status_code == 422


def test_entities_are_merged_and_split_by_statement(server: Server) -> None:
    likes = [{"subject": name, "relation": "likes", "object": "Tea", "valid_at": "2024"} for name in ("Bob", "Robert")]
    server.client.post("/v1/facts", json={"group_id": "merged", "statements": likes})
    pair = {"group_id": "merged", "entity": "Robert", "into": "Bob"}

    def names(op: str) -> list[list[str]]:
        [position] = server.client.post("/v1/identities", json={**pair, "op": op}).json()["positions"]
        found = get(server, "entity", group_id="merged", name="Bob", min_position=position)["entities"]
        return [entity["names"] for entity in found]

    assert names("merge") == [["Bob", "Robert"]]
    assert names("split") == [["Bob"]]


def test_a_statement_of_identity_that_lacks_a_field_is_refused(server: Server) -> None:
    answer = server.client.post("/v1/identities", json={"op": "merge", "entity": "Bob"})

    assert answer.status_code == 422
    assert "merge takes entity and into" in answer.json()["detail"]


def test_parked_messages_and_contradictions_are_listed_for_a_group(server: Server) -> None:
    body = {"group_id": "lists", "statements": [{"op": "retract", "ref": "nothing"}]}
    [position] = server.client.post("/v1/facts", json=body).json()["positions"]

    [parked] = get(server, "parked", group_id="lists", min_position=position)["messages"]

    assert (parked["position"], parked["group_id"]) == (position, "lists")
    assert get(server, "contradictions", group_id="lists") == {"contradictions": []}


def test_settling_is_refused_for_a_fact_that_nothing_contradicts(server: Server) -> None:
    answer = server.client.post("/v1/settle", json={"group_id": "g", "id": berlin(server)})

    assert answer.status_code == 404
    assert server.client.post("/v1/settle", json={"id": "x", "of": "y"}).status_code == 422


def test_what_if_answers_what_stating_would_change_and_writes_nothing(server: Server) -> None:
    before = get(server, "stats")["messages"]
    answer = server.client.post(
        "/v1/what-if",
        json={"group_id": "g", "statements": [{**STATEMENT, "subject": "Ana", "valid_at": "2025-01-01"}]},
    )

    assert answer.status_code == 200, answer.text
    assert [(s["object"], s["invalid_at"]) for s in answer.json()["before"]][-1] == ("Berlin", None)
    assert [(s["object"], s["invalid_at"]) for s in answer.json()["after"]][-2:] == [
        ("Berlin", "2025-01-01T00:00:00Z"),
        ("Rome", None),
    ]
    assert get(server, "stats")["messages"] == before


def test_a_fact_is_ended_by_the_first_letters_of_its_id_in_its_own_group_alone(server: Server) -> None:
    stated = {"group_id": "letters", "statements": [{**STATEMENT, "subject": "Kim", "valid_at": "2024-01-01"}]}
    server.client.post("/v1/facts", json=stated, params={"wait": True})
    [kim] = get(server, "facts", group_id="letters")["facts"]
    ending = {"op": "end", "ref": kim["uuid"][:8], "invalid_at": "2024-02-01"}

    foreign = server.client.post("/v1/facts", json={"group_id": "g", "statements": [ending]}, params={"wait": True})
    dry = server.client.post("/v1/what-if", json={"group_id": "letters", "statements": [ending]})
    own = server.client.post("/v1/facts", json={"group_id": "letters", "statements": [ending]}, params={"wait": True})

    assert [outcome["state"] for outcome in foreign.json()["outcomes"]] == ["parked"]
    assert [outcome["state"] for outcome in own.json()["outcomes"]] == ["done"]
    assert [segment["invalid_at"] for segment in dry.json()["after"]] == ["2024-02-01T00:00:00Z"]
    assert get(server, "facts", group_id="letters")["facts"] == []


@pytest.mark.parametrize("path", ["facts", "what-if"])
@pytest.mark.parametrize(
    ("body", "refusal"),
    [
        ({"statement": [STATEMENT]}, "statement: no such field; did you mean statements?"),
        ({"statements": []}, "statements: "),
        ({"statements": [STATEMENT, {**STATEMENT, "subjekt": "Bo"}]}, "statements.1.subjekt: no such field; "),
        ({"statements": [{**STATEMENT, "group_id": "g"}]}, "statements.0.group_id: "),
        (
            {"statements": [{**STATEMENT, "valid_at": "2024-01-01T00:00"}]},
            "statements.0.valid_at: a time needs",
        ),
        ({"statements": [{"subject": "Bo"}]}, "statements.0: "),
        ({"group_id": "no\tgroup", "statements": [STATEMENT]}, "group_id: "),
    ],
)
def test_a_wrong_statement_is_refused_by_number_and_field(
    server: Server, path: str, body: dict[str, Any], refusal: str
) -> None:
    answer = server.client.post(f"/v1/{path}", json=body)

    assert (answer.status_code, answer.headers["content-type"]) == (422, "application/problem+json")
    assert answer.json()["detail"].startswith(refusal)
    assert answer.json()["field"] == refusal.partition(": ")[0]


@pytest.mark.parametrize(
    "group",
    [
        "user-f8215d6c-cd87-5967-abd7-4f653da7214c",
        "workspace-73605082-906d-572e-9e1f-556787d7f7bb",
        "session-83e87db2-94ea-5d19-a339-fc7dc8521b77",
    ],
)
def test_a_scope_and_a_key_have_one_group_id_for_ever(server: Server, group: str) -> None:
    body = {"scope": group.partition("-")[0], "key": "github_login:octocat"}

    assert server.client.post("/groups/resolve", json=body).json() == {"group_id": group}
    assert server.say(group, "Hello.").status_code == 202


def test_the_case_of_a_github_login_and_spaces_around_a_key_make_no_difference(server: Server) -> None:
    def resolved(key: str, scope: str = "user") -> str:
        return str(server.client.post("/groups/resolve", json={"scope": scope, "key": key}).json()["group_id"])

    assert resolved(" GitHub_Login:OctoCat ") == resolved("github_login:octocat")
    assert len({resolved(key) for key in ("octocat", "OctoCat", "github_login:octocat")}) == 3
    assert resolved("octocat", "session") != resolved("octocat")


def test_an_unknown_field_of_an_owner_is_refused_by_name(server: Server) -> None:
    answer = server.client.post("/groups/resolve", json={"scope": "user", "keyy": "k"})

    assert answer.status_code == 422
    [refusal] = answer.json()["detail"]
    assert (refusal["loc"], refusal["msg"]) == (["keyy"], "no such field; did you mean key?")


@pytest.mark.parametrize("body", [{}, {"scope": "team", "key": "k"}, {"scope": "user", "key": " "}, {"scope": "user"}])
def test_a_scope_or_key_that_is_none_is_refused(server: Server, body: object) -> None:
    assert server.client.post("/groups/resolve", json=body).status_code == 422
