"""A copy of topics begins with what there is: snapshots of its graphs, or the whole directory of another machine."""

import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from shutil import copytree, ignore_patterns
from typing import Any

from asof.runtime.layout import DirectoryLayout
from asof.runtime.snapshots import take_snapshots
from kafka_worker import PROJECTOR, Running, World, dump, until_known

TOLD = ["I live in Bern.", "I work at Acme.", "I moved to Kiel."]


def say(world: World, *contents: str) -> int:
    return world.send(
        [{"group_id": "ana", "content": content, "role": "Ana", "role_type": "user"} for content in contents]
    )


def follow(world: World, data: Path) -> None:
    with closing(world.partition(data)) as partition:
        partition.ingest([])


def test_a_worker_that_lost_its_graphs_goes_on_from_their_snapshots(world: World, tmp_path: Path) -> None:
    data, other = tmp_path / "data", tmp_path / "other"
    places = DirectoryLayout(data)
    graphs = (places.episodes, places.graph("main"))
    say(world, *TOLD)
    follow(world, data)
    taken = take_snapshots(places)
    say(world, "I moved to Oslo.")
    follow(world, data)
    for graph in graphs:
        graph.unlink()
    say(world, "I moved to Rome.")

    follow(world, data)

    follow(world, other)
    assert dump(data) == dump(other)
    assert [one.log for one in taken] == ["episodic", "semantic.main"]
    assert all(graph.with_name(f"{graph.stem}.snapshot.db").exists() for graph in graphs), "they were of use, and stay"


def test_a_new_machine_that_has_the_directory_of_another_goes_on_from_there(
    world: World, start: Callable[..., Running], tmp_path: Path
) -> None:
    data, other = tmp_path / "data", tmp_path / "other"
    say(world, *TOLD)
    follow(world, data)
    copytree(data, other, ignore=ignore_patterns("member-*.lock"))
    given = {path: stored(path) for path in logs(other)}
    end = say(world, "I moved to Oslo.")

    projector = start(world, "other", PROJECTOR)
    follow(world, data)
    until_known(projector, end)
    projector.stop()
    followed = dump(other)
    say(world, "I moved to Rome.")
    follow(world, other)  # as where it takes the work over

    assert followed == dump(data)
    assert dump(other) == world.afresh(tmp_path / "afresh")
    for path, rows in given.items():
        assert stored(path)[: len(rows)] == rows, "what a machine reads from a topic it stores with salts of its own"
        assert len(stored(path)) > len(rows)
    read_anew = dict(zip(given, map(stored, logs(tmp_path / "afresh")), strict=True))
    assert all(read_anew[path][: len(rows)] != rows for path, rows in given.items())


def logs(data: Path) -> list[Path]:
    places = DirectoryLayout(data)
    return [places.messages, places.episodic, places.semantic("main")]


def stored(log: Path) -> list[Any]:
    """The records of a log as its file has them."""
    with closing(sqlite3.connect(log)) as db:
        return db.execute("SELECT * FROM log ORDER BY position").fetchall()
