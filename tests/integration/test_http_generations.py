"""Generations over HTTP: listed, compared, switched to, dropped, and their builds stopped."""

from dataclasses import asdict, replace
from pathlib import Path

import pytest
from httpx2 import Response

import asof
from api_keys import ADMIN, READ, TEAM_ADMIN, sent, written
from asof.runtime.build_file import BuildFile
from asof.runtime.layout import DirectoryLayout
from asof.runtime.wiring import load_ontology
from asof_projections.generations import load
from http_server import serving
from patience import wait_until


@pytest.fixture
def two(tmp_path: Path) -> Path:
    """A memory with two generations that differ: under another ontology."""
    with asof.open(tmp_path / "data", embedder="none") as memory:
        memory.add("I own the billing service. The billing service is written in Go.", group_id="team", role="Ana")
        memory.rebuild("work", input="episodes", ontology="agent_memory_v1")
    return tmp_path / "data"


def test_a_switch_is_seen_by_the_next_question_and_what_is_written_goes_to_both(two: Path) -> None:
    with serving(two) as server:

        def relations() -> set[str]:
            page = server.client.get("/v1/facts", params={"group_id": "team"}).json()
            return {fact["relation"] for fact in page["facts"]}

        before = relations()
        switched = server.client.post("/v1/generations/switch", json={"name": "work"})

        assert (switched.status_code, switched.json()["active"]) == (200, "work")
        assert switched.json() == server.client.get("/v1/generations").json()
        assert relations() != before
        assert server.client.post("/v1/generations/switch", json={"name": "work"}).json() == switched.json()
        server.say("team", "I live in Oslo.", role="Ana")
        assert server.client.post("/v1/generations/switch", json={"name": "main"}).json()["active"] == "main"
        assert relations() > before  # it followed meanwhile


def test_a_generation_is_dropped_with_its_files_and_never_the_one_that_answers(two: Path) -> None:
    with serving(two) as server:
        assert server.client.post("/v1/generations/drop", json={"name": "main"}).status_code == 422
        assert server.client.post("/v1/generations/drop", json={"name": "none"}).status_code == 404
        assert server.client.post("/v1/generations/switch", json={"name": "none"}).status_code == 404
        bad = server.client.post(
            "/v1/generations/switch", content="SECRET{", headers={"Content-Type": "application/json"}
        )
        assert (bad.status_code, bad.json()["detail"], "field" in bad.json()) == (422, "the body is not JSON", False)
        assert server.client.post("/v1/generations/switch", json={"nam": "work"}).status_code == 422

        left = server.client.post("/v1/generations/drop", json={"name": "work"}).json()

        assert [info["name"] for info in left["generations"]] == ["main"]
        assert not DirectoryLayout(two).generation("work").exists()
        assert server.say("team", "I live in Oslo.", role="Ana")  # the service goes on


def test_the_digest_of_a_generation_is_that_of_python(two: Path) -> None:
    with asof.open(two, embedder="none") as memory:
        digests = [memory.digest(), memory.digest("work")]
    with serving(two) as server:
        asked = [server.client.get("/v1/generations/digest", params=params) for params in ({}, {"name": "work"})]

        assert [answer.json() for answer in asked] == digests
        assert server.client.get("/v1/generations/digest", params={"name": "none"}).status_code == 404


def test_a_build_that_is_not_complete_is_shown_and_cancelled(two: Path) -> None:
    places, catalog = DirectoryLayout(two), load(two)
    assert catalog is not None
    with serving(two) as server:
        assert server.client.get("/v1/generations/builds").json() == {"builds": []}
        assert server.client.post("/v1/generations/pause", json={"name": "third"}).status_code == 404
        left = replace(catalog["work"], name="third")
        BuildFile(places, left).begin(load_ontology("agent_memory_v1"))  # as a process left it that was killed

        [build] = server.client.get("/v1/generations/builds").json()["builds"]
        paused = server.client.post("/v1/generations/pause", json={"name": "third"}).json()

        assert (build["name"], build["state"]) == ("third", "stopped")
        assert paused["state"] == "paused"
        assert server.client.post("/v1/generations/cancel", json={"name": "third"}).json() == {"builds": []}
        assert not places.generation("third").exists()


def test_a_build_that_runs_is_resumed_as_it_runs_and_its_name_is_taken(two: Path) -> None:
    places, catalog = DirectoryLayout(two), load(two)
    assert catalog is not None
    with serving(two) as server:
        builds = BuildFile(places, replace(catalog["work"], name="third"))
        builds.begin(load_ontology("agent_memory_v1"))
        with builds.running():  # as its process does
            resumed = server.client.post("/v1/generations/resume", json={"name": "third"})
            taken = server.client.post("/v1/generations", json={"name": "third"})

        assert (resumed.status_code, resumed.json()["name"], resumed.json()["state"]) == (202, "third", "running")
        assert (taken.status_code, taken.json()["field"]) == (422, "name")
        [build] = server.client.get("/v1/generations/builds").json()["builds"]
        assert build["state"] == "stopped"  # no process was begun beside it


