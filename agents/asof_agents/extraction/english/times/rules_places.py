"""Rules that combine times: parts of a longer span, its beginning and end, a day and its hour."""

from dataclasses import replace
from datetime import timedelta

from asof_agents.extraction.english.times import rules_distances  # noqa: F401  (its rules come before these)
from asof_agents.extraction.english.times.calendar_spans import (
    DAY,
    Span,
    floor,
    granule,
    nth_weekday,
    shift,
    weekend,
    whole,
)
from asof_agents.extraction.english.times.rules_calendar import SIDES, cycle, part_of
from asof_agents.extraction.english.times.rules_clock import Duration, clock_of, rule
from asof_agents.extraction.english.times.when import Now, When
from asof_streams.messages import Grain

# Positions in a span


@rule("when", "the? (ordinal)? (last)? (weekday) (?:of|in) the? (time)")
def weekday_of(now: Now, ordinal: int | None, last: str | None, weekday: int, time: When) -> When | None:
    if ordinal is None and last is None:
        return None
    return When(within=nth_weekday(time.resolve(now), weekday, _nth(ordinal, last)))


@rule("when", "the? (ordinal)? (last)? (units) (?:of|in) the? (time)")
def unit_of(now: Now, ordinal: int | None, last: str | None, unit: Duration, time: When) -> When | None:
    if ordinal is None and last is None:
        return None
    return When(within=whole(time.resolve(now), unit[1], _nth(ordinal, last)))


@rule("when", "the? (ordinal)? (last)? weekend (?:of|in) the? (time)")
def weekend_of(now: Now, ordinal: int | None, last: str | None, time: When) -> When:
    span = time.resolve(now)
    if ordinal is None and last is None:
        return When(within=weekend(span.start))
    return When(within=weekend(nth_weekday(span, 4, _nth(ordinal, last)).start))


def _nth(ordinal: int | None, last: str | None) -> int:
    return -(ordinal or 1) if last else (ordinal or 1) - 1


@rule("when", "the (unit) of (time)")
def unit_around(now: Now, unit: Duration, time: When) -> When | None:
    span = time.resolve(now)
    return When(within=granule(span.start, unit[1])) if unit == (1, "week") and span.length <= DAY else None


@rule("when", "the? (numeral) of the? (time)")
def day_of(_: Now, day: int, time: When) -> When | None:
    if time.within is None or time.within.grain != "month" or day not in range(1, 32):
        return None
    return time.merge(When(day=day))


@rule("latent", "the (ordinal) (?! units|last|weekday|of)", lenient=True)
@rule("when", "on the (ordinal) (?! thing|units|last|weekday|of)")
def day_alone(_: Now, day: int) -> When | None:
    return When(day=day) if day in range(1, 32) else None


# Times that the rules above did not use


@rule("when", "(last|past|next|this) past? (weekday)")
def weekday_away(now: Now, side: str, weekday: int) -> When:
    if side == "this":
        return When(weekday=weekday)
    if side == "next":
        return When(within=granule(now.wall, "week", 1), weekday=weekday)
    return When(within=cycle(now, When(weekday=weekday), -1))


@rule("when", "this? (last|past|next|this) weekend")
def weekend_away(now: Now, side: str) -> When:
    return When(within=weekend(now.wall, SIDES[side]))


@rule("when", "(?:on|over|during|at) the weekend")
def the_weekend(now: Now) -> When:
    """Return the next one, or in the past tense the last that began."""
    this = weekend(now.wall)
    return When(within=weekend(now.wall, -1) if now.tense == "past" and this.start > now.wall else this)


@rule("when", "(weekday)")
def bare_weekday(_: Now, weekday: int) -> When:
    return When(weekday=weekday)


# Distances from a time


