"""Instants are integers, UTC microseconds since 1970; intervals are half-open, with sentinels for open ends.

Nothing here reads a clock or a local zone. Text is RFC 3339; a naive time is an error, never a guess.
"""

import re
from datetime import UTC, datetime, timedelta
from typing import Final

from asof_streams.errors import InvalidInput

NEG: Final = -(2**63)  # always before
INF: Final = 2**63 - 1  # no end stated
SECOND: Final = 1_000_000
DAY: Final = 86_400 * SECOND

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND: Final = timedelta(microseconds=1)
FIRST: Final = (datetime.min.replace(tzinfo=UTC) - _EPOCH) // _MICROSECOND  # of the years 1 to 9999
LAST: Final = (datetime.max.replace(tzinfo=UTC) - _EPOCH) // _MICROSECOND
_RFC3339: Final = re.compile(
    r"\d{4}-\d{2}-\d{2}[Tt ]\d{2}:\d{2}(:\d{2}(\.\d{1,9})?)?([Zz]|[+-]\d{2}:?\d{2})?", re.ASCII
)
_DATE: Final = re.compile(r"\d{4}(-\d{2}(-\d{2})?)?", re.ASCII)


def from_datetime(moment: datetime) -> int:
    """Return an aware datetime in microseconds. InvalidInput: it is naive."""
    if moment.tzinfo is None:
        raise InvalidInput("a time needs its offset: add Z or +hh:mm")
    return (moment - _EPOCH) // _MICROSECOND


def to_datetime(instant: int) -> datetime:
    """Return an instant as an aware UTC datetime. ValueError: it is a sentinel, which has no datetime."""
    try:
        return _EPOCH + timedelta(microseconds=instant)
    except OverflowError as error:
        raise ValueError("an open end has no datetime") from error


def parse(text: str) -> int:
    """Return the instant of an RFC 3339 time with an offset, such as 2024-05-01T09:30:00Z, or raise InvalidInput."""
    if not _RFC3339.fullmatch(text):
        raise InvalidInput("not a time: write it as 2024-05-01T09:30:00Z")
    try:
        instant = from_datetime(datetime.fromisoformat(text.upper()))
    except (ValueError, OverflowError):
        raise InvalidInput("no such day or hour: write it as 2024-05-01T09:30:00Z") from None
    if FIRST <= instant <= LAST:
        return instant
    # An offset leads out of the years 1 to 9999: such an instant could not be rendered.
    raise InvalidInput("no such day or hour: write it as 2024-05-01T09:30:00Z")


def parse_moment(text: str) -> int:
    """Return the instant of a query's time, or raise InvalidInput.

    It is RFC 3339, or a date, month or year, which mean their first instant in UTC: 2024-05 is 2024-05-01T00:00:00Z.
    """
    if _DATE.fullmatch(text):
        try:
            return from_datetime(datetime.fromisoformat((text + "-01-01")[:10]).replace(tzinfo=UTC))
        except ValueError:
            raise InvalidInput("no such day: write it as 2024-05-01 or 2024-05-01T09:30:00Z") from None
    return parse(text)


def render(instant: int) -> str | None:
    """Return RFC 3339 in UTC, ending in Z, with microseconds only if there are any; None for an open end."""
    if instant in (INF, NEG):
        return None
    moment = to_datetime(instant)
    return moment.replace(tzinfo=None).isoformat() + "Z"
