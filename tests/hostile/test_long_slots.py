"""One slot with very many facts: a statement about it is not worked out from the files each time."""

import json
from collections.abc import Sequence
from pathlib import Path
from random import Random
from typing import Any

import pytest

from asof_projections.graph.sqlite_store.store import SqliteGraph
from asof_projections.versions import Assertion, believe
from world import World


def store_of(world: World) -> SqliteGraph:
    [store] = [file for file in world.memory._session.writer().generations.files() if isinstance(file, SqliteGraph)]
    return store


def lines(start: int, stop: int) -> list[str]:
    return [
        json.dumps(
            {
                "group_id": "g",
                "subject": "Ana",
                "relation": "lives_in",
                "object": f"City {n}",
                "valid_at": f"{1000 + n}-01-01T00:00:00Z",
            }
        )
        for n in range(start, stop)
    ]


def test_a_long_slot_is_read_from_its_file_once(tmp_path: Path) -> None:
    world = World(tmp_path / "data")
    world.memory.import_facts(lines(0, 10))
    said: list[str] = []
    store_of(world)._db.set_trace_callback(said.append)

    world.memory.import_facts(lines(10, 40))

    whole = [sql for sql in said if "FROM facts f LEFT JOIN entities o" in sql and "f.object =" not in sql]
    assert len(whole) <= 1
    assert len(world.memory.facts(about="Ana", group_id="g", valid_at="1025-06-01T00:00:00Z")) == 1
    world.memory.close()


def test_a_statement_about_a_long_slot_works_out_few_of_its_facts_anew(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    worked_out: list[int] = []

    def count(ordered: Sequence[Assertion], stated: Sequence[int], rule: int) -> Any:
        worked_out.append(len(ordered))
        return believe(ordered, stated, rule)

    world = World(tmp_path / "data")
    world.memory.import_facts(lines(0, 200))
    monkeypatch.setattr("asof_projections.long_slot.believe", count)
    monkeypatch.setattr("asof_projections.versions.believe", count)
    world.memory.import_facts(lines(200, 230))
    world.tell(object="Oslo", valid_at="1100-06")
    world.tell(op="retract", object="City 50")
    world.tell(op="correct", object="Bergen", valid_at="1150-06")
    world.tell(op="end", object="Bergen", invalid_at="1150-09")
    assert 60 < len(worked_out) < 90
    assert max(worked_out) < 20
    monkeypatch.undo()
    before = world.memory.digest()
    world.memory.rebuild("anew")
    assert world.memory.digest("anew") == before
    world.memory.close()


def test_a_statement_that_overlaps_with_too_many_is_parked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("asof_projections.long_slot.MOST", 80)
    world = World(tmp_path / "data")
    world.memory.import_facts(
        json.dumps(json.loads(line) | {"invalid_at": "2500-01-01T00:00:00Z"}) for line in lines(0, 100)
    )

    parked = world.memory.parked(group_id="g")
    assert [row.position for row in parked] == list(range(parked[0].position, 100))
    assert parked[0].reason.startswith("it overlaps with more than 80 other statements")
    world.tell(relation="works_at", object="Acme", valid_at="2000")
    assert [fact.object for fact in world.memory.facts(relation="works_at", group_id="g")] == ["Acme"]
    world.memory.close()


@pytest.mark.parametrize("long", [64, 2])
def test_what_a_writer_keeps_of_a_slot_is_what_its_file_has(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, long: int
) -> None:
    monkeypatch.setattr("asof_projections.slot_cache._LONG", long)
    world, random = World(tmp_path / "data"), Random(7)
    world.tell("2024-01-01", object="Oslo", valid_at="1990", ref="r0")
    writer = store_of(world)
    [ana] = writer.entities_named("g", "Ana")
    for n in range(1, 120):
        place, year = f"City {random.randrange(6)}", str(1990 + random.randrange(20))
        line: dict[str, Any] = {"object": place, "valid_at": year}
        match random.randrange(8):
            case 0:
                line = {"op": "end", "object": None, "invalid_at": year}
            case 1:
                line = {"op": "correct", "object": place, "ref": f"r{random.randrange(n)}"}
            case 2:
                line = {"op": "retract", "ref": f"r{random.randrange(n)}", "subject": None, "relation": None}
            case 3:
                line |= {"invalid_at": str(int(year) + 1 + random.randrange(5))}
            case 4:
                line |= {"said_at": year}
            case _:
                line |= {"ref": f"r{n}"}
        world.tell(**{name: value for name, value in line.items() if value is not None})

        with SqliteGraph(world.path / "generations" / "main" / "graph.db", "semantic.main") as reader:
            kept, read = (store.slot("g", ana.uuid, "lives_in", None) for store in (writer, reader))
            assert [tuple(part) for part in kept[:2]] == [tuple(part) for part in read[:2]], n
            assert kept.held == read.held, n
    world.memory.close()
