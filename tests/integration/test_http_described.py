"""The API's description is complete, and what a running server answers is as described, to the last field."""

import json
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import httpx2
import jsonschema
import pytest

from asof.api.memory import Memory
from http_server import Server, serving

WRITE = {"POST", "DELETE"}
GROUP = {"group_id": "g"}
STATED = {"statements": [{"subject": "Bo", "relation": "lives_in", "object": "Rome", "valid_at": "2024-05-01"}]}
SAID = {"content": "I moved to Berlin in March.", "role_type": "user", "role": "Ana"}


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with serving(tmp_path_factory.mktemp("http") / "data") as running:
        running.say("g", "I moved to Berlin in March.", timestamp="2024-04-02T00:00:00Z")
        running.say("g", "I live in Paris now. I have a cat.", timestamp="2024-06-02T00:00:00Z")
        running.say(
            "g", "I live in Paris now.", timestamp="2024-07-02T00:00:00Z", uuid=running.episodes("g")[0]["uuid"]
        )
        running.client.post("/messages", json={"group_id": "no\tgroup", "messages": [SAID]})
        running.say("gone", "I live in Rome.")
        running.client.delete("/group/gone")
        running.say("g", "My sister Eva works at SAP.", update_communities=True)
        running.say("g", "It was Lyon, not Paris.", timestamp="2024-08-02T00:00:00Z")
        running.say("h", "I live in Oslo.")
        yield running


def test_a_service_warns_of_nothing_while_it_starts_describes_itself_and_answers(tmp_path: Path) -> None:
    with serving(tmp_path / "data", fresh=True) as fresh:  # a warning comes once a process
        fresh.client.get("/openapi.json").raise_for_status()
        fresh.say("g", "I live in Paris.")
        fresh.client.get("/v1/diff", params={**GROUP, "from": "2024-01-01", "to": "2025-01-01"}).raise_for_status()

        assert "Warning" not in fresh.log


@pytest.fixture(scope="module")
def described(server: Server) -> dict[str, Any]:
    found: dict[str, Any] = server.client.get("/openapi.json").json()
    return found


def operations(described: dict[str, Any]) -> Iterator[tuple[str, str, dict[str, Any]]]:
    for path, methods in described["paths"].items():
        for method, operation in methods.items():
            yield method.upper(), path, operation


def fitting(described: dict[str, Any], answer: httpx2.Response, path: str) -> None:
    """Check an answer against its description, which must name every field of it."""
    operation = described["paths"][path][answer.request.method.lower()]
    said = operation["responses"][str(answer.status_code)]
    kind = answer.headers["content-type"].partition(";")[0]
    schema = exact(json.dumps(said["content"][kind]["schema"]))
    jsonschema.validate(answer.json(), {**schema, "components": exact(json.dumps(described["components"]))})


@cache
def exact(schema: str) -> dict[str, Any]:
    """Return a schema that allows an object no field that it does not name."""
    found: dict[str, Any] = json.loads(schema, object_hook=_closed)
    return found


def _closed(part: dict[str, Any]) -> dict[str, Any]:
    if part.get("type") == "object" and isinstance(part.get("properties"), dict):
        return {"additionalProperties": False, **part}
    return part


def test_every_route_says_what_it_does_and_gives_back_and_how_it_refuses(described: dict[str, Any]) -> None:
    for method, path, operation in operations(described):
        where = f"{method} {path}"
        assert operation["description"].strip(), where
        good = [status for status in operation["responses"] if status.startswith("2")]
        assert good, where
        for status in good:
            for media, content in operation["responses"][status]["content"].items():
                assert content.get("schema") or media == "text/event-stream", where
        if path.startswith("/v1/"):
            assert {"401", "403", "404", "422", "429", "503"} <= operation["responses"].keys(), where
            problems = {status: r for status, r in operation["responses"].items() if status >= "4"}
            if "requestBody" not in operation:
                assert problems.pop("400")["content"].keys() == {"text/plain"}, where  # the HTTP server's own
            assert {media for r in problems.values() for media in r["content"]} == {"application/problem+json"}, where
        if "requestBody" in operation:
            assert {"400", "401", "403", "413", "422", "429"} <= operation["responses"].keys(), where
        assert "501" not in operation["responses"], where


