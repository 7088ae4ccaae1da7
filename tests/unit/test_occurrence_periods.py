"""An occurrence told again with an end before its start is parked by its field, like one that is new."""

from pathlib import Path

from world import World


def test_an_occurrence_that_is_told_again_without_a_period_is_parked_with_the_field(tmp_path: Path) -> None:
    world = World(tmp_path / "data")
    world.tell("2024-01-07", relation="visited", object="Oslo", valid_at="2024-01-01", grain="year")

    world.tell("2024-01-08", relation="visited", object="Oslo", invalid_at="2024-01-04")

    [parked] = world.memory.parked(group_id="g")
    assert parked.reason.startswith("invalid_at: it must be after valid_at")
    world.memory.close()
