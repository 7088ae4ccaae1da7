"""Slots of a text: the words that may be a value of something, with what stands around them.

"We bank with Barclays" has one, "Barclays" after "with"; what else it says, "bank", is the topic. A slot states nothing
by itself: it is compared with one of another message that tells of a change.
"""

from dataclasses import replace
from typing import Final

from asof_agents.extraction.english.change_words import BE, CHANGING, SURE_NOW, SWAPS
from asof_agents.extraction.english.context import ParsedSentence
from asof_agents.extraction.english.gist import NO_CONTENT, about, stem
from asof_agents.extraction.english.lexicon import ADVERBS, VAGUE
from asof_agents.extraction.english.name_spans import NameSpan
from asof_agents.extraction.english.numerals import (
    BREAKING_VERBS,
    COUNTS,
    DAYS,
    PLAIN_UNITS,
    Slot,
    figure_at,
    numeral_at,
)
from asof_agents.extraction.english.verbs import LEMMAS, forms
from asof_agents.extraction.english.word_roots import COMMON

_JOINS: Final = frozenset({"-", "&", "/", "'s", "'"})
TITLES: Final = frozenset({"dr", "mr", "mrs", "ms"})
_WORDS_MAX: Final = 6
_SUBJECTS: Final = frozenset("i we you they he she it who will can not 'll could should".split())
_NOMINAL: Final = frozenset("a an the my our his her their its this in on of at by with as into".split())
_FORMS: Final = {
    tag: frozenset(word for lemma in LEMMAS for word, tags in forms(lemma).items() if tag in tags)
    for tag in ("s", "past")
}
_SKIPPED: Final = (ADVERBS - {"now", "instead", "just"}) | frozenset(
    "a an the my our some their his her its this that called named".split()
)
_NO_NOUNS: Final = TITLES | frozenset("never always away forward back again ever else instead".split())
WAYS: Final = frozenset({("in", "person"), ("on", "foot"), ("at", "home"), ("from", "home")})
_LEADS: Final = {"w": "with", "@": "at", "onto": "on", "into": "in"}


def slots(parsed: ParsedSentence) -> list[Slot]:
    """Return the slots of a sentence, in order; none overlaps another.

    They follow from its words and names, so they are found once, however many messages look back at it.
    """
    if parsed.sentence.values is None:
        parsed.sentence.values = _found(parsed)
    return parsed.sentence.values


def _found(parsed: ParsedSentence) -> list[Slot]:
    found: list[Slot] = []
    at, low = 0, parsed.sentence.low
    while at < len(low):
        slot = _slot_at(parsed, at)
        if slot is None:
            at += 1
            continue
        found.append(slot)
        if slot.kind == "noun":
            figures = (each for each in range(slot.first + 1, slot.last) if low[each][0].isdigit())
            found += [replace(figure_at(parsed, each, low[each - 1]), unit=stem(low[each - 1])) for each in figures][:1]
        at = max(slot.last, found[-1].last)
    return found


def topic(parsed: ParsedSentence, slot: Slot) -> frozenset[str]:
    """Return the stems and groups of the words of a sentence beside a slot, and of the unit of a number."""
    low = parsed.sentence.low
    beside = about(low[: slot.first]) | about(low[slot.last :])
    return beside | {slot.unit} if slot.unit and slot.unit not in PLAIN_UNITS else beside


def says_little(parsed: ParsedSentence, slot: Slot) -> bool:
    """Whether the words of a slot are so plain or vague that they tell no value."""
    low = parsed.sentence.low
    if low[max(0, slot.first - 1) : slot.last] in WAYS:
        return False
    return all(word in VAGUE or word in COMMON or not word[0].isalnum() for word in slot.words(parsed))


def _slot_at(parsed: ParsedSentence, at: int) -> Slot | None:
    low = parsed.sentence.low
    word, lead = low[at], _lead(low, at)
    if numeral := numeral_at(parsed, at, lead):
        return numeral
    if name := parsed.names.get(at):
        return None if name.spoken_to else _name(low, at, _before_for(low, at, name.last))
    if at > 1 and low[at - 1] == "for" and (swapped := _name_around(parsed, at)):
        return _name(low, at, swapped.last)
    if word in TITLES and not parsed.names and low[at + 1 : at + 2] and low[at + 1][0].isalpha():
        return Slot(at, at + 2, "name", lead)  # "dr lang"
    if word[0] in "@#":
        return Slot(at, at + 1, "name", lead) if len(word) > 1 else None
    if not word[0].isalpha() or word in NO_CONTENT or word in _NO_NOUNS or _is_verb(low, at, at):
        return None
    if word.endswith("ly") and low[at + 1 : at + 2] and low[at + 1][0].isalpha() and low[at + 1] not in NO_CONTENT:
        return None  # "fully vegan"
    last = _noun_end(parsed, at)
    return Slot(at, last, "noun", lead) if last > at else None


