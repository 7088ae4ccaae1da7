"""The graded policy, sentence by sentence: what decides when two facts of a single-valued relation disagree."""

import pytest

from asking import records
from asof_streams.errors import NotFound
from asof_streams.instants import INF
from asof_streams.semantic import (
    ContradictionFlagged,
    ContradictionSettled,
    EntityIntroduced,
    FactAsserted,
    FactRetracted,
)
from world import World


@pytest.fixture
def world(tmp_path):
    world = World(tmp_path / "data", policy="graded")
    yield world
    world.memory.close()


def said(world, kind):
    return [r.event for r in records(world.memory) if isinstance(r.event, kind)]


def decided(world):
    """Which facts were retracted as contradicted, and which contradictions were flagged, by object."""
    names = {e.entity_id: e.name for e in said(world, EntityIntroduced)}
    objects = {e.fact_id: names[e.object] for e in said(world, FactAsserted)}
    retracted = [objects[e.target] for e in said(world, FactRetracted) if e.reason == "contradicted"]
    flagged = [(objects[e.earlier], objects[e.later]) for e in said(world, ContradictionFlagged)]
    return retracted, flagged


def still_open(world):
    settled = {e.contradiction_id for e in said(world, ContradictionSettled)}
    return [e for e in said(world, ContradictionFlagged) if e.contradiction_id not in settled]


def test_of_starts_more_than_a_year_apart_the_newer_wins_whatever_the_confidence(world):
    world.tell("2024-01-01", object="Berlin", valid_at="2019", confidence=1.0)
    world.tell("2024-01-02", object="Munich", valid_at="2021", confidence=0.1)

    assert decided(world) == ([], [])
    assert [world.where(year) for year in ("2020", "2022")] == [["Berlin"], ["Munich"]]


def test_within_a_year_a_surer_later_fact_wins_and_the_other_is_retracted_as_contradicted(world):
    world.tell("2024-01-01", object="Berlin", valid_at="2020-01-01", confidence=0.5)
    world.tell("2024-01-02", object="Munich", valid_at="2020-06-01", confidence=0.9)

    assert decided(world) == (["Berlin"], [])
    assert [world.where(day) for day in ("2020-03-01", "2020-07-01")] == [[], ["Munich"]]
    assert world.where("2020-03-01", "2024-01-01") == ["Berlin"]


def test_within_a_year_a_less_sure_later_fact_is_retracted_as_contradicted(world):
    world.tell("2024-01-01", object="Berlin", valid_at="2020-01-01", confidence=0.9)
    world.tell("2024-01-02", object="Munich", valid_at="2020-06-01", confidence=0.5)

    assert decided(world) == (["Munich"], [])
    assert [world.where(day) for day in ("2020-03-01", "2020-07-01")] == [["Berlin"], ["Berlin"]]


def test_a_difference_of_no_more_than_three_tenths_decides_nothing_and_is_flagged(world):
    world.tell("2024-01-01", object="Berlin", valid_at="2020-01-01", confidence=0.9)
    world.tell("2024-01-02", object="Munich", valid_at="2020-06-01", confidence=0.7)

    assert decided(world) == ([], [("Berlin", "Munich")])
    assert [world.where(day) for day in ("2020-03-01", "2020-07-01")] == [
        ["Berlin"],
        ["Munich"],
    ]  # recency, till settled
    assert len(still_open(world)) == 1


@pytest.mark.parametrize("sure", [(0.5, 0.75), (0.75, 0.5)])
def test_a_difference_of_just_the_threshold_is_flagged_also_where_the_starts_are_as_far_apart_as_can_be(tmp_path, sure):
    config = {"conflict_config": {"confidence_threshold": 0.25, "temporal_threshold_secs": 365 * 86_400}}
    world = World(tmp_path / "data", policy="graded", ingestion=config)
    world.tell("2024-01-01", object="Berlin", valid_at="2021-01-01", confidence=sure[0])
    world.tell("2024-01-02", object="Munich", valid_at="2022-01-01", confidence=sure[1])

    assert decided(world) == ([], [("Berlin", "Munich")])
    world.memory.close()


@pytest.mark.parametrize("wrong", ["Berlin", "Munich"])
def test_a_flagged_contradiction_is_settled_when_either_fact_is_retracted(world, wrong):
    world.tell("2024-01-01", object="Berlin", valid_at="2020-01-01")
    world.tell("2024-01-02", object="Munich", valid_at="2020-06-01")
    world.tell("2024-01-03", object=wrong, op="retract")

    [flagged], [settled] = said(world, ContradictionFlagged), said(world, ContradictionSettled)
    kept, dropped = (flagged.later, flagged.earlier) if wrong == "Berlin" else (flagged.earlier, flagged.later)
    assert (settled.contradiction_id, settled.kept, settled.dropped) == (flagged.contradiction_id, kept, dropped)
    assert still_open(world) == []


