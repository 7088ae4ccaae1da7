"""Rules for distances back from the message: "two years ago", "a few days ago", "the weekend before last".

In prose a distance is as wide as its unit: what happened three years ago happened in that year. Alone it is exact.
"""

from dataclasses import replace

from asof_agents.extraction.english.times.calendar_spans import Span, granule, shift, weekend
from asof_agents.extraction.english.times.rules_calendar import ahead, cycle
from asof_agents.extraction.english.times.rules_clock import Duration, rule
from asof_agents.extraction.english.times.when import Now, When
from asof_streams.messages import Grain

_FEW = (5, 2)  # "a few days ago": from five to two
_RECENT = (7, 1)  # "the other day"
_WIDE: tuple[Grain, ...] = ("day", "week", "month", "year")


@rule("when", "(duration) ago (when)")
def to_the_day(_: Now, distance: Duration, day: When) -> When | None:
    """Return the day that it was "a year ago today"."""
    if day.within is None or day.within.grain != "day":
        return None
    return When(within=granule(shift(day.within.start, -distance[0], distance[1]), "day"))


@rule("when", "a? (?:few|several) of? (units) ago")
def few_ago(now: Now, unit: Duration) -> When | None:
    return _back(now, _FEW, unit)


@rule("when", "(number) (?:to|or|dash) (duration) ago")
def some_ago(now: Now, fewest: int, most: Duration) -> When | None:
    return _back(now, (most[0], fewest), (1, most[1])) if fewest < most[0] else None


@rule("when", "(duration) or (number) ago")
def one_or_some_ago(now: Now, one: Duration, most: int) -> When | None:
    return _back(now, (most, one[0]), (1, one[1])) if one[0] < most else None


@rule("when", "the recent (unit)", "the recent (?:part|latent)")
def other_day(now: Now, unit: Duration = (1, "day")) -> When | None:
    return _back(now, _RECENT, unit) if unit == (1, "day") else None


def _back(now: Now, most_and_fewest: tuple[int, int], unit: Duration) -> When | None:
    (most, fewest), (count, grain) = most_and_fewest, unit
    if grain not in _WIDE:
        return None
    begin, end = (granule(now.wall, grain, -back * count) for back in (most, fewest))
    return When(within=Span(begin.start, end.end, grain))


@rule("when", "(duration) ago", lenient=True)
def ago(now: Now, distance: Duration) -> When:
    return ahead(now, (-distance[0], distance[1]))


@rule("when", "(duration) ago")
def about_ago(now: Now, distance: Duration) -> When:
    count, grain = distance
    if grain not in _WIDE:
        return ago(now, distance)
    return When(within=granule(shift(now.wall, -count, grain), grain))


@rule("when", "(number|a) weekend ago")
def counted_weekends(now: Now, count: int | str) -> When:
    return When(within=weekend(now.wall, -1 if isinstance(count, str) else -count))


@rule("when", "a? few weekend ago")
def few_weekends_ago(now: Now) -> When | None:
    return _back(now, _FEW, (1, "week"))


@rule("when", "(number) (seasons) ago")
def counted_seasons(now: Now, count: int, season: When) -> When | None:
    """Return the season so many back: the last one that is over is one back."""
    return When(within=_cycles(now, season, count)) if count in range(1, 100) else None


def _cycles(now: Now, what: When, count: int) -> Span:
    span = cycle(now, what, -1)
    for _ in range(count - 1):
        span = cycle(replace(now, wall=span.start), what, -1)
    return span


@rule("when", "the? (weekday|unit|when|latent) before last (?! units|weekday|time)")
def before_last(now: Now, what: int | Duration | When) -> When | None:
    """Return the one before last: the Friday of last week is the last one, that of the week before is before it."""
    if isinstance(what, tuple):
        return When(within=granule(now.wall, what[1], -2 * what[0]))
    if isinstance(what, int):
        return When(within=_cycles(now, When(weekday=what), 2))
    if what.part is not None and not what.dated:
        return replace(what, within=granule(now.wall, "day", -2))
    return When(within=_cycles(now, what, 2)) if what.yearly is not None and what.year is None else None


@rule("when", "the? weekend before last")
def weekend_before_last(now: Now) -> When:
    return When(within=weekend(now.wall, -2))
