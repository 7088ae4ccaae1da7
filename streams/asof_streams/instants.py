"""Instants and intervals: UTC microseconds since 1970 as integers, half-open, with sentinels for open ends (design 4).

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
    """Return an aware datetime as microseconds; a naive one is refused."""
    if moment.tzinfo is None:
        raise InvalidInput("a time needs its offset: add Z or +hh:mm")
    return (moment - _EPOCH) // _MICROSECOND


def to_datetime(instant: int) -> datetime:
    """Return microseconds as an aware UTC datetime. Sentinels have no datetime: ValueError."""
    try:
        return _EPOCH + timedelta(microseconds=instant)
    except OverflowError as error:
        raise ValueError("an open end has no datetime") from error


def parse(text: str) -> int:
    """Read an RFC 3339 time with its offset. InvalidInput says what is missing."""
    if not _RFC3339.fullmatch(text):
        raise InvalidInput("not a time: write it as 2024-05-01T09:30:00Z")
    try:
        instant = from_datetime(datetime.fromisoformat(text.upper()))
        to_datetime(instant)  # an offset can lead out of the years 1 to 9999, where nothing could be written again
    except (ValueError, OverflowError):
        raise InvalidInput("no such day or hour: write it as 2024-05-01T09:30:00Z") from None
    return instant


def parse_moment(text: str) -> int:
    """Read the moment of a question: an RFC 3339 time, or a date, month or year meaning its first instant in UTC."""
    if _DATE.fullmatch(text):
        try:
            return from_datetime(datetime.fromisoformat((text + "-01-01")[:10]).replace(tzinfo=UTC))
        except ValueError:
            raise InvalidInput("no such day: write it as 2024-05-01 or 2024-05-01T09:30:00Z") from None
    return parse(text)


def render(instant: int) -> str | None:
    """Return RFC 3339 with Z, microseconds only where there are any; None for an open end."""
    if instant in (INF, NEG):
        return None
    moment = to_datetime(instant)
    return moment.replace(tzinfo=None).isoformat() + "Z"
