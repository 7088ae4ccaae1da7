"""Times at a door: microseconds since 1970 and back, the clock of this machine, and times as people say them.

"last May", "2 weeks ago" or "now" mean the first instant of what they name, seen from the moment at which they are
read. What may mean two times is refused.
"""

import re
from collections.abc import Callable, Mapping
from datetime import UTC, timedelta, timezone, tzinfo
from typing import Any, Final

from asof.runtime.clock import system
from asof_streams.errors import InvalidInput
from asof_streams.instants import from_datetime, render, to_datetime
from asof_streams.messages import TIMES
from asof_streams.timezones import zone_of

__all__ = ["SPOKEN", "from_datetime", "in_instants", "read_words", "render", "system", "to_datetime", "zone_of"]

SPOKEN: Final = frozenset({"valid_at", "known_at", "from", "to", "start", "stop", *TIMES})
"""The fields that are times, or points on both clocks, in queries and messages."""

_POINTS: Final = frozenset({"from", "to", "start", "stop"})
_WORD: Final = re.compile(r"[A-Za-z]{2}|\d/\d")  # RFC 3339 has neither
_DAY_OR_MONTH: Final = re.compile(r"\b(0?[1-9]|1[0-2])[/.](0?[1-9]|1[0-2])[/.]\d{2,4}\b")
_MIXED: Final = re.compile(r"\d\s+\d+/\d")  # the reader of words would take the fraction alone
_LONGEST: Final = 200  # characters: no time that people say has more, and a reader of words takes its time
_WRITTEN: Final = (str, tuple, list)  # times as text, and points on both clocks
_EXACT: Final = frozenset({"second", "minute", "hour"})


def in_instants(fields: Mapping[str, Any], now: Callable[[], int], *, zone: tzinfo | None = None) -> dict[str, Any]:
    """Return fields whose times are RFC 3339 text where words named them; what words do not name stays as it is.

    `zone`: by whose days words are read; None: this machine's. InvalidInput names the field whose words may
    mean two times, or a period without a beginning or an end.
    """
    instants = dict(fields)
    for name, value in fields.items():
        if name in SPOKEN and isinstance(value, _WRITTEN):
            instants[name] = _read(name, value, now, zone=zone)
    return instants


def _read(name: str, value: Any, now: Callable[[], int], *, zone: tzinfo | None) -> Any:
    if isinstance(value, list) and len(value) == 1:  # FastAPI reads a point as a list of its values
        return _read(name, value[0], now, zone=zone)
    try:
        if name in _POINTS and isinstance(value, tuple | list) and len(value) == 2:
            return [_in_words(part, now, zone=zone) for part in value]
        if name in _POINTS and isinstance(value, str) and value.count(",") == 1:
            return ",".join(_in_words(part.strip(), now, zone=zone) for part in value.split(","))
        return _in_words(value, now, zone=zone)
    except InvalidInput as error:
        raise error.within(name) from None


def _in_words(value: Any, now: Callable[[], int], *, zone: tzinfo | None) -> Any:
    if not isinstance(value, str) or len(value) > _LONGEST or not _WORD.search(value):
        return value
    instant = read_words(value, now(), zone=zone)
    return value if instant is None else render(instant)


def read_words(text: str, now: int, *, zone: tzinfo | None) -> int | None:
    """Return the first instant of what words name, seen from a moment; None: they name no time.

    InvalidInput: they may mean two times, or name a period that has no beginning or no end.
    """
    from asof_agents.extraction.english.dates import read_time

    if _MIXED.search(text):
        raise InvalidInput("a number with a fraction is not read; give whole numbers or a date")
    there = zone or timezone(to_datetime(now).astimezone().utcoffset() or timedelta())
    last, following = (read_time(text, now, tense=tense, zone=there) for tense in ("past", "future"))
    if last is None or following is None:
        return None
    if last.kind not in ("point", "during"):
        raise InvalidInput("it is a period without a beginning or an end; give one time")
    if last.start != following.start:
        raise InvalidInput(f"it may mean {render(last.start)} or {render(following.start)}: say which")
    if (day := _DAY_OR_MONTH.search(text)) and day[1] != day[2]:
        raise InvalidInput("day and month may be meant either way round: write it as 2024-05-01")
    if last.start <= now < last.end and last.grain == "second":
        return now
    if zone is not None or last.grain in _EXACT:
        return last.start
    wall = to_datetime(last.start).astimezone(there).replace(tzinfo=None)
    return from_datetime(wall.astimezone(UTC))  # midnight there on that day, which may have another offset than now
