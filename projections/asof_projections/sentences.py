"""The sentences of an episode: parts that are addressed by the episode's id and their number. Pure.

They follow from the content alone, so nothing of them is stored: they are known with their episode, and are erased and
withdrawn with it. A sentence ends at punctuation before a space, or with its line, in any language.
"""

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from itertools import chain
from typing import Final, NamedTuple

# Each character is looked at once: the quantifier is possessive, and no match begins inside of a run.
_END: Final = re.compile(r"(?<![.!?])[.!?]++(?=\s|\Z)|\n")


class Span(NamedTuple):
    """The offsets of a sentence in the content of its episode."""

    start: int
    end: int


def sentence_spans(content: str) -> list[Span]:
    """Return the spans of the sentences of a content, without the space around them; an empty one is none."""
    return list(_spans(content))


def sentence_id(episode: str, number: int) -> str:
    """Return the address of a sentence, counted from 0 within its episode."""
    return f"{episode}:{number}"


def sentence_at(spans: Sequence[Span], offset: int) -> int | None:
    """Return the number of the sentence that an offset is in; None: it is in none."""
    number = bisect_right(spans, offset, key=lambda span: span.start) - 1
    return number if number >= 0 and offset < spans[number].end else None


def _spans(content: str) -> Iterator[Span]:
    start = 0
    for end in chain((match.end() for match in _END.finditer(content)), (len(content),)):
        piece = content[start:end]
        if stripped := piece.strip():
            first = start + piece.index(stripped[0])
            yield Span(first, first + len(stripped))
        start = end
