"""Recorded times: each record's is later than that of the record before it in its group, and never before the log's."""

import sqlite3
from collections.abc import Iterator

import pytest

from asof_streams.errors import PositionConflict
from asof_streams.instants import NEG, SECOND
from asof_streams.recorded_times import RecordedTimes


@pytest.fixture
def db() -> Iterator[sqlite3.Connection]:
    db = sqlite3.connect(":memory:")
    db.execute("CREATE TABLE groups (grp TEXT PRIMARY KEY, recorded_at INTEGER NOT NULL)")
    yield db
    db.close()


@pytest.fixture
def times(db: sqlite3.Connection) -> RecordedTimes:
    return RecordedTimes(db)


def test_messages_of_one_moment_rise_in_their_group_and_others_are_at_the_clock(times: RecordedTimes) -> None:
    assert times.next(0, ["g", "g", "h", "g"], 10, None) == [10, 11, 10, 12]


def test_a_clock_that_went_back_stands_still_until_it_has_caught_up(times: RecordedTimes) -> None:
    times.note(0, 3, {"g": 100, "h": 90}, 100)

    assert times.next(3, ["h", "g", "new", "h"], 50, None) == [100, 101, 100, 101]
    assert times.next(3, ["h", "g"], 101, None) == [101, 101]


def test_imported_times_stay_where_they_rise_whatever_other_groups_have(times: RecordedTimes) -> None:
    times.note(0, 3, {"g": 100}, 100)

    assert times.next(3, ["h", "h", "i", "h"], 200, [50, 60, 20, 70]) == [50, 60, 20, 70]


def test_imported_times_that_are_equal_rise_and_later_ones_stand_where_they_did(times: RecordedTimes) -> None:
    assert times.next(0, ["g"] * 5, 0, [10, 10, 10, 11, 20]) == [10, 11, 12, 13, 20]


def test_an_imported_message_is_refused_that_was_recorded_before_the_one_that_it_follows(times: RecordedTimes) -> None:
    with pytest.raises(PositionConflict, match="group g: message 3 was recorded before"):
        times.next(0, ["g", "h", "g"], 0, [10, 5, 9])

    times.note(0, 1, {"g": 2 * SECOND}, 2 * SECOND)
    assert times.earliest("g") == SECOND  # by which a million of one moment may have risen
    assert times.next(1, ["g"], 0, [SECOND]) == [2 * SECOND + 1]
    with pytest.raises(PositionConflict):
        times.next(1, ["g"], 0, [SECOND - 1])


def test_the_latest_of_a_log_is_kept_until_another_writer_was_there(
    times: RecordedTimes, db: sqlite3.Connection
) -> None:
    assert (times.latest(0), times.last("g")) == (NEG, NEG)
    times.note(0, 2, {"g": 5}, 5)
    times.note(2, 3, {"g": 4}, 4)
    assert (times.latest(3), times.last("g")) == (5, 4)

    db.execute("INSERT INTO groups VALUES ('h', 99)")
    assert times.latest(3) == 5
    assert times.latest(4) == 99
    db.execute("INSERT INTO groups VALUES ('i', 100)")
    times.note(7, 9, {"g": 6}, 6)  # behind what another wrote
    assert times.latest(9) == 100


def test_the_last_times_of_a_log_are_kept_until_another_writer_was_there_or_they_are_forgotten(
    times: RecordedTimes, db: sqlite3.Connection
) -> None:
    times.note(0, 2, {"g": 5}, 5)
    db.execute("UPDATE groups SET recorded_at = 99")
    assert times.next(2, ["g"], 1, [6]) == [6]
    with pytest.raises(PositionConflict):  # it lies more than a second before the one that it follows
        times.next(3, ["g"], 1, [98 - SECOND])
    assert times.next(3, ["g"], 1, [6]) == [100]

    times.forget()
    assert times.next(2, ["g"], 1, [6]) == [100]
    assert times.latest(2) == 99
