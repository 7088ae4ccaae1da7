"""Numerals: the words of a sentence that tell a number, an hour, a date or how often, with the slot that they fill."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final, Literal

from asof_agents.extraction.english.context import ParsedSentence
from asof_agents.extraction.english.gist import NO_CONTENT, stem
from asof_agents.extraction.english.quantities import WEEKDAYS
from asof_agents.extraction.english.verbs import PASTS

SlotKind = Literal["number", "clock", "day", "date", "rate", "name", "noun"]
COUNTS: Final = frozenset(
    "one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen "
    "eighteen nineteen twenty thirty forty fifty sixty seventy eighty ninety hundred half single once twice".split()
)
_ORDINALS: Final = frozenset(
    "first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth last".split()
)
_MONTHS: Final = frozenset(
    "january february march april may june july august september october november december jan feb mar apr jun "
    "jul aug sept sep oct nov dec".split()
)
DAYS: Final = WEEKDAYS | frozenset(
    "monday tuesday wednesday thursday friday saturday sunday mon tue tues wed thu thurs fri sat sun weekend".split()
)
_PARTS: Final = frozenset("morning mornings afternoon afternoons evening evenings night nights noon".split())
_CLOCK: Final = re.compile(r"\d{1,2}[:.]\d\d")
_MIDDAYS: Final = frozenset({"noon", "midday", "midnight"})
_HALVES: Final = frozenset({"am", "pm", "a.m", "p.m", "sharp"})
_MONEY: Final = frozenset("$ € £ ¥".split())
BREAKING_VERBS: Final = (  # verbs that end a noun phrase
    PASTS - {"left", "read", "set", "cut", "split", "hit", "found", "ground", "felt", "run", "put"}
) | frozenset("goes comes runs lives says does gets makes takes keeps wants sits starts ends works".split())
TYPED: Final = frozenset({"number", "clock", "day", "date", "rate"})  # kinds that are told by form
_PERIODS: Final = frozenset("day week month year hour night morning evening weekday weekend fortnight quarter".split())
_OFTEN: Final = frozenset("daily weekly monthly yearly hourly nightly fortnightly".split())


DURATIONS: Final = frozenset(
    map(stem, "second seconds minute minutes hour hours day days week weeks month months year years".split())
)
PLAIN_UNITS: Final = DURATIONS | frozenset(  # figures of different things have them
    map(stem, "euro euros dollar dollars pound pounds bucks quid cents percent people".split())
)


@dataclass(frozen=True, slots=True)
class Slot:
    """The words [first, last) of a sentence that may be a value; `lead`: the word before them that is no article."""

    first: int
    last: int
    kind: SlotKind
    lead: str
    unit: str = ""  # of a number

    def words(self, parsed: ParsedSentence) -> tuple[str, ...]:
        return parsed.sentence.low[self.first : self.last]

    def roots(self, parsed: ParsedSentence) -> frozenset[str]:
        return frozenset(_roots(self.words(parsed)))


def _roots(words: tuple[str, ...]) -> Iterator[str]:
    for word in words:
        if (word[0].isalnum() or word[0] in "@#") and (word not in NO_CONTENT or word in COUNTS):
            yield word if word[0].isdigit() else stem(word)


def numeral_at(parsed: ParsedSentence, at: int, lead: str) -> Slot | None:
    """Return the slot of the figure, the day or the rate that begins at a word; None: none does."""
    low = parsed.sentence.low
    word = low[at]
    if (rate := _rate_end(low, at)) > at:
        return Slot(at, rate, "rate", lead)
    if word == "half" and low[at + 1 : at + 2] and low[at + 1][0].isdigit():
        return figure_at(parsed, at, lead)
    if word in _MIDDAYS:
        return Slot(at, at + 1, "clock", lead)
    figure = (
        word[0].isdigit() or _counts(low, at) or (word in _MONEY and low[at + 1 : at + 2] and low[at + 1][0].isdigit())
    )
    if figure or (word in _ORDINALS and _dated(low, at)):
        return figure_at(parsed, at, lead)
    if (
        word in DAYS
        or (word in _MONTHS and parsed.sentence.raw[at][0].isupper())
        or (word in _MONTHS and word not in {"may", "march", "mar", "sun", "jan"})
    ):
        last = at + 1
        while last < len(low) and (
            low[last] in DAYS | _PARTS | _MONTHS
            or low[last][0].isdigit()
            or (low[last] == "and" and low[last + 1 : last + 2] and low[last + 1] in DAYS)
            or (
                low[last] == "to"
                and low[last - 1][0].isdigit()
                and low[last + 1 : last + 2]
                and low[last + 1].isdigit()
            )
        ):
            last += 1
        return Slot(at, last, "day" if word in DAYS else "date", lead)
    return None


def _rate_end(low: tuple[str, ...], at: int) -> int:
    """Return the end of words that say how often: "every other week", "twice a week"; `at`: there are none."""
    if low[at] in _OFTEN:
        return at + 1
    if low[at] == "every":
        last = at + 1
        while last < len(low) and (
            low[last] in {"other", "single"} or low[last][0].isdigit() or low[last] in COUNTS or low[last] in _ORDINALS
        ):
            last += 1
        return last + 1 if last < len(low) and low[last].rstrip("s") in _PERIODS else at
    last = at + 1 + (low[at + 1 : at + 2] == ("times",))
    counted = low[at] in {"once", "twice"} or last > at + 1
    if counted and last + 1 < len(low) and low[last] in {"a", "per", "every", "each"} and low[last + 1] in _PERIODS:
        return last + 2
    return at


def _counts(low: tuple[str, ...], at: int) -> bool:
    following = low[at + 1] if at + 1 < len(low) else ""
    if low[at] in {"single", "half"}:
        return low[at] == "single" and bool(following) and following[0].isalnum() and following not in NO_CONTENT
    return low[at].split("-")[0] in COUNTS


def _dated(low: tuple[str, ...], at: int) -> bool:
    following = low[at + 1] if at + 1 < len(low) else ""
    return following in DAYS or following in {"floor", "of"} or not following or not following[0].isalnum()


def figure_at(parsed: ParsedSentence, at: int, lead: str) -> Slot:
    low = parsed.sentence.low
    first, kind = at, "number"
    if low[at] in _MONEY:
        at += 1
    if low[at] == "half" and low[at + 1 : at + 2] and low[at + 1][0].isdigit():
        at, kind = at + 1, "clock"
    if _CLOCK.fullmatch(low[at]) and ":" in low[at]:
        kind = "clock"
    if low[at] in _ORDINALS:
        kind = "day" if low[at + 1 : at + 2] and low[at + 1] in DAYS else "number"
    elif re.fullmatch(r"\d+(?:st|nd|rd|th)", low[at]):
        kind = "date"
    last = at + 1
    while (
        last + 1 < len(low)
        and low[last] in {",", "'", "."}
        and low[last + 1][0].isdigit()
        and parsed.sentence.end_of(last - 1) == parsed.sentence.starts[last]
    ):
        last += 2
    while last < len(low) and low[last].isdigit() and low[last - 1].isdigit() and len(low[last - 1]) > 2:
        last += 1  # "0800 222"
    while last < len(low) and (
        low[last] in _MONEY
        or low[last] in {"%", "percent", "k", "million", "thousand", "hundred"}
        or low[last] in _HALVES
    ):
        kind = "clock" if low[last] in _HALVES else kind
        last += 1
    if last + 1 < len(low) and low[last] == "to" and low[last + 1][0].isdigit() and kind == "number" and lead != "from":
        last += 2
    unit = ""
    if last < len(low) and low[last] in _MONTHS and low[last] != "mar":
        kind, last = "date", last + 1
    elif kind == "day":
        last += 1
    elif (
        last < len(low)
        and low[last][0].isalpha()
        and low[last] not in NO_CONTENT
        and low[last] not in BREAKING_VERBS
        and low[last] not in DAYS
        and last not in parsed.names
        and not low[last].endswith("ed")
    ):
        unit = stem(low[last])
        last += 1
        if unit in {"o'cloc", "h"}:
            kind = "clock"
    if (
        last + 1 < len(low)
        and low[last] in {"a", "an", "per", "each", "every"}
        and low[last + 1] in {"day", "week", "month", "year", "hour", "minute", "night", "walk"}
    ):
        last += 2
    return Slot(first, last, kind, lead, unit)  # type: ignore[arg-type]
