"""Subjects of two sentences: whether a new value is said of the thing or the person that an old one is said of."""

from itertools import pairwise
from typing import Final

from asof_agents.extraction.english.change_words import BE, CHANGING, OWNERS
from asof_agents.extraction.english.context import ParsedSentence
from asof_agents.extraction.english.gist import about, clause_bounds, stem, stems
from asof_agents.extraction.english.lexicon import ADVERBS, PEOPLE_NOUNS
from asof_agents.extraction.english.numerals import TYPED, Slot
from asof_agents.extraction.english.slots import says_little, slots

_SUBJECT_MAX: Final = 6  # words of a subject and its verb
OPENINGS: Final = ADVERBS | frozenset({"and", "hence", "then", "ok", "okay", "update", "haha", "lol"})
_JOINING: Final = frozenset({"and", "-", "–", "&"})  # between the parts of a value
_WITHIN: Final = _JOINING | {"to", "until", "till", ","}


def is_framed(before: ParsedSentence, old: Slot, after: ParsedSentence, new: Slot) -> bool:
    """Whether two slots say the same of the same thing: "the bins are ...", "our bins are ..."."""
    first, second = stems(subject(before, old)), stems(subject(after, new))
    return bool(first and second) and (first <= second or second <= first)


def is_of_another(before: ParsedSentence, after: ParsedSentence, new: Slot) -> bool:
    """Whether a new value is said of another thing than the earlier sentence speaks of."""
    begin = new.first - len(subject(after, new))
    mine = head(after, begin, new)
    if not mine or _is_agent(before, after, begin, new):
        return False
    there = head(before, 0, None)
    if there and not mine <= stems(before.sentence.low):
        return not there <= mine
    return mine.isdisjoint(stems(before.sentence.low))


def _is_agent(before: ParsedSentence, after: ParsedSentence, begin: int, new: Slot) -> bool:
    """Whether a clause begins with who changed what the earlier sentence speaks of: "HR lengthened the internships"."""
    low = after.sentence.low
    between = [each for each in slots(after) if begin <= each.first and each.last <= new.first]
    return any(
        not CHANGING.isdisjoint(low[one.last : one.last + 2]) and is_said(other.roots(after), before)
        for one, other in pairwise(between)
    )


def is_of_another_person(before: ParsedSentence, after: ParsedSentence, new: Slot) -> bool:
    """Whether a new value is said of another one of the speaker's people: "my mother", then "my neighbour".

    What one of them does is nothing that the speaker changes: "my sister works at Acme", then "I moved to Berlin".
    """
    begin, _ = clause_bounds(after.sentence.low, new.first, new.last)
    mine, there = _own_person(after, begin), _own_person(before, 0)
    if there and after.sentence.low[begin] == "i":
        return BE.isdisjoint(before.sentence.low[:_SUBJECT_MAX])
    return bool(mine and there and mine != there)


def _own_person(parsed: ParsedSentence, at: int) -> str:
    following = parsed.sentence.low[at + 1 : at + 2]
    owned = parsed.sentence.low[at] in OWNERS and not PEOPLE_NOUNS.isdisjoint(following)
    return following[0] if owned else ""


def is_contrasted(before: ParsedSentence, old: Slot, after: ParsedSentence, new: Slot) -> bool:
    """Whether something beside the values differs in the same way: "with Ola at 3", "with Kim at 5"."""
    mine = [each for each in slots(before) if each.lead and _is_apart(before, each, old)]
    others = [each for each in slots_beside(after, new) if each.lead]
    return any(
        one.lead == other.lead
        and one.kind == other.kind
        and not is_said(one.roots(before), after)
        and not is_said(other.roots(after), before)
        for one in mine
        for other in others
    )


def is_elsewhere(before: ParsedSentence, after: ParsedSentence, new: Slot) -> bool:
    """Whether the clause of a new value has a thing or a person of which the earlier sentence does not speak."""
    known = about(before.sentence.low)
    begin, _ = clause_bounds(after.sentence.low, new.first, new.last)
    return any(
        known.isdisjoint(about(each.words(after))) and not says_little(after, each)
        for each in slots_beside(after, new)
        if each.kind in {"noun", "name"} and each.first > begin
    )


def is_beside_old(before: ParsedSentence, old: Slot, after: ParsedSentence, new: Slot) -> bool:
    """Whether the clause of a new value names the old one, of which it says something else: "keto lasted till May"."""
    low = after.sentence.low
    begin, end = clause_bounds(low, new.first, new.last)
    mine = old.roots(before)
    return any((word if word[0].isdigit() else stem(word)) in mine for word in low[begin:end])


def is_said(roots: frozenset[str], parsed: ParsedSentence) -> bool:
    """Whether a sentence has one of the roots of a slot."""
    return any((word if word[0].isdigit() else stem(word)) in roots for word in parsed.sentence.low)


def head(parsed: ParsedSentence, at: int, new: Slot | None) -> frozenset[str]:
    """Return the stems of the thing or the person that a clause begins with; none of a pronoun, or of the new value."""
    low = parsed.sentence.low
    while at < len(low) and (low[at] in OWNERS or low[at] in OPENINGS):
        at += 1
    first = next((each for each in slots(parsed) if each.first == at), None)
    return first.roots(parsed) if first is not None and first != new else frozenset()


def subject(parsed: ParsedSentence, slot: Slot) -> tuple[str, ...]:
    """Return the words of a clause before a slot."""
    low = parsed.sentence.low
    begin, _ = clause_bounds(low, slot.first, slot.last)
    while begin < slot.first and low[begin] in OPENINGS:
        begin += 1
    return low[begin : slot.first]


def slots_beside(parsed: ParsedSentence, new: Slot) -> list[Slot]:
    """Return the other slots of the clause of a slot."""
    begin, end = clause_bounds(parsed.sentence.low, new.first, new.last)
    return [each for each in slots(parsed) if _is_apart(parsed, each, new) and begin <= each.first and each.last <= end]


def _is_apart(parsed: ParsedSentence, one: Slot, other: Slot) -> bool:
    """Whether two slots are no parts of one value: "level 5", "Monday 2 to 4"."""
    between = parsed.sentence.low[min(one.last, other.last) : max(one.first, other.first)]
    within = _WITHIN if {one.kind, other.kind} <= TYPED else _JOINING
    return max(one.first, other.first) >= min(one.last, other.last) and not within.issuperset(between)
