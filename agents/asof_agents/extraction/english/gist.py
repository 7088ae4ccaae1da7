"""Gist of a text: what its words are about, as far as their stems tell, before it is parsed."""

import re
from collections.abc import Iterable, Sequence
from functools import lru_cache
from itertools import pairwise
from typing import Final, NamedTuple

from asof_agents.extraction.english.lexicon import FUNCTION_WORDS, GREETINGS, PREPOSITIONS, UNSURE_SENTENCE
from asof_agents.extraction.english.word_roots import COMMON, GROUPS

BREAKS: Final = frozenset({",", ";", ".", "!", ":", "but", "so", "and", "…", "-", "—", "–", "(", ")", "..."})
NO_STATE: Final = frozenset({"you", "your", "yours", "let", "gotta"})  # "let's" and "gotta" state nothing
_NO_STATE: Final = NO_STATE | UNSURE_SENTENCE
THOUGHTS: Final = frozenset(
    ("i", verb) for verb in "assume believe bet doubt expect guess hope imagine reckon suppose think wish".split()
)
_LIGHT: Final = frozenset(
    "come comes get gets getting give gives go goes keep keeps look looks make makes need needs put puts say says "
    "see sees take takes use uses want wants".split()
)
NO_CONTENT: Final = (
    FUNCTION_WORDS
    | GREETINGS
    | _LIGHT
    | frozenset("thing things stuff one ones way lot okay w n w/ yr yesterday today tonight tomorrow".split())
) - frozenset("right left night morning job light single".split())
_EMPTY_TOPIC: Final = frozenset(
    "week month year day days time today everything morning night new old now longer anymore changed moved "
    "switched".split()
) | (PREPOSITIONS - {"to"})
_OWN: Final = frozenset({"my", "our", "the"})
_SENTENCE: Final = re.compile(r"[^.!?\n]+[.!?]*")
_WORD: Final = re.compile(r"[^\W_]+(?:-\w+)*|['’]\w+|[,;.!:()…—–-]")


class Gist(NamedTuple):
    """What a text may state, as far as its words say so before it is parsed."""

    stems: frozenset[str]
    openings: frozenset[str]
    sentences: int


@lru_cache(maxsize=256)  # of the messages that others follow closely
def gist_of(text: str) -> Gist:
    """Return the gist of the sentences of a text that may say what is so."""
    said: set[str] = set()
    begun: set[str] = set()
    sentences = _SENTENCE.findall(text.lower())
    for sentence in sentences:
        words = _WORD.findall(sentence)
        if "?" not in sentence and _NO_STATE.isdisjoint(words):
            said |= stems(words)
            begun |= openings(words)
    return Gist(frozenset(said), frozenset(begun), len(sentences))


@lru_cache(maxsize=8192)  # the words of a message, and of those before it, are asked for again and again
def stem(word: str) -> str:
    """Return what the forms of a word share: "bake" and "baking", "interns" and "internship"."""
    base = word.removesuffix("'s")
    if len(base) > 8 and base.startswith("re") and base[2] not in "aeiou":
        base = base[2:]
    for ending in ("ings", "ing", "ers", "er", "ied", "ies", "ed", "es", "s", "y", "e"):
        if base.endswith(ending) and len(base) - len(ending) >= 3:
            base = base[: -len(ending)]
            break
    if len(base) > 3 and base[-1] == base[-2] and base[-1] not in "sl":
        base = base[:-1]
    return base[:6]


def is_thought(low: Sequence[str]) -> bool:
    """Whether the speaker says of words that they are a thought: "... , I think"."""
    return "i" in low and not THOUGHTS.isdisjoint(pairwise(low))


@lru_cache(maxsize=64)  # several signs of a change ask for the same clause
def clause_bounds(low: tuple[str, ...], first: int, last: int) -> tuple[int, int]:
    """Return where the clause begins and ends that has the words [first, last)."""
    while first and low[first - 1] not in BREAKS:
        first -= 1
    while last < len(low) and low[last] not in BREAKS:
        last += 1
    return first, last


def stems(words: Iterable[str]) -> set[str]:
    """Return the stems of the words in lower case that are more than grammar, and their groups."""
    content = [word for word in words if word[0].isalnum() and word not in NO_CONTENT and word not in COMMON]
    return {*map(stem, content), *filter(None, map(GROUPS.get, content))}


def openings(words: Iterable[str]) -> set[str]:
    """Return the stem of the first word of each clause that is more than grammar."""
    found, begins = set(), True
    for word in words:
        if word in BREAKS:
            begins = True
        elif begins and word[0].isalnum() and word not in NO_CONTENT and word not in COMMON:
            found.add(stem(word))
            begins = False
    return found


@lru_cache(maxsize=64)  # of a sentence and of the words beside a slot; the messages after it ask again
def about(low: tuple[str, ...]) -> frozenset[str]:
    """Return by what the words of a sentence may be shared: their stems, and their groups.

    A plain word, such as "talk", counts after "my", "our" or "the".
    """
    found = set()
    for at, word in enumerate(low):
        if not word[0].isalnum() or word in NO_CONTENT or word in _EMPTY_TOPIC:
            continue
        if word in COMMON and not (at and low[at - 1] in _OWN):
            continue
        found.add(stem(word))
        if group := GROUPS.get(word):
            found.add(group)
    return frozenset(found)