ROUTES = {  # of verbs that are called otherwise there
    **dict.fromkeys(("add", "produce"), "/messages"),
    **dict.fromkeys(("merge", "split", "alias", "unalias"), "/v1/identities"),
    **dict.fromkeys(("state_fact", "import_facts", "end"), "/v1/facts"),
    **dict.fromkeys(("active", "generations", "rebuild"), "/v1/generations"),
    **{verb: f"/v1/generations/{verb.removesuffix('_build')}" for verb in ("pause_build", "resume_build", "builds")},
    **{verb: f"/v1/generations/{verb.removesuffix('_build')}" for verb in ("cancel_build", "switch", "drop", "digest")},
    "estimate_rebuild": "/v1/generations/estimate",
    "generations_diff": "/v1/generations/diff",
    "message": "/v1/messages/{position}",
    "retract": "/entity-edge/{uuid}",
    "withdraw": "/episode/{uuid}",
    "state_entity": "/entity-node",
    "state_timezone": "/v1/timezone",
    "register_prompt": "/v1/prompts",
    "activate_prompt": "/v1/prompts/activate",
}
OF_FILES = {"backup", "checkout", "compress", "embed", "import_export", "repair", "replay", "snapshot", "verify"}


def test_every_verb_of_a_memory_has_a_route_but_those_that_are_of_its_files(described: dict[str, Any]) -> None:
    verbs = {name for name in vars(Memory) if not name.startswith("_")} - {"close"} - OF_FILES

    routes = {verb: ROUTES.get(verb, f"/v1/{verb.replace('_', '-')}") for verb in verbs}

    assert {verb: route for verb, route in routes.items() if route not in described["paths"]} == {}
    assert ROUTES.keys() - verbs == set()


def test_every_body_and_every_answer_is_shown_by_an_example(described: dict[str, Any]) -> None:
    schemas = {f"#/components/schemas/{name}": schema for name, schema in described["components"]["schemas"].items()}

    def shown(schema: dict[str, Any], seen: frozenset[str] = frozenset()) -> bool:
        """Whether a schema has an example, or leads to one that has."""
        text = json.dumps(schema)
        refs = {ref for ref in schemas if f'"{ref}"' in text} - seen
        known = '"example' in text or '"const"' in text
        return known or any(shown(schemas[ref], seen | refs) for ref in refs)

    for method, path, operation in operations(described):
        if "requestBody" in operation:
            ref = operation["requestBody"]["content"]["application/json"]["schema"]["$ref"]
            assert schemas[ref].get("examples"), f"{method} {path}"
        for status, answer in operation["responses"].items():
            for media, content in answer["content"].items():
                told = media in {"text/event-stream", "text/plain"}
                assert told or "example" in content or shown(content["schema"]), f"{method} {path} {status}"


def test_whatever_writes_messages_takes_an_idempotency_key(described: dict[str, Any]) -> None:
    reading = {"/search", "/get-memory", "/groups/resolve", "/v1/what-if"}
    of_the_directory = ("/v1/generations", "/v1/prompts")
    reading |= {path for _, path, _ in operations(described) if path.startswith(of_the_directory)}
    reading |= {path for _, path, _ in operations(described) if path.startswith("/v1/conversation")}  # by external id

    for method, path, operation in operations(described):
        takes = any(parameter["name"] == "Idempotency-Key" for parameter in operation.get("parameters", []))
        assert takes == (method in WRITE and path not in reading), f"{method} {path}"


def test_whatever_reads_can_wait_for_a_message(described: dict[str, Any]) -> None:
    telling = {"/healthcheck", "/healthz", "/readyz", "/metrics", "/groups/resolve"}
    reading = [
        (path, operation)
        for method, path, operation in operations(described)
        if method == "GET" or path in {"/search", "/get-memory", "/v1/what-if", "/v1/generations/estimate"}
        if path not in telling
    ]

    assert len(reading) > 15
    for path, operation in reading:
        assert "min_position" in {parameter["name"] for parameter in operation["parameters"]}, path


