"""Rules for numbers, times of day, and how long: "half past three", "3:30 pm", "two and a half years"."""

from dataclasses import replace
from functools import partial
from typing import Final

from asof_agents.extraction.english.times.calendar_spans import DAY, MONTHS_IN, month_of
from asof_agents.extraction.english.times.rewriting import Grammar
from asof_agents.extraction.english.times.when import Clock, Now, When
from asof_streams.messages import Grain

Duration = tuple[int, Grain]

_MONTH_LEADS: Final = "in|during|since|until|by|last|next|this|of|early|mid|late|before|after|past|end|begin"
_DAY_LEADS: Final = "on|last|next|this|past|until|by|since|before|after|every"
_FRACTIONS: Final = frozenset({(1, 2), (1, 4), (3, 2), (3, 4)})
FINER: Final[dict[Grain, tuple[int, Grain]]] = {
    "minute": (60, "second"),
    "hour": (60, "minute"),
    "day": (24, "hour"),
    "week": (7, "day"),
    "month": (30, "day"),
    "quarter": (3, "month"),
    "year": (12, "month"),
}

grammar: Final = Grammar(
    {
        "time": "when|latent",
        "units": "unit|second|quarter",
        "thing": "word|name|things",
        "lastly": "last|past",
        "through": "to|until|dash",
        "numeral": "number|ordinal",
        "month_lead": _MONTH_LEADS,
        "day_lead": _DAY_LEADS,
        "season_lead": "in|during|over|since|until|by|from|to|before|after|early|mid|late|of",
        "holiday_lead": "on|at|for|over|during|since|until|by|before|after|from|to|of|last|next|this|past",
        "year_lead": _MONTH_LEADS + "|from|to|and|between",
    }
)
rule = grammar.rule


@rule("month", "(?<=month_lead) (maybe_month) (?!name)", "(?<=numeral) (maybe_month)")
@rule("month", "(maybe_month) (?= the? (?:numeral|year))", "(?<=in|since|until|of|during) (hardly_month) (?!name)")
@rule(
    "month",
    "(?<=from|between) (maybe_month) (?= through|and)",
    "(?<=month through) (maybe_month)",
    "(?<=month and) (maybe_month)",
)
@rule("weekday", "(?<=day_lead) (maybe_weekday) (?!name)")
@rule("weekday", "(maybe_weekday) (?= comma? (?:part|clock|figures|month|numeral|at|today))")
def in_company(_: Now, value: object) -> object:
    return value


@rule("ordinal", "(?<!number) (?<!a) second (?= last|weekday|unit|weekend|quarter|of)")
def second(_: Now) -> int:
    return 2


@rule("number", "a? (few) of?", lenient=True)
@rule("number", "a? (few) of? (?! (?:units|weekend) ago)", "a? (some) of?")
def some(_: Now, number: int) -> int:
    return number


@rule("when", "(?<=on|since|until|by|before|after|from|weekday) (slashed) (?! units|of|things)")
@rule("when", "(?<=when to) (slashed)", "(?<=when until) (slashed)", "(?<=when dash) (slashed)")
def month_and_day(_: Now, figures: tuple[int, int]) -> When | None:
    """Return a date without its year: 6/12 is the twelfth of June, 15/6 the fifteenth; 1/2 is a half, 24/7 always."""
    month, day = figures if figures[0] <= 12 else figures[::-1]
    if figures in _FRACTIONS or figures == (24, 7) or month not in range(1, 13):
        return None
    yearly = partial(month_of, month)
    return When(yearly=yearly, day=day) if 0 < day <= yearly(2000).length // DAY else None


@rule("fraction", "(slashed)")
def fraction(_: Now, figures: tuple[int, int]) -> float | None:
    return figures[0] / figures[1] if figures in _FRACTIONS else None


@rule("clock", "(figures|hours) (meridian)", "(number) oclock? (?:in the)? (meridian)")
def half_of_the_day(_: Now, time: Clock | int, meridian: int) -> Clock | None:
    clock = time if isinstance(time, Clock) else clock_of(time)
    if clock is None or not (clock.half or clock.hour):
        return clock
    return replace(clock, hour=clock.hour % 12 + meridian, half=False) if clock.half else clock


@rule("clock", "(number) (number) (meridian)")
def spelled_out(now: Now, hour: int, minute: int, meridian: int) -> Clock | None:
    clock = hour_and_minute(now, hour, minute)
    return half_of_the_day(now, clock, meridian) if clock else None


@rule("clock", "(number) oclock")
def on_the_hour(_: Now, hour: int) -> Clock | None:
    return clock_of(hour)


