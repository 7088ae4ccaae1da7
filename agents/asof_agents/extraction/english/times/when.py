"""A moment as far as its words fix it: parts that merge, and resolve to a span of time."""

from collections.abc import Iterator
from dataclasses import dataclass, fields, replace
from datetime import datetime, timedelta, tzinfo
from typing import Final, Literal, Self

from asof_agents.extraction.english.times.calendar_spans import DAY, LENGTH, Span, Yearly, at, floor, granule, shift
from asof_streams.messages import Grain
from asof_streams.timezones import on_wall

Tense = Literal["past", "future"]
REACH: Final[dict[Grain, int]] = {"year": 12, "month": 30, "day": 8}  # periods that a search covers


@dataclass(frozen=True, slots=True)
class Now:
    """The time of the message, on the speaker's wall clock, and the direction of a bare "Friday"."""

    wall: datetime
    tense: Tense
    zone: tzinfo


@dataclass(frozen=True, slots=True)
class Clock:
    """A time of day. `half`: it may be in either half of the day, as "3:30" may be in the afternoon."""

    hour: int
    minute: int = 0
    second: int = 0
    grain: Grain = "hour"
    half: bool = False

    @property
    def since_midnight(self) -> timedelta:
        return timedelta(hours=self.hour, minutes=self.minute, seconds=self.second)


@dataclass(frozen=True, slots=True)
class When:
    """The parts of a moment that words fix, all optional; the moment is their intersection."""

    within: Span | None = None  # a stretch of the calendar: "next week", "yesterday"
    year: int | None = None
    yearly: Yearly | None = None  # a month, season, quarter, or feast
    day: int | None = None  # of the month
    weekday: int | None = None  # Monday is 0
    part: tuple[int, int] | None = None  # hours of the day: "evening"
    clock: Clock | None = None
    zone: timedelta | None = None  # of the clock, east of Greenwich

    @property
    def dated(self) -> bool:
        """Whether it fixes a day or a longer span, and not a time of day alone."""
        return any(part is not None for part in (self.within, self.year, self.yearly, self.day, self.weekday))

    def merge(self, other: Self) -> Self | None:
        """Return the intersection of two moments; None: their parts do not fit together."""
        parts = {f.name: (getattr(self, f.name), getattr(other, f.name)) for f in fields(self)}
        if any(mine is not None and other is not None for mine, other in parts.values()):
            return None
        both = replace(self, **{name: other for name, (mine, other) in parts.items() if mine is None})
        if both.within and both.yearly and both.within.grain == "month":  # "in March two years ago"
            both = replace(both, within=granule(both.within.start, "year"))
        return both if both.sensible() else None

    def sensible(self) -> bool:
        """Whether the parts fit together: a time of day needs a day, a weekday a week."""
        on_a_day = self.day is not None or self.weekday is not None
        if self.zone is not None and self.clock is None:
            return False
        if (self.clock or self.part) and not on_a_day:  # a time of day needs a day
            span = self.yearly(2000) if self.yearly else self.within
            return self.year is None if span is None else span.length <= DAY
        if self.within and self.yearly:
            return self.within.grain == "year" and self.year is None
        if self.within and on_a_day:
            return DAY < self.within.length <= LENGTH["week"] or (self.day is not None and self.within.grain == "month")
        if self.year is not None and not self.yearly:
            return False
        return not (self.weekday is not None and self.yearly and self.day is None)

    def resolve(self, now: Now) -> Span:
        """Return the span of the moment. ValueError, OverflowError: the calendar has none."""
        day = self._date(now)
        if self.clock is None:
            if self.part is None:
                return day
            start = floor(day.start, "day")
            return Span(start + timedelta(hours=self.part[0]), start + timedelta(hours=self.part[1]), "hour")
        clock = self.clock
        start = day.start + clock.since_midnight
        if self.part is not None:
            start += self._half_of(self.part, clock)
        if self.zone is not None:
            start = on_wall(start - self.zone, now.zone)
        if not self.dated:
            start = _nearest(start, DAY / 2 if clock.half and not self.part else DAY, now)
        return Span(start, start + LENGTH[clock.grain], clock.grain)

    @staticmethod
    def _half_of(part: tuple[int, int], clock: Clock) -> timedelta:
        """Return the offset of a half of the day: three in the afternoon is 15:00, twelve at night 24:00."""
        if not clock.half or part[0] < 12 or (clock.hour == 12 and part[0] < 18):
            return timedelta()
        return DAY / 2

    def _date(self, now: Now) -> Span:
        if self.within and self.yearly is None and self.day is None and self.weekday is None:
            return self.within
        if self.year is not None and self.yearly is None:
            return granule(at(self.year), "year")
        if not self.dated:
            return granule(now.wall, "day")
        if self.year is not None:
            return _first(self._in_period(at(self.year)))
        if self.within:
            spans = (s for s in self._search(self.within.start, 1) if s.start >= self.within.start)
            found = _first(spans)
            if found.start >= self.within.end:
                raise ValueError("the span has no such day")
            return found
        return self._near(now)

    def _near(self, now: Now) -> Span:
        """Return the next one, or in the past tense the last one; with weekday and month, the nearest."""
        bare_weekday = self.yearly is None and self.day is None  # never today, for which people say "today"
        later = (s for s in self._search(now.wall, 1) if (s.start if bare_weekday else s.end) > now.wall)
        earlier = (s for s in self._search(now.wall, -1) if (s.end if bare_weekday else s.start) <= now.wall)
        if self.yearly and self.weekday is not None:
            return min(_first(later), _first(earlier), key=lambda s: abs(s.start - now.wall))
        return _first(later if now.tense == "future" else earlier)

    def _search(self, origin: datetime, step: int) -> Iterator[Span]:
        """Yield the matching spans: forward from the period before the origin, or back from the one after it."""
        grain: Grain = "year" if self.yearly else "month" if self.day is not None else "day"
        for count in range(-1, REACH[grain]):
            try:
                yield from self._in_period(shift(floor(origin, grain), count * step, grain))
            except ValueError:  # 30 February: this period has none
                continue

    def _in_period(self, period: datetime) -> Iterator[Span]:
        """Yield the span of one year, month or day that matches, if there is one. ValueError: no such day."""
        if self.yearly:
            span = self.yearly(period.year)
            if self.day is not None:
                span = granule(span.start.replace(day=self.day), "day")
        elif self.day is not None:
            span = granule(period.replace(day=self.day), "day")
        else:
            span = granule(period, "day")
        if self.weekday in (None, span.start.weekday()):
            yield span


def _first(spans: Iterator[Span]) -> Span:
    for span in spans:
        return span
    raise ValueError("no such day within reach")


def _nearest(start: datetime, step: timedelta, now: Now) -> datetime:
    """Return the next or the last such time of day; a step is a day, or half a day if that half is open."""
    passed = (now.wall - start) // step  # steps that fit between
    if now.tense == "past":
        return start + passed * step
    return start + (passed if start + passed * step == now.wall else passed + 1) * step
