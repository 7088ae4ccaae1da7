"""Announcements: messages that may say that something is otherwise now, and the new values that they may have."""

from collections.abc import Sequence
from functools import cached_property
from itertools import pairwise
from typing import Final

from asof_agents.extraction.english.change_words import (
    BE,
    CHANGED,
    CHANGING,
    ENDING,
    HINTS,
    NEW_LEADS,
    NOWS,
    OLD_LEADS,
    ONCE,
    OWNERS,
    PAST_BE,
    STRONG,
    SURE_NOW,
    WEAK,
    takes_over,
)
from asof_agents.extraction.english.context import ParsedSentence
from asof_agents.extraction.english.gist import about, clause_bounds, gist_of, openings, stems
from asof_agents.extraction.english.lexicon import UNSURE_FROM, VAGUE
from asof_agents.extraction.english.negations import is_denied
from asof_agents.extraction.english.numerals import Slot
from asof_agents.extraction.english.slots import says_little, slots, topic
from asof_agents.extraction.english.word_roots import COMMON
from asof_agents.extraction.ports import Turn

_PERSONAL: Final = frozenset(
    "spring autumn summer winter noon plan mind start stuff bit mother mum mom father dad sister brother vet "
    "doctor landlord scale conductor hairdresser supervisor boss hr it legal everyone people".split()
)
_CUES: Final = CHANGING | SURE_NOW
_SURE: Final = _CUES - WEAK
_VERBS: Final = CHANGING | ENDING
_REASONS: Final = frozenset("because cause since although though".split())
_WORDS_MAX: Final = 45  # of a message that tells a change
BRIEF_MAX: Final = 28  # words of a message in which no word says that something is otherwise now
_BRIEF_SENTENCES_MAX: Final = 2  # of such a message, and of the one that it goes on from
_TEXT_MAX: Final = 240  # characters of an earlier message
_BRIEF_TEXT_MAX: Final = 110  # of one that a message may go on from without a word of a change


class Announcement:
    """The sentences of a message that may put values in the place of others; what they hold is found once.

    words: those of all sentences, in lower case.
    """

    def __init__(self, told: Sequence[ParsedSentence], words: Sequence[str]) -> None:
        self.told = told
        self.words = words
        self.tells_change = not STRONG.isdisjoint(self.words)
        self._stems: set[str] | None = None

    @property
    def may_replace(self) -> bool:
        """Whether the message is as short as one without a word of a change must be to tell one."""
        if self.tells_change:
            return len(self.words) <= _WORDS_MAX
        return len(self.words) <= BRIEF_MAX and len(self.told) <= _BRIEF_SENTENCES_MAX

    @property
    def stems(self) -> set[str]:
        if self._stems is None:  # of nearly every message; a cached_property would take a lock
            self._stems = stems(self.words)
        return self._stems

    @cached_property
    def about(self) -> set[str]:
        return {root for each in self.told for root in about(each.sentence.low)}

    @property
    def cued(self) -> bool:
        """Whether a word says that something took another's place, or is so now."""
        return not _CUES.isdisjoint(self.words)

    @property
    def surely_cued(self) -> bool:
        """Whether one of these words says so wherever it stands."""
        return not _SURE.isdisjoint(self.words)

    @property
    def hinted(self) -> bool:
        """Whether a word may tell of a change; elsewhere only the very same thing can be told again."""
        return not HINTS.isdisjoint(self.words) or any(each in NOWS for each in pairwise(self.words))

    @property
    def counts(self) -> bool:
        """Whether it has a figure."""
        return any(word[0].isdigit() for word in self.words)

    @cached_property
    def openings(self) -> set[str]:
        return openings(self.words)

    @cached_property
    def values(self) -> list[tuple[ParsedSentence, Slot, float, frozenset[str]]]:
        """The slots that may be new values, how likely they are, and what stands beside them."""
        return [
            (each, slot, newness, topic(each, slot))
            for number, each in enumerate(self.told)
            for slot in slots(each)
            if (newness := _newness(self.told, number, each, slot)) is not None
        ]

    def may_go_on_from(self, turn: Turn, *, latest: bool) -> bool:
        """Whether the message may replace words of an earlier turn, which is not parsed yet."""
        if not self.tells_change and not latest:
            return False
        if len(turn.text) > (_TEXT_MAX if self.tells_change else _BRIEF_TEXT_MAX):
            return False
        if latest and self.tells_change and self.cued and len(turn.mentions) > 1:
            return True  # which may have stated what it says is otherwise now
        gist = gist_of(turn.text)
        if not self.tells_change and gist.sentences > _BRIEF_SENTENCES_MAX:
            return False
        if self.stems.isdisjoint(gist.stems):
            return latest and self.surely_cued and gist.sentences <= _BRIEF_SENTENCES_MAX
        return self.hinted or self.counts or not self.openings.isdisjoint(gist.openings)


def _newness(told: Sequence[ParsedSentence], number: int, parsed: ParsedSentence, new: Slot) -> float | None:
    """Return how likely the words of a slot are a new value."""
    low = parsed.sentence.low
    mine = new.roots(parsed)
    if low[new.last - 1].endswith("ly") or (new.first in parsed.names and parsed.names[new.first].spoken_to):
        return None
    if (
        new.kind == "noun"
        and new.last - new.first == 1
        and (low[new.first] in COMMON or low[new.first].endswith(("ing", "ful")))
        and new.lead in BE | {""}
    ):
        return None
    if new.kind == "noun" and new.last - new.first == 1 and low[new.first] in _VERBS:
        return None  # "it's retired"
    if not mine or parsed.sentence.question or parsed.sentence.unsure:
        return None
    begin, end = clause_bounds(low, new.first, new.last)
    clause = low[begin : new.first]
    if (
        "your" in clause
        or "let" in clause
        or clause[:1] == ("you",)
        or not ONCE.isdisjoint(clause)
        or (new.kind == "noun" and says_little(parsed, new))
    ):
        return None
    rest = low[new.last : end]
    if ({"not", "never"} & set(clause[-5:]) and "until" not in clause) or is_denied(low, new.first):
        return None
    score = 0.0
    if new.lead in OLD_LEADS:
        score -= 2.5
    elif new.lead in NEW_LEADS:
        score += 1
    elif new.lead in CHANGED and new.kind in {"noun", "name"}:
        score -= 2.5  # what is changed
    if set(clause) & _REASONS or low[begin - 1 : begin] in {("because",), ("since",)}:
        score -= 2
    changing = any(word in CHANGING for word in clause)
    score += 1.0 * changing
    if not SURE_NOW.isdisjoint(low[begin:end]) or low[max(begin, end - 2) : end] == ("these", "days"):
        score += 1.0
    if PAST_BE & set(clause) and not changing:
        score -= 2
    if PAST_BE & set(rest[:2]) or (rest and ENDING & set(rest[:3])):
        score -= 1.5
    if OWNERS.issuperset(clause) and rest:
        if clause and not takes_over(low, new.last):
            return None  # the subject of another deed
        score += 0.5 if takes_over(low, new.last) else -1
    if not UNSURE_FROM.isdisjoint(clause[-5:]):
        score -= 1
    if new.kind == "noun" and (low[new.last - 1] in VAGUE or low[new.last - 1] in _PERSONAL):
        score -= 1.5
    if number == len(told) - 1:
        score += 0.25
    return score + 0.01 * new.first
