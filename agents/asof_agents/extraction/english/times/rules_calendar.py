"""Rules for dates and the calendar: "3 March 2015", "next week", "two years ago", "the last Monday of March"."""

from dataclasses import replace
from functools import partial

from asof_agents.extraction.english.times.calendar_spans import DAY, TICK, Span, floor, granule, quarter_of, shift
from asof_agents.extraction.english.times.rules_clock import Duration, finer, rule
from asof_agents.extraction.english.times.when import Now, When

SIDES = {"last": -1, "past": -1, "this": 0, "next": 1}
Pair = tuple[When, When]


@rule("range", "from? (month) the? (numeral) (?:through|and) the? (numeral) (?!month|unit)")
def days_of_month(now: Now, month: When, first: int, last: int) -> Pair | None:
    begin, end = day_of_month(now, month, first), day_of_month(now, month, last)
    return (begin, end) if begin and end and first < last else None


@rule(
    "range",
    "from? the? (numeral) through the? (numeral) of? (month)",
    "between the? (numeral) and the? (numeral) of? (month)",
)
def days_to_day_of_month(now: Now, first: int, last: int, month: When) -> Pair | None:
    return days_of_month(now, month, first, last)


@rule("when", "the? (ordinal) of? (month)")
def day_then_month(now: Now, day: int, month: When) -> When | None:
    return day_of_month(now, month, day)


