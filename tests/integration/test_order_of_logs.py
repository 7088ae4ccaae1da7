"""A log that lost its end is found by what was derived from it, which knows more."""

import shutil
import sqlite3
from contextlib import closing

import pytest

from asof_streams.errors import DamagedLog
from world import World


def test_a_messages_log_put_back_from_an_older_copy_is_refused_with_both_positions(tmp_path):
    world = World(tmp_path / "data")
    world.tell("2024-01-01", object="Berlin", valid_at="2020")
    world.memory.close()
    shutil.copy(world.path / "messages.sqlite", tmp_path / "old")
    world.memory = world.open()
    world.tell("2024-01-02", object="Munich", valid_at="2021")
    world.memory.close()
    shutil.copy(tmp_path / "old", world.path / "messages.sqlite")

    with (
        world.open() as memory,
        pytest.raises(DamagedLog, match="ends at position 1, yet episodic was made from it up to 2"),
    ):
        memory.add("I live in Madrid.", role="Ana", group_id="g")


@pytest.mark.parametrize("graph", ["episodes.db", "generations/main/graph.db"])
@pytest.mark.parametrize("harm", ["missing", "damaged", "of another schema"])
def test_a_graph_that_cannot_be_read_is_made_anew_before_it_answers(tmp_path, graph, harm):
    world = World(tmp_path / "data")
    world.tell("2024-01-01", object="Berlin", valid_at="2020")
    world.memory.close()
    path = world.path / graph
    if harm == "missing":
        path.unlink()
    elif harm == "damaged":
        path.write_bytes(b"not a database" * 1000)
    else:
        with closing(sqlite3.connect(path)) as db, db:
            db.execute("UPDATE meta SET value = '0' WHERE key = 'schema'")

    world.memory = world.open()
    with world.memory:
        assert world.where("2021") == ["Berlin"]
