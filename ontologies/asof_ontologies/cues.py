"""Cues: how a relation is said, as a small pattern over the words between subject and object.

"<live> in"             the verb in any form, then "in", then the object
"<get> a|the job at"    one of several words
"<move> (back) to"      a word that may be left out
"<take> * to"           one to four words of any kind
"{object} <be> written by"   the object stands first, the subject last
"<attend> {any}"        the object may be any noun phrase
"<*>"                   any verb, where a time is stated: the object is what was done, in the words used
"<have> {typed}"        the object must be known to be of a fitting type: a name of no known type is not enough
"""

import re
from dataclasses import dataclass

_WORD = r"[\w'+&./-]+"
_ALTERNATIVES = rf"{_WORD}(?:\|{_WORD})*"
_STEP = rf"(?:{_ALTERNATIVES}|\({_ALTERNATIVES}\)|\*)"
_CUE = re.compile(
    rf"(?P<reversed>\{{object\}} )?(?P<verb><[a-z]+>|<\*>|{_WORD})(?P<rest>(?: {_STEP})*)"
    r"(?: \{(?P<takes>any|typed)\})?"
)


@dataclass(frozen=True, slots=True)
class Step:
    """One place after the verb: one of `words`, perhaps left out; no words stand for the gap."""

    words: frozenset[str]
    optional: bool = False


@dataclass(frozen=True, slots=True)
class Cue:
    """One compiled cue. `verb` is a lemma to be conjugated; `word` a word taken as it is."""

    verb: str | None
    word: str | None
    steps: tuple[Step, ...]
    reversed: bool = False
    takes: str = ""  # "any", "typed", or "" for what is of a fitting type or has a name


def parse_cue(text: str) -> Cue:
    """Read one cue; ValueError says what a cue looks like."""
    found = _CUE.fullmatch(text)
    if not found:
        raise ValueError('write a cue as "<live> in": a verb in angle brackets or a word, then words, (optional) or *')
    head = found["verb"]
    verb = head[1:-1] if head.startswith("<") else None
    steps = tuple(
        Step(frozenset()) if part == "*" else Step(frozenset(part.strip("()").split("|")), part.startswith("("))
        for part in found["rest"].split()
    )
    return Cue(verb, None if verb else head, steps, bool(found["reversed"]), found["takes"] or "")
