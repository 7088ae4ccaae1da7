"""A copy of topics that lost its graphs makes them again of their snapshots and the rest of its logs."""

from contextlib import closing
from pathlib import Path

from asof.runtime.layout import DirectoryLayout
from asof.runtime.snapshots import take_snapshots
from kafka_worker import World, dump

TOLD = ["I live in Bern.", "I work at Acme.", "I moved to Kiel."]


def say(world: World, *contents: str) -> None:
    world.send([{"group_id": "ana", "content": content, "role": "Ana", "role_type": "user"} for content in contents])


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
