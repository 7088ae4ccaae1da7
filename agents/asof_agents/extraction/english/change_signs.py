"""Signs of a change: what tells that a value stands in the place of another, and is no second fact."""

from collections.abc import Sequence
from itertools import pairwise
from typing import Final, NamedTuple

from asof_agents.extraction.english.change_words import BE, CHANGING, NEW_LEADS, NOWS, SURE_NOW, TAKES_OVER, WEAK
from asof_agents.extraction.english.context import ParsedSentence
from asof_agents.extraction.english.gist import clause_bounds
from asof_agents.extraction.english.numerals import Slot
from asof_agents.extraction.english.same_subjects import (
    is_contrasted,
    is_elsewhere,
    is_framed,
    is_of_another,
    is_of_another_person,
)

_VERBS: Final = CHANGING - WEAK
_TOO: Final = frozenset({"too", "also", "another"})
_ONE_MORE: Final = frozenset({"a", "an", "another"})
_NEW_MAX: Final = 8  # words


class Wording(NamedTuple):
    """What the words around a new value say of a change."""

    verb: bool  # one that puts something in another's place
    weak_verb: bool  # one that may
    now: bool
    leading: bool  # to a value: "to Y", "Y is my", "not X but Y"


class Signs(NamedTuple):
    """What tells of two slots that the second is in the place of the first. What takes long is found when asked for."""

    before: ParsedSentence
    old: Slot
    after: ParsedSentence
    new: Slot
    over: bool  # the message says of the old value that it is over
    near: bool  # what stands beside the one and beside the other is shared
    shared: bool  # the message shares words with what stands beside the old value
    typed: bool  # both are a number, a time or a rate of the same kind
    alike: bool  # both are of the same kind
    same_lead: bool  # the same word stands before both
    latest: bool  # nothing was said in between
    known: bool  # a relationship has the old value
    several: bool  # of which there may be others
    handed: bool  # it has now what the old value had
    brief: bool  # both messages are short

    @property
    def framed(self) -> bool:
        """Whether both sentences say the same of the same thing."""
        return is_framed(self.before, self.old, self.after, self.new)

    @property
    def of_another(self) -> bool:
        """Whether the new value is said of another thing."""
        return is_of_another(self.before, self.after, self.new)

    @property
    def of_person(self) -> bool:
        """Whether it is said of another person."""
        return is_of_another_person(self.before, self.after, self.new)

    @property
    def contrasted(self) -> bool:
        """Whether something else differs as well."""
        return is_contrasted(self.before, self.old, self.after, self.new)

    @property
    def elsewhere(self) -> bool:
        """Whether what the new value is said of was not spoken of."""
        return is_elsewhere(self.before, self.after, self.new)


def is_change(signs: Signs) -> bool:
    """Whether the signs of a change are enough, however well the slots fit.

    Two statements that follow each other are mostly two facts: only what says so, or speaks of the very same thing,
    puts a value in the place of another.
    """
    if signs.of_person:
        return False
    words = wording(signs.after, signs.new)
    told = words.verb or words.now or (words.weak_verb and (signs.alike or (signs.near and signs.same_lead)))
    if signs.over:
        return told or signs.brief or words.leading or signs.typed or signs.same_lead
    if signs.handed:
        return True
    fits = _says_same(signs) or (told and _goes_on(signs, words))
    return fits and not (signs.of_another or signs.contrasted)


def _says_same(signs: Signs) -> bool:
    """Whether the message says the same as before, with the new value, of what has one."""
    if signs.several:
        return False
    if (signs.alike or signs.same_lead) and signs.framed:
        return True
    return signs.near and signs.typed and signs.brief and not signs.elsewhere


def _goes_on(signs: Signs, words: Wording) -> bool:
    """Whether a message with words of a change goes on from what has the old value."""
    if signs.near or (signs.shared and signs.typed):
        return True
    one = not signs.several or (signs.same_lead and words.now)
    meant = signs.known or (signs.brief and words.verb and words.leading)
    return signs.latest and signs.alike and meant and one and not signs.elsewhere


def _introduces(clause: Sequence[str]) -> bool:
    """Whether a clause tells of one more: "I have a sister named Eva", "my other sister is Eva"."""
    if ("my", "other") in pairwise(clause):
        return True
    named = [at for at, word in enumerate(clause) if word == "named"]
    return any(not _ONE_MORE.isdisjoint(clause[max(0, at - 3) : at]) for at in named)


def wording(parsed: ParsedSentence, new: Slot) -> Wording:
    """Return what the words around a new value say of a change."""
    low = parsed.sentence.low
    begin, end = clause_bounds(low, new.first, new.last)
    clause = low[begin:end]
    if not _TOO.isdisjoint(clause) or _introduces(clause):
        return Wording(verb=False, weak_verb=False, now=False, leading=False)
    before = low[max(begin, new.first - 3) : new.first]
    return Wording(
        verb=not _VERBS.isdisjoint(clause) or (new.lead == "to" and not {"up", "down", "back"}.isdisjoint(before)),
        weak_verb=not CHANGING.isdisjoint(before),
        now=not SURE_NOW.isdisjoint(clause) or any(each in NOWS for each in pairwise(clause)) or _is_of_new(low, new),
        leading=_leads(low, new, begin),
    )


def _is_of_new(low: tuple[str, ...], new: Slot) -> bool:
    """Whether a value is told of something new: "my new boss is Tomasz", "new topping: nduja"."""
    return (new.lead in BE or new.lead == ":") and "new" in low[max(0, new.first - _NEW_MAX) : new.first]


def _leads(low: tuple[str, ...], new: Slot, begin: int) -> bool:
    """Whether the words around a slot say that it is a value: "to Y", "Y is my", "not X but Y"."""
    if (
        new.lead in NEW_LEADS
        or new.lead.endswith("ing")
        or low[new.first - 2 : new.first] in {("favour", "of"), ("favor", "of")}
    ):
        return True
    return new.first - begin <= 2 and new.last < len(low) and low[new.last] in TAKES_OVER
