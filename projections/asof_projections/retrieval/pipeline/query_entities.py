"""The entities that a question names: by exact names, by names one slip away, and by names that are near in meaning.

Names are compared by their keys, as resolution compares them. As there, a slip leaves the first two characters alone,
and digits: "model 12" and "model 13" are two things.
"""

import re
from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

import numpy as np

from asof_projections.embedding.ports import Embedder
from asof_projections.model.rows import EntityRow
from asof_projections.names import key, words
from asof_projections.ports import BeliefStore
from asof_projections.retrieval.question import content_words
from asof_projections.spelling import is_one_slip_away
from asof_projections.time_words import MONTHS
from asof_projections.vectors.ports import VectorIndex

NEAR: Final = 0.7  # cosine from which on a name means an entity
_NEAREST: Final = 5  # names that are compared with one of the question
_NAME_WORDS: Final = 4  # of the longest name that is looked for
_QUESTION_WORDS: Final = 64  # in which names are looked for
_LEAST: Final = 4  # characters of a name in which one slip leaves the name to be known
_PREFIX: Final = 2  # characters that a slip leaves alone
_WITH_PREFIX: Final = 500  # entities that are compared for a slip
_UNNAMED: Final = 4  # names that nobody has, of which the vectors are compared
_WORD: Final = re.compile(r"[^\W_]+(?:['’\-][^\W_]+)*")


class Match(NamedTuple):
    """An entity that a question names, and the name's share of the question's words."""

    entity: EntityRow
    share: float


class _Span(NamedTuple):
    first: int  # of the words of the question
    stop: int
    text: str


class QueryEntities:
    """Finds the entities that questions name, as of a known moment, in some groups (None: in all)."""

    def __init__(self, beliefs: BeliefStore, groups: Sequence[str] | None, known: int, labels: Sequence[str]) -> None:
        self._beliefs = beliefs
        self._groups: Sequence[str | None] = (None,) if groups is None else groups
        self._known = known
        self._labels = labels

    def find(self, question: str, meaning: tuple[Embedder, VectorIndex] | None) -> list[Match]:
        """Return the entities that a question names, each once, in the order of their names in it."""
        found, rest = self._exact(question)
        unnamed = []
        for span in rest:
            if rows := self._one_slip_away(span.text):
                found.append((span, rows))
            else:
                unnamed.append(span)
        if meaning and unnamed:
            found += self._near(unnamed[:_UNNAMED], *meaning)
        every = max(len(content_words(question).split()), 1)
        matches: dict[str, Match] = {}
        for span, rows in sorted(found, key=lambda each: each[0].first):
            for row in rows:
                if not self._labels or row.type in self._labels:
                    matches.setdefault(row.uuid, Match(row, min((span.stop - span.first) / every, 1.0)))
        return list(matches.values())

    def _exact(self, question: str) -> tuple[list[tuple[_Span, list[EntityRow]]], list[_Span]]:
        """Return the spans that are names, longest first, and the spans beside them that may be names."""
        tokens = list(_WORD.finditer(question))[:_QUESTION_WORDS]
        content = {word.casefold() for word in content_words(question).split()}
        tells = [not content.isdisjoint(words(token[0])) or token[0].casefold() in content for token in tokens]
        found, taken = [], [False] * len(tokens)
        for length in range(min(_NAME_WORDS, len(tokens)), 0, -1):
            for first in range(len(tokens) - length + 1):
                stop = first + length
                if any(taken[first:stop]) or not (tells[first] and tells[stop - 1]):
                    continue
                text = question[tokens[first].start() : tokens[stop - 1].end()]
                if rows := self._called(text):
                    found.append((_Span(first, stop, text), rows))
                    taken[first:stop] = [True] * length
        in_a_hurry = question == question.casefold()  # then every word may be a name
        may_be = [
            not taken[n] and tells[n] and (in_a_hurry or word[0].isupper()) and word.casefold() not in MONTHS
            for n, word in enumerate(token[0] for token in tokens)
        ]
        spans = _runs(may_be, 1 if in_a_hurry else _NAME_WORDS)
        return found, [_Span(a, b, question[tokens[a].start() : tokens[b - 1].end()]) for a, b in spans]

    def _called(self, name: str) -> list[EntityRow]:
        return [row for group in self._groups for row in self._beliefs.called(group, name, self._known)]

    def _one_slip_away(self, text: str) -> list[EntityRow]:
        own = key(text)
        if len(own) < _LEAST:
            return []
        found: dict[str, EntityRow] = {}
        for group in self._groups:
            rows = self._beliefs.entities(group, self._known, prefix=own[:_PREFIX], limit=_WITH_PREFIX)
            for row in rows:
                if any(_is_one_slip_away(own, key(name)) for name in self._names(row, own[:_PREFIX])):
                    found[row.uuid] = row
        return list(found.values())

    def _names(self, row: EntityRow, prefix: str) -> list[str]:
        """Return the names of an entity that may begin so."""
        return [row.name] if key(row.name).startswith(prefix) else self._beliefs.aliases(row.uuid, self._known)

    def _near(
        self, spans: Sequence[_Span], embedder: Embedder, index: VectorIndex
    ) -> Iterator[tuple[_Span, list[EntityRow]]]:
        """Yield spans with the entities that have a near name, or one that has all words of the span."""
        known = np.unique(np.concatenate([self._beliefs.names_known(group, self._known) for group in self._groups]))
        for span, vector in zip(spans, embedder.embed([span.text for span in spans]), strict=True):
            own = {*words(span.text)}
            rows = []
            for number, cosine in index.search(vector, _NEAREST, known):
                for row in self._beliefs.named([number]):
                    if cosine > NEAR or own <= {*words(row.name)}:
                        rows.append(row)  # noqa: PERF401 - two loops and a condition are hard to read in one line
            if rows:
                yield span, rows


def _is_one_slip_away(own: str, other: str) -> bool:
    if not is_one_slip_away(own, other):
        return False
    return own[:_PREFIX] == other[:_PREFIX] and re.findall(r"\d+", own) == re.findall(r"\d+", other)


def _runs(flags: Sequence[bool], most: int) -> Iterator[tuple[int, int]]:
    """Yield the first and the stop of each run of flags that are set, cut after so many."""
    first = None
    for place, flag in enumerate([*flags, False]):
        if first is not None and (not flag or place - first == most):
            yield first, place
            first = None
        if flag and first is None:
            first = place
