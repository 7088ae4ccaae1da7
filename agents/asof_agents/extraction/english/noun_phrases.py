"""Noun phrases: the phrase that begins at a word, without determiners, trailing clauses, times and punctuation.

Pronouns and empty words ("things", "a lot", "fun") are no phrase.
"""

from collections.abc import Mapping
from typing import NamedTuple

from asof_agents.extraction.english.lexicon import (
    ADVERBS,
    AUXILIARIES,
    CONJUNCTIONS,
    DETERMINERS,
    EMPTY_GERUNDS,
    FOREIGN_DETERMINERS,
    ORNAMENTS,
    PEOPLE_NOUNS,
    PREPOSITIONS,
    PRONOUNS,
    VAGUE,
    VAGUE_GERUNDS,
)
from asof_agents.extraction.english.name_spans import NameSpan
from asof_agents.extraction.english.sentences import Sentence
from asof_agents.extraction.english.verbs import PASTS

_WORDS_MAX = 5
_SOMEONE = frozenset({"somebody", "someone"})
_TITLED = frozenset({"called", "named", "titled", "entitled"})
_TRAILING_VERBS = PASTS - {
    "run",
    "set",
    "cut",
    "read",
    "bet",
    "left",
    "put",
    "split",
    "hit",
    "spread",
    "felt",
    "ground",
    "found",
}
_TRAILING = frozenset(
    "abroad again back based called daily everyday monthly named nonstop online overseas solo weekly".split()
)
_TIMELY = frozenset({"yesterday", "today", "tomorrow", "tonight"})
_QUOTES = frozenset({'"', "“"})
_ENDING = _TIMELY | _TITLED
_NO_PART = PRONOUNS | PREPOSITIONS | CONJUNCTIONS | AUXILIARIES | ADVERBS | DETERMINERS | FOREIGN_DETERMINERS
_EMPTY_OPENINGS = frozenset(
    "bit blast bunch couple few fun kind lot lots number part piece plenty sort time ton tons trouble".split()
)
_ALL_SORTS = frozenset({"sorts", "kinds", "types", "variety"})


class Phrase(NamedTuple):
    """The words [first, last) of a sentence; `after` is the next word to read."""

    first: int
    last: int
    after: int
    name: bool
    definite: bool  # "the painting"
    own: bool = False  # "my painting"
    one: bool = False  # "a painting"
    quoted: bool = False
    full: int = 0  # the first word with the adjectives that praise: "big cities"
    vague: bool = False  # its head is an empty word, unless a type lists it: "support group"


