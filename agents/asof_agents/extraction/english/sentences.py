"""The sentences and words of a text, with their offsets.

Image captions in brackets, tags, links and code blocks are blanked out first, character for character, so that every
offset is one in the text itself.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

# No pattern may look at a character more often than a few times, whatever the text: quantifiers are possessive, and
# no match is tried inside of a run that was tried from its beginning.
_PLAIN = r"</?[A-Za-z][^<>]*>|https?://\S+|```.*?(?:```|\Z)"
_CARRIED = re.compile(rf"\[[^\]]*+(?:\]|(?P<unclosed>\Z))|{_PLAIN}", re.DOTALL)
_CARRIED_AFTER_BRACKETS = re.compile(_PLAIN, re.DOTALL)
_END = re.compile(r"(?<![.!?…])[.!?…]++[\"'”’)\]]*+(?=\s|$)|\n+")
_ABBREVIATIONS = frozenset(
    "a.m approx apr aug ave co corp dec dept dr e.g etc feb i.e inc jan jr jul jun ltd mar mr mrs ms mt no nov "
    "oct p.m prof sep sept sr st u.k u.s vs".split()
)
_TITLES = frozenset({"mr", "mrs", "ms", "dr", "prof", "st", "mt"})
_LAST_WORD = re.compile(r"[\w.]*\w$")
_LAST_WORD_MAX = max(map(len, _ABBREVIATIONS)) + 1  # a longer word is neither an abbreviation nor an initial
_LETTER = re.compile(r"\S")
_WORD = re.compile(
    r"\w+(?=n['’]t\b)|n['’]t\b|['’](?:s|m|re|ve|ll|d)\b|O['’][A-Z]\w+|[#@]?\w+(?:[-./_&@:]+\w+)*\+*|[^\w\s]"
)
_POSSESSIVE = re.compile(r"(?<=\ws)['’](?= [a-z])")  # "my parents' house"
_FULL = {"'m": "am", "'re": "are", "'ve": "have", "'ll": "will", "n't": "not", "ca": "can", "wo": "will", "ai": "be"}


@dataclass(frozen=True, slots=True)
class Sentence:
    """The words of one sentence, with offsets in the text; `low` is lower case, with contractions written out."""

    start: int
    end: int
    question: bool
    low: tuple[str, ...]
    raw: tuple[str, ...]
    starts: tuple[int, ...]
    ends: tuple[int, ...]

    def span(self, first: int, last: int) -> tuple[int, int]:
        """Return the offsets of the words [first, last)."""
        return self.starts[first], self.ends[last - 1]


def blank_markup(text: str) -> str:
    """Return the text with all but the speaker's own words blanked out; its length stays the same."""
    if "[" in text or "<" in text or "http" in text or "```" in text:
        text = _CARRIED.sub(_blank, text)
    return text.replace("`", " ").replace("*", " ")


def _blank(markup: re.Match[str]) -> str:
    if markup.lastgroup is None:
        return " " * len(markup[0])
    return "[" + _CARRIED_AFTER_BRACKETS.sub(_blank, markup[0][1:])  # that bracket is never closed, nor is any after it


def split(text: str) -> list[tuple[int, int]]:
    """Return the spans of a text's sentences, in order, without the white space around them."""
    spans = []
    start = 0
    for end in _END.finditer(text):
        if end[0] == "." and _goes_on(text, start, end.start()):
            continue
        spans.append((start, end.end()))
        start = end.end()
    spans.append((start, len(text)))
    return [trimmed for span in spans if (trimmed := _trim(text, *span))]


def _goes_on(text: str, start: int, dot: int) -> bool:
    """Whether a dot belongs to an abbreviation or an initial and ends no sentence."""
    word = _LAST_WORD.search(text, max(start, dot - _LAST_WORD_MAX), dot)
    if word is None:
        return False
    last = word[0]
    following = _LETTER.search(text, dot + 1)
    rest = following[0] if following else ""
    if last.lower() in _ABBREVIATIONS:
        return rest.islower() or rest.isdigit() or last.lower() in _TITLES
    return len(last) == 1 and last.isupper() and last != "I" and rest.isupper()


def _trim(text: str, start: int, end: int) -> tuple[int, int] | None:
    while start < end and text[start].isspace():
        start += 1
    while end > start and text[end - 1].isspace():
        end -= 1
    return (start, end) if start < end else None


def parse_sentences(text: str) -> Iterator[Sentence]:
    """Yield the sentences of a text, in order, split into words."""
    clean = blank_markup(text)
    for start, end in split(clean):
        yield _words(clean, start, end)


def _words(text: str, start: int, end: int) -> Sentence:
    low: list[str] = []
    raw: list[str] = []
    starts: list[int] = []
    ends: list[int] = []
    for found in _WORD.finditer(text, start, end):
        word = found[0]
        lower = word.lower().replace("’", "'")
        raw.append(word)
        low.append("'s" if lower == "'" and _POSSESSIVE.match(text, found.start()) else _FULL.get(lower, lower))
        starts.append(found.start())
        ends.append(found.end())
    question = "?" in text[max(start, end - 4) : end]
    return Sentence(start, end, question, tuple(low), tuple(raw), tuple(starts), tuple(ends))
