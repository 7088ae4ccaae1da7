"""POST /messages with what is said of the reading: ontologies, types, context, content that is not kept."""

from pathlib import Path
from typing import Any

import httpx2
import pytest

from http_server import Server
from patience import wait_until

OWNED = "The parser is owned by Maria."
TAGGED = f'<graphiti_episode kind="decision">\nscope: workspace\ncontent:\n{OWNED}\n</graphiti_episode>'


def post(server: Server, group: str, content: str, schema_id: str | None = None, **fields: Any) -> dict[str, Any]:
    """Post one message; return what became of it."""
    message = {"content": content, "role_type": "user", "role": "Ana", **fields}
    body = {"group_id": group, "messages": [message], **({"schema_id": schema_id} if schema_id else {})}
    answer = server.client.post("/messages", json=body)
    assert answer.status_code == 202, answer.text
    where = f"/v1/messages/{answer.headers['asof-position']}"

    def outcome() -> dict[str, Any]:
        found: dict[str, Any] = server.client.get(where).json()
        return found

    wait_until(lambda: outcome()["state"] != "queued")
    return outcome()


def facts(server: Server, group: str) -> set[str]:
    return {fact["fact"] for fact in server.search("Maria parser Berlin Eva", group)}


def test_the_ontology_of_a_schema_id_is_what_the_message_is_read_with(server: Server) -> None:
    for schema_id in ("default", "agent_memory_v1"):
        post(server, f"named-{schema_id}", OWNED, schema_id)

    assert facts(server, "named-default") == set()
    assert facts(server, "named-agent_memory_v1") == {"Maria owns parser"}


def test_without_a_schema_id_an_agents_episode_is_read_with_agent_memory(server: Server) -> None:
    post(server, "tagged", TAGGED)

    assert facts(server, "tagged") == {"Maria owns parser"}


def test_without_a_schema_id_other_content_is_read_with_the_memorys_own(server: Server) -> None:
    post(server, "plain", OWNED)
    post(server, "plain", "I moved to Berlin.")

    assert facts(server, "plain") == {"Ana lives in Berlin"}


def test_types_that_fit_are_taken_and_the_message_is_done(server: Server) -> None:
    done = post(
        server,
        "types",
        OWNED,
        "agent_memory_v1",
        entity_types={"Vendor": "A company that we buy from."},
        excluded_entity_types=["Environment"],
        relation_types={"supplied_by": "Who delivers the source."},
        relation_type_map=[{"source": "Component", "target": "Vendor", "relations": ["supplied_by"]}],
    )

    assert (done["state"], len(done["changes"])) == ("done", 1)


@pytest.mark.parametrize(
    ("fields", "field"),
    [
        ({"entity_types": {"Entity": "A thing."}}, "entity_types"),
        (
            {"relation_type_map": [{"source": "Nobody", "target": "Person", "relations": ["knows"]}]},
            "relation_type_map.0",
        ),
    ],
)
def test_types_that_do_not_fit_fail_the_job_alone_with_the_field(
    server: Server, fields: dict[str, Any], field: str
) -> None:
    parked = post(server, "unfit", "I moved to Berlin.", **fields)

    assert parked["state"] == "parked"
    assert parked["reason"].startswith(field)
    assert post(server, "after", "I moved to Berlin.")["state"] == "done"
    assert server.episodes("unfit") == []


def test_excluded_types_that_are_none_fail_the_job_and_those_that_are_some_find_nothing(server: Server) -> None:
    parked = post(server, "excluded", "I moved to Berlin.", excluded_entity_types=["Vendor"])
    done = post(server, "excluded", "I moved to Berlin.", excluded_entity_types=["Location"])

    assert parked["reason"].startswith("excluded_entity_types: it must name an entity type of the ontology")
    assert (done["state"], done["changes"]) == ("done", [])


