"""A generation is built on Kafka while messages arrive, compared, and then answers."""

import json
import os
import random
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from threading import Event
from typing import Any, Final

import pytest

import asof_process
import model_server
from asof.runtime.build_file import BuildFile
from asof.runtime.kept_ontologies import kept_ontology
from asof.runtime.layout import BUILD, DirectoryLayout
from asof.runtime.replica_manifest import parts
from asof.runtime.wiring import existing
from asof_projections.generations import load
from asof_streams.kafka.envelope import Sent, read
from asof_streams.sqlite_log import SqliteLog
from asof_streams.writer_lock import is_held
from effort import tries
from http_server import Server, serving
from kafka_worker import Running, World, fact, reached, until_known
from patience import SECONDS, wait_until

Start = Callable[..., Running]

OWN: Final = """\
id: own
version: 1
description: "Where people live."
closed: false
entity_types:
  - {name: Person, description: "Somebody."}
  - {name: Place, description: "A town."}
relation_types:
  - {name: lives_in, sentence: "{subject} lives in {object}", means: "Home.", sources: [Person], targets: [Place],
     cardinality: one, cues: ["<live> in"]}
"""
READ: Final = json.dumps({"entities": [], "facts": [], "attributes": []})  # of a message, as a model answers


def asked(world: World, data: Path, *command: str, code: int = 0) -> Any:
    """Return what a command answers, in JSON, from a directory."""
    settings = {"data": str(data), "embedder": "none"} | world.settings()
    environment = {**os.environ} | {f"ASOF_{name.upper()}": value for name, value in settings.items()}
    done = asof_process.run(*command, "--json", folder=data.parent, environment=environment)
    assert done.returncode == code, done.stderr
    return json.loads(done.stdout if code == 0 else done.stderr)


def home(number: int) -> dict[str, Any]:
    """A home that ends the one before it; where evidence is graded, only every second one does."""
    where = {"group_id": "b", "subject": "Ana", "relation": "lives_in", "object": f"Town {number}"}
    return {**where, "valid_at": f"{1990 + number}-01-01T00:00:00Z", "confidence": 0.3 if number % 2 else 0.9}


def test_a_generation_is_built_beside_a_worker_compared_and_switched_to_and_back(
    world: World, start: Start, tmp_path: Path
) -> None:
    data = tmp_path / "data"
    worker = start(world)
    world.send([home(number) for number in range(20)])
    until_known(worker, 20)

    estimate = asked(world, data, "rebuild", "--dry-run", "--name", "second", "--policy", "graded")
    built = asked(world, data, "rebuild", "--name", "second", "--policy", "graded")

    assert (estimate["name"], estimate["calls"], estimate["events"] > 0) == ("second", 0, True)
    assert (built["generation"]["name"], built["generation"]["policy"]) == ("second", "graded")
    assert asked(world, data, "rebuild", "--name", "second", "--policy", "graded") == built  # it goes on where it ended
    assert "there already" in asked(world, data, "rebuild", "--name", "second", "--policy", "recency", code=2)["error"]
    catalog = load(data)
    assert catalog is not None
    assert (catalog.active, [info.name for info in catalog.generations]) == ("main", ["main", "second"])
    assert asked(world, data, "generations", "diff", "main", "second", "--group", "b")["differences"]

    world.send([home(number) for number in range(20, 30)])
    until_known(worker, 30)
    wait_until(lambda: is_level(data, "second"), worker.said)  # the worker has begun to follow, and was not told to
    before = facts(world, data)

    assert asked(world, data, "generations", "switch", "second")["active"] == "second"
    assert facts(world, data) != before
    assert asked(world, data, "generations", "switch", "main")["active"] == "main"
    assert facts(world, data) == before
    worker.stop()


def facts(world: World, data: Path) -> Any:
    """Return all facts of a directory, as whoever asks there sees them."""
    return asked(world, data, "facts", "--all-groups", "--any-time")


def is_level(data: Path, generation: str) -> bool:
    """Whether a directory's generation has followed all episodes that are in the directory."""
    places = DirectoryLayout(data)
    if not places.semantic(generation).exists():
        return False
    with SqliteLog(places.semantic(generation)) as log, SqliteLog(places.episodic) as episodic:
        return log.checkpoint() >= episodic.end()


def active(data: Path) -> str:
    catalog = load(data)
    assert catalog is not None
    return catalog.active