def phrase_at(sentence: Sentence, at: int, names: Mapping[int, NameSpan], times: frozenset[int]) -> Phrase | None:
    """Return the noun phrase from word `at` on, or None. `names`: by first word. `times`: words of time expressions."""
    low, count = sentence.low, len(sentence.low)
    while at < count and low[at] in ADVERBS:
        at += 1
    if at >= count:
        return None
    word = low[at]
    if word in _SOMEONE and at + 1 < count and low[at + 1] in _TITLED:
        return _called(at + 2, names, definite=False, own=False)
    definite = own = one = False
    if word in _QUOTES:
        title = names.get(at + 1)
        after = (
            min(title.last + 1 + (low[title.last] in {",", "."}), count)
            if title and title.quoted and title.last < count
            else 0
        )
        return Phrase(at + 1, title.last, after, True, False, quoted=True) if title and after else None
    if word in {"this", "these", "that", "those"} and at + 1 < count and low[at + 1][0].isalpha():
        at, definite = at + 1, True
        word = low[at]
    elif word in FOREIGN_DETERMINERS:
        return None
    if word in DETERMINERS and at not in names:
        definite, own, one = definite or word == "the", word in {"my", "our"}, word in {"a", "an"}
        at += 1
    if at + 1 < count and low[at] in _ALL_SORTS and low[at + 1] == "of":
        at += 2
    full = at
    while (
        at < count and at not in names and (low[at] in ADVERBS or low[at] in ORNAMENTS or _between_ornaments(low, at))
    ):
        at += 1
    if at >= count or at in times or low[at] in _EMPTY_OPENINGS:
        return None
    name = names.get(at)
    if name and name.last < count and low[name.last] in _TITLED:  # "an RPG called Dune"
        called = _called(name.last + 1, names, definite=definite, own=own)
        if called:
            return called
    if name and not _goes_on(sentence, name.last, times):
        return None if name.spoken_to else Phrase(at, name.last, name.last, True, definite, own)
    last = at
    if low[at].endswith("ing") and at + 2 < count and low[at + 1] in {"the", "a", "an"}:  # "playing the piano"
        last = at + 2
    while last < count and last - at <= _WORDS_MAX and _belongs(sentence, last, at, names, times):
        last = names[last].last if last in names else last + 1
    if last < count and low[last] in _TITLED:  # "an RPG called Dune": the name says more
        called = _called(last + 1, names, definite=definite, own=own)
        if called:
            return called
    if last + 1 < count and low[last] == "," and low[last - 1] in PEOPLE_NOUNS and not own:  # "this woman, Jean"
        named = names.get(last + 1)
        if named and (named.last >= count or low[named.last] in {",", ".", "!"}):
            return Phrase(named.first, named.last, named.last, True, definite, own)
    return _checked(sentence, Phrase(at, last, last, False, definite, own, one, full=full))


def _called(at: int, names: Mapping[int, NameSpan], *, definite: bool, own: bool) -> Phrase | None:
    title = names.get(at) or names.get(at + 1)
    if title is None or title.spoken_to:
        return None
    return Phrase(title.first, title.last, title.last + title.quoted, True, definite, own, quoted=title.quoted)


def _between_ornaments(low: tuple[str, ...], at: int) -> bool:
    """Whether a word is the "and" of "an amazing and emotional ceremony"."""
    return low[at] in {"and", ","} and low[at - 1] in ORNAMENTS and at + 1 < len(low) and low[at + 1] in ORNAMENTS


def _goes_on(sentence: Sentence, at: int, times: frozenset[int]) -> bool:
    """Whether a noun follows a name: "Harry Potter project"."""
    return at < len(sentence.low) and _belongs(sentence, at, at - 1, {}, times)


def _belongs(sentence: Sentence, at: int, first: int, names: Mapping[int, NameSpan], times: frozenset[int]) -> bool:
    word = sentence.low[at]
    if at in times or word in _ENDING:
        return False
    if at in names:
        return True
    if word in {"of", "'s"}:
        return at > first
    return word not in _NO_PART and word[0].isalnum()


def _checked(sentence: Sentence, phrase: Phrase) -> Phrase | None:
    low = sentence.low[phrase.first : phrase.last]
    if not low:
        return None
    while low and (low[-1] in {"of", "'s"} or (len(low) > 1 and (low[-1] in _TRAILING or low[-1] in _TRAILING_VERBS))):
        low = low[:-1]
    last = phrase.first + len(low)
    if not 0 < len(low) <= _WORDS_MAX or ("'s" in low and not phrase.own):
        return None
    head = low[low.index("of") - 1] if "of" in low and low.index("of") else low[-1]
    vague = head in VAGUE or low[-1] in VAGUE
    if (
        (vague and len(low) == 1 and not phrase.own and not (phrase.one and low == ("game",)))
        or (low[0] in (VAGUE_GERUNDS if len(low) == 1 else EMPTY_GERUNDS) and not (phrase.one and low == ("meeting",)))
        or low[0] in {"to", "no", "not"}
    ):
        return None
    if (len(low[-1]) < 3 and not sentence.raw[last - 1].isupper()) or low[-1].endswith("ly"):
        return None
    return Phrase(
        phrase.first, last, phrase.after, False, phrase.definite, phrase.own, phrase.one, full=phrase.full, vague=vague
    )
