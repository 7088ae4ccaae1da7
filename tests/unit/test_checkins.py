"""Which check-ins are due: never in quiet hours by the user's own clock, also where that is put forward or back."""

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from asof_agents.conversation.checkins import (
    LONGEST_MINUTES,
    QuietHours,
    due_checkins,
    due_time,
)
from asof_projections.conversation.model import Checkin
from asof_streams.instants import from_datetime, parse

NIGHT = QuietHours.parse("22:00-08:00")
BERLIN = ZoneInfo("Europe/Berlin")
MINUTE = 60_000_000
ZONES = ["UTC", "Europe/Berlin", "America/New_York", "Asia/Kathmandu", "Australia/Lord_Howe", "Pacific/Apia"]


def due(*pending: Checkin, now: str, quiet: QuietHours = NIGHT, zone: str = "Europe/Berlin") -> list[str]:
    return [checkin.checkin_id for checkin in due_checkins(pending, parse(now), quiet, lambda _: ZoneInfo(zone))]


def checkin(due_at: str, group: str = "g", name: str = "a") -> Checkin:
    return Checkin(name, group, 0, parse(due_at), 0, "scheduled")


@pytest.mark.parametrize(
    ("now", "expected"),
    [
        ("2025-01-15T13:29:59.999999Z", []),
        ("2025-01-15T13:30:00Z", ["a"]),
        ("2025-01-15T20:59:59Z", ["a"]),
        ("2025-01-15T21:00:00Z", []),  # ten in the evening in Berlin
        ("2025-01-15T23:30:00Z", []),  # half past midnight
        ("2025-01-16T06:59:59.999999Z", []),
        ("2025-01-16T07:00:00Z", ["a"]),
        ("2026-06-01T12:00:00Z", ["a"]),  # the bot was off for a year
    ],
)
def test_a_check_in_is_due_from_its_time_on_and_waits_while_its_users_hours_are_quiet(
    now: str, expected: list[str]
) -> None:
    assert due(checkin("2025-01-15T13:30:00Z"), now=now) == expected


def test_quiet_hours_are_those_of_each_groups_own_zone() -> None:
    zones = {"berlin": BERLIN, "tokyo": ZoneInfo("Asia/Tokyo")}
    pending = [checkin("2025-01-15T12:00:00Z", group, group) for group in zones]

    at_noon = due_checkins(pending, parse("2025-01-15T13:30:00Z"), NIGHT, zones.__getitem__)
    at_night = due_checkins(pending, parse("2025-01-15T23:30:00Z"), NIGHT, zones.__getitem__)

    assert ([c.checkin_id for c in at_noon], [c.checkin_id for c in at_night]) == (["berlin"], ["tokyo"])


def test_what_is_due_comes_by_its_time_then_by_its_group() -> None:
    pending = [
        checkin("2025-01-15T11:00:00Z", "b", "2"),
        checkin("2025-01-15T10:00:00Z", "c", "0"),
        checkin("2025-01-15T11:00:00Z", "a", "1"),
    ]

    assert due(*pending, now="2025-01-15T12:00:00Z") == ["0", "1", "2"]


@pytest.mark.parametrize(
    ("hours", "quiet", "loud"),
    [
        # In the night of 30 March 2025 clocks went from two to three o'clock.
        ("22:00-02:30", "2025-03-30T00:59:59Z", "2025-03-30T01:00:00Z"),
        ("02:15-02:45", "2025-03-29T01:30:00Z", "2025-03-30T01:30:00Z"),  # an hour that was not
        # In the night of 26 October 2025 they went from three back to two.
        ("22:00-02:30", "2025-10-26T00:29:59Z", "2025-10-26T00:30:00Z"),
        ("22:00-02:30", "2025-10-26T01:00:00Z", "2025-10-26T01:30:00Z"),  # two o'clock for the second time
    ],
)
def test_where_clocks_are_put_forward_or_back_what_they_show_decides(hours: str, quiet: str, loud: str) -> None:
    hours_ = QuietHours.parse(hours)

    assert (hours_.covers(parse(quiet), BERLIN), hours_.covers(parse(loud), BERLIN)) == (True, False)


@pytest.mark.parametrize("hours", ["08:00-08:00", "00:00-00:00"])
def test_no_hour_is_quiet_where_none_is_named(hours: str) -> None:
    first = datetime(2025, 3, 30, tzinfo=UTC)

    assert not any(
        QuietHours.parse(hours).covers(from_datetime(first + timedelta(minutes=15 * n)), BERLIN) for n in range(96)
    )


@pytest.mark.parametrize(
    "text", ["", "22-8", "22:00", "24:00-08:00", "22:60-08:00", "22:00-08:00 ", "\uff12\uff12:00-08:00", "no"]
)
def test_hours_that_are_none_are_refused_with_how_to_write_them(text: str) -> None:
    with pytest.raises(ValueError, match="22:00-08:00"):
        QuietHours.parse(text)


@given(
    st.datetimes(datetime(2000, 1, 1), datetime(2037, 1, 1), timezones=st.just(UTC)),
    st.sampled_from(ZONES),
    st.integers(0, 1439),
    st.integers(0, 1439),
)
def test_hours_are_quiet_exactly_while_the_users_clock_shows_them(
    moment: datetime, zone: str, start: int, end: int
) -> None:
    clock = moment.astimezone(ZoneInfo(zone))
    shown = clock.hour * 60 + clock.minute
    listed = {minute % 1440 for minute in range(start, end if start <= end else end + 1440)}

    assert QuietHours(start, end).covers(from_datetime(moment), ZoneInfo(zone)) == (shown in listed)


@given(
    st.datetimes(datetime(2000, 1, 1), datetime(2037, 1, 1), timezones=st.just(UTC)),
    st.sampled_from(ZONES),
    st.integers(0, 1439),
    st.integers(1, 1439),
)
def test_no_check_in_waits_longer_than_the_quiet_hours_and_an_hour_that_comes_twice(
    moment: datetime, zone: str, start: int, length: int
) -> None:
    quiet, longest = QuietHours(start, (start + length) % 1440), length + 60  # minutes
    waiting = Checkin("a", "g", 0, from_datetime(moment), 0, "scheduled")

    assert any(
        due_checkins([waiting], waiting.due_at + minutes * MINUTE, quiet, lambda _: ZoneInfo(zone))
        for minutes in range(longest + 1)
    )


@pytest.mark.parametrize(
    ("minutes", "expected"),
    [
        (-5, None),
        (0, None),
        (1, "2025-01-15T10:31:00Z"),
        (180, "2025-01-15T13:30:00Z"),
        (LONGEST_MINUTES, "2025-02-14T10:30:00Z"),
        (10**30, "2025-02-14T10:30:00Z"),
    ],
)
def test_a_check_in_is_due_so_many_minutes_after_it_was_asked_for(minutes: int, expected: str | None) -> None:
    assert due_time(parse("2025-01-15T10:30:00Z"), minutes) == (expected and parse(expected))
