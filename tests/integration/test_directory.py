"""A data directory: what stands in it beside logs and graphs is believed only where it is as written, or is cleared."""

import shutil
import sqlite3
from contextlib import closing

import pytest

import asof
from asof.runtime.layout import DirectoryLayout
from asof_streams.errors import ContractError
from world import World


@pytest.fixture
def world(tmp_path):
    world = World(tmp_path / "data")
    world.tell("2024-01-02", object="Berlin")
    world.restart()
    yield world
    world.memory.close()


@pytest.mark.parametrize("name", ["ontology.json", "generations/main/ontology.json"])
def test_a_changed_letter_of_an_ontology_is_found_before_it_is_used(world, name):
    path = world.path / name
    text = path.read_text()
    path.write_text(text.replace("lives_in", "lives_on"))

    with pytest.raises(ContractError, match=r"ontology\.json is missing or damaged"):
        world.tell("2024-01-03", object="Bonn")

    path.write_text(text)
    world.tell("2024-01-03", object="Bonn")
    assert world.where("2024-02") == ["Bonn"]


def test_what_an_interrupted_build_or_drop_left_is_cleared_by_the_next_writer(world):
    left = world.path / "generations" / "left"
    shutil.copytree(world.path / "generations" / "main", left)

    assert world.where("2024-02") == ["Berlin"]
    assert left.exists()  # a reader changes nothing
    world.memory.erase("g")

    assert not left.exists()
    assert not any(b"Berlin" in file.read_bytes() for file in world.path.rglob("*") if file.is_file())


def test_what_a_reader_kept_from_being_overwritten_is_overwritten_when_it_is_done(world):
    graph = world.path / "generations" / "main" / "graph.db"
    with closing(sqlite3.connect(graph, isolation_level=None)) as reader:
        reader.execute("BEGIN")
        reader.execute("SELECT count(*) FROM facts").fetchone()
        world.memory.erase("g")
        reader.execute("ROLLBACK")

        assert world.memory.stats()["erasing"] == 1
        world.memory.close()

        assert not any(b"Berlin" in file.read_bytes() for file in world.path.rglob("*") if file.is_file())


@pytest.mark.parametrize("graph", ["episodes", "beliefs"])
def test_what_a_power_cut_took_of_a_graph_is_there_again_before_the_first_question(world, tmp_path, graph):
    world.restart()
    world.memory.add("I live in Rome.", group_id="h", role="Ana")
    places = DirectoryLayout(tmp_path / "cut")
    shutil.copytree(world.path, places.root)  # as they are while it is open: the last commits are not in the files
    lost = places.episodes if graph == "episodes" else places.graph("main")
    lost.with_name(f"{lost.name}-wal").unlink()

    with asof.open(places.root, embedder="none") as memory:
        assert [episode.content for episode in memory.episodes(group_id="h")] == ["I live in Rome."]
        assert [group.group_id for group in memory.groups()] == ["g", "h"]
        assert [fact.object for fact in memory.facts(group_id="h", about="Ana")] == ["Rome"]
