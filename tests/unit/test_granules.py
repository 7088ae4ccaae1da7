"""Granules: the days, months and years of what happened, by the days of a zone."""

import pytest

from asof_agents.handlers.granules import granule_from, granule_of
from asof_streams.instants import parse_moment, render
from asof_streams.timezones import zone_of


@pytest.mark.parametrize(
    ("grain", "start", "end"),
    [
        ("second", "2024-05-08T10:30:15Z", "2024-05-08T10:30:16Z"),
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
