"""A generation is built on Kafka while messages arrive, compared, and then answers."""

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import asof_process
import model_server
from asof.runtime.layout import DirectoryLayout
from asof_projections.generations import load
from asof_streams.kafka.envelope import Sent, read
from asof_streams.sqlite_log import SqliteLog
from http_server import Server, serving
from kafka_worker import Running, World, until_known
from patience import wait_until

Start = Callable[..., Running]


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
    settings = {f"ASOF_{name.upper()}": value for name, value in world.settings().items()}
    with serving(served, **settings) as server:
        wait_until(lambda: served.exists() and "second" in listed(server), server.log)

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
        command = ("rebuild", "--name", "read", "--from", "episodes")

        estimate = asked(world, data, *command, "--dry-run")
        half = (estimate["prompt_tokens"] + estimate["completion_tokens"]) // 2
        assert "budget" in asked(world, data, *command, "--max-tokens", str(half), code=1)["error"]
        assert 0 < server.calls < estimate["calls"] == 3
        assert asked(world, data, *command, "--max-tokens", str(10 * half))["generation"]["name"] == "read"
        assert server.calls == 3
