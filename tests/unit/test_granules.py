"""Granules: the days, months and years of what happened, by the days of a zone."""

import pytest

from asof_agents.handlers.granules import granule_from, granule_of
from asof_streams.instants import DAY, FIRST, LAST, parse_moment, render
from asof_streams.timezones import zone_of


@pytest.mark.parametrize(
    ("grain", "start", "end"),
    [
        ("second", "2024-05-08T10:30:15Z", "2024-05-08T10:30:16Z"),
        ("minute", "2024-05-08T10:30:00Z", "2024-05-08T10:31:00Z"),
        ("hour", "2024-05-08T10:00:00Z", "2024-05-08T11:00:00Z"),
        ("day", "2024-05-08T00:00:00Z", "2024-05-09T00:00:00Z"),
        ("week", "2024-05-06T00:00:00Z", "2024-05-13T00:00:00Z"),
        ("month", "2024-05-01T00:00:00Z", "2024-06-01T00:00:00Z"),
        ("quarter", "2024-04-01T00:00:00Z", "2024-07-01T00:00:00Z"),
        ("year", "2024-01-01T00:00:00Z", "2025-01-01T00:00:00Z"),
    ],
)
def test_the_granule_of_an_instant_contains_it(grain: str, start: str, end: str) -> None:
    assert tuple(map(render, granule_of(parse_moment("2024-05-08T10:30:15.5Z"), grain))) == (start, end)


@pytest.mark.parametrize(
    ("zone", "instant", "grain", "start", "end"),
    [
        ("Europe/Berlin", "2024-05-15T22:30:00Z", "day", "2024-05-15T22:00:00Z", "2024-05-16T22:00:00Z"),
        ("Europe/Berlin", "2024-05-15T22:00:00Z", "day", "2024-05-15T22:00:00Z", "2024-05-16T22:00:00Z"),  # its start
        ("Europe/Berlin", "2024-03-31T12:00:00Z", "day", "2024-03-30T23:00:00Z", "2024-03-31T22:00:00Z"),  # of 23 hours
        ("Europe/Berlin", "2024-10-27T00:30:00Z", "hour", "2024-10-27T00:00:00Z", "2024-10-27T01:00:00Z"),
        ("Europe/Berlin", "2024-10-27T01:30:00Z", "hour", "2024-10-27T01:00:00Z", "2024-10-27T02:00:00Z"),  # again
        ("Asia/Kolkata", "2024-05-08T10:10:00Z", "hour", "2024-05-08T09:30:00Z", "2024-05-08T10:30:00Z"),
        ("Asia/Tokyo", "2024-05-12T16:00:00Z", "week", "2024-05-12T15:00:00Z", "2024-05-19T15:00:00Z"),
        ("America/New_York", "2025-01-01T03:00:00Z", "month", "2024-12-01T05:00:00Z", "2025-01-01T05:00:00Z"),
        ("America/New_York", "2025-01-01T03:00:00Z", "year", "2024-01-01T05:00:00Z", "2025-01-01T05:00:00Z"),
        ("America/Sao_Paulo", "2018-11-04T12:00:00Z", "day", "2018-11-04T03:00:00Z", "2018-11-05T02:00:00Z"),  # no 0:00
        ("Asia/Tokyo", "0001-01-01T03:00:00Z", "day", "0001-01-01T00:00:00Z", "0001-01-02T00:00:00Z"),
    ],
)
def test_the_granule_of_an_instant_is_one_of_the_clocks_of_its_zone(
    zone: str, instant: str, grain: str, start: str, end: str
) -> None:
    at = parse_moment(instant)

    granule = granule_of(at, grain, zone_of(zone))

    assert tuple(map(render, granule)) == (start, end)
    assert granule[0] <= at < granule[1]


@pytest.mark.parametrize("zone", ["Asia/Tokyo", "America/New_York"])
@pytest.mark.parametrize("grain", ["hour", "day", "week", "month", "quarter", "year"])
@pytest.mark.parametrize("instant", [FIRST, FIRST + DAY, LAST - DAY, LAST - 1])
def test_at_the_ends_of_the_calendar_there_is_a_granule_too(zone: str, grain: str, instant: int) -> None:
    start, end = granule_of(instant, grain, zone_of(zone))

    assert start <= instant < end


@pytest.mark.parametrize(
    ("grain", "start", "end"),
    [
        ("hour", "2024-03-31T00:30:00Z", "2024-03-31T01:30:00Z"),
        ("day", "2024-03-30T23:00:00Z", "2024-03-31T22:00:00Z"),
        ("week", "2024-03-30T23:00:00Z", "2024-04-06T22:00:00Z"),
        ("month", "2024-04-30T22:00:00Z", "2024-05-31T22:00:00Z"),
        ("year", "2023-12-31T23:00:00Z", "2024-12-31T23:00:00Z"),
    ],
)
def test_a_granule_is_as_long_as_by_the_clocks_of_its_zone(grain: str, start: str, end: str) -> None:
    assert tuple(map(render, granule_from(parse_moment(start), grain, zone_of("Europe/Berlin")))) == (start, end)


@pytest.mark.parametrize(
    ("grain", "start", "end"),
    [
        ("month", "2024-01-31T10:00:00Z", "2024-02-29T10:00:00Z"),
        ("quarter", "2023-11-30T00:00:00Z", "2024-02-29T00:00:00Z"),
        ("month", "2024-12-31T00:00:00Z", "2025-01-31T00:00:00Z"),
    ],
)
def test_months_later_than_the_last_of_a_month_is_the_last_of_a_shorter_one(grain: str, start: str, end: str) -> None:
    assert tuple(map(render, granule_from(parse_moment(start), grain))) == (start, end)


def test_the_last_year_but_one_ends_with_the_last_one() -> None:
    year = granule_of(parse_moment("9998-05-08"), "year")

    assert tuple(map(render, year)) == ("9998-01-01T00:00:00Z", "9999-01-01T00:00:00Z")
