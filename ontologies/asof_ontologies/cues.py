"""Cues: small patterns over the words between subject and object, by which English expresses a relation.

"<live> in"             the verb in any form, then "in", then the object
"<get> a|the job at"    one of several words
"<move> (back) to"      a word that may be left out
"<take> * to"           one to four words of any kind
"{object} <be> written by"   the object comes first, the subject last
"<attend> {any}"        the object may be any noun phrase
"<hope> to {deed}"      the object is a verb with what belongs to it, in the words of the text
"<*>"                   any verb in the past, where its words tell enough or a time is stated: the object is the deed
"<*> usually|often"     any verb in the present beside one of these words
"<have> {typed}"        the object must have a known, fitting type: a name of unknown type is not enough
"""

import re
from dataclasses import dataclass

_WORD = r"[\w'+&./-]+"
_ALTERNATIVES = rf"{_WORD}(?:\|{_WORD})*"
_STEP = rf"(?:{_ALTERNATIVES}|\({_ALTERNATIVES}\)|\*)"
_CUE = re.compile(
    rf"(?P<reversed>\{{object\}} )?(?P<verb><[a-z]+>|<\*>|{_WORD})(?P<rest>(?: {_STEP})*)"
    r"(?: \{(?P<takes>any|typed|deed)\})?"
)


@dataclass(frozen=True, slots=True)
class Step:
    """One place after the verb: one of `words`. Without words it is the gap `*`, of one to four words."""

    words: frozenset[str]
    optional: bool = False


@dataclass(frozen=True, slots=True)
class Cue:
    """One compiled cue. `verb` is a lemma that matches in every form; `word` matches only as it is written."""

    verb: str | None
    word: str | None
    steps: tuple[Step, ...]
    reversed: bool = False
    takes: str = ""  # "any", "typed", "deed", or "": an object of a fitting type, or a name


def parse_cue(text: str) -> Cue:
    """Return a cue compiled from its text. ValueError says how a cue is written."""
    match = _CUE.fullmatch(text)
    if not match:
        raise ValueError('write a cue as "<live> in": a verb in angle brackets or a word, then words, (optional) or *')
    head = match["verb"]
    verb = head[1:-1] if head.startswith("<") else None
    steps = tuple(
        Step(frozenset()) if part == "*" else Step(frozenset(part.strip("()").split("|")), part.startswith("("))
        for part in match["rest"].split()
    )
    return Cue(verb, None if verb else head, steps, bool(match["reversed"]), match["takes"] or "")