@rule("clock", "at (figures|hours)")
@rule("clock", "(?<!in) (?<!for) (hours)", lenient=True)
def said_to_be_one(_: Now, clock: Clock) -> Clock:
    return clock


@rule("clock", "at (number) (number) (?!unit)", lenient=True)
def hour_and_minute(_: Now, hour: int, minute: int) -> Clock | None:
    clock = clock_of(hour)
    if clock is None or minute not in range(60):
        return None
    return replace(clock, minute=minute, grain="minute")


@rule("clock", "half past? (clock)", "half past (number)")
@rule("clock", "half (number)", lenient=True)
def half_past(_: Now, base: Clock | int) -> Clock | None:
    return _minutes_from(base, 30)


@rule("clock", "a? quarter (past|after|from|to|before) (clock|noon|number) (?!unit)")
def quarter_past(_: Now, side: str, base: Clock | int) -> Clock | None:
    return _minutes_from(base, -15 if side in ("to", "before") else 15)


@rule("clock", "(number) (unit)? (past|after|from|to|before) (clock|noon)")
def minutes_past(_: Now, minutes: int, unit: Duration | None, side: str, base: Clock) -> Clock | None:
    if minutes not in range(60) or (unit or (1, "minute")) != (1, "minute") or (unit is None and minutes <= 12):
        return None  # "5 to 6pm" is an hour long
    return _minutes_from(base, -minutes if side in ("to", "before") else minutes)


def clock_of(figure: int) -> Clock | None:
    """Return the time of day of 3, 15 or 1530; None: it is none."""
    hour, minute = divmod(figure, 100) if figure >= 100 else (figure, 0)
    if hour not in range(25) or minute not in range(60):
        return None
    return Clock(hour % 24, minute, grain="minute" if figure >= 100 else "hour", half=0 < hour <= 12)


def _minutes_from(base: Clock | int, minutes: int) -> Clock | None:
    clock = base if isinstance(base, Clock) else clock_of(base)
    if clock is None:
        return None
    hour, minute = divmod((clock.hour * 60 + clock.minute + minutes) % 1440, 60)
    return replace(clock, hour=hour, minute=minute, grain="minute")


@rule("range", "from? (number) through (clock)", "between (number) and (clock)", "from? (number) dash (figures)")
def hours_to(_: Now, first: int, last: Clock) -> tuple[When, When] | None:
    begin = clock_of(first)
    return (When(clock=begin), When(clock=last)) if begin else None


@rule("range", "from? (clock) through (number) (?! thing|unit|month)")
def hours_from(_: Now, first: Clock, last: int) -> tuple[When, When] | None:
    end = clock_of(last)
    return (When(clock=first), When(clock=end)) if end else None


@rule("when", "at? (clock)")
@rule("latent", "(figures)", "the? (noon)")
def time_of_day(_: Now, clock: Clock) -> When:
    return When(clock=clock)


@rule("duration", "half a (units)")
def half_a(now: Now, unit: Duration) -> Duration:
    return duration(now, 0.5, unit)


@rule("duration", "(number) and a half (units)")
def and_a_half(now: Now, number: int, unit: Duration) -> Duration:
    return duration(now, number + 0.5, unit)


@rule("duration", "a (units) and a half")
def one_and_a_half(now: Now, unit: Duration) -> Duration:
    return duration(now, 1.5, unit)


@rule("duration", "(number) dash? quarter of a (units)")
def quarters_of(now: Now, number: int, unit: Duration) -> Duration:
    return duration(now, number / 4, unit)


@rule("duration", "a? quarter of a (units)")
def a_quarter_of(now: Now, unit: Duration) -> Duration:
    return duration(now, 0.25, unit)


@rule("duration", "(number|decimal|a|fraction) more? (units)")
def duration(_: Now, number: float | str, unit: Duration) -> Duration:
    """Return a duration in whole units: half an hour is thirty minutes."""
    count, grain = unit
    amount = (1 if isinstance(number, str) else number) * count
    if amount != int(amount) and grain in FINER:
        parts, grain = FINER[grain]
        amount = round(amount * parts)
    return int(amount), grain


@rule("duration", "(?<=in) (hours)")
def hours(_: Now, clock: Clock) -> Duration:
    return clock.hour, "hour"


def finer(grain: Grain) -> Grain:
    """Return the grain of a distance in this unit: "a year ago" means a month, "a month ago" a day."""
    if grain in MONTHS_IN:
        return "month" if grain == "year" else "day"
    return {"week": "day", "day": "day", "hour": "minute"}.get(grain, "second")  # type: ignore[return-value]
