"""Where a rule of work holds, as its sentence says: "in src/api, ...", "for the frontend, ...", "... in the tests".

What holds in one place alone is a rule where it would be a mere preference: "for the frontend, use pnpm".
"""

import re
from typing import Final

from asof_agents.extraction.english.context import ParsedSentence

_PLACES: Final = frozenset("in inside under within below for on".split())
_ON: Final = tuple(
    (*who, doing)
    for who, doings in (((), "working editing changing touching"), (("you",), "work edit change touch"))
    for doing in doings.split()
)
_KINDS: Final = frozenset({"the", "file", "files", "folder", "directory", "module", "package", "our"})
_AREAS: Final = frozenset(
    "api backend ci cli client client-side code component components configs controllers database docs documentation "
    "e2e endpoints examples files frontend front-end back-end handlers integration library migrations models modules "
    "notebooks package packages schema schemas script scripts server services styles styling stylesheets test tests "
    "ui views web workers".split()
)
_AREA_WORDS: Final = 3  # at most, as "the python test files"
_RUN: Final = re.compile(r"[^\s,;:\"'`()<>]+")
_FILE: Final = re.compile(r"[\w.*-]*\.[a-z]{1,5}")


def behind_scope(parsed: ParsedSentence, text: str, first: int) -> int:
    """Return the word behind the scope that begins at a word of a sentence; that word, where none begins there."""
    low = parsed.sentence.low
    at = first
    if low[at : at + 1] == ("when",):
        on = next((words for words in _ON if low[at + 1 : at + 1 + len(words)] == words), None)
        if on is None:
            return first
        at += 1 + len(on)
        at += low[at : at + 1] != () and low[at] in _PLACES
    elif low[at : at + 1] != () and low[at] in _PLACES:
        at += 1
    else:
        return first
    end = _path_end(parsed, text, at) or _area_end(low, at)
    if end is None:
        return first
    return end + (low[end : end + 1] in {(",",), (":",)})


def ends_in_scope(parsed: ParsedSentence, text: str, first: int, last: int) -> bool:
    """Whether the last words of a sentence are a scope: "use pnpm for the frontend"."""
    low = parsed.sentence.low
    return any(low[at] in _PLACES and behind_scope(parsed, text, at) >= last for at in range(first, last - 1))


def _path_end(parsed: ParsedSentence, text: str, at: int) -> int | None:
    """Return the word behind the path that begins at a word, or behind "the folder"; None: none does."""
    sentence = parsed.sentence
    while at < len(sentence.low) and sentence.low[at] in _KINDS:
        at += 1
    if at >= len(sentence.low):
        return None
    start = sentence.starts[at]
    while start and text[start - 1] in {"*", ".", "/"}:
        start -= 1  # of "*.py", which is no word
    found = _RUN.match(text, start)
    if found is None or not ("/" in found[0] or (_FILE.fullmatch(found[0].rstrip(".")))):
        return None
    end = sentence.words_in(start, found.end()).stop
    return end + (sentence.low[end : end + 1] in {("files",), ("code",)})


def _area_end(low: tuple[str, ...], at: int) -> int | None:
    begin = at + (low[at : at + 1] in {("the",), ("our",)})
    stop = min(begin + _AREA_WORDS, len(low))
    for end in range(stop, begin, -1):
        if low[end - 1] in _AREAS and all(word[0].isalnum() for word in low[begin:end]):
            return end
    return None
