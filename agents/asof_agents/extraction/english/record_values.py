"""Values of records: whether words are a name, a code or a date, and of which type."""

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from asof_agents.extraction.english.context import TurnContext
from asof_agents.extraction.english.lexicon import AUXILIARIES, NOT_NAMES, PRONOUNS, VAGUE
from asof_agents.extraction.english.name_spans import may_be_person
from asof_agents.extraction.ports import TimeHint

_LENGTH_MAX: Final = 80  # characters
_WORDS_MAX: Final = 6  # of a name or a value; what is longer is prose
_PLAIN: Final = re.compile(r"\w[\w .,'’&+()-]*")
_SENTENCE: Final = re.compile(r"[.]\s+[a-z]|, [a-z]|(?<!\b[A-Z])(?<!\b(?:Co|Jr|Sr))(?<!\b(?:Inc|Ltd))(?<!\bCorp)[.]$")
_OF_PROSE: Final = AUXILIARIES | PRONOUNS | {"I", "I'm", "I've", "My", "We"}
_CODE: Final = re.compile(r"[0-9a-f-]{12,}|\w*\d{5,}\w*")
_NOTHING: Final = NOT_NAMES | frozenset(
    "default false freelance full-time hybrid n/a na null other part-time private public remote retired self "
    "self-employed tba tbd test undefined unemployed unknown user various".split()
)
_YEAR: Final = re.compile(r"(?:19|20)\d\d")
_DATE_MAX: Final = 20  # characters
_GRAINS: Final = frozenset({"day", "month", "year"})


def is_value(text: str, *, code: bool = False) -> bool:
    """Whether words may be a name or a short value, and are no prose; `code`: a number or a version, too."""
    words = text.split() if len(text) <= _LENGTH_MAX else []
    if not 0 < len(words) <= _WORDS_MAX or not _PLAIN.fullmatch(text) or text.casefold() in _NOTHING:
        return False
    if _SENTENCE.search(text) or any(word in _OF_PROSE for word in words):
        return False
    return code or (any(map(str.isalpha, text)) and not _CODE.search(text))


def fit(context: TurnContext, text: str, wanted: Sequence[str], *, typed: bool = False) -> str | None:
    """Return the type of a value among those that a relation wants; None: it is none of them.

    typed: a name whose type is not known is none of them.
    """
    patterns, types = context.patterns, context.types
    low = text.casefold()
    kind = types.of(text)
    known = next((each for each in (patterns.names.get(low), kind) if each in wanted), None)
    known = known or next((each for each in patterns.types_of_words(tuple(low.split())) if each in wanted), None)
    possible = [each for each in wanted if each not in patterns.literal]
    if known or typed or not possible or not is_value(text):
        return known
    if types.certain(text) or (kind in {"Person", "Location"} and len(possible) > 1):
        return None
    if not text[0].isupper():
        vague = low.rsplit(maxsplit=1)[-1] in VAGUE
        return next((each for each in possible if each in patterns.open and not vague), None)
    if possible == ["Person"]:
        return "Person" if may_be_person(text) and text.rsplit(maxsplit=1)[-1][0].isupper() else None
    return next((each for each in possible if each in patterns.open), possible[0])


def date_of(context: TurnContext, text: str) -> TimeHint | None:
    """Return the day, month or year that words are, and nothing else."""
    if not 4 <= len(text) <= _DATE_MAX:
        return None
    before = "in " if _YEAR.fullmatch(text) else ""
    hints = context.times_of(before + text)
    whole = len(hints) == 1 and hints[0].kind == "point" and hints[0].span[1] == len(before + text)
    sure = whole and hints[0].span[0] in {0, len(before)} and hints[0].grain in _GRAINS
    return replace(hints[0], words=text) if sure else None