def test_a_build_that_was_to_stop_as_it_was_resumed_is_gone_on_with(two: Path) -> None:
    places, catalog = DirectoryLayout(two), load(two)
    assert catalog is not None
    with serving(two) as server:
        builds = BuildFile(places, replace(catalog["work"], name="third"))
        builds.begin(load_ontology("agent_memory_v1"))
        with builds.running():
            builds.pause()  # the request came; its process has seen it, and ends
            resumed = server.client.post("/v1/generations/resume", json={"name": "third"})

        assert (resumed.status_code, resumed.json()["state"]) == (202, "running")
        wait_until(lambda: server.client.get("/v1/generations/builds").json() == {"builds": []})


def test_a_generation_is_built_while_messages_come_and_are_answered(two: Path) -> None:
    with serving(two) as server:

        def names() -> list[str]:
            return [info["name"] for info in server.client.get("/v1/generations").json()["generations"]]

        begun = server.client.post("/v1/generations", json={"name": "careful", "policy": "graded"})
        for number in range(4):
            server.say("team", f"I live in Oslo {number}.", role="Ana")
        wait_until(lambda: "careful" in names())

        assert (begun.status_code, begun.json()["name"], begun.json()["state"]) == (202, "careful", "running")
        assert server.client.post("/v1/generations", json={"name": "careful"}).status_code == 422
        for wrong in ({"ontology": "/etc/passwd"}, {"ontology": "none_such"}, {"input": "files"}, {"name": "../x"}):
            assert server.client.post("/v1/generations", json={"name": "other", **wrong}).status_code == 422
        server.say("team", "I live in Rome.", role="Ana")
        assert server.client.post("/v1/generations/switch", json={"name": "careful"}).json()["active"] == "careful"
        page = server.client.get("/v1/facts", params={"group_id": "team", "relation": "lives_in"}).json()
        assert [fact["object"] for fact in page["facts"]] == ["Rome"]
    with asof.open(two, embedder="none") as memory:
        memory.rebuild("again", policy="graded")
        assert memory.digest("again") == memory.digest("careful")


def test_what_a_build_would_cost_is_that_of_python_and_builds_nothing(two: Path) -> None:
    plan = {"name": "third", "input": "episodes", "ontology": "agent_memory_v1", "policy": "graded"}
    with asof.open(two, embedder="none") as memory:
        expected = memory.estimate_rebuild("third", input="episodes", ontology="agent_memory_v1", policy="graded")
    with serving(two) as server:

        def estimated(**given: str) -> Response:
            return server.client.post("/v1/generations/estimate", json=given)

        answer = estimated(**plan)

        assert (answer.status_code, answer.json().pop("seconds") > 0) == (200, True)
        assert {**answer.json(), "seconds": 0} == {**asdict(expected), "seconds": 0, "prompts": []}
        assert estimated().json()["name"] == "build-1"
        for wrong, field in (({"name": "work"}, "name"), ({"ontology": "/etc/passwd"}, "ontology")):
            refused = estimated(**wrong)
            assert (refused.status_code, refused.json()["field"]) == (422, field)
        named = [info["name"] for info in server.client.get("/v1/generations").json()["generations"]]
        assert named == ["main", "work"]
        assert not DirectoryLayout(two).generation("third").exists()


def test_a_build_that_stopped_is_resumed(two: Path) -> None:
    catalog = load(two)
    assert catalog is not None
    with serving(two) as server:
        assert server.client.post("/v1/generations/resume", json={"name": "third"}).status_code == 404
        BuildFile(DirectoryLayout(two), replace(catalog["work"], name="third")).begin(load_ontology("agent_memory_v1"))
        resumed = server.client.post("/v1/generations/resume", json={"name": "third"})

        assert (resumed.status_code, resumed.json()["state"]) == (202, "running")
        wait_until(lambda: server.client.get("/v1/generations/builds").json() == {"builds": []})
    with asof.open(two, embedder="none") as memory:
        assert memory.digest("third") == memory.digest("work")


def test_only_keys_of_all_groups_that_administer_change_generations(two: Path) -> None:
    with serving(two, ASOF_KEYS_FILE=str(written(two.parent / "keys.toml"))) as server:
        for action in ("switch", "drop", "pause", "cancel", "resume", "estimate"):
            for key in (READ, TEAM_ADMIN):
                asked = server.client.post(f"/v1/generations/{action}", json={"name": "work"}, headers=sent(key))
                assert asked.status_code == 403, (action, key)
        for question in ("builds", "digest"):
            asked = server.client.get(f"/v1/generations/{question}", headers=sent(TEAM_ADMIN))
            assert asked.status_code == 403, question
        for key in (READ, TEAM_ADMIN):
            assert server.client.post("/v1/generations", json={"name": "new"}, headers=sent(key)).status_code == 403
        assert server.client.get("/v1/generations", headers=sent(ADMIN)).json()["active"] == "main"
        done = server.client.post("/v1/generations/switch", json={"name": "work"}, headers=sent(ADMIN))
        assert done.json()["active"] == "work"