@pytest.mark.long
def test_a_switch_and_a_drop_hold_for_every_machine_and_for_those_that_come_later(
    world: World, start: Start, tmp_path: Path
) -> None:
    data, other = tmp_path / "data", tmp_path / "other"
    worker = start(world)
    world.send([home(number) for number in range(10)])
    until_known(worker, 10)
    before = facts(world, other)
    asked(world, other, "rebuild", "--name", "second", "--policy", "graded")  # on one machine, followed on the other
    wait_until(lambda: is_level(data, "second"), worker.said)

    assert asked(world, other, "generations", "switch", "second")["active"] == "second"
    wait_until(lambda: active(data) == "second", worker.said)
    believed = facts(world, data)
    assert believed != before
    assert facts(world, other) == believed
    assert facts(world, tmp_path / "later") == believed

    asked(world, data, "generations", "switch", "second")  # again: nothing is written
    asked(world, data, "generations", "switch", "main")
    assert facts(world, other) == before
    assert "stays" in asked(world, data, "generations", "drop", "main", code=2)["error"]
    assert [info["name"] for info in asked(world, other, "generations", "drop", "second")["generations"]] == ["main"]
    wait_until(lambda: not DirectoryLayout(data).generation("second").exists(), worker.said)
    assert not DirectoryLayout(other).generation("second").exists()
    wait_until(lambda: world.topics.semantic("second") not in world.client.topics(), worker.said)
    assert "dropped" in asked(world, other, "rebuild", "--name", "second", code=2)["error"]
    assert facts(world, tmp_path / "even-later") == before

    decided = [sent.type for raw in world.records(world.topics.control) if isinstance(sent := read(raw), Sent)]
    assert decided == ["generation.built", "generation.switched", "generation.switched", "generation.dropped"]
    world.send([home(10)])
    until_known(worker, 11)  # it goes on without the generation that is gone
    worker.stop()


def test_a_service_on_the_topics_switches_and_drops_for_every_machine(
    world: World, start: Start, tmp_path: Path
) -> None:
    worker, served = start(world), tmp_path / "served"
    world.send([home(number) for number in range(5)])
    until_known(worker, 5)
    asked(world, tmp_path / "data", "rebuild", "--name", "second", "--policy", "graded")
    with serving(served, **environment(world)) as server:
        wait_until(lambda: served.exists() and "second" in listed(server), lambda: server.log)

        switched = server.client.post("/v1/generations/switch", json={"name": "second"})

        assert (switched.status_code, switched.json()["active"]) == (200, "second"), switched.text
        assert server.client.get("/v1/generations").json()["active"] == "second"
        wait_until(lambda: active(tmp_path / "data") == "second", worker.said)
        assert server.client.post("/v1/generations/drop", json={"name": "second"}).status_code == 422
        server.client.post("/v1/generations/switch", json={"name": "main"})
        dropped = server.client.post("/v1/generations/drop", json={"name": "second"})
        assert [info["name"] for info in dropped.json()["generations"]] == ["main"]
    worker.stop()


def listed(server: Server) -> list[str]:
    """Return the names of the generations that a service has in its directory."""
    return [info["name"] for info in server.client.get("/v1/generations").json()["generations"]]


