"""Rules for ranges and directions: "from March to May", "since 2019", "until Friday"."""

from dataclasses import replace
from typing import Literal

from asof_agents.extraction.english.times.calendar_spans import GRAINS, HOUR, TICK, Span, granule, shift
from asof_agents.extraction.english.times.rules_calendar import Pair, ahead
from asof_agents.extraction.english.times.rules_clock import Duration, finer, rule
from asof_agents.extraction.english.times.rules_places import JOINT
from asof_agents.extraction.english.times.when import Now, When
from asof_streams.messages import Grain

Hint = tuple[Literal["since", "until", "during"], Span]
CLOCKS: tuple[Grain, ...] = ("second", "minute", "hour")

# Ranges


@rule("range", "(?:from|between|since)? the? (time) through the? (time)", "between the? (time) and the? (time)")
@rule("range", "later than (time) and before (time)")
def from_to(_: Now, first: When, last: When) -> Pair:
    return first, last


@rule("range", f"(range) {JOINT} (time)")
def range_at(_: Now, pair: Pair, time: When) -> Pair | None:
    first = pair[0].merge(time)
    return (first, pair[1]) if first else None


@rule("range", f"(time) {JOINT} between? (range)")
def at_range(now: Now, time: When, pair: Pair) -> Pair | None:
    return range_at(now, pair, time)


@rule("period", "(range)")
def between(now: Now, pair: Pair) -> Span | None:
    """Return a range with its whole last granule. Both ends share a part: "March to May 2020", "3 to 6 on Friday"."""
    first, last = _alike(*pair)
    begin = first.resolve(now)
    end = last.resolve(replace(now, wall=begin.start, tense="future"))
    grain = min(begin.grain, end.grain, key=GRAINS.index)
    if end.length <= HOUR:
        end = granule(end.start, grain)
    return Span(begin.start, end.end, grain) if begin.start < end.start else None


def _alike(first: When, last: When) -> Pair:
    if first.clock and last.clock and not first.dated:
        first, last = replace(last, clock=first.clock, part=first.part), When(clock=last.clock, zone=last.zone)
    elif first.year is None and last.year is not None:
        first = first.merge(When(year=last.year)) or first
    if first.clock and last.clock and first.clock.half and not last.clock.half and last.clock.hour >= 12:
        afternoon = replace(first.clock, hour=first.clock.hour % 12 + 12, half=False)
        if afternoon.since_midnight < last.clock.since_midnight:
            first = replace(first, clock=afternoon)
    return first, last


# Directions


@rule("hint", "since the? (time)", "(?:from|as of) the? (time) (?:on|onward)", "as of (time)")
@rule("hint", "from the? (time)", lenient=True)
def since(now: Now, time: When) -> Hint:
    return "since", time.resolve(replace(now, tense="past" if time.dated else now.tense))


@rule("hint", "after the? (time)")
def after(now: Now, time: When) -> Hint:
    span = time.resolve(now)
    return "since", span if span.length <= HOUR else granule(span.end, "day")


@rule("hint", "before the? (time)")
def before(now: Now, time: When) -> Hint:
    start = time.resolve(now).start
    return "until", Span(start - TICK, start, "day")


@rule("hint", "(?:until|by) the? (time)")
def until(now: Now, time: When) -> Hint:
    """Return the end: "until Friday" includes Friday, "until three o'clock" ends at three."""
    span = time.resolve(now)
    return ("until", Span(span.start - TICK, span.start, span.grain)) if span.length <= HOUR else ("until", span)


@rule("hint", "within the? (duration)")
def within(now: Now, distance: Duration) -> Hint:
    return "during", Span(now.wall, ahead(now, distance).resolve(now).start, finer(distance[1]))


@rule("hint", "for (?:more than)? (duration)")
def lasting(now: Now, distance: Duration) -> Hint | None:
    """Return a period that began so long ago, in the past tense, or that lasts so long from now, in the future."""
    count, grain = distance
    if grain in CLOCKS:
        return None
    if now.tense == "future":
        return "during", Span(now.wall, shift(now.wall, count, grain), finer(grain))
    return "since", ahead(now, (-count, grain)).resolve(now)


@rule("recurring", "every (?:number|ordinal|and|comma|weekday|when|latent|units|part)*", "(?:on|at)? weekdays")
def recurring(_: Now) -> str:
    return "recurring"


@rule("when", "over the? (when)")
def over_a_season(_: Now, time: When) -> When | None:
    return time if time.yearly is not None and time.day is None else None


@rule("when", "(?:in|on|at|during|for) the? (when)")
@rule("period", "(?:in|on|over|during|for) the? (period)")
@rule("latent", "(?:in|on|at|during|for) the? (latent)", lenient=True)
def with_its_preposition(_: Now, time: When | Span) -> When | Span:
    return time
