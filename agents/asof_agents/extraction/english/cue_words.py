"""Finds texts that have the words of cues: a cheap sign that the rules may extract something by them."""

import re
from collections.abc import Iterable
from functools import lru_cache
from typing import Final

from asof_agents.extraction.english.sentences import parse_sentences
from asof_agents.extraction.english.verbs import forms
from asof_ontologies.cues import parse_cue

Wanted = tuple[frozenset[str], ...]
"""Sets of words: a text must have one of each."""

_PART: Final = re.compile(r"\w+")


def words_of(text: str) -> frozenset[str]:
    """Return the words of a text in lower case, and the parts of those with hyphens."""
    low = {word for sentence in parse_sentences(text) for word in sentence.low}
    return frozenset(low | {part for word in low for part in _PART.findall(word)})


def wanted(cues: Iterable[str], words: Iterable[str]) -> list[Wanted]:
    """Return what a text must have for one of the cues or words to be in it: all sets of one of these."""
    return [*map(_of_cue, cues), *map(_of_words, words)]


def has_any(found: frozenset[str], of: Iterable[Wanted]) -> bool:
    """Whether the words of a text have all that one of them wants."""
    return any(all(not found.isdisjoint(one) for one in each) for each in of)


@lru_cache(maxsize=4096)
def _of_cue(text: str) -> Wanted:
    cue = parse_cue(text)
    head = () if cue.verb == "*" else (frozenset(forms(cue.verb)) if cue.verb else frozenset({cue.word or ""}),)
    return *head, *(step.words for step in cue.steps if step.words and not step.optional)


@lru_cache(maxsize=4096)
def _of_words(text: str) -> Wanted:
    return tuple(frozenset({part, f"{part}s", f"{part}es", f"{part[:-1]}ies"}) for part in _PART.findall(text.lower()))
