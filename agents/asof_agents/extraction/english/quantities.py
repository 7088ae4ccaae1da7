"""Values in a sentence: numbers with their units, versions, codes, and days and hours by their names."""

import re
from dataclasses import dataclass
from typing import Final, Literal

from asof_agents.extraction.english.context import ParsedSentence, TurnContext
from asof_agents.extraction.english.lexicon import (
    ADVERBS,
    CONJUNCTIONS,
    FUNCTION_WORDS,
)

ValueKind = Literal["number", "version", "time", "code"]

_HEDGES: Final = ADVERBS | {"about", "around", "roughly", "exactly", "approximately", "over", "up", "down"}
_CURRENCIES: Final = frozenset("$€£¥")
_WORDS: Final = frozenset(
    "one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen "
    "eighteen nineteen twenty thirty forty fifty sixty seventy eighty ninety".split()
)
_SCALES: Final = frozenset("hundred thousand million billion k m grand dozen percent %".split())
_PER: Final = frozenset({"a", "an", "per", "/", "each", "every"})
_PERIODS: Final = frozenset("second minute hour day night week month quarter year person head square meter".split())
_NO_UNIT: Final = FUNCTION_WORDS | {"and", "or", "more", "times", "old"}
_RELATIVE: Final = frozenset(
    "ago coming every last month next now past the this today tomorrow tonight week weekend year yesterday".split()
)
_NUMBER: Final = re.compile(r"\d+(?:\.\d+)?(?:k|m|bn|th|km|kg|cm|mm|gb|tb|mb|h|lbs?)?|\d+[-:/]\d+")
_VERSION: Final = re.compile(r"v\d+(?:\.\d+)*[\w.-]*|\d+(?:\.\d+)+[\w.-]*")
_CODE: Final = re.compile(r"(?=.*\d)(?=.*[a-z@_-])[\w@.:+/-]{4,}|[\w.+-]+@[\w.-]+\w|\d{4,}")


@dataclass(frozen=True, slots=True)
class Value:
    """The words [first, last) of a value; `after` is the next word, with a unit's the noun that it counts at `unit`."""

    kind: ValueKind
    first: int
    last: int
    unit: int | None = None


def value_at(context: TurnContext, parsed: ParsedSentence, at: int) -> Value | None:
    """Return the value that begins at a word, hedges aside, if it ends its clause or a preposition follows."""
    low, count = parsed.sentence.low, len(parsed.sentence.low)
    while at < count and low[at] in _HEDGES:
        at += 1
    if at >= count:
        return None
    context.timed(parsed, ahead=False)
    found = _number(low, at, parsed) or _code(low, at)
    if found is None or found.kind == "number":
        found = _time(parsed, at) or found
    return found if found and _closes(parsed, found.last) else None


WEEKDAYS: Final = frozenset("mondays tuesdays wednesdays thursdays fridays saturdays sundays weekends".split())
STREETS: Final = frozenset(
    "alley ave avenue blvd boulevard close court crescent drive gardens grove hill lane park place rd road row square "
    "st street terrace walk way".split()
)


def address_at(parsed: ParsedSentence, at: int) -> Value | None:
    """Return the address that begins at a word: "14 Harrow Lane", "flat 3, 20 Mill Road"."""
    low = parsed.sentence.low
    if at >= len(low) or not low[at][0].isdigit() or len(low[at]) > 5:
        return None
    for last in range(at + 2, min(at + 5, len(low) + 1)):
        if not low[last - 1].isalpha():
            return None
        if low[last - 1] in STREETS and _closes(parsed, last):
            return Value("code", at, last)
    return None


def _time(parsed: ParsedSentence, at: int) -> Value | None:
    """Return a day or an hour by its name; "tomorrow" is another one each day."""
    low = parsed.sentence.low
    first = at + 1 if low[at] in {"on", "at", "for", "by", "in", "to", "until"} else at
    if first >= len(low):
        return None
    if low[first] in WEEKDAYS:
        return Value("time", first, first + 1)
    last = first
    while last < len(low) and last in parsed.timed and low[last] not in {"at", "on"}:
        last += 1
    while last < len(low) and last in parsed.timed:
        last += 1
    last -= last > first + 1 and low[last - 1] == "now"
    words = low[first:last]
    if not words or not _RELATIVE.isdisjoint(words) or (first == at and all(word.isdigit() for word in words)):
        return None
    return Value("time", first, last)


def _number(low: tuple[str, ...], at: int, parsed: ParsedSentence) -> Value | None:
    first, end = at, at
    while end < len(low) and low[end] in _CURRENCIES:
        end += 1
    figure = end
    if end >= len(low) or not (low[end] in _WORDS or (low[end][0].isdigit() and _NUMBER.fullmatch(low[end]))):
        return None
    if low[end] == "one" or (low[end] in _WORDS and low[end + 1 : end + 2] == ("of",)):
        return None
    end += 1
    sentence = parsed.sentence
    while (
        (  # "40,000" is three words
            end + 1 < len(low) and low[end] == "," and len(low[end + 1]) >= 3 and low[end + 1][:3].isdigit()
        )
        and sentence.end_of(end - 1) == sentence.starts[end] == sentence.starts[end + 1] - 1
    ):
        end += 2
    while end < len(low) and (low[end] in _SCALES or low[end] in _CURRENCIES):
        end += 1
    bare = end == figure + 1 and figure == first
    if (
        bare
        and _VERSION.fullmatch(low[figure])
        and (low[figure].count(".") > 1 or not _is_unit(low, end) or end in parsed.timed)
    ):
        return Value("version", first, end)
    unit = end if _is_unit(low, end) and end not in parsed.timed else None
    end += unit is not None
    if end + 1 < len(low) and low[end] in _PER and low[end + 1] in _PERIODS:
        end += 2
    return Value("number", first, end, unit)


def _is_unit(low: tuple[str, ...], at: int) -> bool:
    return at < len(low) and low[at].isalpha() and low[at] not in _NO_UNIT


def _code(low: tuple[str, ...], at: int) -> Value | None:
    first = at + 1 if low[at] in {"+", "#", '"', "“"} else at
    if first >= len(low) or low[first].isalpha():
        return None  # mostly so
    if _VERSION.fullmatch(low[first]):
        return Value("version", first, first + 1)
    return Value("code", first, first + 1) if _CODE.fullmatch(low[first]) else None


def _closes(parsed: ParsedSentence, at: int) -> bool:
    low = parsed.sentence.low
    if at >= len(low) or at in parsed.timed:
        return True
    word = low[at]
    return not (word[0].isalnum() or word in {"'s", "/"}) or word in _CLOSING


_CLOSING: Final = (
    ADVERBS | CONJUNCTIONS | frozenset("and at but each every for from in instead of on per since which with".split())
) - {"than", "nor"}