@pytest.mark.parametrize(
    ("fields", "where"),
    [
        ({"entity_types": ["Vendor"]}, ["entity_types"]),
        ({"entity_types": {"vendor": "A company."}}, ["entity_types", "*", "*"]),
        ({"entity_types": {"Vendor": ""}}, ["entity_types", "*", "text"]),
        ({"relation_types": {"Supplied By": "Who."}}, ["relation_types", "*", "*"]),
        ({"excluded_entity_types": ["A"] * 101}, ["excluded_entity_types"]),
        ({"relation_type_map": [{"source": "Person"}]}, ["relation_type_map", 0, "target"]),
        ({"previous_episode_ids": ["x"] * 21}, ["previous_episode_ids"]),
        ({"suppress_content": "perhaps"}, ["suppress_content"]),
    ],
)
def test_what_has_not_the_shape_of_an_option_is_refused_at_the_door(
    server: Server, fields: dict[str, Any], where: list[object]
) -> None:
    message = {"content": "Hello.", "role_type": "user", **fields}
    answer = server.client.post("/messages", json={"group_id": "shape", "messages": [message]})

    assert answer.status_code == 422
    assert where in [error["loc"][3:] for error in answer.json()["detail"]]
    assert server.episodes("shape") == []


@pytest.mark.parametrize("name", ["schema_id", "group_id"])
def test_what_is_of_all_messages_is_refused_inside_of_one_with_its_place(server: Server, name: str) -> None:
    message = {"content": "Hello.", "role_type": "user", name: "agent_memory_v1"}
    answer = server.client.post("/messages", json={"group_id": "misplaced", "messages": [message]})

    assert answer.status_code == 422
    [error] = answer.json()["detail"]
    assert (error["loc"], error["msg"]) == (
        ["body", "messages", 0],
        f"Value error, {name}: it belongs beside `messages`, not into a message",
    )
    assert server.episodes("misplaced") == []


@pytest.mark.parametrize(
    ("path", "misplaced", "reason"),
    [
        ("/search", {"group_id": "a"}, "here the groups are a list, `group_ids`"),
        ("/search", {"known_at": "2024"}, "GET /v1/search takes it"),
        ("/search", {"from": "2024"}, "GET /v1/search takes it"),
        ("/get-memory", {"group_ids": ["a"]}, "here it is one group, `group_id`"),
        ("/get-memory", {"valid_at": "2024"}, "GET /v1/search takes it"),
    ],
)
def test_an_option_of_another_search_is_refused_and_does_not_widen_the_answer(
    server: Server, path: str, misplaced: dict[str, Any], reason: str
) -> None:
    bodies: dict[str, dict[str, Any]] = {
        "/search": {"query": "x"},
        "/get-memory": {"group_id": "a", "center_node_uuid": None, "messages": []},
    }
    answer = server.client.post(path, json=bodies[path] | misplaced)

    assert answer.status_code == 422
    [error] = answer.json()["detail"]
    assert error["msg"] == f"Value error, {next(iter(misplaced))}: {reason}"


@pytest.mark.parametrize(
    "option",
    [
        {"update_communities": True},
        {"entity_types": {}},
        {"excluded_entity_types": []},
        {"relation_types": {}},
        {"relation_type_map": []},
        {"previous_episode_ids": []},
    ],
)
def test_an_option_of_a_message_beside_the_messages_is_refused_with_its_place(
    server: Server, option: dict[str, Any]
) -> None:
    message = {"content": "Hello.", "role_type": "user"}
    answer = server.client.post("/messages", json={"group_id": "misplaced", "messages": [message], **option})

    assert answer.status_code == 422
    [error] = answer.json()["detail"]
    assert error["msg"] == f"Value error, {next(iter(option))}: it belongs into a message, not beside `messages`"
    assert server.episodes("misplaced") == []


