"""Old values: words of an earlier sentence that a message may put something else in the place of."""

from collections.abc import Sequence
from typing import Final

from asof_agents.extraction.english.change_words import ENDING, OWNERS, PAST_BE
from asof_agents.extraction.english.context import ParsedSentence
from asof_agents.extraction.english.events import past_deed
from asof_agents.extraction.english.gist import BREAKS, NO_STATE, stem
from asof_agents.extraction.english.lexicon import ADVERBS, UNSURE_SENTENCE
from asof_agents.extraction.english.numerals import TYPED, Slot
from asof_agents.extraction.english.slots import says_little
from asof_agents.extraction.english.verbs import LEMMAS

_PERSONS: Final = frozenset("i we he she they it".split())
_TAKING: Final = frozenset("take takes taken took taking".split())  # "over" is no end after these
_STATE_MAX: Final = 24  # words
_LASTING: Final = frozenset(
    "got booked called named planned set adopted told hooked read put left fixed cut joined enrolled subscribed signed "
    "hired chose picked decided reserved registered started moved".split()
)


def is_state(parsed: ParsedSentence) -> bool:
    """Whether a sentence may say what is so, and not what happened or what another does."""
    low = parsed.sentence.low
    named = {at for name in parsed.names.values() for at in range(name.first, name.last)}
    return (
        not parsed.sentence.question
        and len(low) <= _STATE_MAX
        and UNSURE_SENTENCE.isdisjoint(low)
        and NO_STATE.isdisjoint(low)
        and not any(_happened(low, at) for at in range(len(low)) if at not in named)
    )


def _happened(low: tuple[str, ...], at: int) -> bool:
    """Whether a word is a past verb after its subject."""
    word, before = low[at], at - 1
    while before >= 0 and low[before] in ADVERBS:
        before -= 1
    subject = low[before] if before >= 0 else ""
    past = past_deed(word) and word not in LEMMAS and word not in _LASTING
    return past and (
        subject in _PERSONS or (not subject[:1].isalnum() and low[at + 1 : at + 2] not in {("on",), ("in",), ("by",)})
    )


def oldness_of(
    before: ParsedSentence, old: Slot, told: Sequence[ParsedSentence], words_after: set[str]
) -> float | None:
    """Return how likely the words of a slot are what the message puts something else in the place of."""
    mine = old.roots(before)
    if not mine or (old.kind == "noun" and says_little(before, old)):
        return None
    if mine.isdisjoint(words_after):
        return 1.0
    if old.kind in TYPED and not all(root in words_after for root in mine):
        return 1.0
    best: float = -2.0
    for parsed in told:
        low = parsed.sentence.low
        for at, word in enumerate(low):
            if not word[0].isalnum() or (word if word[0].isdigit() else stem(word)) not in mine:
                continue
            clause = _clause(low, at)
            ends = ENDING.intersection(clause)
            if (
                (ends and not (ends == {"over"} and not _TAKING.isdisjoint(clause)))
                or not PAST_BE.isdisjoint(low[at + 1 : at + 3])
                or "not" in clause
                or low[at - 1 : at] == ("from",)
            ):
                best = max(best, 2.0)
            elif at and past_deed(low[at - 1 - (low[at - 1] in OWNERS)]):
                best = max(best, 1.5)
            elif at + 1 < len(low) and (past_deed(low[at + 1]) or low[at + 1] in {"has", "'s"}):
                best = max(best, 1.5 if low[at + 1] != "'s" else 0)
            else:
                best = max(best, -0.5)
    return best


def _clause(low: tuple[str, ...], at: int) -> tuple[str, ...]:
    """Return the words of the clause around a word, a few before it and after it."""
    begin, end = at, at + 1
    while begin and at - begin < 5 and low[begin - 1] not in BREAKS:
        begin -= 1
    while end < len(low) and end - at < 7 and low[end] not in BREAKS:
        end += 1
    return low[begin:end]
