"""The ten cases that tell a bi-temporal memory from its rivals."""

import sqlite3

import pytest

from asking import records, time
from world import World, on


@pytest.fixture
def world(tmp_path):
    world = World(tmp_path / "data")
    yield world
    world.memory.close()


def test_01_two_corrections_of_one_interval_leave_three_right_answers(world):
    world.tell("2024-01-01", ref="r", object="Berlin", valid_at="2020", invalid_at="2022")
    world.tell("2024-02-01", op="correct", ref="r", object="Munich", valid_at="2020", invalid_at="2022")
    world.tell("2024-03-01", op="correct", ref="r", object="Hamburg", valid_at="2021", invalid_at="2022")

    assert world.where("2020-06-01", "2024-01-15") == ["Berlin"]
    assert world.where("2020-06-01", "2024-02-15") == ["Munich"]
    assert world.where("2020-06-01", "2024-03-15") == []
    assert world.where("2021-06-01", "2024-03-15") == ["Hamburg"]


def test_02_a_fact_with_a_past_end_is_believed_now_for_its_period(world):
    world.tell("2024-01-01", object="Berlin", valid_at="2015", invalid_at="2018")

    [fact] = world.memory.facts(group_id="g", about="Ana", relation="lives_in", valid_at="2016")

    assert fact.to_json()["expired_at"] is None
    assert world.where("2019") == []


def test_03a_a_late_open_statement_does_not_destroy_a_later_start_and_retracting_that_restores_it(world):
    world.tell("2024-01-01", ref="y", object="Yverdon", valid_at="2021")
    world.tell("2024-02-01", object="Xanten", valid_at="2019", said_at="2020")
    assert (world.where("2020"), world.where("2022")) == (["Xanten"], ["Yverdon"])

    world.tell("2024-03-01", op="retract", ref="y")

    assert world.where("2022") == ["Xanten"]
    assert world.where("2022", "2024-02-15") == ["Yverdon"]


def test_03b_leaving_a_place_does_not_bring_an_older_one_back(world):
    world.tell("2024-01-01", object="Xanten", valid_at="2019", said_at="2020")
    world.tell("2024-01-02", ref="y", object="Yverdon", valid_at="2021")
    world.tell("2024-02-01", op="end", ref="y", invalid_at="2023")

    assert world.where("2022") == ["Yverdon"]
    assert world.where("2023-06-01") == []


def test_03c_a_place_attested_after_a_stay_elsewhere_outlives_that_stay(world):
    world.tell("2024-01-01", object="Berlin", valid_at="2015", said_at="2024")
    world.tell("2024-02-01", object="Paris", valid_at="2019", invalid_at="2020")

    assert [world.where(year) for year in ("2018", "2019-06-01", "2021", "2024")] == [
        ["Berlin"],
        ["Paris"],
        ["Berlin"],
        ["Berlin"],
    ]


def test_03d_a_place_last_attested_before_a_stay_elsewhere_is_unknown_after_it(world):
    world.tell("2024-01-01", object="Berlin", valid_at="2015", said_at="2016")
    world.tell("2024-02-01", object="Paris", valid_at="2019", invalid_at="2020")

    assert [world.where(year) for year in ("2018", "2019-06-01", "2021")] == [["Berlin"], ["Paris"], []]


def test_04_of_equal_starts_the_later_statement_wins_also_after_rebuild(world):
    world.tell("2024-01-01", object="Berlin", valid_at="2020")
    world.tell("2024-01-02", object="Munich", valid_at="2020")
    assert world.where("2021") == ["Munich"]

    world.memory.rebuild("again")
    world.memory.switch("again")

    assert world.where("2021") == ["Munich"]
    assert world.where("2021", "2024-01-01") == ["Berlin"]


