"""Time zones by their IANA names, as the database of this machine has them; else that of the package tzdata."""

from datetime import UTC, datetime, tzinfo
from difflib import get_close_matches
from typing import Final
from zoneinfo import ZoneInfo, available_timezones

_LONGEST: Final = 64  # characters; none of the database has more


def on_wall(moment: datetime, zone: tzinfo) -> datetime:
    """Return what a zone's wall clock shows at a moment, as if it were UTC; at the ends of the calendar, UTC itself."""
    try:
        return moment.astimezone(zone).replace(tzinfo=UTC, fold=0)
    except OverflowError:
        return moment


def off_wall(wall: datetime, zone: tzinfo) -> datetime:
    """Return the moment at which a zone's wall clock shows a time that is written as if it were UTC.

    The first of two, where the clock was put back. OverflowError: it is beyond the calendar.
    """
    return wall if zone is UTC else wall.replace(tzinfo=zone).astimezone(UTC)


def zone_of(name: str) -> tzinfo:
    """Return a time zone by its IANA name. ValueError: this machine knows none of this name."""
    if name == "UTC":
        return UTC  # also where there is no database of zones
    try:
        return ZoneInfo(name)
    except (ValueError, KeyError, OSError):
        known = available_timezones()
        if not known:
            raise ValueError("this machine has no database of time zones: install the package tzdata") from None
        near = get_close_matches(name[:_LONGEST], known, 1)
        advice = f"did you mean {near[0]}?" if near else "write it as Europe/Berlin"
        raise ValueError(f"no time zone of this name is known here; {advice}") from None
