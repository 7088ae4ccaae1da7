"""Quotes of stored text: one line between double quotes, from which nothing breaks out.

Whoever writes to a memory may write anything: line breaks with a heading behind them, the tag that ends a context,
signs that nobody sees. In a quote such signs stand as JSON escapes. What stands outside of quotes is asof's own.
"""

import json
import re
import unicodedata
from collections import Counter
from collections.abc import Sequence
from typing import Final

from asof_projections.retrieval.question import content_words

_WORD: Final = re.compile(r"\w+")
_STEM: Final = 5  # letters by which words are compared
_BEFORE: Final = 40  # characters that an excerpt shows before the first of the words that it was chosen for
_AS_THEY_ARE: Final = "\u200c\u200d"  # joiners: unseen, and part of words and of pictures
_PERHAPS_ESCAPED: Final = re.compile(r'["\\<>]|[^ -~]')
_TAGS: Final = {"<": "\\u003c", ">": "\\u003e"}
_SMUGGLERS: Final = range(0xE0100, 0xE01F0)  # variation selectors that no text needs, and that can carry one unseen


def quote(text: str) -> str:
    """Return a text as a JSON string on one line, without a sign that is unseen or that begins or ends a tag."""
    return f'"{_PERHAPS_ESCAPED.sub(_quoted, text)}"'


def _quoted(match: re.Match[str]) -> str:
    sign = match[0]
    if sign in _TAGS:
        return _TAGS[sign]
    if sign not in '"\\' and (sign.isprintable() or sign in _AS_THEY_ARE) and ord(sign) not in _SMUGGLERS:
        return sign
    return " " if unicodedata.category(sign) == "Zs" else json.dumps(sign)[1:-1]


def excerpt(text: str, question: str, longest: int) -> str:
    """Return a text that is short, else the part of it, between "…", that has most words of a question.

    longest: characters.
    """
    if len(text) <= longest:
        return text
    wanted = {_stem(word) for word in _WORD.findall(content_words(question))}
    places = [(word.start(), _stem(word[0])) for word in _WORD.finditer(text) if _stem(word[0]) in wanted]
    start = max(min(_densest(places, longest - _BEFORE) - _BEFORE, len(text) - longest), 0)
    part = text[start : start + longest]
    if start:
        part = f"…{part.partition(' ')[2] or part}"
    return f"{part.rpartition(' ')[0] or part}…" if start + longest < len(text) else part


def _stem(word: str) -> str:
    return word.casefold()[:_STEM]


def _densest(places: Sequence[tuple[int, str]], width: int) -> int:
    """Return where a stretch of so many characters begins that has most different words; 0, if there are none."""
    within: Counter[str] = Counter()
    first = most = best = 0
    for at, word in places:
        within[word] += 1
        while places[first][0] <= at - width:
            within[places[first][1]] -= 1
            within += Counter()  # drops those of which none is left
            first += 1
        if len(within) > most:
            most, best = len(within), places[first][0]
    return best
