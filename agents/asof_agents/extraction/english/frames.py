"""Frames: words around a verb that say that it was done: "had the opportunity to visit", "ended up moving"."""

from typing import Final

from asof_agents.extraction.english.lexicon import ADVERBS
from asof_agents.extraction.english.verbs import Form

_LUCK: Final = frozenset("chance honor honour joy luck opportunity pleasure privilege".split())
_PRAISE: Final = frozenset("amazing awesome first good great incredible rare real unique wonderful".split())
_FUN: Final = frozenset({"ball", "blast", "experience", "fun", "time"})  # "had a great time hiking in Peru"
_ARTICLES: Final = frozenset({"a", "an", "the", "my"})
_CAME: Final = frozenset({"got", "managed"})  # "I got to visit Rome"
_NOT_DONE: Final = frozenset({"be", "go", "leave", "run", "work"})  # "I got to work", "I got to run"
_FRAMES: Final = frozenset({"had", "got", "managed", "used", "was", "were", "ended"})
_FRAME_MAX: Final = 6


def verb_in_frame(low: tuple[str, ...], at: int) -> tuple[int, Form] | None:
    """Return the verb that a frame from a word in the past on says was done, and its form; None: there is no frame."""
    word = low[at]
    if word not in _FRAMES:
        return None
    if word in {"had", "got"}:
        noun = at + 1
        while noun < min(at + _FRAME_MAX, len(low)) and (low[noun] in _ARTICLES or low[noun] in _PRAISE):
            noun += 1
        if noun + 2 < len(low) and low[noun] in _LUCK:
            if low[noun + 1] == "to":
                return _past_adverbs(low, noun + 2, "base")
            if low[noun + 1] == "of":
                return _past_adverbs(low, noun + 2, "ing")
        if noun + 1 < len(low) and low[noun] in _FUN and low[noun + 1].endswith("ing"):
            return _past_adverbs(low, noun + 1, "ing")
    if word == "had" and low[at + 1 : at + 2] == ("to",):
        return _past_adverbs(low, at + 2, "base")
    if word == "used" and low[at + 1 : at + 2] == ("to",):
        return _past_adverbs(low, at + 2, "base")
    if word in _CAME and low[at + 1 : at + 2] == ("to",) and at + 2 < len(low) and low[at + 2] not in _NOT_DONE:
        return _past_adverbs(low, at + 2, "base")
    if word in {"was", "were"} and low[at + 1 : at + 3] in {("able", "to"), ("fortunate", "to")}:
        return _past_adverbs(low, at + 3, "base")
    if word in {"was", "were"} and low[at + 2 : at + 4] == ("enough", "to"):
        return _past_adverbs(low, at + 4, "base")
    if word == "ended" and low[at + 1 : at + 2] == ("up",):
        return _past_adverbs(low, at + 2, "ing")
    return None


def _past_adverbs(low: tuple[str, ...], at: int, form: Form) -> tuple[int, Form] | None:
    while at < len(low) and low[at] in ADVERBS:
        at += 1
    return (at, form) if at < len(low) else None
