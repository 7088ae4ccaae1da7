"""The sentences and words of a text, with their offsets.

Image captions in brackets, tags, links and code blocks are blanked out first, character for character, so that every
offset is one in the text itself.
"""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from asof_agents.extraction.english.lexicon import UNSURE_SENTENCE

if TYPE_CHECKING:  # it builds on this module
    from asof_agents.extraction.english.numerals import Slot

# No pattern may look at a character more often than a few times, whatever the text: quantifiers are possessive, and
# no match is tried inside of a run that was tried from its beginning.
_PLAIN = r"</?[A-Za-z][^<>]*>|https?://\S+|```.*?(?:```|\Z)"
_CARRIED = re.compile(rf"\[[^\]]*+(?:\]|(?P<unclosed>\Z))|{_PLAIN}", re.DOTALL)
_CARRIED_AFTER_BRACKETS = re.compile(_PLAIN, re.DOTALL)
_END = re.compile(r"[.!?…\n](?:(?<=\n)\n*|(?<![.!?…]{2})[.!?…]*+[\"'”’)\]]*+(?=\s|$))")
_ABBREVIATIONS = frozenset(
    "a.m approx apr aug ave co corp dec dept dr e.g etc feb i.e inc jan jr jul jun ltd mar mr mrs ms mt no nov "
    "oct p.m prof sep sept sr st u.k u.s vs".split()
)
_TITLES = frozenset({"mr", "mrs", "ms", "dr", "prof", "st", "mt"})
_LAST_WORD = re.compile(r"[\w.]*\w$")
_LAST_WORD_MAX = max(map(len, _ABBREVIATIONS)) + 1  # a longer word is neither an abbreviation nor an initial
_LETTER = re.compile(r"\S")
_COMPOUND = r"(?:[-./_&@:]+\w+)*\+*"
_WORD = re.compile(
    rf"[#@]?\w++(?!['’]){_COMPOUND}"  # most words: where no apostrophe follows, no other kind begins
    r"|(?=\w++['’]t)\w+(?=n['’]t\b)|n['’]t\b|O['’][A-Z]\w+"
    rf"|[#@]?\w++{_COMPOUND}|['’](?:s|m|re|ve|ll|d)\b|[^\w\s]"
)
_POSSESSIVE = re.compile(r"(?<=\ws)['’](?= [a-z])")  # "my parents' house"
_RUN_TOGETHER = {  # chat leaves apostrophes out: where the second word begins, and both words
    "im": (1, "i", "am"),
    "ive": (1, "i", "have"),
    "dont": (2, "do", "not"),
    "doesnt": (4, "does", "not"),
    "didnt": (3, "did", "not"),
    "isnt": (2, "is", "not"),
    "arent": (3, "are", "not"),
    "wasnt": (3, "was", "not"),
    "wont": (2, "will", "not"),
    "cant": (3, "can", "not"),
    "weve": (2, "we", "have"),
    "youre": (3, "you", "are"),
    "theyre": (4, "they", "are"),
    "theyve": (4, "they", "have"),
    "hes": (2, "he", "'s"),
    "shes": (3, "she", "'s"),
    "thats": (4, "that", "'s"),
    "theres": (5, "there", "'s"),
}
_STATES = frozenset({"i", "im", "ive", "i'm", "i've", "we", "we're", "we've", "my", "our"})  # a statement's first word
_ASKS = frozenset(
    "any anybody anyone are can could did do does got how is know should wanna want what when where which who why "
    "would".split()
)
_UNSURE = re.compile(
    r"\b(?:if|unless|whether|maybe|hopefully|i guess|i think|perhaps|probably|seems|seemed|apparently)\b", re.IGNORECASE
)
_NO_STATEMENT = _ASKS | frozenset(
    "after although and as because before but have has if maybe once or perhaps since so though unless while".split()
)
_HEDGE_MAX = 2  # words: "I think" after a statement makes it unsure, and is no aside
_ASIDE_MAX = 400  # characters of a sentence that may be a statement and an aside
_FULL = {"'m": "am", "'re": "are", "'ve": "have", "'ll": "will", "n't": "not", "ca": "can", "wo": "will", "ai": "be"}
_BEFORE_NOT = frozenset({"ca", "wo", "ai"})  # else a word or a name of its own: "AI projects", "San Jose, CA"
_SHORT = frozenset({"'", *_FULL, *_RUN_TOGETHER})  # words that do not stand for themselves


