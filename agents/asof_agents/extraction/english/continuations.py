"""Continuations: messages that go on from what was said last, without a word of what it was about."""

import re
from typing import Final

from asof_agents.extraction.english.change_words import BE, CHANGING, HANDED, OWNERS, SWITCHING, takes_over
from asof_agents.extraction.english.context import ParsedSentence
from asof_agents.extraction.english.gist import clause_bounds, stem
from asof_agents.extraction.english.lexicon import ADVERBS, PREPOSITIONS
from asof_agents.extraction.english.numerals import PLAIN_UNITS, Slot
from asof_agents.extraction.english.same_subjects import OPENINGS, head, is_elsewhere, is_said, slots_beside, subject
from asof_agents.extraction.english.slots import slots

_IT: Final = frozenset({"it", "its", "they", "that", "mine", "ours"})
_STARTS: Final = {(), *((each,) for each in OWNERS)}
_RUNS: Final = re.compile(r"\d+|[a-z]+")
_SPEAKERS: Final = frozenset({"i", "we", "im", "they"})
_SAYING_LITTLE: Final = (
    CHANGING | BE | OWNERS | ADVERBS | PREPOSITIONS | _SPEAKERS | {"have", "has", "'ve", "been", "me", "us"}
)
_PLACING: Final = frozenset({"on", "in", "at", "as", "for", "under"})
_FRAME_MIN: Final = 2  # words


def goes_on_from(before: ParsedSentence, old: Slot, after: ParsedSentence, new: Slot, *, typed: bool) -> bool:
    """Whether the clause of a new value is about what was said last: it says "it", "switched" or the same words."""
    low = after.sentence.low
    begin, _ = clause_bounds(low, new.first, new.last)
    clause = tuple(word for word in low[begin : new.first] if word not in OPENINGS)
    says_it = bool(clause) and clause[0] in _IT
    switches = new.lead in {"to", "onto", "into"} and old.kind == new.kind and not SWITCHING.isdisjoint(clause)
    repeats = typed and len(clause) > _FRAME_MIN and clause == subject(before, old)
    same = typed or {old.lead, new.lead} <= BE or (old.lead == new.lead and old.lead in _PLACING)
    if not (says_it or switches or repeats or (same and _is_same_speech(before, after, clause))):
        return False
    if is_elsewhere(before, after, new):
        return False
    return not says_it or all(is_said(each.roots(after), before) for each in _earlier_things(after, begin))


def _is_same_speech(before: ParsedSentence, after: ParsedSentence, clause: tuple[str, ...]) -> bool:
    """Whether two sentences are about their speaker, and the second has no verb of its own: "I'm on nights now"."""
    if before.sentence.low[0] not in _SPEAKERS or (after.sentence.low[0] not in _SPEAKERS and head(after, 0, None)):
        return False
    return _SAYING_LITTLE.union(before.sentence.low).issuperset(clause)


def _earlier_things(parsed: ParsedSentence, at: int) -> list[Slot]:
    """Return what a sentence has spoken of before a word, but for who changed something: "they", "the council"."""
    low = parsed.sentence.low
    things = [each for each in slots(parsed) if each.last <= at and each.kind in {"noun", "name"}]
    return [
        each
        for each in things
        if low[: each.first] not in _STARTS or CHANGING.isdisjoint(low[each.last : each.last + 2])
    ]


def is_variant(before: ParsedSentence, old: Slot, after: ParsedSentence, new: Slot) -> bool:
    """Whether two values differ in one word, or are codes of one form: "B team" and "A team", "14C" and "22A"."""
    mine, other = old.words(before), new.words(after)
    if mine == other or len(mine) != len(other) or not new.lead:
        return False
    if len(mine) == 1:
        forms = [_RUNS.sub(lambda run: "9" if run[0].isdigit() else "a", each) for each in (mine[0], other[0])]
        return forms[0] == forms[1] and "a" in forms[0] and "9" in forms[0]
    same = [one for one, two in zip(mine, other, strict=True) if one == two]
    return len(same) == len(mine) - 1 and (old.kind == "noun" or stem(same[-1]) not in PLAIN_UNITS)


def is_handed_over(before: ParsedSentence, old: Slot, after: ParsedSentence, new: Slot) -> bool:
    """Whether the message gives the new value what the old one had: "Oleg does the notes", "Ida does them now"."""
    if {old.kind, new.kind} - {"name", "noun"} or "name" not in {old.kind, new.kind}:
        return False
    low = after.sentence.low
    begin, _ = clause_bounds(low, new.first, new.last)
    if before.sentence.low[old.last : old.last + 1] == ("'s",):
        return False  # whose the thing is, not who has it
    holds = not old.lead or old.lead in BE or old.lead in {"by", "to"}
    taken = new.first == begin and takes_over(low, new.last)
    handed = new.lead in {"to", "by"} and not HANDED.isdisjoint(low[begin : new.first])
    beside = [each for each in slots_beside(after, new) if each.kind in {"name", "noun"}]
    return holds and (taken or handed) and bool(beside) and all(is_said(each.roots(after), before) for each in beside)
