"""A directory whose logs are compressed answers, is copied, erased and built again as any other."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

import asof
from asof.cli import app, calls
from asof_streams.compression import compress
from asof_streams.sqlite_log import SqliteLog
from asof_streams.sqlite_records import Records
from world import World

LOGS = ("messages.sqlite", "episodic.sqlite", "generations/main/semantic.main.sqlite")


@pytest.fixture(params=[False, True], ids=["clear", "encrypted"])
def world(tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[World]:
    world = World(tmp_path / "data", **({"keys": tmp_path / "keys"} if request.param else {}))
    world.tell("2021-03-01", object="Lisbon", valid_at="2020")
    world.tell("2022-03-01", object="Berlin", valid_at="2021")
    world.tell("2022-04-01", group_id="gone", subject="Zxqv", object="Zarquon")
    world.memory.add("I moved to Rome in May.", role="Ana", group_id="g", timestamp="2023-06-01")
    yield world
    world.memory.close()


def compressed(path: Path) -> list[int]:
    """Compress every record of each log that there is; return how many are in blocks."""
    ends = []
    for name in LOGS:
        compress(path / name, keep=0, size=1)
        with closing(sqlite3.connect(path / name)) as raw:
            ends.append(Records(path / name, raw).blocks.end())
    return ends


def test_a_memory_goes_on_over_compressed_logs_and_its_answers_and_digest_are_the_same(world: World) -> None:
    digest, facts = world.digest(), world.memory.facts(group_id="g", any_time=True)
    events = [event.id for event in world.memory.events("messages")]

    assert min(compressed(world.path)) >= 4

    for _ in range(2):
        assert world.digest() == digest
        assert world.memory.facts(group_id="g", any_time=True) == facts
        assert [event.id for event in world.memory.events("messages")] == events
        assert all(check.ok for check in world.memory.verify())
        world.restart()
    world.tell("2024-02-01", object="Oslo", valid_at="2024")
    assert world.where("2024-03-01") == ["Oslo"]
    assert all(check.ok for check in world.memory.verify())


def test_what_is_erased_from_compressed_logs_is_gone_and_a_rebuild_compares_equal(world: World) -> None:
    compressed(world.path)
    world.memory.erase("gone")
    compressed(world.path)
    world.memory.rebuild("second")

    assert world.memory.digest("second") == world.digest()
    assert all(check.ok for check in world.memory.verify())
    world.memory.close()
    for name in LOGS:
        with SqliteLog(world.path / name) as log:
            assert not any("Zarquon" in repr(record.event.model_dump()) for record in log.read())
    assert not any(b"Zarquon" in path.read_bytes() for path in world.path.rglob("*") if path.is_file())


def test_a_part_of_a_group_that_is_erased_from_compressed_logs_is_gone_and_a_rebuild_compares_equal(
    world: World,
) -> None:
    world.memory.add("My sister is Zarquon.", role="Ana", group_id="g")
    compressed(world.path)
    erasure = world.memory.erase("g", phrase="Zarquon")
    world.memory.erase("gone")
    compressed(world.path)
    world.memory.rebuild("second")

    assert erasure.messages == (4,)
    assert world.memory.digest("second") == world.digest()
    assert world.where("2023-07-01") == ["Rome"]
    assert all(check.ok for check in world.memory.verify())
    world.memory.close()
    for name in LOGS:
        with SqliteLog(world.path / name) as log:
            assert not any("Zarquon" in repr(record.event.model_dump()) for record in log.read())


def test_graphs_are_made_again_from_compressed_logs(world: World) -> None:
    digest = world.digest()
    compressed(world.path)
    world.memory.close()
    (world.path / "generations/main/graph.db").unlink()
    (world.path / "episodes.db").unlink()

    world.memory = world.open()

    assert world.digest() == digest
    assert all(check.ok for check in world.memory.verify())


def test_backups_and_checkouts_are_those_of_logs_that_are_not_compressed(world: World, tmp_path: Path) -> None:
    world.memory.backup(tmp_path / "before.backup")
    world.memory.checkout(tmp_path / "before", known_at="2021-12-31")
    compressed(world.path)
    backup = world.memory.backup(tmp_path / "after.backup")
    world.memory.checkout(tmp_path / "after", known_at="2021-12-31")
    world.tell("2024-02-01", object="Oslo", valid_at="2024")
    world.memory.backup(tmp_path / "later.backup", after=tmp_path / "after.backup")

    assert (tmp_path / "before.backup").read_bytes() == (tmp_path / "after.backup").read_bytes()
    assert asof.open(tmp_path / "before").digest() == asof.open(tmp_path / "after").digest()
    assert {log.start for log in backup.logs} == {0}
    asof.restore(tmp_path / "after.backup", tmp_path / "later.backup", data=tmp_path / "restored", embedder="none")
    assert asof.open(tmp_path / "restored").digest() == world.digest()


def test_the_command_says_how_much_smaller_each_log_became(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    world = World(tmp_path / "data")
    world.memory.import_facts(
        {"group_id": "g", "subject": f"Town {n}", "relation": "likes", "object": f"Town {n + 1}"} for n in range(1_100)
    )
    digest = world.digest()

    assert calls.run(app, ["compress", "--data", str(world.path), "--json"]) == 0

    shown = capsys.readouterr().out
    assert '"log": "messages", "records": 64' in shown
    logs = world.memory.compress()
    assert [(log.log, log.records) for log in logs] == [("messages", 0), ("episodic", 0), ("semantic.main", 0)]
    assert world.digest() == digest
    world.memory.close()