def test_a_message_that_is_waited_for_and_is_not_there_is_said_at_once(server: Server) -> None:
    answer = server.client.get("/v1/facts", params={"min_position": 1_000_000})

    assert (answer.status_code, answer.json()["detail"]) == (404, "there is no message 1000000 to wait for")


def test_lists_come_in_pages_that_lead_to_each_other(server: Server) -> None:
    for route, name, params in [
        ("facts", "facts", {"group_id": "g", "any_time": "true"}),
        ("entities", "entities", {"group_id": "g"}),
        ("history", "versions", {"id": "Ana", "group_id": "g"}),
        ("timeline", "segments", {"name": "Ana", "group_id": "g"}),
        ("overlapping", "facts", {"from": "2024", "to": "2025", "group_id": "g"}),
        ("episodes", "episodes", {"group_id": "g"}),
        ("groups", "groups", {}),
        ("diff", "changes", {"from": "2024-04-10", "to": "2024-12-01", "group_id": "g"}),
    ]:
        whole = server.client.get(f"/v1/{route}", params=params).json()
        paged: list[Any] = []
        following: dict[str, str] | None = {}
        while following is not None:
            page = server.client.get(f"/v1/{route}", params={**params, "limit": 1, **following}).json()
            assert len(page[name]) <= 1
            paged += page[name]
            following = {"cursor": page["next"]} if page["next"] is not None else None
        assert whole["next"] is None
        assert paged == whole[name]
        assert len(paged) > 1, route


def test_real_answers_are_as_described(server: Server, described: dict[str, Any]) -> None:
    fact = server.search("Where does Ana live?", "g")[0]["uuid"]
    [episode, *_] = server.episodes("g")
    asked = [
        ("/v1/messages/{position}", f"/v1/messages/{position}", {}) for position in range(6)
    ] + [
        ("/v1/facts", "/v1/facts", {"any_time": "true", "limit": "2", **GROUP}),
        ("/v1/overlapping", "/v1/overlapping", {"from": "2024", "to": "2025", **GROUP}),
        ("/v1/throughout", "/v1/throughout", {"from": "2024-04", "to": "2024-05", **GROUP}),
        ("/v1/search", "/v1/search", {"query": "Where does Ana live?", "any_time": "true", **GROUP}),
        ("/v1/context", "/v1/context", {"query": "Where does Ana live?", "timezone": "Europe/Berlin", **GROUP}),
        ("/v1/search", "/v1/search", {"query": "Ana", "profile": "pipeline", "explain": "true", **GROUP}),
        ("/v1/entities", "/v1/entities", GROUP),
        ("/v1/entity", "/v1/entity", {"name": "Ana", **GROUP}),
        ("/v1/neighbourhood", "/v1/neighbourhood", {"name": "Ana", **GROUP}),
        ("/v1/history", "/v1/history", {"id": "Ana", **GROUP}),
        ("/v1/timeline", "/v1/timeline", {"name": "Ana", **GROUP}),
        ("/v1/diff", "/v1/diff", {"from": "2024-03-15", "to": "2024-12-01", **GROUP}),
        ("/v1/fact", "/v1/fact", {"id": fact}),
        ("/v1/why", "/v1/why", {"id": fact}),
        ("/v1/known-history", "/v1/known-history", {"id": fact}),
        ("/v1/changes", "/v1/changes", GROUP),
        ("/v1/communities", "/v1/communities", GROUP),
        ("/v1/episodes", "/v1/episodes", GROUP),
        ("/v1/episode", "/v1/episode", {"id": episode["uuid"]}),
        ("/v1/groups", "/v1/groups", {}),
        ("/v1/generations", "/v1/generations", {}),
        ("/v1/generations/diff", "/v1/generations/diff", {"base": "main", "other": "main", **GROUP}),
        ("/v1/prompts", "/v1/prompts", {}),
        ("/v1/stats", "/v1/stats", {}),
        ("/v1/export", "/v1/export", GROUP),
        *(("/v1/events", "/v1/events", {"log": log}) for log in ("messages", "episodic", "semantic")),
        ("/episodes/{group_id}", "/episodes/g", {"last_n": "10"}),
        ("/entity-edge/{uuid}", f"/entity-edge/{fact}", {}),
        ("/healthcheck", "/healthcheck", {}),
        ("/healthz", "/healthz", {}),
        ("/readyz", "/readyz", {}),
    ]  # fmt: skip
    states = set()
    for path, address, params in asked:
        answer = server.client.get(address, params=params)
        assert answer.status_code == 200, (address, answer.text)
        assert not isinstance(answer.json(), dict) or any(answer.json().values()), address
        fitting(described, answer, path)
        states |= {answer.json()["state"]} if path.startswith("/v1/messages") else set()
    assert states == {"done", "parked", "erased"}

    for path, body in [
        ("/search", {"query": "Ana"}),
        ("/get-memory", {"group_id": "g", "center_node_uuid": None, "messages": [SAID]}),
        ("/groups/resolve", {"scope": "user", "key": "github_login:octocat"}),
        ("/messages", {"group_id": "g", "messages": [SAID]}),
        ("/entity-node", {"group_id": "g", "uuid": "n", "name": "Bo"}),
        ("/v1/what-if", {**GROUP, **STATED}),
        ("/v1/facts", {**GROUP, **STATED}),
        ("/v1/prompts", {"prompt": "MAIN_CONVERSATION", "template": "Answer this: {current_message}"}),
        ("/v1/prompts/activate", {"prompt": "MAIN_CONVERSATION", "version": 1}),
    ]:
        answer = server.client.post(path, json=body)
        assert answer.is_success, answer.text
        fitting(described, answer, path)
    # the fact goes first: it rests on the episode, and may be gone with it by the next request
    deleted = [("/entity-edge/{uuid}", fact), ("/episode/{uuid}", episode["uuid"]), ("/group/{group_id}", "other")]
    for path, which in deleted:
        answer = server.client.delete(path[: path.index("{")] + which)
        assert answer.status_code == 200, answer.text
        fitting(described, answer, path)