@pytest.mark.parametrize(
    ("method", "path", "body", "name"),
    [
        ("POST", "/messages?min_position=0", {"group_id": "misplaced", "messages": []}, "min_position"),
        ("POST", "/search?known_at=2024-05-01", {"query": "Berlin", "group_ids": ["misplaced"]}, "known_at"),
        ("POST", "/search?all_groups=true", {"query": "Berlin"}, "all_groups"),
        ("POST", "/search?group_id=misplaced", {"query": "Berlin"}, "group_id"),
        ("POST", "/search?max_facts=1", {"query": "Berlin"}, "max_facts"),
        ("POST", "/messages?suppress_content=true", {"group_id": "misplaced", "messages": []}, "suppress_content"),
        ("POST", "/messages?schema_id=default", {"group_id": "misplaced", "messages": []}, "schema_id"),
        ("POST", "/messages?update_communities=true", {"group_id": "misplaced", "messages": []}, "update_communities"),
        ("GET", "/episodes/misplaced?last_n=5&valid_at=2024-05-01", None, "valid_at"),
    ],
)
def test_a_parameter_of_our_own_routes_or_an_option_of_the_body_is_refused_where_it_would_change_nothing(
    server: Server, method: str, path: str, body: object, name: str
) -> None:
    answer = server.client.request(method, path, json=body)

    assert answer.status_code == 422, answer.text
    [error] = answer.json()["detail"]
    assert (error["loc"], error["msg"]) == (["query", name], "this route does not take it")
    assert "Berlin" not in answer.text
    of_others = path.replace(name, "tracking_id")
    assert server.client.request(method, of_others, json=body).status_code != 422, "Graphiti ignores it"


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("/messages", {"messages": [{"content": "Hello.", "role_type": "user"}]}),
        ("/entity-node", {"uuid": "two-places", "name": "Ana"}),
        ("/get-memory", {"max_facts": 1, "center_node_uuid": None, "messages": []}),
    ],
)
def test_a_group_in_the_address_that_is_not_that_of_the_body_is_refused_by_name(
    server: Server, path: str, body: dict[str, Any]
) -> None:
    def send(groups: list[str]) -> httpx2.Response:
        return server.client.post(path, params={"group_id": groups}, json={"group_id": "one-place", **body})

    for groups in (["another"], ["one-place", "another"]):
        refused = send(groups)
        assert refused.status_code == 422, refused.text
        [error] = refused.json()["detail"]
        assert (error["loc"], error["msg"]) == (["query", "group_id"], "the body has another one: leave it out here")
    assert server.episodes("another") == []
    assert send(["one-place"]).status_code < 300


def test_the_episodes_that_a_message_names_are_its_context(server: Server) -> None:
    friend = post(server, "context", "My friend Maria is a nurse.")["episode_id"]
    for _ in range(5):
        post(server, "context", "My friend Eva is a painter.")
    post(server, "context", "She lives in Berlin.", previous_episode_ids=[friend])

    assert "Maria lives in Berlin" in facts(server, "context")
    assert "Eva lives in Berlin" not in facts(server, "context")


def test_a_context_that_is_not_there_fails_the_job(server: Server) -> None:
    assert post(server, "lost", "Hello.", previous_episode_ids=["unheard"])["state"] == "parked"


@pytest.mark.parametrize(("asked", "members"), [({}, []), ({"update_communities": True}, [["Ana", "Berlin"]])])
def test_a_message_asks_for_communities_or_changes_none(
    server: Server, asked: dict[str, Any], members: list[list[str]]
) -> None:
    group = f"communities-{len(asked)}"
    post(server, group, "I live in Berlin.", **asked)

    found = server.client.get("/v1/communities", params={"group_id": group}).json()["communities"]
    assert [sorted(member["name"] for member in community["members"]) for community in found] == members


def test_suppressed_content_is_read_and_then_in_no_file(server: Server) -> None:
    done = post(server, "quiet", "I moved to Berlin, said the canary in the mine.", suppress_content=True)
    post(server, "quiet", "Good night.")

    assert (done["state"], len(done["changes"])) == ("done", 1)
    assert [e["content"] for e in server.episodes("quiet")] == ["Ana(user): ", "Ana(user): Good night."]
    assert facts(server, "quiet") == {"Ana lives in Berlin"}
    wait_until(lambda: not [p for p in files(server.data) if b"the canary in the mine" in p.read_bytes()])


def files(folder: Path) -> list[Path]:
    return [path for path in folder.rglob("*") if path.is_file()]


def test_a_message_says_whether_it_is_a_text_or_a_json_document(server: Server) -> None:
    server.say("sources", '{"note": "Cem lives in Kigali."}', source="json")
    server.say("sources", "Dan lives in Oslo.", source="text")
    server.say("sources", "Eve lives in Rome.")

    assert [episode["source"] for episode in server.episodes("sources")] == ["json", "text", "message"]
    assert {fact["fact"] for fact in server.search("lives in", "sources")} == {
        "Cem lives in Kigali",
        "Dan lives in Oslo",
        "Eve lives in Rome",
    }
