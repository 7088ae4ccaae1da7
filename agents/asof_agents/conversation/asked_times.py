"""The time that a question names: "Where did I live in 2012?", "Where did I work before?". Pure."""

import re
from datetime import timedelta, tzinfo
from typing import Final, Literal, NamedTuple

from asof_agents.conversation.material import UNTIL_NOW
from asof_agents.conversation.questions import is_question
from asof_agents.extraction.english.dates import find_times
from asof_streams.instants import INF, NEG, to_datetime

_AHEAD: Final = re.compile(
    r"(?:\b|['’])(?:will|shall|ll|going to|gonna|upcoming|plan\w*|schedul\w*)\b|\bwon['’]t\b", re.IGNORECASE
)
_FORMERLY: Final = re.compile(
    r"\b(?:did|was|were)\b|\bused to\b|\b(?:before|formerly|previously|ever)\W*$", re.IGNORECASE
)
_TO_BOT: Final = re.compile(r"\byou", re.IGNORECASE)
_BACK: Final = re.compile(r"\b(?:did|was|were|had|have|has|used)(?:n['’]t)?\b", re.IGNORECASE)


class AskedPeriod(NamedTuple):
    """The period that a question names: [start, end) in UTC microseconds, NEG and INF where it has no bound."""

    start: int
    end: int
    name: str  # its words, and its first and its last day

    def overlaps(self, start: int, end: int) -> bool:
        """Return whether another period has an instant in common with it."""
        return start < self.end and self.start < end

    def moment(self, now: int) -> int:
        """Return the instant that stands for it: its middle; without a bound, now, or the nearest instant of it."""
        if self.start > NEG and self.end < INF:
            return (self.start + self.end) // 2
        return min(max(now, self.start), self.end - 1)


def asked_period(text: str, said_at: int, zone: tzinfo) -> AskedPeriod | None:
    """Return the one time that a question names; None: it names none or several, is no question, or asks about today.

    "Where did I live?" names all the time until now. Any time that is not over yet when it is said, such as this year,
    is as today. zone: by whose days it is said.
    """
    if not is_question(text):
        return None
    found = find_times(text, said_at, tense=_tense(text), zone=zone)
    if not found and _FORMERLY.search(text) and not _TO_BOT.search(text):
        return AskedPeriod(NEG, said_at, UNTIL_NOW)
    if len(found) != 1:
        return None
    [time] = found
    if time.start > NEG and time.end < INF and time.start <= said_at < time.end:
        return None
    return AskedPeriod(time.start, time.end, f"{time.words} ({_days(time.start, time.end, zone)})")


def _tense(text: str) -> Literal["past", "future"]:
    return "past" if _BACK.search(text) and not _AHEAD.search(text) else "future"


def _days(start: int, end: int, zone: tzinfo) -> str:
    first = None if start == NEG else to_datetime(start).astimezone(zone).date()
    last = None if end == INF else (to_datetime(end).astimezone(zone) - timedelta(microseconds=1)).date()
    if first is None:
        return f"until {last}"
    if last is None:
        return f"from {first}"
    return f"{first}" if first == last else f"{first} to {last}"