def test_a_queued_message_is_as_described(server: Server, described: dict[str, Any]) -> None:
    many = server.client.post("/messages", json={"group_id": "many", "messages": [SAID] * 300})

    answer = server.client.get(f"/v1/messages/{int(many.headers['asof-position']) + 299}")

    assert answer.json()["state"] == "queued"
    fitting(described, answer, "/v1/messages/{position}")


def test_errors_are_as_described(server: Server, described: dict[str, Any]) -> None:
    for method, path, address, body in [
        ("GET", "/v1/facts", "/v1/facts?limit=0", None),
        ("GET", "/v1/facts", "/v1/facts?groupid=g", None),
        ("POST", "/v1/facts", "/v1/facts", b'{"statement": []}'),
        ("POST", "/v1/what-if", "/v1/what-if", b'{"statements": [{"subjekt": "Bo"}]}'),
        ("GET", "/v1/why", "/v1/why?id=nobody", None),
        ("GET", "/v1/messages/{position}", "/v1/messages/x", None),
        ("GET", "/entity-edge/{uuid}", "/entity-edge/nobody", None),
        ("DELETE", "/episode/{uuid}", "/episode/nobody", None),
        ("GET", "/episodes/{group_id}", "/episodes/g?last_n=x", None),
        ("POST", "/messages", "/messages", b"{"),
        ("POST", "/messages", "/messages", b"\xff"),
        ("POST", "/search", "/search", b'{"query": "x", "group_ids": ["\\u0000"]}'),
        ("POST", "/messages", "/messages", b"{" + b" " * 17_000_000),
    ]:
        answer = server.client.request(
            method, address, content=body, headers={"content-type": "application/json"} if body else {}
        )
        assert answer.status_code in {400, 404, 413, 422}, answer.text
        fitting(described, answer, path)
    from_elsewhere = server.client.get("/v1/facts", headers={"Host": "evil.example"})
    assert from_elsewhere.status_code == 403
    fitting(described, from_elsewhere, "/v1/facts")


def test_each_operation_has_an_id_that_names_no_path(described: dict[str, Any]) -> None:
    ids = [operation["operationId"] for _, _, operation in operations(described)]

    assert len(set(ids)) == len(ids)
    assert {"v1_facts", "v1_known_history", "v1_what_if", "graphiti_search", "health_readyz"} <= set(ids)
    assert not [found for found in ids if found.endswith(("_get", "_post", "_delete"))]
