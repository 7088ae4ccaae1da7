"""Graphs that are lost come back from their snapshots with the answers and the digest that they had."""

import json
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

import asof
from asof.cli import app, calls
from asof_streams.errors import InvalidInput
from world import World

GRAPHS = ("episodes.db", "generations/main/graph.db", "generations/again/graph.db")


@pytest.fixture
def world(tmp_path: Path):
    world = World(tmp_path / "data")
    world.memory.add("I moved to Berlin in March.", role="Ana", group_id="g")
    world.memory.rebuild("again")
    world.tell("2024-06-01", object="Lisbon", valid_at="2024")
    yield world
    world.memory.close()


def snapshot(graph: str) -> str:
    return graph.replace(".db", ".snapshot.db")


def snapshots(world: World) -> list[str]:
    return sorted(path.relative_to(world.path).as_posix() for path in world.path.rglob("*.snapshot*"))


def test_every_graph_has_a_snapshot_and_comes_back_from_it_and_the_rest_of_its_log(world: World) -> None:
    taken = world.memory.snapshot()
    world.tell("2024-07-01", object="Oslo", valid_at="2024-07")
    expected, answers = world.digest(), world.memory.facts(group_id="g")
    assert world.memory.digest("again") == expected
    world.restart()

    assert [one.log for one in taken] == ["episodic", "semantic.main", "semantic.again"]
    assert all(one.position > 0 and one.size > 0 for one in taken)
    assert snapshots(world) == sorted(snapshot(name) for name in GRAPHS)
    for name in GRAPHS:
        (world.path / name).unlink()
    world.restart()

    assert (world.digest(), world.memory.digest("again")) == (expected, expected)
    assert world.memory.facts(group_id="g") == answers
    assert all(check.ok for check in world.memory.verify())
    assert snapshots(world) == sorted(snapshot(name) for name in GRAPHS), "they were of use, and stay"


def test_the_command_takes_snapshots_beside_a_memory_that_is_open(
    world: World, capsys: pytest.CaptureFixture[str]
) -> None:
    assert calls.run(app, ["snapshot", "--data", str(world.path), "--json"]) == 0
    first = json.loads(capsys.readouterr().out)
    world.tell("2024-07-01", object="Oslo", valid_at="2024-07")
    assert calls.run(app, ["snapshot", "--data", str(world.path), "--json"]) == 0
    second = json.loads(capsys.readouterr().out)

    assert [one["log"] for one in first] == [one["log"] for one in second]
    assert all(one["position"] < two["position"] for one, two in zip(first, second, strict=True))
    assert len(snapshots(world)) == len(GRAPHS)


def test_a_repair_makes_a_damaged_graph_of_its_log_and_not_of_a_snapshot_that_has_the_same_damage(world: World) -> None:
    expected = world.digest()
    world.restart()
    with closing(sqlite3.connect(world.path / GRAPHS[1])) as graph, graph:
        graph.execute("UPDATE versions SET vf = vf + 1")
    world.memory.snapshot()

    assert [check.ok for check in world.memory.repair()] == [True]

    assert all(check.ok for check in world.memory.verify())
    assert world.digest() == expected
    assert snapshot(GRAPHS[1]) not in snapshots(world)


def test_a_generation_that_is_dropped_takes_its_snapshot_along(world: World) -> None:
    world.memory.snapshot()
    world.memory.drop("again")

    assert snapshots(world) == sorted(snapshot(name) for name in GRAPHS[:2])


def test_a_restored_directory_makes_its_graphs_of_the_snapshots_that_fit(world: World, tmp_path: Path) -> None:
    world.memory.snapshot()
    world.tell("2024-07-01", object="Oslo", valid_at="2024-07")
    world.memory.backup(tmp_path / "one.backup")
    expected = world.digest()
    world.tell("2024-08-01", object="Rome", valid_at="2024-08")

    for name, given in {"with": {"snapshots": world.path}, "without": {}}.items():
        asof.restore(tmp_path / "one.backup", data=tmp_path / name, embedder="none", **given)

        with asof.open(tmp_path / name, embedder="none") as memory:
            assert memory.digest() == memory.digest("again") == expected
            assert all(check.ok for check in memory.verify())
        left = [path.relative_to(tmp_path / name).as_posix() for path in (tmp_path / name).rglob("*.snapshot*")]
        assert sorted(left) == (snapshots(world) if given else []), "those that were of use stay"


def test_snapshots_of_more_than_a_backup_has_are_not_used(world: World, tmp_path: Path) -> None:
    world.memory.backup(tmp_path / "one.backup")
    expected = world.digest()
    world.tell("2024-07-01", object="Oslo", valid_at="2024-07")
    world.memory.snapshot()

    line = ["restore", str(tmp_path / "one.backup"), "--snapshots", str(world.path), "--data", str(tmp_path / "new")]
    assert calls.run(app, line) == 0

    with asof.open(tmp_path / "new", embedder="none") as memory:
        assert memory.digest() == expected
    assert not list((tmp_path / "new").rglob("*.snapshot*"))


def test_a_restore_names_the_option_whose_directory_is_not_there(world: World, tmp_path: Path) -> None:
    world.memory.backup(tmp_path / "one.backup")
    with pytest.raises(InvalidInput) as refused:
        asof.restore(tmp_path / "one.backup", data=tmp_path / "new", snapshots=tmp_path / "nowhere")

    assert refused.value.field == "snapshots"
    assert not (tmp_path / "new").exists()
