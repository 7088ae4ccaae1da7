"""Instants: microseconds in UTC, read from text that says its offset, written with Z."""

import os
import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from asof_streams.errors import InvalidInput
from asof_streams.instants import DAY, INF, NEG, SECOND, from_datetime, parse, parse_moment, render, to_datetime

FIRST = from_datetime(datetime.min.replace(tzinfo=UTC))
LAST = from_datetime(datetime.max.replace(tzinfo=UTC))

instants = st.integers(FIRST, LAST)
offsets = st.integers(-23 * 60 - 59, 23 * 60 + 59).map(lambda minutes: timezone(timedelta(minutes=minutes)))


@pytest.fixture(params=["UTC", "Pacific/Kiritimati", "America/Sao_Paulo"])
def zone(request: pytest.FixtureRequest) -> Iterator[None]:
    before = os.environ.get("TZ")
    os.environ["TZ"] = request.param
    time.tzset()
    yield
    if before is None:
        del os.environ["TZ"]
    else:
        os.environ["TZ"] = before
    time.tzset()


@pytest.mark.parametrize(
    ("text", "instant"),
    [
        ("1970-01-01T00:00:00Z", 0),
        ("1970-01-01T00:00:01.5Z", 1_500_000),
        ("1969-12-31T23:59:59.999999Z", -1),
        ("1970-01-02T01:00+01:00", DAY),
        ("1970-01-01 00:00:00+0000", 0),
        ("1970-01-01t00:00:00z", 0),
        ("1970-01-01T00:00:00.1234567Z", 123_456),
        ("0001-01-01T00:00:00Z", FIRST),
        ("9999-12-31T23:59:59.999999Z", LAST),
        ("2024-02-29T12:00:00-05:00", 1_709_226_000 * SECOND),
    ],
)
@pytest.mark.usefixtures("zone")
def test_a_time_with_its_offset_is_read_the_same_in_every_zone(text: str, instant: int) -> None:
    assert parse(text) == instant


@pytest.mark.parametrize("text", ["2024-05-01T09:30:00", "2024-05-01 09:30"])
@pytest.mark.usefixtures("zone")
def test_a_time_without_an_offset_is_refused_never_guessed(text: str) -> None:
    with pytest.raises(InvalidInput, match=r"needs its offset: add Z or \+hh:mm"):
        parse(text)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "yesterday",
        "2024-05-01",
        "20240501T093000Z",
        "2024-W18-3T00:00:00Z",
        "2024-05-01T09Z",
        "2024-05-01T09:30:00Z ",
        "2024-05-01T09:30:00Z\n",
        "٢٠٢٤-05-01T09:30:00Z",
        "2024-05-01T09:30:00.Z",
        "2024-05-01T09:30:00UTC",
    ],
)
def test_what_is_no_time_is_refused_with_an_example(text: str) -> None:
    with pytest.raises(InvalidInput, match="not a time: write it as 2024-05-01T09:30:00Z"):
        parse(text)


@pytest.mark.parametrize(
    "text",
    [
        "2023-02-29T00:00:00Z",
        "2024-13-01T00:00:00Z",
        "2024-05-01T25:00:00Z",
        "2024-05-01T09:60:00Z",
        "2024-05-01T09:30:60Z",
        "0000-01-01T00:00:00Z",
        "0001-01-01T00:00:00+01:00",
        "9999-12-31T23:59:59-01:00",
        "2024-05-01T09:30:00+24:00",
    ],
)
def test_a_day_or_hour_that_does_not_exist_is_refused(text: str) -> None:
    with pytest.raises(InvalidInput, match="no such day or hour"):
        parse(text)


@given(st.text(max_size=40))
def test_a_refusal_never_repeats_what_was_given(text: str) -> None:
    text = f"secret {text}"
    for read in (parse, parse_moment):
        with pytest.raises(InvalidInput) as caught:
            read(text)

        assert "secret" not in str(caught.value)


@given(instants)
def test_what_is_written_is_read_back_as_it_was(instant: int) -> None:
    text = render(instant)

    assert text is not None
    assert text.endswith("Z")
    assert parse(text) == instant == from_datetime(to_datetime(instant))


@given(instants, instants)
def test_text_has_an_order_of_its_own_only_through_instants(one: int, other: int) -> None:
    assert (one < other) == (to_datetime(one) < to_datetime(other))


@given(st.datetimes(timezones=offsets, min_value=datetime(2, 1, 1), max_value=datetime(9998, 1, 1)))
def test_the_offset_a_time_is_written_with_does_not_matter(moment: datetime) -> None:
    instant = from_datetime(moment)

    assert instant == from_datetime(moment.astimezone(UTC)) == parse(moment.isoformat())


def test_microseconds_are_written_only_where_there_are_any() -> None:
    assert render(0) == "1970-01-01T00:00:00Z"
    assert render(1) == "1970-01-01T00:00:00.000001Z"


def test_an_open_end_has_no_text_and_no_datetime() -> None:
    for end in (NEG, INF):
        assert render(end) is None
        with pytest.raises(ValueError, match="open end"):
            to_datetime(end)


def test_a_naive_datetime_is_refused() -> None:
    with pytest.raises(InvalidInput, match="needs its offset"):
        from_datetime(datetime(2024, 5, 1))


@pytest.mark.parametrize(
    ("text", "same"),
    [
        ("2024", "2024-01-01T00:00:00Z"),
        ("2024-05", "2024-05-01T00:00:00Z"),
        ("2024-05-17", "2024-05-17T00:00:00Z"),
        ("2024-05-17T10:00:00+02:00", "2024-05-17T08:00:00Z"),
    ],
)
def test_a_moment_may_be_a_day_a_month_or_a_year_meaning_its_first_instant(text: str, same: str) -> None:
    assert parse_moment(text) == parse(same)


@pytest.mark.parametrize("text", ["2024-13", "2024-02-30", "0000", "2024-00-01"])
def test_a_moment_that_no_calendar_has_is_refused(text: str) -> None:
    with pytest.raises(InvalidInput, match="no such day"):
        parse_moment(text)