class Sentence:
    """The words of one sentence, with offsets in the text; `low` is lower case, with contractions written out.

    unsure: a word of it may make all of it unsure; several rules ask. values: those of `slots`, once a rule has asked.
    """

    __slots__ = ("_starts", "_text", "end", "low", "question", "raw", "start", "unsure", "values")

    def __init__(self, text: str, start: int, end: int, low: tuple[str, ...], raw: tuple[str, ...]) -> None:
        self.start = start
        self.end = end
        self.question = _is_question(text, start, end)
        self.unsure = not UNSURE_SENTENCE.isdisjoint(low)
        self.low = low
        self.raw = raw
        self._text = text
        self._starts: tuple[int, ...] | None = None
        self.values: list[Slot] | None = None  # of the names that the text has

    @property
    def starts(self) -> tuple[int, ...]:
        """The offsets of the words; they are found when first asked for: most sentences state nothing."""
        if self._starts is None:
            self._starts = tuple(_find_all(self._text, self.start, self.raw))
        return self._starts

    @property
    def hyphened(self) -> bool:
        """Whether a word has a hyphen, or is one."""
        return self._text.find("-", self.start, self.end) >= 0

    def span(self, first: int, last: int) -> tuple[int, int]:
        """Return the offsets of the words [first, last)."""
        starts = self.starts
        return starts[first], starts[last - 1] + len(self.raw[last - 1])

    def end_of(self, at: int) -> int:
        """Return the offset behind a word."""
        return self.starts[at] + len(self.raw[at])

    def words_in(self, start: int, end: int) -> range:
        """Return the words that lie in the offsets [start, end), if only in part."""
        first = bisect_right(range(len(self.raw)), start, key=self.end_of)
        return range(first, bisect_left(self.starts, end))


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
    piece = text[start:end]
    bare = piece.strip()
    start += piece.index(bare)
    return (start, start + len(bare)) if bare else None


def parse_sentences(text: str) -> Iterator[Sentence]:
    """Yield the sentences of a text, in order, split into words."""
    clean = blank_markup(text)
    for start, end in split(clean):
        told = _told(clean, start, end)
        if told is None:
            yield _words(clean, start, end)
        else:
            yield _words(clean, start, told)
            yield _words(clean, told + 1, end)


def _told(text: str, start: int, end: int) -> int | None:
    """Return the comma after which a statement goes on with a question or a condition; None: it does not.

    "We have the family plan, want me to add you?", "I'm vegan, happy to bring my own stuff if that's a pain".
    """
    comma = text.rfind(",", start, end) if end - start <= _ASIDE_MAX else -1
    if comma < 0 or not text[comma + 1 : end].strip():
        return None
    question, unsure = _is_question(text, start, end), _UNSURE.search(text, comma, end) is not None
    if not (question or unsure):
        return None
    head, tail = text[start:comma].lower().replace("’", "'").split(), text[comma + 1 : end].lower().split()
    if len(head) < 3 or head[0] in _NO_STATEMENT or _UNSURE.search(text, start, comma):
        return None
    asks = question and tail[0] in _ASKS and head[0] in _STATES
    unsure = unsure and len(tail) > _HEDGE_MAX
    return comma if asks or (unsure and tail[0] not in {"if", "unless", "and", "but"}) else None


def _is_question(text: str, start: int, end: int) -> bool:
    return "?" in text[end - 4 if end - start > 4 else start : end]


def _words(text: str, start: int, end: int) -> Sentence:
    raw: list[str] = _WORD.findall(text, start, end)
    low = " ".join(raw).lower().replace("’", "'").split()  # all at once: no word has a space
    if not _SHORT.isdisjoint(low):
        raw, low = _written_out(text, start, raw, low)
    return Sentence(text, start, end, tuple(low), tuple(raw))


def _find_all(text: str, start: int, words: Iterable[str]) -> list[int]:
    """Return the offsets of words, between which there is only white space, if anything."""
    index, at = text.index, start
    return [(at := index(word, at) + len(word)) - len(word) for word in words]


def _written_out(text: str, start: int, raw: list[str], low: list[str]) -> tuple[list[str], list[str]]:
    """Return words with contractions written out, and those cut in two that chat writes as one: "im", "dont"."""
    starts = _find_all(text, start, raw) if "'" in low else []
    words: list[str] = []
    lower: list[str] = []
    for number, (word, found) in enumerate(zip(raw, low, strict=True)):
        if found not in _SHORT:
            words.append(word)
            lower.append(found)
        elif found in _RUN_TOGETHER and not word.isupper():
            cut, first, second = _RUN_TOGETHER[found]
            words += (word[:cut], word[cut:])
            lower += (first, second)
        else:
            words.append(word)
            possessive = found == "'" and _POSSESSIVE.match(text, starts[number])
            whole = found in _BEFORE_NOT and low[number + 1 : number + 2] != ["n't"]
            lower.append("'s" if possessive else found if whole else _FULL.get(found, found))
    return words, lower
