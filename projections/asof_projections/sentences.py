"""The sentences of an episode: parts that are addressed by the episode's id and their number. Pure.

They follow from the content alone, so nothing of them is stored: they are known with their episode, and are erased and
withdrawn with it. A sentence ends at punctuation before a space, or with its line, in any language.
"""

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

# Each character is looked at once: the quantifier is possessive, and no match begins inside of a run.
_END: Final = re.compile(r"[.!?\n](?:(?<=\n)|(?<![.!?]{2})[.!?]*+(?=\s|\Z))")


class SentenceSpan(NamedTuple):
    """The offsets of a sentence in the content of its episode."""

    start: int
    end: int


def sentence_spans(content: str) -> list[SentenceSpan]:
    """Return the spans of the sentences of a content, without the space around them; an empty one is none."""
    return list(_spans(content))


def sentence_count(content: str) -> int:
    """Return how many sentences a content has."""
    if "\n" not in content:  # most messages, and this runs for each
        *ended, rest = _END.split(content)
        return len(ended) + bool(rest.strip())  # each ends with punctuation, so none is empty
    ends = [match.end() for match in _END.finditer(content)]
    rest = content[ends[-1] :] if ends else content
    pieces = map(content.__getitem__, map(slice, [0, *ends], ends))
    return sum(map(bool, map(str.strip, [*pieces, rest])))


def sentence_id(episode: str, number: int) -> str:
    """Return the address of a sentence, counted from 0 within its episode."""
    return f"{episode}:{number}"


def sentence_at(spans: Sequence[SentenceSpan], offset: int) -> int | None:
    """Return the number of the sentence that an offset is in; None: it is in none."""
    number = bisect_right(spans, offset, key=lambda span: span.start) - 1
    return number if number >= 0 and offset < spans[number].end else None


def _spans(content: str) -> Iterator[SentenceSpan]:
    for start, piece in _pieces(content):
        if stripped := piece.strip():
            first = start + piece.index(stripped[0])
            yield SentenceSpan(first, first + len(stripped))


def _pieces(content: str) -> Iterator[tuple[int, str]]:
    """Yield where each sentence begins, with the space around it."""
    start = 0
    for match in _END.finditer(content):
        end = match.end()
        yield start, content[start:end]
        start = end
    yield start, content[start:]
