"""Calendar arithmetic: spans of wall-clock time, and the seasons and feasts of a year.

A wall-clock time is a datetime that says UTC and means the local zone; the doors add and remove its offset.
"""

from calendar import monthrange
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Final

from asof_streams.messages import Grain

Yearly = Callable[[int], "Span"]
"""A yearly recurrence, such as a month or a feast: returns its span in a given year."""

GRAINS: Final[tuple[Grain, ...]] = ("second", "minute", "hour", "day", "week", "month", "quarter", "year")
MONTHS_IN: Final[dict[Grain, int]] = {"month": 1, "quarter": 3, "year": 12}
LENGTH: Final[dict[Grain, timedelta]] = {
    "second": timedelta(seconds=1),
    "minute": timedelta(minutes=1),
    "hour": timedelta(hours=1),
    "day": timedelta(days=1),
    "week": timedelta(weeks=1),
}
DAY: Final = LENGTH["day"]
HOUR: Final = LENGTH["hour"]
TICK: Final = timedelta(microseconds=1)


@dataclass(frozen=True, slots=True)
class Span:
    """A half-open span [start, end) of wall-clock time."""

    start: datetime
    end: datetime
    grain: Grain

    @property
    def length(self) -> timedelta:
        return self.end - self.start


def at(year: int, month: int = 1, day: int = 1) -> datetime:
    """Return midnight of a day. ValueError: there is no such day."""
    return datetime(year, month, day, tzinfo=UTC)


def floor(moment: datetime, grain: Grain) -> datetime:
    """Return the first instant of the granule that contains a moment. Weeks begin on Monday."""
    match grain:
        case "second":
            return moment.replace(microsecond=0)
        case "minute":
            return moment.replace(second=0, microsecond=0)
        case "hour":
            return moment.replace(minute=0, second=0, microsecond=0)
    midnight = moment.replace(hour=0, minute=0, second=0, microsecond=0)
    match grain:
        case "week":
            return midnight - midnight.weekday() * DAY
        case "month" | "quarter" | "year":
            return midnight.replace(month=midnight.month - (midnight.month - 1) % MONTHS_IN[grain], day=1)
    return midnight


def shift(moment: datetime, count: int, grain: Grain) -> datetime:
    """Return the moment `count` granules away; the 31st becomes the last day of a shorter month."""
    if grain not in MONTHS_IN:
        return moment + count * LENGTH[grain]
    years, month = divmod(moment.month - 1 + count * MONTHS_IN[grain], 12)
    first = moment.replace(year=moment.year + years, month=month + 1, day=1)
    return first.replace(day=min(moment.day, monthrange(first.year, first.month)[1]))


def granule(moment: datetime, grain: Grain, count: int = 0) -> Span:
    """Return the granule that contains a moment, or the one `count` granules away."""
    start = shift(floor(moment, grain), count, grain)
    return Span(start, shift(start, 1, grain), grain)


def weekend(moment: datetime, count: int = 0) -> Span:
    """Return the weekend of the moment's week: Friday 18:00 to Monday."""
    week = granule(moment, "week", count)
    return Span(week.end - timedelta(hours=54), week.end, "day")


def whole(span: Span, grain: Grain, nth: int) -> Span:
    """Return the nth whole granule in a span: 0 is the first, -1 the last. ValueError: there is none."""
    if nth >= 0:
        first = granule(span.start - TICK, grain, 1)
        found = granule(first.start, grain, nth)
    else:
        found = granule(span.end, grain, nth)
    return _inside(found, span)


def nth_weekday(span: Span, weekday: int, nth: int) -> Span:
    """Return the nth such weekday of a span: 0 is the first, -1 the last. ValueError: there is none."""
    if nth >= 0:
        start = span.start + ((weekday - span.start.weekday()) % 7 + 7 * nth) * DAY
    else:
        start = span.end - ((span.end.weekday() - weekday - 1) % 7 + 1 + 7 * (-nth - 1)) * DAY
    return _inside(granule(start, "day"), span)


def _inside(found: Span, span: Span) -> Span:
    if found.start < span.start or found.end > span.end:
        raise ValueError("the span has not so many")
    return found


def month_of(month: int, year: int) -> Span:
    return granule(at(year, month), "month")


def quarter_of(quarter: int, year: int) -> Span:
    return granule(at(year, 3 * quarter - 2), "quarter")


def _day_of(month: int, day: int, year: int) -> Span:
    return granule(at(year, month, day), "day")


def _season_of(first: tuple[int, int], last: tuple[int, int], year: int) -> Span:
    return Span(at(year, *first), at(year + (last < first), *last) + DAY, "quarter")


def _easter_of(days: int, year: int) -> Span:
    """Return the day `days` after Easter Sunday, by the Gregorian computus (Meeus, Jones, Butcher)."""
    a, (b, c) = year % 19, divmod(year, 100)
    h = (19 * a + b - b // 4 - (b - (b + 8) // 25 + 1) // 3 + 15) % 30
    week = (32 + 2 * (b % 4) + 2 * (c // 4) - h - c % 4) % 7
    m = (a + 11 * h + 22 * week) // 451
    month, day = divmod(h + week - 7 * m + 114, 31)
    return granule(at(year, month, day + 1) + days * DAY, "day")


def _weekday_of(month: int, weekday: int, nth: int, days: int, year: int) -> Span:
    return granule(nth_weekday(month_of(month, year), weekday, nth).start + days * DAY, "day")


SEASONS: Final[dict[str, Yearly]] = {
    "spring": partial(_season_of, (3, 20), (6, 20)),
    "summer": partial(_season_of, (6, 21), (9, 23)),
    "autumn": partial(_season_of, (9, 23), (12, 20)),
    "fall": partial(_season_of, (9, 23), (12, 20)),
    "winter": partial(_season_of, (12, 21), (3, 20)),
}

HOLIDAYS: Final[dict[str, Yearly]] = {
    "new year's day": partial(_day_of, 1, 1),
    "valentine's day": partial(_day_of, 2, 14),
    "mardi gras": partial(_easter_of, -47),
    "ash wednesday": partial(_easter_of, -46),
    "good friday": partial(_easter_of, -2),
    "easter": partial(_easter_of, 0),
    "easter sunday": partial(_easter_of, 0),
    "easter monday": partial(_easter_of, 1),
    "pentecost": partial(_easter_of, 49),
    "st patrick's day": partial(_day_of, 3, 17),
    "mother's day": partial(_weekday_of, 5, 6, 1, 0),
    "father's day": partial(_weekday_of, 6, 6, 2, 0),
    "memorial day": partial(_weekday_of, 5, 0, -1, 0),
    "independence day": partial(_day_of, 7, 4),
    "labor day": partial(_weekday_of, 9, 0, 0, 0),
    "halloween": partial(_day_of, 10, 31),
    "thanksgiving": partial(_weekday_of, 11, 3, 3, 0),
    "black friday": partial(_weekday_of, 11, 3, 3, 1),
    "christmas eve": partial(_day_of, 12, 24),
    "christmas": partial(_day_of, 12, 25),
    "christmas day": partial(_day_of, 12, 25),
    "xmas": partial(_day_of, 12, 25),
    "boxing day": partial(_day_of, 12, 26),
    "new year's eve": partial(_day_of, 12, 31),
}