@rule("when", "(month) the? (numeral) (?! units)")
def day_of_month(_: Now, month: When, day: int) -> When | None:
    if not month.yearly or day not in range(1, month.yearly(2000).length // DAY + 1):
        return None
    return replace(month, day=day)


@rule("when", "(number) of? (month)")
def number_then_month(now: Now, day: int, month: When) -> When | None:
    return day_of_month(now, month, day)


@rule("latent", "(holiday)")  # "a Christmas tree" is no time
@rule("when", "(?<=holiday_lead) (holiday)", "(holiday) (?= of? year)")
@rule("when", "(month)", "(?<=season_lead) the? (season)")
@rule("when", "(season) (?= of? (?:year|the? (?:last|this|next) unit))")
def named(_: Now, when: When) -> When:
    return when


@rule("latent", "the? (ordinal) quarter")
@rule("when", "the? (ordinal) quarter (?= of? the? (?:year|last|this|next))")
def nth_quarter(_: Now, quarter: int) -> When | None:
    return When(yearly=partial(quarter_of, quarter)) if quarter in range(1, 5) else None


@rule("range", "(year) through (year)")
def years(_: Now, first: int, last: int) -> Pair | None:
    return (When(year=first), When(year=last)) if first < last else None


@rule("when", "(time) comma? of? (year)")
@rule("when", "(when) (number)", lenient=True)
def in_its_year(_: Now, when: When, year: int) -> When | None:
    if year < 100 and when.day is None:
        return None
    return when.merge(When(year=year if year >= 100 else 2000 + year))


@rule("when", "the? (unit) (year)")
def the_year(_: Now, unit: Duration, number: int) -> When | None:
    return When(year=number) if unit == (1, "year") else None


@rule("latent", "(year)")
@rule("when", "(year) ad", "(?<=year_lead) (year) (?! units|things)")
def year(_: Now, number: int) -> When:
    return When(year=number)


@rule("when", "(weekday) comma? the? (ordinal)")
def weekday_and_day(_: Now, weekday: int, day: int) -> When | None:
    return When(weekday=weekday, day=day) if day in range(1, 32) else None


@rule("latent", "(season)")
def bare_season(_: Now, when: When) -> When:
    return when


@rule("latent", "the? (decade)")
@rule("when", "(?<=season_lead) the? (decade)")
def decade(_: Now, span: Span) -> When:
    return When(within=span)


@rule("when", "(today)")
def today(now: Now, days: int) -> When:
    return When(within=granule(now.wall, "day", days))


@rule("when", "(tonight)")
@rule("when", "this (part)")
def part_of_today(now: Now, part: tuple[int, int]) -> When:
    return When(within=granule(now.wall, "day"), part=part)


@rule("when", "lastly (part)")
def part_of_yesterday(now: Now, part: tuple[int, int]) -> When:
    return When(within=granule(now.wall, "day", -1), part=part)


@rule("part", "early (part)", "early in the (part)")
def early_part(_: Now, part: tuple[int, int]) -> tuple[int, int]:
    return part_of(part, late=False)


def part_of(part: tuple[int, int], *, late: bool) -> tuple[int, int]:
    """Return the first three quarters of a part of the day, or its second half."""
    begin, end = part
    return ((begin + end) // 2, end) if late else (begin, begin + (end - begin) * 3 // 4)


@rule("latent", "in? the? (part)")
def part_of_a_day(_: Now, part: tuple[int, int]) -> When:
    return When(part=part)


@rule("when", "in (duration) (?! measure)", "(duration) hence", "(duration) from (?:right? now|today)")
def ahead(now: Now, distance: Duration) -> When:
    count, grain = distance
    return When(within=granule(shift(now.wall, count, grain), finer(grain)))


@rule("when", "in (number)", lenient=True)
def minutes_ahead(now: Now, minutes: int) -> When:
    return ahead(now, (minutes, "minute"))


@rule("when", "(number) (weekdays) (ago|hence|from) now?")
def counted_weekdays(now: Now, count: int, weekday: int, side: str) -> When:
    bare = When(weekday=weekday).resolve(replace(now, tense="past" if side == "ago" else "future"))
    return When(within=granule(bare.start, "day", (count - 1) * (-7 if side == "ago" else 7)))


@rule("latent", "just now", "right? now")
def present(now: Now) -> When:
    return When(within=granule(now.wall, "second"))


@rule("when", "(weekday|unit|quarter|when) after next (?! units|weekday|time)")
def after_next(now: Now, what: int | Duration | When) -> When | None:
    if isinstance(what, tuple):
        return When(within=granule(now.wall, what[1], 2 * what[0]))
    if isinstance(what, int):
        return When(within=granule(cycle(now, When(weekday=what), 1).start, "day", 7))
    if what.yearly is None:
        return None
    following = cycle(now, what, 1)
    return When(within=cycle(replace(now, wall=following.end), what, 1))


def cycle(now: Now, what: When, side: int) -> Span:
    """Return the last or the next span of a recurrence, never the current one."""
    if side < 0:
        span = what.resolve(replace(now, tense="past"))
        return span if span.end <= now.wall else what.resolve(replace(now, tense="past", wall=span.start - TICK))
    span = what.resolve(replace(now, tense="future"))
    return span if span.start > now.wall else what.resolve(replace(now, tense="future", wall=span.end))


@rule("period", "(?:in|during|over|within) the? (last|past|next) (duration|units)")
def rolling(now: Now, side: str, distance: Duration) -> Span:
    """Return a span that ends now: "in the last two weeks", while "last week" is a calendar week."""
    count, grain = distance
    begin, end = sorted((now.wall, shift(now.wall, SIDES[side] * count, grain)))
    return Span(floor(begin, finer(grain)) if begin < now.wall else begin, end, finer(grain))


WHOLE = "(?! (?:of|in) the? (?:when|latent|last|this|next|unit))"  # not "the last week of May"


@rule("when", f"the? (last|past|next|this) past? (units) {WHOLE}")
def units_away(now: Now, side: str, unit: Duration) -> When:
    return When(within=_units(now, SIDES[side], unit))


@rule("latent", "(?<=of) the? (units)", "(?<=in) the (units)")
def the_unit(now: Now, unit: Duration) -> When:
    return units_away(now, "this", unit)


@rule("hint", "for the? (?:last|past) (duration|units)")
def ever_since(now: Now, distance: Duration) -> tuple[str, Span]:
    return "since", ahead(now, (-distance[0], distance[1])).resolve(now)


@rule("period", "the? (last|past|next) (duration)")
def several_units(now: Now, side: str, distance: Duration) -> Span | None:
    return _units(now, SIDES[side], distance) if distance[0] > 0 else None


def _units(now: Now, side: int, distance: Duration) -> Span:
    count, grain = distance
    begin, end = sorted((side, side * count))
    return Span(granule(now.wall, grain, begin).start, granule(now.wall, grain, end).end, grain)


@rule("when", "(last|past|next|this) (time)")
def cycle_away(now: Now, side: str, what: When) -> When | None:
    if what.yearly is None or what.year is not None:
        return None
    if side == "this":
        return what
    return When(within=cycle(now, what, SIDES[side]))