def _before_for(low: tuple[str, ...], at: int, last: int) -> int:
    """Return the end of a name before the one that it was swapped for: "swapped Hulu for Disney"."""
    swapped = at > 0 and low[at - 1] in SWAPS and "for" in low[at:last]
    return low.index("for", at) if swapped else last


def _name_around(parsed: ParsedSentence, at: int) -> NameSpan | None:
    """Return the name, swapped for the one that begins at a word, which names are read as one with it."""
    around = (each for each in parsed.names.values() if each.first < at < each.last)
    return next((each for each in around if _before_for(parsed.sentence.low, each.first, each.last) == at - 1), None)


def _name(low: tuple[str, ...], at: int, last: int) -> Slot:
    """Return the slot of a name with its title and the figures after it: "Dr. Shah", "Terminal 2"."""
    first = at
    while (
        last < len(low)
        and last - at < _WORDS_MAX
        and (low[last][0].isdigit() or (low[last] == "&" and last + 1 < len(low)))
    ):
        last += 1 + (low[last] == "&")
    if at > 1 and low[at - 1] == "." and low[at - 2] in TITLES:
        first = at - 2
    elif at and low[at - 1] in TITLES | {"uncle", "aunt"}:
        first = at - 1
    return Slot(first, last, "name", _lead(low, first))


def _noun_end(parsed: ParsedSentence, first: int) -> int:
    """Return the end of the run of words from `first` that name one thing."""
    low, last = parsed.sentence.low, first
    while last < len(low) and last - first < _WORDS_MAX:
        following = low[last + 1] if last + 1 < len(low) else ""
        if (
            low[last] in _JOINS
            and last > first
            and following[:1].isalnum()
            and following not in NO_CONTENT
            and following not in TITLES
        ):
            last += 1
            continue
        if not low[last][0].isalnum() or low[last] in NO_CONTENT or (last > first and _is_verb(low, last, first)):
            break
        if low[last] in DAYS or (low[last] in COUNTS and last > first and low[last] != "single"):
            break
        last = parsed.names[last].last if last in parsed.names else last + 1
        following = low[last + 1] if last + 1 < len(low) else ""
        if low[last : last + 1] == ("of",) and following[:1].isalpha() and following not in NO_CONTENT:
            last += 1
    return last


def _is_verb(low: tuple[str, ...], at: int, first: int) -> bool:
    """Whether a word of a run of words is a verb rather than part of a name of a thing."""
    word = low[at]
    back = at - 1
    while back >= 0 and low[back] in ADVERBS:
        back -= 1
    before = low[back] if back >= 0 else ""
    following = low[at + 1] if at + 1 < len(low) else ""
    goes_on = bool(following) and following[0].isalnum()
    if word[0].isdigit() or (at == first and before in _NOMINAL):
        return False
    if at == first and before in BE and (not goes_on or following in SURE_NOW):
        return False  # "it's written now"
    if before in _SUBJECTS or (before == "to" and at == first and word in LEMMAS):
        return True
    if at > first and word in CHANGING:
        return True  # "the timetable changed"
    if word in BREAKING_VERBS or word in _FORMS["past"] or (word.endswith("ed") and len(word) > 4):
        return at == first or goes_on or word in _FORMS["past"]
    if word.endswith("ing") and at == first and len(word) > 4:
        return goes_on and following not in {"is", "are", "'s", "has"}
    if at > first and word.endswith("s") and not word.endswith("ss") and _counts_next(low, at):
        return True  # "the babysitter charges 12 pounds"
    content = bool(before) and before[0].isalnum() and before not in NO_CONTENT
    return (at > first or content) and word in _FORMS["s"] and goes_on and following not in {"is", "are", "and"}


def _counts_next(low: tuple[str, ...], at: int) -> bool:
    following = low[at + 1] if at + 1 < len(low) else "."
    return following[0].isdigit() or following in COUNTS or following == "every"


def _lead(low: tuple[str, ...], at: int) -> str:
    back = at - 1
    while back >= 0 and low[back] in _SKIPPED:
        if low[back] in {"called", "named"}:
            return low[back]
        back -= 1
    return _LEADS.get(low[back], low[back]) if back >= 0 else ""
