"""Finds English time expressions in a text, and resolves them to intervals against the time of the message.

Pure. Weeks begin on Monday, and "03/04/2024" is the fourth of March.
"""

import re
from dataclasses import replace
from datetime import UTC, tzinfo
from functools import lru_cache

from asof_agents.extraction.english.times import rules_directions  # noqa: F401  (the last of the chain of rules)
from asof_agents.extraction.english.times.calendar_spans import Span, floor
from asof_agents.extraction.english.times.completeness import is_whole
from asof_agents.extraction.english.times.lexer import may_tell_time, tokens
from asof_agents.extraction.english.times.rewriting import Token
from asof_agents.extraction.english.times.rules_clock import grammar
from asof_agents.extraction.english.times.when import Now, Tense
from asof_agents.extraction.ports import TimeHint
from asof_streams.instants import INF, NEG, from_datetime, to_datetime
from asof_streams.timezones import off_wall, on_wall

_LONGEST = 600  # characters of one sentence: the cost of a rule grows faster than linearly with its length
_SENTENCE = re.compile(rf".{{1,{_LONGEST}}}?(?:[.!?](?=\s+[A-Z])|$)|.{{{_LONGEST}}}", re.MULTILINE)
_SURE = frozenset({"when", "period", "hint"})
_LENIENT = _SURE | {"latent"}


def find_times(text: str, reference: int, *, tense: Tense = "past", zone: tzinfo = UTC) -> list[TimeHint]:
    """Return the time expressions of running text, in order, none overlapping.

    reference is the message's time (µs UTC), zone that of the speaker's wall clock: a day begins at midnight there, by
    the offset of that day. tense decides a bare "on Friday" or "in March": the last one or the next. Words that may not
    mean a time are left alone.
    """
    if len(text) > _LONGEST:
        return _found(text, reference, tense, zone)
    return list(_kept(text, reference, tense, zone))


@lru_cache(maxsize=16)  # the messages that follow look back at it, and some read it once more
def _kept(text: str, reference: int, tense: Tense, zone: tzinfo) -> tuple[TimeHint, ...]:
    return tuple(_found(text, reference, tense, zone))


def _found(text: str, reference: int, tense: Tense, zone: tzinfo) -> list[TimeHint]:
    now = _now(reference, tense, zone)
    hints: list[TimeHint] = []
    for sentence in _SENTENCE.finditer(text):
        if may_tell_time(sentence[0]):
            found = grammar.rewrite(tokens(text, *sentence.span(), lenient=False), now, lenient=False)
            hints += [
                _as_said(hint, now)
                for at, token in enumerate(found)
                if token.kind in _SURE and is_whole(found, at, text) and (hint := _hint(token, text, now))
            ]
    return hints


def _as_said(hint: TimeHint, now: Now) -> TimeHint:
    """Return a time as people say it: "last week" is the one before this one, or else the last seven days."""
    if hint.grain != "week" or hint.words.lower().split()[-2:] != ["last", "week"]:
        return hint
    return replace(hint, end=from_datetime(off_wall(floor(now.wall, "day"), now.zone)))


def read_time(text: str, reference: int, *, tense: Tense = "future", zone: tzinfo = UTC) -> TimeHint | None:
    """Return the time of a text that is one time expression, such as "in 15", "sat." or "3pm"; None: it is not one.

    The same grammar as find_times, but every word is taken for a time that can be one.
    """
    if len(text) > _LONGEST:
        return None
    now = _now(reference, tense, zone)
    found = grammar.rewrite(tokens(text, 0, len(text), lenient=True), now, lenient=True)
    return _hint(found[0], text, now) if len(found) == 1 and found[0].kind in _LENIENT else None


def _now(reference: int, tense: Tense, zone: tzinfo) -> Now:
    return Now(on_wall(to_datetime(reference), zone), tense, zone)


def _hint(token: Token, text: str, now: Now) -> TimeHint | None:
    kind, value = token.value if token.kind == "hint" else (None, token.value)
    try:
        span = value if isinstance(value, Span) else value.resolve(now)
        start, end = (from_datetime(off_wall(wall, now.zone)) for wall in (span.start, span.end))
    except (ValueError, OverflowError):  # beyond the calendar, or no day of its month
        return None
    if end <= start:  # an hour that the wall clock passed over
        end = start + from_datetime(span.end) - from_datetime(span.start)
    place = (token.start, token.end)
    words = text[token.start : token.end]
    match kind or ("during" if token.kind == "period" else "point"):
        case "since":
            return TimeHint("since", start, INF, span.grain, words, place)
        case "until":
            return TimeHint("until", NEG, end, span.grain, words, place)
        case named:
            return TimeHint(named, start, end, span.grain, words, place)