def test_a_fact_that_loses_against_one_rival_leaves_no_contradiction_with_another_open(world):
    world.tell("2024-01-01", object="Berlin", valid_at="2020-01-01", invalid_at="2020-06-01", confidence=0.6)
    world.tell("2024-01-02", object="Munich", valid_at="2020-06-01", confidence=0.9)
    world.tell("2024-01-03", object="Bonn", valid_at="2020-03-01", confidence=0.5)

    assert decided(world) == (["Bonn"], [])
    assert [world.where(day) for day in ("2020-04-01", "2020-07-01")] == [["Berlin"], ["Munich"]]


def test_facts_that_never_hold_at_one_time_do_not_contradict_each_other(world):
    world.tell("2024-01-01", object="Berlin", valid_at="2020-01-01", invalid_at="2020-03-01")
    world.tell("2024-01-02", object="Munich", valid_at="2020-06-01", confidence=0.1)

    assert decided(world) == ([], [])


def test_a_fact_that_ends_as_another_begins_does_not_contradict_it(world):
    world.tell("2024-01-01", object="Munich", valid_at="2020-06-01")
    world.tell("2024-01-02", object="Berlin", valid_at="2020-01-01", invalid_at="2020-06-01", confidence=0.1)

    assert decided(world) == ([], [])


def test_a_relation_of_many_values_has_no_contradictions(world):
    world.tell("2024-01-01", relation="likes", object="Tea", valid_at="2020-01-01")
    world.tell("2024-01-02", relation="likes", object="Milk", valid_at="2020-06-01", confidence=0.1)

    assert decided(world) == ([], [])


def test_the_facts_of_one_episode_are_compared_with_each_other(world):
    line = '{"group_id": "g", "role": "Ana", "role_type": "user", "content": "I live in Berlin. I live in Munich."}'
    world.memory.produce([line])

    assert decided(world) == ([], [("Berlin", "Munich")])


def test_a_rebuild_decides_as_before(world):
    for number, (object_, start, confidence) in enumerate(
        [
            ("Berlin", "2018", 0.9),
            ("Munich", "2020-01-01", 0.8),
            ("Hamburg", "2020-06-01", 0.4),
            ("Bonn", "2020-07-01", 0.9),
        ]
    ):
        world.tell(f"2024-01-0{number + 1}", object=object_, valid_at=start, confidence=confidence)
    live = decided(world)
    assert live == (["Hamburg"], [("Munich", "Bonn")])

    world.memory.rebuild("again")
    assert world.memory.digest("again") == world.digest()
    world.memory.switch("again")
    assert decided(world) == live


def test_a_contradiction_is_listed_as_open_until_a_person_keeps_one_of_its_facts(world):
    world.tell("2024-01-01", object="Berlin", valid_at="2020-01-01", ref="b")
    flagged = world.tell("2024-01-02", object="Munich", valid_at="2020-06-01", ref="m")
    store = world.memory._session.writer().generations["main"].store
    [found] = store.contradictions("g", None)
    assert (found.flagged_at, found.settled_at, found.kept) == (flagged, INF, None)

    settled = world.tell("2024-02-01", op="retract", ref=found.later)

    assert store.contradictions("g", None) == []
    assert store.contradictions("g", flagged) == [found]
    over = found._replace(settled_at=settled, kept=found.earlier, dropped=found.later)
    assert store.contradictions("g", None, settled=True) == [over]
    assert world.where("2020-07-01") == ["Berlin"]


def test_settling_for_a_fact_retracts_what_contradicts_it_and_can_be_taken_back(world):
    world.tell("2024-01-01", object="Berlin", valid_at="2020-01-01", ref="b")
    world.tell("2024-01-02", object="Munich", valid_at="2020-06-01", ref="m")
    [found] = world.memory.contradictions(group_id="g")

    with pytest.raises(NotFound, match="no contradiction of the fact x is open"):
        world.memory.settle("x", group_id="g")
    settled = world.memory.settle(found.later, group_id="g")

    assert (settled.kept, settled.retracted) == (found.later, (found.earlier,))
    assert world.memory.contradictions(group_id="g") == []
    assert world.where("2020-02-01") == []
    assert world.where("2020-07-01") == ["Munich"]
    [*_, last] = world.memory.history(found.earlier, group_id="g")
    world.memory.retract(last.closed.statement, group_id="g")
    assert world.where("2020-02-01") == ["Berlin"]


def test_values_of_a_relation_that_may_have_many_contradict_nothing(world):
    world.tell("2024-01-01", relation="rents", object="Flat", valid_at="2020-01-01", confidence=0.9)
    world.tell("2024-01-02", relation="rents", object="Garage", valid_at="2020-02-01", confidence=0.5)

    world.tell("2024-01-03", relation="rents", object="Boat", ref="r", valid_at="2020-03-01", confidence=0.5)
    world.tell("2024-01-04", relation="rents", object="Barn", ref="r", op="correct", confidence=0.5)

    assert decided(world) == ([], [])
    assert world.where("2021", relation="rents") == ["Barn", "Flat", "Garage"]
