"""Granules of occurrences: the days, months and years over which they are believed. Pure."""

from calendar import monthrange
from datetime import UTC, datetime, tzinfo
from typing import Final

from asof_projections.versions import Interval
from asof_streams.instants import DAY, LAST, NEG, SECOND, from_datetime, to_datetime
from asof_streams.timezones import off_wall, on_wall

_MONTHS: Final = {"month": 1, "quarter": 3, "year": 12}
_SECONDS: Final = {"second": 1, "minute": 60, "hour": 3_600, "day": 86_400, "week": 604_800}
_MONDAY: Final = from_datetime(datetime.fromisoformat("1970-01-05T00:00:00+00:00"))


def granule_of(instant: int, grain: str, zone: tzinfo = UTC) -> Interval:
    """Return the granule that contains an instant, by the clocks of a zone. Weeks begin on Monday.

    At the ends of the calendar, where the zone has no such day, it is that of UTC.
    """
    wall = from_datetime(on_wall(to_datetime(instant), zone))
    if (length := _SECONDS.get(grain, DAY // SECOND)) < DAY // SECOND:
        start = instant - (wall - _MONDAY) % (length * SECOND)
        return start, start + length * SECOND
    try:
        start, end = (from_datetime(off_wall(to_datetime(at), zone)) for at in _calendar(wall, grain))
    except (OverflowError, ValueError):
        return _calendar(instant, grain)
    return (start, end) if start <= instant < end else _calendar(instant, grain)


def _calendar(wall: int, grain: str) -> Interval:
    """Return the days, weeks, months or years around a time, as if every day had 24 hours."""
    if (length := _SECONDS.get(grain)) is not None:
        start = wall - (wall - _MONDAY) % (length * SECOND)
        return start, start + length * SECOND
    months = _MONTHS[grain]
    moment = to_datetime(wall).replace(day=1, hour=0, minute=0, second=0, microsecond=0)
    start = from_datetime(moment.replace(month=moment.month - (moment.month - 1) % months))
    return start, _later(start, months)


def granule_from(instant: int, grain: str, zone: tzinfo = UTC) -> Interval:
    """Return the period of one granule's length that begins at an instant, such as a season's first day.

    zone: by whose days and months it is as long.
    """
    if (length := _SECONDS.get(grain, DAY // SECOND)) < DAY // SECOND:
        return instant, instant + length * SECOND
    wall = from_datetime(on_wall(to_datetime(instant), zone))
    later = _later(wall, months) if (months := _MONTHS.get(grain)) else wall + length * SECOND
    return instant, from_datetime(off_wall(to_datetime(min(later, LAST)), zone))


def before(instant: int) -> Interval:
    """Return the granule of what happened at an unknown time before an instant."""
    return NEG, instant


def _later(instant: int, months: int) -> int:
    """Return the instant some months later; the 31st becomes the last day of a shorter month."""
    moment = to_datetime(instant)
    years, month = divmod(moment.month - 1 + months, 12)
    if moment.year + years > to_datetime(LAST).year:
        return LAST
    year = moment.year + years
    day = min(moment.day, monthrange(year, month + 1)[1])
    return from_datetime(moment.replace(year=year, month=month + 1, day=day))
