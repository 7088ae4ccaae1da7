"""A question as turns are searched by it: its words, who is named, which dates, and how he would ask it himself."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final

from asof_projections.speakers import names_in, without_names
from asof_projections.time_words import MONTHS

_WORD: Final = re.compile(r"\w+")
_MAY: Final = re.compile(r"\b(in|on|of|since|until|by|during|\d+(st|nd|rd|th)?) may\b|\bmay (of )?\d")  # the month
_YEAR: Final = re.compile(r"\b(19\d\d|20\d\d)\b")
_WHEN: Final = re.compile(r"\s*(when|how long|what (year|month|date|day|time)|which (year|month))\b")
_DOES: Final = {"does": "do", "has": "have", "is": "am"}
STOP_WORDS: Final = frozenset(  # they occur everywhere, so they find everything
    "a about am an and are as at be been but by can could did do does for from had has have he her him his how i if in "
    "into is it its me my of on or our she should so that the their them then there these they this to was we were "
    "what when where which who whom whose why will with would you your".split()
)


@dataclass(frozen=True, slots=True)
class Question:
    """A question in the forms that turns are compared with."""

    words: tuple[str, ...]  # without stop words and speakers' names, each once
    text: str  # as a speaker who is named alone would say it of himself, without names
    named: frozenset[str]  # the speakers that it names
    months: frozenset[int]
    years: frozenset[int]
    asks_when: bool

    @classmethod
    def of(cls, text: str, names: Mapping[str, frozenset[str]]) -> "Question":
        """Return a question about what some speakers said; names: the words of each one's name."""
        every = frozenset().union(*names.values())
        if text == text.casefold():  # typed in a hurry: names are told by being none of the common words
            capitals = every - STOP_WORDS - MONTHS.keys()
            text = _WORD.sub(lambda m: m[0].capitalize() if m[0] in capitals else m[0], text)
        called = frozenset(names_in(text, every))
        named = frozenset(speaker for speaker, words in names.items() if words & called)
        low = text.casefold()
        months = {number for name, number in MONTHS.items() if re.search(rf"\b{name}\b", low)}
        if not _MAY.search(low):
            months.discard(MONTHS["may"])
        nameless = without_names(text, every)
        return cls(
            tuple(dict.fromkeys(word.casefold() for word in content_words(nameless).split())),
            without_names(_in_first_person(text, called), every) if len(named) == 1 else nameless,
            named,
            frozenset(months),
            frozenset(map(int, _YEAR.findall(low))),
            _WHEN.match(low) is not None,
        )


def content_words(query: str) -> str:
    """Return the words of a query that are no stop words; all of them, if none is left."""
    words = _WORD.findall(query)
    return " ".join([w for w in words if w.casefold() not in STOP_WORDS] or words)


def _in_first_person(text: str, called: Iterable[str]) -> str:
    """Return a question about someone as he would ask it of himself: turns tell of their speaker as "I"."""
    name = rf"(?:{'|'.join(map(re.escape, sorted(called)))})"
    text = re.sub(rf"\b{name}['’]s\b", "my", text, flags=re.IGNORECASE)
    verb = rf"\b(does|did|has|is|was|will|would) {name}\b"
    text = re.sub(verb, lambda m: f"{_DOES.get(m[1].casefold(), m[1].casefold())} I", text, flags=re.IGNORECASE)
    return re.sub(rf"\b{name}\b", "I", text, flags=re.IGNORECASE)