def test_a_rebuild_pauses_where_its_budget_is_spent_and_goes_on_with_a_larger_one(
    world: World, start: Start, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    data = tmp_path / "data"
    worker = start(world)
    said = {"group_id": "b", "role": "Ana", "role_type": "user"}
    world.send([said | {"content": f"I live in {town}."} for town in ("Rome", "Oslo", "Paris")])
    until_known(worker, 3)
    with model_server.serving() as server:
        for name, value in {"EXTRACTOR": "model", "MODEL_NAME": "fake", "MODEL_URL": server.url}.items():
            monkeypatch.setenv(f"ASOF_{name}", value)
        command = ("rebuild", "--name", "read", "--input", "episodes")

        estimate = asked(world, data, *command, "--dry-run")
        half = (estimate["prompt_tokens"] + estimate["completion_tokens"]) // 2
        assert "budget" in asked(world, data, *command, "--max-tokens", str(half), code=1)["error"]
        assert 0 < server.calls < estimate["calls"] == 3
        assert asked(world, data, *command, "--max-tokens", str(10 * half))["generation"]["name"] == "read"
        assert server.calls == 3


@pytest.mark.long
@pytest.mark.crash
def test_a_rebuild_that_is_killed_at_any_moment_while_messages_come_ends_with_the_digest_of_one_that_was_not(
    world: World, start: Start, tmp_path: Path
) -> None:
    chance = random.Random(int(os.environ.get("ASOF_CRASH_SEED", "20240101")))
    data, built, sent = tmp_path / "data", DirectoryLayout(tmp_path / "built"), 600
    worker = start(world)
    world.send([fact(number) for number in range(sent)])
    until_known(worker, sent)
    rebuild = ("rebuild", "--policy", "graded", "--name")
    for delay in (0.0, *(chance.uniform(0, 0.6) for _ in range(tries(3, nightly=20)))):
        building = start(world, "built", (*rebuild, "again"))
        until_begun(building, built.generation("again"))
        time.sleep(delay)
        building.kill()
        world.send([fact(sent)])
        sent += 1
    assert start(world, "built", (*rebuild, "again")).wait() == 0
    assert start(world, "whole", (*rebuild, "whole")).wait() == 0
    world.send([fact(sent)])
    until_known(worker, sent + 1)
    wait_until(lambda: is_level(data, "again") and is_level(data, "whole"), worker.said)

    assert asked(world, data, "digest", "again") == asked(world, data, "digest", "whole")
    worker.stop()


def until_begun(building: Running, folder: Path) -> None:
    """Wait until a rebuild holds the lock of its build, or has ended."""
    wait_until(lambda: is_held(folder, BUILD) or building.ended, building.said)


def test_a_service_on_the_topics_builds_a_generation_that_workers_follow_for(
    world: World, start: Start, tmp_path: Path
) -> None:
    worker, served = start(world), tmp_path / "served"
    world.send([home(number) for number in range(20)])
    until_known(worker, 20)
    with serving(served, **environment(world)) as server:
        wait_until(lambda: "main" in listed(server), lambda: server.log)
        generations = "/v1/generations"

        begun = server.client.post(generations, json={"name": "second", "policy": "graded"})
        wait_until(lambda: not builds(server), lambda: server.log)
        world.send([home(number) for number in range(20, 25)])
        until_known(worker, 25)
        asked(world, tmp_path / "data", "rebuild", "--name", "third", "--policy", "graded")
        digest = asked(world, tmp_path / "data", "digest", "third")
        wait_until(lambda: digest_of(server, "second") == digest, lambda: server.log)  # a worker follows for it
        switched = server.client.post(f"{generations}/switch", json={"name": "second"})

        assert (begun.status_code, begun.json()["name"], begun.json()["state"]) == (202, "second", "running")
        assert (switched.status_code, switched.json()["active"]) == (200, "second"), switched.text
        assert server.client.post(generations, json={"name": "second", "policy": "graded"}).status_code == 422
        server.client.post(f"{generations}/switch", json={"name": "main"})
        server.client.post(f"{generations}/drop", json={"name": "second"})
        assert "dropped" in server.client.post(generations, json={"name": "second"}).text
    worker.stop()


def test_a_build_of_a_service_on_the_topics_is_shown_cancelled_paused_and_resumed(
    world: World, start: Start, tmp_path: Path
) -> None:
    worker, served = start(world), tmp_path / "served"
    said = {"group_id": "b", "role": "Ana", "role_type": "user"}
    world.send([said | {"content": f"I live in {town}."} for town in ("Rome", "Oslo", "Paris")])
    until_known(worker, 3)
    worker.stop()
    with model_server.serving() as model, ThreadPoolExecutor(1) as pool:
        answering = Event()
        model.says = lambda _: READ if answering.wait(SECONDS) else ""
        settings = {"EXTRACTOR": "model", "MODEL_NAME": "fake", "MODEL_URL": model.url}
        given = environment(world) | {f"ASOF_{name}": value for name, value in settings.items()}
        with serving(served, **given) as server:
            wait_until(lambda: "main" in listed(server), lambda: server.log)

            def stopped(name: str, action: str) -> Any:
                """Begin a build, stop it while the model is asked for the first message, and return the answer."""
                answering.clear()
                asked = model.calls
                server.client.post("/v1/generations", json={"name": name, "input": "episodes"})
                wait_until(lambda: model.calls > asked, lambda: server.log)
                assert [(build["name"], build["state"]) for build in builds(server)] == [(name, "running")]
                stopping = pool.submit(server.client.post, f"/v1/generations/{action}", json={"name": name})
                wait_until(DirectoryLayout(served).stop_request(name).exists, lambda: server.log)
                answering.set()
                return stopping.result().json()

            assert stopped("gone", "cancel") == {"builds": []}
            wait_until(lambda: world.topics.semantic("gone") not in world.client.topics(), lambda: server.log)
            wait_until(lambda: not DirectoryLayout(served).generation("gone").exists(), lambda: server.log)
            assert "dropped" in server.client.post("/v1/generations", json={"name": "gone"}).text

            paused = stopped("read", "pause")
            assert (paused["state"], paused["reason"], 0 < paused["done"] < paused["total"]) == (
                "paused",
                "request",
                True,
            )
            assert builds(server) == [paused]
            resumed = server.client.post("/v1/generations/resume", json={"name": "read"})
            assert (resumed.status_code, resumed.json()["state"]) == (202, "running"), resumed.text
            wait_until(lambda: not builds(server), lambda: server.log)
            digest = digest_of(server, "read")
        whole = Running(tmp_path / "whole", world, ("rebuild", "--name", "whole", "--input", "episodes"), **settings)
        assert whole.wait() == 0, whole.said()
    assert asked(world, tmp_path / "whole", "digest", "whole") == digest


def environment(world: World) -> dict[str, str]:
    """Return the settings of a service on the topics."""
    return {f"ASOF_{name.upper()}": value for name, value in world.settings().items()}


def digest_of(server: Server, name: str) -> Any:
    """Return the digest of a generation in the directory of a service."""
    return server.client.get("/v1/generations/digest", params={"name": name}).json()


def builds(server: Server) -> list[dict[str, Any]]:
    """Return the builds that a service shows."""
    found: list[dict[str, Any]] = server.client.get("/v1/generations/builds").json()["builds"]
    return found


def test_a_worker_elsewhere_follows_for_another_ontology_of_asof_and_goes_on_without_one_that_it_does_not_know(
    world: World, start: Start, tmp_path: Path
) -> None:
    worker, other = start(world), tmp_path / "other"
    world.send([home(number) for number in range(5)])
    until_known(worker, 5)
    own = tmp_path / "own.yaml"
    own.write_text(OWN, "utf-8")

    asked(world, other, "rebuild", "--name", "unknown", "--input", "episodes", "--ontology", str(own))
    wait_until(lambda: "unknown is not followed for" in worker.said())
    asked(world, other, "rebuild", "--name", "work", "--input", "episodes", "--ontology", "agent_memory_v1")
    world.send([home(5)])
    until_known(worker, 6)
    wait_until(lambda: is_level(worker.data, "work"), worker.said)
    worker.stop()

    again = start(world)
    world.send([home(6)])
    until_known(again, 7)
    wait_until(lambda: is_level(again.data, "work"), again.said)
    again.stop()
    assert asked(world, other, "generations", "switch", "work")["active"] == "work"
    assert facts(world, worker.data) == facts(world, other)


def test_builds_on_topics_of_several_partitions_are_of_all_of_them(
    bootstrap: str, prefix: str, start: Start, tmp_path: Path
) -> None:
    with World(bootstrap, prefix, partitions=2) as world:
        worker = start(world)
        for partition in range(2):
            world.send([home(number) | {"group_id": f"b{partition}"} for number in range(10)], partition)
        wait_until(lambda: [reached(part.root) for part in parts(worker.data)] == 2 * [(10, 10)], worker.said)
        data = tmp_path / "built"
        asked(world, data, "rebuild", "--name", "whole", "--policy", "graded")
        whole, first = DirectoryLayout(data), parts(data)[0]
        for name in ("left", "gone"):  # as of processes that were killed
            ontology = kept_ontology(first.ontology_of("whole"))
            BuildFile(whole, replace(existing(first)["whole"], name=name)).begin(ontology)

        assert [build["state"] for build in asked(world, data, "generations", "builds")] == 2 * ["stopped"]
        assert [build["name"] for build in asked(world, data, "generations", "cancel", "gone")] == ["left"]
        assert asked(world, data, "generations", "resume", "left") == []
        assert not whole.generation("gone").exists()
        assert asked(world, data, "digest", "left") == asked(world, data, "digest", "whole")
        names = [info["name"] for info in asked(world, data, "generations")["generations"]]
        assert names == ["main", "whole", "left"]
        worker.stop()