def test_05_retracting_an_ending_reopens_the_period_and_history_shows_both_beliefs(world):
    world.tell("2024-01-01", ref="b", object="Berlin", valid_at="2020")
    world.tell("2024-02-01", op="end", ref="b", invalid_at="2023")
    [fact] = world.memory.facts(group_id="g", about="Ana", relation="lives_in", valid_at="2021")
    ending = next(r.event.ending_id for r in records(world.memory, "semantic") if r.event.type == "fact.ended")

    world.tell("2024-03-01", op="retract", ref=ending, subject=None, relation=None)

    assert [world.where("2023-06-01", day) for day in ("2024-01-15", "2024-02-15", "2024-03-15")] == [
        ["Berlin"],
        [],
        ["Berlin"],
    ]
    believed = world.memory.known_history(fact.uuid, valid_at="2023-06-01")
    first, second = believed
    assert (first.known_from, first.known_to) == (time(on("2024-01-01")), time(on("2024-02-01")))
    assert second.known_from == time(on("2024-03-01"))


def test_06_throughout_holds_across_two_periods_that_meet_and_not_across_a_gap_of_a_microsecond(world):
    world.tell("2024-01-01", relation="rents", object="Flat", valid_at="2020", invalid_at="2021")
    world.tell("2024-01-01", relation="rents", object="Flat", valid_at="2021", invalid_at="2022")
    world.tell("2024-01-01", relation="owns", object="Car", valid_at="2020", invalid_at="2021")
    world.tell("2024-01-01", relation="owns", object="Car", valid_at="2021-01-01T00:00:00.000001Z", invalid_at="2022")

    window = (on("2020"), on("2022"))

    assert [s.object for s in world.memory.throughout(*window, group_id="g", about="Ana", relation="rents")] == ["Flat"]
    assert world.memory.throughout(*window, group_id="g", about="Ana", relation="owns") == []


def test_07_known_now_equals_current_after_the_clock_steps_back_an_hour(world):
    world.tell("2024-01-01", ref="b", object="Berlin", valid_at="2020")
    world.now -= 3_600_000_000
    world.tell(op="correct", ref="b", object="Munich", valid_at="2020")
    last = records(world.memory, "messages")
    recorded = [r.recorded_at for r in last]

    assert recorded[1] == recorded[0] + 1
    assert world.where("2021") == world.where("2021", recorded[1]) == ["Munich"]
    assert world.where("2021", recorded[0]) == ["Berlin"]


def test_09_a_statement_that_cannot_stand_gives_the_same_digest_live_and_on_rebuild(world):
    world.tell("2024-01-01", object="Berlin", valid_at="2020")
    world.tell("2024-01-02", op="retract", ref="nobody")
    world.tell("2024-01-03", object="Munich", valid_at="2022")
    live = world.digest()
    assert world.parked() == 1

    world.memory.rebuild("again")
    world.memory.switch("again")

    assert world.digest() == live
    assert world.parked() == 1


def test_10_an_erased_group_is_gone_at_every_moment_the_chain_verifies_and_others_stay(world):
    world.tell("2024-01-01", object="Berlin-canary", valid_at="2020")
    world.tell("2024-01-02", group_id="other", subject="Ben", object="Munich", valid_at="2020")
    other = world.memory.facts(group_id="other", about="Ben", valid_at="2021")

    world.now = on("2024-02-01")
    world.memory.erase("g")

    assert world.where("2021") == world.where("2021", "2024-01-15") == []
    assert world.memory.facts(group_id="other", about="Ben", valid_at="2021") == other
    assert world.memory.verify()
    world.memory.close()
    for file in world.path.rglob("*"):
        assert file.is_dir() or b"Berlin-canary" not in file.read_bytes(), file.name


def test_10b_no_vector_of_an_erased_group_stays(tmp_path):
    world = World(tmp_path / "data")
    world.memory.close()
    world.settings = world.settings.model_copy(update={"embedder": "hash"})
    world.memory = world.open()
    world.tell("2024-01-01", object="Berlin", valid_at="2020")
    world.tell("2024-01-02", group_id="other", subject="Ben", object="Munich", valid_at="2020")
    assert len(world.memory.search("Berlin Munich", all_groups=True)) == 2

    world.memory.erase("g")

    assert [hit.object for hit in world.memory.search("Berlin Munich", all_groups=True)] == ["Munich"]
    world.memory.close()
    with sqlite3.connect(world.path / "vectors.db") as cache:
        assert cache.execute("SELECT count(*) FROM vectors").fetchone() == (1,)
    cache.close()
