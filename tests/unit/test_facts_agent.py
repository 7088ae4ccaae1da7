"""The facts agent by worked example: what statements make of each other, told through the public API."""

import pytest

from world import World, on


@pytest.fixture
def world(tmp_path):
    world = World(tmp_path / "data")
    yield world
    world.memory.close()


def owned(world, day):
    """What Ana owns, whatever she is called, as known on a day."""
    [portrait] = world.memory.entity("Ana", group_id="g", known_at=on(day))
    return sorted({f.object for f in portrait.facts if f.relation == "owns"})


def test_an_ending_of_every_value_also_ends_a_value_first_heard_of_later(world):
    world.tell("2024-01-01", relation="rents", object="Flat", valid_at="2019")
    world.tell("2024-01-02", relation="rents", op="end", invalid_at="2023")
    world.tell("2024-01-03", relation="rents", object="Garage", valid_at="2020")

    assert world.where("2022", relation="rents") == ["Flat", "Garage"]
    assert world.where("2024", relation="rents") == []


def test_a_ref_that_names_the_fact_of_another_subject_is_parked(world):
    world.tell("2024-01-01", ref="r", object="Berlin", valid_at="2020")
    world.tell("2024-01-02", ref="r", subject="Ben", object="Berlin", valid_at="2020")

    assert world.parked() == 1
    assert world.where("2021", about="Ben") == []


def test_a_ref_stated_again_with_another_end_is_parked_since_it_would_be_two_facts(world):
    world.tell("2024-01-01", ref="r", relation="rents", object="Flat", valid_at="2020")
    world.tell("2024-01-02", ref="r", relation="rents", object="Flat", valid_at="2020", invalid_at="2022")
    assert world.parked() == 1

    world.tell("2024-01-03", ref="r", relation="rents", object="Flat", op="correct", valid_at="2020", invalid_at="2022")
    assert (world.where("2021", relation="rents"), world.where("2023", relation="rents")) == (["Flat"], [])


def test_a_merge_that_was_retracted_by_mistake_is_made_again_with_the_retraction_of_that(world):
    world.tell("2024-01-01", relation="owns", object="Boat")
    world.tell("2024-01-01", relation="owns", subject="Annie", object="Car")
    world.tell("2024-01-02", relation="also_known_as", object="Annie", ref="same")
    world.tell("2024-01-03", op="retract", ref="same")
    mistake = next(r.event.retraction_id for r in world.memory.events() if r.event.type == "fact.retracted")
    world.tell("2024-01-04", op="retract", ref=mistake)
    again = [r.event.retraction_id for r in world.memory.events() if r.event.type == "fact.retracted"][-1]
    world.tell("2024-01-05", op="retract", ref=again)

    assert [owned(world, day) for day in ("2024-01-01", "2024-01-02", "2024-01-03", "2024-01-04", "2024-01-05")] == [
        ["Boat"],
        ["Boat", "Car"],
        ["Boat"],
        ["Boat", "Car"],
        ["Boat"],
    ]
