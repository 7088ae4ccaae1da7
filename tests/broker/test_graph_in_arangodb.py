"""A graph in ArangoDB that follows topics: kept up by the worker, by a projector, or by who asks."""

from pathlib import Path

from arango_server import Server, listening
from asof.api.memory import Memory
from asof.kafka.follower import ReplicaFollower
from asof.runtime.layout import DirectoryLayout
from asof.settings import Settings
from asof_projections.graph.arango.connection import Address
from asof_projections.graph.arango.store import ArangoGraph
from asof_projections.graph.sqlite_store.store import SqliteGraph
from kafka_worker import Partition, World, fact

LOG = "semantic.main"


def of_database(url: str) -> str:
    with ArangoGraph(Address.parse(url), LOG) as graph:
        return graph.digest()


def of_files(data: Path) -> str:
    with SqliteGraph(DirectoryLayout(data).graph("main"), LOG) as graph:
        return graph.digest()


def take(world: World, settings: Settings) -> None:
    """Let a worker take what is on the topic."""
    partition = Partition(DirectoryLayout(settings.data), settings, world.connection, world.topics, 0)
    partition.ingest([])
    partition.close()


def test_a_worker_and_a_projector_keep_the_same_graph_up_one_after_the_other(world: World, tmp_path: Path) -> None:
    with listening(Server()) as url:
        by = {name: Settings(data=tmp_path / name, embedder="none", graph_url=url) for name in ("worker", "projector")}
        world.send([fact(number, "ab"[number % 2]) for number in range(40)])
        take(world, by["worker"])
        first = of_database(url)
        assert first == of_files(tmp_path / "worker")

        world.send([fact(number, "ab"[number % 2]) for number in range(40, 60)])
        take(world, Settings(data=tmp_path / "worker", embedder="none"))  # one that knows of no database
        assert of_database(url) == first
        places = DirectoryLayout(tmp_path / "projector")
        with ReplicaFollower(places, world.connection, world.topics, settings=by["projector"]) as follower:
            follower.catch_up()
            assert of_database(url) == of_files(tmp_path / "projector") != first

            world.send([fact(60, "a")])
            take(world, by["worker"])
            follower.catch_up()
        assert of_database(url) == of_files(tmp_path / "projector") == of_files(tmp_path / "worker")


def test_who_asks_brings_the_graph_up_to_the_topics(world: World, tmp_path: Path) -> None:
    world.send([fact(number, "a") for number in range(5)])
    take(world, Settings(data=tmp_path / "worker", embedder="none"))
    with listening(Server()) as url:
        data = tmp_path / "reader"
        settings = Settings(
            data=data,
            embedder="none",
            graph_url=url,
            kafka=world.connection.bootstrap,
            kafka_prefix=world.topics.prefix,
        )
        with Memory(settings) as memory:
            assert memory.digest() == of_database(url) == of_files(tmp_path / "worker")
            assert len(memory.facts(group_id="a", any_time=True)) > 0
