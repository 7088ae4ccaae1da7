"""Values of attributes that an ontology declares: whether words are one of the kind, and how it is written. Pure."""

import re
from datetime import tzinfo
from typing import Final

from asof_agents.extraction.english.dates import find_times
from asof_ontologies.model import AttributeType
from asof_projections.names import folded
from asof_streams.instants import from_datetime, render, to_datetime
from asof_streams.timezones import on_wall, zone_of

_NUMBER: Final = re.compile(r"([-+]?\d{1,3}(?:,\d{3})+(?:\.\d+)?|[-+]?\d+(?:\.\d+)?)(?:\s*(%|[^\W\d_]{1,12}))?")
_YEAR: Final = re.compile(r"\d{4}")  # which alone may be any number
_GRAINS: Final = {"day": 10, "month": 7, "year": 4}  # characters of a date


def typed_value(attribute: AttributeType, words: str, said_at: int, timezone: str) -> str | None:
    """Return the words as a value of an attribute; None: they are none of its kind, or of its choices.

    A number is written without separators and with its unit, a date as 2024-03-05, 2024-03 or 2024.
    said_at: when the words were said, in microseconds UTC: "last May" is counted from then, by the days of a time zone.
    """
    if attribute.choices:
        return folded(words) if folded(words) in attribute.choices else None
    match attribute.kind:
        case "number":
            number = _NUMBER.fullmatch(words.strip())
            return " ".join(part for part in (number[1].replace(",", ""), number[2]) if part) if number else None
        case "date":
            return _date(words.strip(), said_at, zone_of(timezone))
        case "text":
            return words


def _date(words: str, said_at: int, zone: tzinfo) -> str | None:
    words = f"in {words}" if _YEAR.fullmatch(words) else words
    hints = find_times(words, from_datetime(on_wall(to_datetime(said_at), zone)))  # a date is that of the wall clock
    if len(hints) != 1 or hints[0].kind != "point" or hints[0].grain not in _GRAINS:
        return None
    rest = words[: hints[0].span[0]] + words[hints[0].span[1] :]
    return (render(hints[0].start) or "")[: _GRAINS[hints[0].grain]] if not rest.strip(" .,") else None
