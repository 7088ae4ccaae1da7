"""Replacements: the words of a message that stand in the place of others of an earlier one.

"We bank with Barclays", then "we moved everything to Monzo": both have a slot that fits, the second has words of a
change, and speaks of the same or names the old value.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

from asof_agents.extraction.english.announcements import BRIEF_MAX, Announcement
from asof_agents.extraction.english.change_signs import Signs, is_change
from asof_agents.extraction.english.change_words import BE
from asof_agents.extraction.english.context import ParsedSentence
from asof_agents.extraction.english.continuations import goes_on_from, is_handed_over, is_variant
from asof_agents.extraction.english.gist import about
from asof_agents.extraction.english.numerals import DURATIONS, TYPED, Slot
from asof_agents.extraction.english.old_values import is_state, oldness_of
from asof_agents.extraction.english.same_subjects import is_beside_old
from asof_agents.extraction.english.slots import TITLES, slots, topic

_BRIEF_STATE_MAX: Final = 16  # words of an earlier sentence that says little but what it is about
_SCORE_MIN: Final = 2.0
_ACROSS: Final = frozenset("to for with into is 's are called named".split())  # from an old value to the new one
_BESIDE_OLD: Final = 1.5
_VARIANT_FIT: Final = 2.0
_NAMED_MIN: Final = 1.25  # how old a value is that the message names as such


class Held(NamedTuple):
    """Where the words are of which an earlier turn states a relationship; `several`: there may be others of it."""

    first: int  # offset in the turn's text
    last: int
    groups: set[str]
    several: bool


@dataclass(frozen=True, slots=True)
class Replacement:
    """The slot of the earlier sentence and that of the message, with a score, and the signs of a change."""

    before: ParsedSentence
    old: Slot
    after: ParsedSentence
    new: Slot
    score: float
    signs: Signs


class _OldValue(NamedTuple):
    """A slot that may be an old value: how likely it is, what stands beside it, and what is stated of it."""

    before: ParsedSentence
    slot: Slot
    oldness: float
    beside: frozenset[str]
    known: bool
    several: bool


def replacement(
    earlier: Sequence[ParsedSentence], announcement: Announcement, held: Sequence[Held], *, latest: bool
) -> Replacement | None:
    """Return the likeliest replacement of words of an earlier message; None: none is sure."""
    found = replacements(earlier, announcement, held, latest=latest)
    return max(found, key=lambda each: each.score, default=None)


def replacements(
    earlier: Sequence[ParsedSentence], announcement: Announcement, held: Sequence[Held] | None = None, *, latest: bool
) -> Iterator[Replacement]:
    """Yield all pairs of slots of which the second may take the place of the first.

    held: what the earlier message states as relationships; None: it may state any.
    latest: the earlier message is the last of its speaker, which the message may go on from without naming it.
    """
    states = [each for each in earlier if is_state(each)]
    if not states:
        return
    words_before = {root for each in earlier for root in about(each.sentence.low)}
    values = [
        each for each in announcement.values if each[1].kind in TYPED or not each[1].roots(each[0]) <= words_before
    ]
    if not values:
        return
    for before in states:
        for number, slot in enumerate(slots(before)):
            oldness = oldness_of(before, slot, announcement.told, announcement.about)
            if oldness is None:
                continue
            if not number and slot.first < 3 and not slot.lead and slot.kind not in TYPED:
                oldness -= 0.75
            old = _old_value(before, slot, oldness, held)
            for after, new, newness, beside in values:
                found = _compare(old, after, new, newness, beside, announcement, latest=latest)
                if found is not None:
                    yield found


def _old_value(before: ParsedSentence, slot: Slot, oldness: float, held: Sequence[Held] | None) -> _OldValue:
    start, end = before.sentence.span(slot.first, slot.last)
    stated = [each for each in held or () if each.first < end and start < each.last]
    beside = topic(before, slot).union(*(each.groups for each in stated))
    known = bool(stated) or held is None
    return _OldValue(before, slot, oldness, beside, known, any(each.several for each in stated))


def _compare(
    old: _OldValue,
    after: ParsedSentence,
    new: Slot,
    newness: float,
    beside: frozenset[str],
    announcement: Announcement,
    *,
    latest: bool,
) -> Replacement | None:
    """Return the replacement of an old value by a new one, if the signs of a change are enough."""
    before, slot, oldness = old.before, old.slot, old.oldness
    variant = is_variant(before, slot, after, new)
    fit = _fit(before, slot, after, new)
    if variant:
        fit, oldness = max(fit or 0, _VARIANT_FIT), max(oldness, 1.0)
    if fit is None:
        return None
    handed = is_handed_over(before, slot, after, new)
    if handed:
        oldness, newness = max(oldness, 1.0), max(newness, 1.0)
    shared, shared_any = old.beside & beside, old.beside & announcement.about
    goes_on = latest and (variant or goes_on_from(before, slot, after, new, typed=fit >= 3))
    named = oldness >= _NAMED_MIN and not slot.roots(before).isdisjoint(announcement.about)
    if not named and not shared_any and not goes_on and not (latest and announcement.cued and fit >= 2):
        return None
    same = slot.lead == new.lead and slot.lead not in BE and bool(slot.lead)
    topics = min(2, 1.5 * len(shared)) + (0.5 if shared_any and not shared else 0)
    score = oldness + newness + fit + topics + same
    if oldness >= 2 and new.lead not in _ACROSS and is_beside_old(before, slot, after, new):
        score -= _BESIDE_OLD
    if score < _SCORE_MIN:
        return None  # before the signs, which take longer
    brief = latest and len(announcement.words) <= BRIEF_MAX and len(before.sentence.low) <= _BRIEF_STATE_MAX
    signs = Signs(
        before,
        slot,
        after,
        new,
        over=oldness >= 2,
        near=bool(shared) or goes_on or handed,
        shared=bool(shared_any),
        typed=fit >= 3,
        alike=fit >= 2,
        same_lead=same,
        latest=latest,
        known=old.known,
        several=old.several,
        handed=handed,
        brief=brief,
    )
    if not is_change(signs):
        return None
    return Replacement(before, slot, after, new, score, signs)


def _fit(before: ParsedSentence, old: Slot, after: ParsedSentence, new: Slot) -> float | None:
    """Return how well the kinds of two slots fit; None: they do not."""
    if old.kind in TYPED or new.kind in TYPED:
        if old.kind != new.kind and {old.kind, new.kind} not in (
            {"day", "date"},
            {"clock", "number"},
            {"date", "number"},
            {"rate", "number"},
        ):
            return None
        if old.words(before) == new.words(after):
            return None
        if old.kind == "number" == new.kind:
            if old.unit and new.unit and old.unit != new.unit:
                return 3.0 if {old.unit, new.unit} <= DURATIONS else None
            return 3.0 if old.unit == new.unit else 2.0
        return 3.0 if old.kind == new.kind else 1.0
    if old.kind == "name" == new.kind:
        titles = [bool(TITLES & set(slot.words(each))) for slot, each in ((old, before), (new, after))]
        return 2.0 if titles[0] == titles[1] else 1.0
    if old.kind == new.kind:
        return 1.0
    return 0.75
