"""A disk that is full: what was accepted is said, and what is there can be read."""

import json
from pathlib import Path

import pytest

from asof_streams.errors import StorageFailed
from full_disk import files_no_larger_than
from world import World


def test_a_produce_that_a_full_disk_stops_says_how_much_it_accepted_and_reading_goes_on(tmp_path: Path) -> None:
    world = World(tmp_path / "data")
    world.tell(object="Berlin")
    said = {"group_id": "g", "role": "Ana", "role_type": "user", "content": "x" * 1_000}
    with files_no_larger_than(3_000_000):
        with pytest.raises(StorageFailed, match="good lines, at least, are on the log") as failed:
            world.memory.produce(json.dumps(said) for _ in range(20_000))
        world.restart()
        assert world.where("2024-06") == ["Berlin"]
        world.memory.close()

    accepted = failed.value.accepted
    assert f"the first {accepted} good lines" in str(failed.value)
    world = World(tmp_path / "data")
    assert world.memory.stats()["messages"] >= accepted + 1 > 1
    world.memory.close()