@rule("when", "the? (unit|quarter) (before|after) (time)")
def stretch_beside(now: Now, unit: Duration, side: str, time: When) -> When:
    span, (count, grain) = time.resolve(now), unit
    if side == "before":
        return When(within=Span(shift(span.start, -count, grain), span.start, grain))
    return When(within=Span(span.end, shift(span.end, count, grain), grain))


@rule("period", "for (duration) from the? (time)")
def so_long_from(now: Now, distance: Duration, time: When) -> Span:
    begin, (count, grain) = time.resolve(now), distance
    return Span(begin.start, shift(begin.start, count, grain), begin.grain)


@rule("period", "from? the? (time) for (duration)")
def from_so_long(now: Now, time: When, distance: Duration) -> Span:
    return so_long_from(now, distance, time)


@rule("when", "(duration) (before|after|from) (time)")
def away_from(now: Now, distance: Duration, side: str, time: When) -> When:
    span, (count, grain) = time.resolve(now), distance
    return When(within=granule(shift(span.start, -count if side == "before" else count, grain), span.grain))


# Combinations


JOINT = "(?: comma | on | at | of | in the? | for | during | over | from )?"


@rule("when", f"(time) {JOINT} (time)")
def both(_: Now, one: When, other: When) -> When | None:
    return one.merge(other)


@rule("when", "(time) at? (number)", lenient=True)
@rule("when", "(when) at (number) (?! things|units)")
def at_hour(_: Now, time: When, hour: int) -> When | None:
    clock = clock_of(hour)
    return time.merge(When(clock=clock)) if clock and (time.dated or time.part) else None


@rule("when", "at? (number) (?:in|on|of)? the? (time)", lenient=True)
@rule("when", "at (number) (when)")
def hour_of(now: Now, hour: int, time: When) -> When | None:
    return at_hour(now, time, hour)


@rule("latent", "at? (number)", lenient=True)
def bare_hour(_: Now, hour: int) -> When | None:
    clock = clock_of(hour)
    return When(clock=clock) if clock else None


@rule("when", "(time) (zone)")
def in_zone(_: Now, time: When, zone: timedelta) -> When | None:
    return time.merge(When(zone=zone))


# Parts of a span


@rule("when", "(early|mid|late) (time)", "the? (begin|mid|end) of the? (time)")
def portion(now: Now, which: str, time: When) -> When | None:
    if time.part is not None:
        return replace(time, part=part_of(time.part, late=which == "late")) if which in ("early", "late") else None
    found = _portion(time.resolve(now), {"early": 0, "begin": 0, "mid": 1}.get(which, 2))
    return When(within=found) if found else None


@rule("when", "the? (shorthand)")
def portion_in_short(now: Now, edge_and_unit: tuple[str, Grain]) -> When | None:
    edge, unit = edge_and_unit
    return portion(now, edge, When(within=granule(now.wall, unit)))


_CUTS: dict[Grain, tuple[Grain, tuple[tuple[int, int], ...]]] = {
    "day": ("hour", ((0, 9), (11, 14), (18, 24))),
    "week": ("day", ((0, 3), (2, 4), (4, 7))),
    "month": ("day", ((0, 10), (10, 20), (20, 31))),
    "quarter": ("month", ((0, 1), (1, 2), (2, 3))),
    "year": ("month", ((0, 3), (4, 8), (8, 12))),
}


def _portion(span: Span, which: int) -> Span | None:
    """Return the beginning, middle or end of a week, month, quarter, season, year or decade."""
    if span.grain not in _CUTS:
        return None
    grain, cuts = ("year", ((0, 3), (3, 7), (7, 10))) if span.length > 367 * DAY else _CUTS[span.grain]
    begin, end = cuts[which]
    return Span(shift(span.start, begin, grain), min(shift(span.start, end, grain), span.end), grain)


@rule("period", "the? rest of the? (time)")
def rest(now: Now, time: When) -> Span | None:
    span, today = time.resolve(now), floor(now.wall, "day")
    return Span(today, span.end, "day") if span.start <= today < span.end else None
