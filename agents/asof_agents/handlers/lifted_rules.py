"""Finds the rule of work that is lifted: the one that holds and says what the lifting says. Pure."""

import re
from collections.abc import Iterable
from typing import Final

from asof_agents.extraction.ports import ABOUT_RULE, ALWAYS, NEVER

_WORD: Final = re.compile(r"[^\W_][\w./'-]*[^\W_]|[^\W_]")
_NEGATIVE: Final = frozenset({"never", "not", "no", "don't", "mustn't", "shouldn't", "can't", "cannot", "avoid"})
_LITTLE: Final = frozenset(
    "a an and any before after at by directly for from in it of on or our the their to with".split()
)
_ENDINGS: Final = ("ing", "ed", "es", "s")
_STEM: Final = 3  # letters


def lifted_rule(said: str, rules: Iterable[str]) -> str | None:
    """Return the only one of the rules that words such as "never edit the lock file" lift; None: none is, or several.

    said: "never" or "always" with what may be done now, or has to be no longer, or "about" with what the rule is about.
    """
    kind, _, what = said.casefold().partition(" ")
    wanted = {_stem(word) for word in _words(what) if word not in _LITTLE}
    found = [
        rule for rule in rules if wanted <= {_stem(word) for word in _words(rule)} and kind in {ABOUT_RULE, _kind(rule)}
    ]
    return found[0] if wanted and len(found) == 1 else None


def _kind(rule: str) -> str:
    return ALWAYS if _NEGATIVE.isdisjoint(_words(rule)) else NEVER


def _words(text: str) -> list[str]:
    return _WORD.findall(text.casefold().replace("\u2019", "'"))


def _stem(word: str) -> str:
    """Return a word without its ending, and a double letter before it: "adding" and "adds" are "ad", as "add" is."""
    ending = next((each for each in _ENDINGS if word.endswith(each) and len(word) - len(each) >= _STEM), "")
    stem = word.removesuffix(ending)
    return (stem[:-1] if stem[-1:] == stem[-2:-1] else stem).rstrip("e")
