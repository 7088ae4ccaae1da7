"""A generation is built on Kafka while messages arrive, compared, and then answers."""

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import asof_process
from asof_projections.generations import load
from kafka_worker import Running, World, until_known

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
    behind = asked(world, data, "generations", "switch", "second", code=2)["error"]
    assert "asof worker --agents believer --generation second" in behind
    start(world, "data", ("worker", "--agents", "believer", "--generation", "second"))
    before = asked(world, data, "facts", "--all-groups", "--any-time")

    assert asked(world, data, "generations", "switch", "second")["active"] == "second"
    assert asked(world, data, "facts", "--all-groups", "--any-time") != before
    assert asked(world, data, "generations", "switch", "main")["active"] == "main"
    assert asked(world, data, "facts", "--all-groups", "--any-time") == before
