"""Names that chat writes in lower case: "moved to leeds", "i work at zalando", "switched to neovim".

Only where nothing in a sentence has a capital but "I", and only after words that a name follows.
"""

from collections.abc import Iterator
from typing import Final

from asof_agents.extraction.english.lexicon import (
    ADVERBS,
    AUXILIARIES,
    BARE,
    CONJUNCTIONS,
    DETERMINERS,
    GREETINGS,
    NOT_NAMES,
    ORNAMENTS,
    PEOPLE_NOUNS,
    PREPOSITIONS,
    PRONOUNS,
    VAGUE,
)
from asof_agents.extraction.english.name_spans import NameSpan
from asof_agents.extraction.english.patterns import Patterns
from asof_agents.extraction.english.sentences import Sentence

_LEADS: Final = {  # the words before a name, by the last of them
    "to": frozenset(
        "assigned engaged given handed jump married migrated moved moving reassigned relocated relocating switched "
        "switching".split()
    ),
    "in": frozenset("based live lived lives living".split()),
    "at": frozenset("job work worked working works started".split()),
    "for": frozenset("work working works".split()),
    "with": frozenset("bank banking broke going".split()),
}
_PLACED: Final = frozenset("booked doing from in near skipping to".split())
_ALONE: Final = frozenset("called dating ditched joined named supports support".split())
_BEFORE_NAMES: Final = _PLACED | _ALONE | _LEADS.keys()
_NO_NAMES: Final = (
    ADVERBS | AUXILIARIES | BARE | CONJUNCTIONS | DETERMINERS | GREETINGS | NOT_NAMES | ORNAMENTS | PEOPLE_NOUNS
    | PREPOSITIONS | PRONOUNS | VAGUE | frozenset(
        "abroad bed bits decaf downtown flats gigs home lunch not nights noon onto overtime paper parts remote "
        "upstairs university".split()
    )
)  # fmt: skip


def lower_names(sentence: Sentence, patterns: Patterns, text: str) -> list[NameSpan]:
    """Return the names of a sentence that is all in lower case, in order."""
    if _BEFORE_NAMES.isdisjoint(sentence.low):
        return []
    found = list(_led_to(sentence, patterns, text))
    lower = found and not any(word[0].isupper() and word != "I" for word in sentence.raw[1:])
    return found if lower else []


def _led_to(sentence: Sentence, patterns: Patterns, text: str) -> Iterator[NameSpan]:
    """Yield the words that a name is expected at."""
    low = sentence.low
    for at in [after for after, before in enumerate(low[:-1], 1) if before in _BEFORE_NAMES]:
        if low[at - 1] in _PLACED and patterns.names.get(low[at]) == "Location":
            yield NameSpan(text[slice(*sentence.span(at, at + 1))], at, at + 1)
            continue
        leads = _LEADS.get(low[at - 1])
        if not (low[at - 1] in _ALONE or (leads and at > 1 and low[at - 2] in leads)):
            continue
        last = at
        while last < min(at + 2, len(low)) and may_name(low[last], patterns):
            last += 1
        if last > at and (last == len(low) or not low[last][0].isalnum() or low[last] in _NO_NAMES):
            start, end = sentence.span(at, last)
            yield NameSpan(text[start:end], at, last)


def may_name(word: str, patterns: Patterns) -> bool:
    """Whether a word in lower case may be a name: it is none of the words that any sentence has."""
    return (
        len(word) > 2
        and word.isalpha()
        and word not in _NO_NAMES
        and word not in patterns.words
        and not word.endswith(("ing", "ly"))
    )
