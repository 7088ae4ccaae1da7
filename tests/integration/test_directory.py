"""A data directory: what stands in it beside logs and graphs is believed only where it is as written, or is cleared."""

import shutil
import sqlite3
from contextlib import closing

import pytest

from asof_streams.errors import ContractError
from world import World


@pytest.fixture
def world(tmp_path):
    world = World(tmp_path / "data")
    world.tell("2024-01-02", object="Berlin")
    world.memory.close()
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
