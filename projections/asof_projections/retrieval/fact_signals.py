"""The signals of facts for a question: who is named in both, and how far the relation is what is asked for.

Each is a column over the candidates, computed from their rows and cosines alone. The gaps say how much better the best
candidate is, of those that have all the names: a question about Ana's home is not answered by where she works. What Ana
collects are several facts, and a question answers to all of them or to none, unless it names one of the things.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from typing import Final

import numpy as np
from numpy.typing import NDArray

from asof_projections.model.rows import FactRow
from asof_projections.retrieval.question import STOP_WORDS
from asof_projections.time_words import DAYS, MONTHS

SIGNALS: Final = (
    "names", "subject", "nobody_named", "coverage", "meaning", "relation",
    "gap_in_relation", "gap_in_meaning", "gap_in_coverage", "gap_in_any_relation",
)  # fmt: skip
OF_MEANING: Final = frozenset(name for name in SIGNALS if "meaning" in name or "relation" in name)
Column = NDArray[np.float64]

_WORD: Final = re.compile(r"[^\W_]+")
_OWNER: Final = re.compile(r"['’]s\b")
_NO_NAMES: Final = STOP_WORDS.union(MONTHS, DAYS)
_ASKING: Final = ("which", "what")
_STEM: Final = re.compile(r"(...+?)(?:ing|ie[sd]|e[sd]|[sey])")  # three letters are left at least
_TYPO: Final = 5  # letters of a name that may be misspelt: a shorter one with another letter is another name


@dataclass(frozen=True, slots=True)
class QuestionWords:
    """A question: the words in it that may be names, and the rest."""

    names: tuple[tuple[str, ...], ...]  # those that stand together are one
    others: frozenset[str]  # stems
    things: frozenset[
        str
    ]  # names, and those of the stems that do not say what kind of thing is asked for: "which club"

    @classmethod
    def of(cls, text: str, known: frozenset[str]) -> "QuestionWords":
        """Return a question; names are words with a capital that do not begin it, and the known ones."""
        words = _WORD.findall(_OWNER.sub("", text))
        low = [word.casefold() for word in words]
        runs: list[list[str]] = [[]]
        for place, word in enumerate(low):
            if word in known or (place and words[place][0].isupper() and word not in _NO_NAMES):
                runs[-1].append(word)
            elif runs[-1]:
                runs.append([])
        names = {word for run in runs for word in run}
        others = frozenset(_stem(word) for word in low if word not in STOP_WORDS and word not in names)
        kinds = {_stem(word) for before, word in pairwise(low) if before in _ASKING}
        return cls(tuple(tuple(run) for run in runs if run), others, others.union(names) - kinds)


def names_of(facts: Iterable[FactRow]) -> frozenset[str]:
    """Return the words with a capital of the names at the ends of some facts, in lower case."""
    ends = {end for fact in facts for end in (fact.subject, fact.object)}
    words = {word for end in ends for word in _WORD.findall(end)}
    return frozenset(word.casefold() for word in words if word[0].isupper()) - STOP_WORDS


def columns(
    text: str,
    facts: Sequence[FactRow],
    cosines: Column,
    relations: Column,
    meant: Callable[[str], Iterable[str]],
) -> Column:
    """Return the signals of some facts: a row for each, in the order of SIGNALS.

    cosines: of the question with each fact; relations: of it with the name of each fact's relation. meant: the ids of
    the entities that a name means which is no candidate's.
    """
    known = names_of(facts)
    question = QuestionWords.of(text, known)
    wanted = [each for run in question.names for each in _Wanted.each(run, known, meant)]
    words, stem = cache(_words), cache(_stem)  # names, relations and words are those of several facts
    rows = np.array([_row(question, wanted, fact, words, stem) for fact in facts]).reshape(len(facts), 4)
    slots = _slots(question, facts, words, stem)
    rows[:, 3], cosines = _best(rows[:, 3], slots), _best(cosines, slots)
    names, coverage = rows[:, 0], rows[:, 3]
    whole = names == 1
    gaps = [np.where(whole, _gap(column, whole), 0) for column in (relations, cosines, coverage)]
    return np.column_stack([rows, cosines, relations, *gaps, _gap(relations, np.ones(len(facts), np.bool))])


@dataclass(frozen=True, slots=True)
class _Wanted:
    """A name of a question: the word that facts have for it, or the entities that it means."""

    word: str
    ids: frozenset[str] = frozenset()

    @classmethod
    def each(
        cls, run: tuple[str, ...], known: frozenset[str], meant: Callable[[str], Iterable[str]]
    ) -> Iterator["_Wanted"]:
        """Yield what the words of a name mean: candidates' words, else another name of theirs, else a misspelt one."""
        strange = [word for word in run if word not in known]
        ids = frozenset(meant(" ".join(strange))) if strange else frozenset()
        for word in run:
            if word in known or ids:
                yield cls(word, ids if word in strange else frozenset())
            else:
                yield cls(min((other for other in known if _is_typo(word, other)), default=word))

    def is_in(self, words: Iterable[str], *ids: str | None) -> bool:
        return self.word in words or not self.ids.isdisjoint(ids)


def _row(
    question: QuestionWords,
    wanted: Sequence[_Wanted],
    fact: FactRow,
    words: Callable[[str], list[str]],
    stem: Callable[[str], str],
) -> tuple[float, float, float, float]:
    sentence, named, is_subject = words(fact.fact), 1.0, False
    if wanted:
        subject = words(fact.subject)
        every = {*subject, *sentence, *words(fact.object)}
        named = sum(name.is_in(every, fact.subject_uuid, fact.object_uuid) for name in wanted) / len(wanted)
        is_subject = any(name.is_in(subject, fact.subject_uuid) for name in wanted)
    others = question.others
    stems = {*map(stem, sentence), *map(stem, words(fact.relation))} if others else others
    return named, float(is_subject), float(not wanted), len(others & stems) / len(others) if others else 1.0


def _slots(
    question: QuestionWords, facts: Sequence[FactRow], words: Callable[[str], list[str]], stem: Callable[[str], str]
) -> NDArray[np.int64]:
    """Return the number of each fact's slot: what one question asks for. A fact with a thing that it names is alone."""
    numbers: dict[tuple[str, ...], int] = {}
    slots = []
    for fact in facts:
        forms = (form for word in words(fact.object) for form in (word, stem(word)))
        slot = fact.subject_uuid, fact.relation
        slots.append(slot if question.things.isdisjoint(forms) else (*slot, fact.uuid))
    return np.array([numbers.setdefault(slot, len(numbers)) for slot in slots], np.int64)


def _best(column: Column, slots: NDArray[np.int64]) -> Column:
    """Return for each fact the best value in its slot."""
    best = np.full(slots.max(initial=-1) + 1, -np.inf)
    np.maximum.at(best, slots, column)
    return best[slots]


def _gap(column: Column, among: NDArray[np.bool]) -> Column:
    """Return by how much the best of some is better; a cosine under 0 is as good as none."""
    gap: Column = max(float(column[among].max(initial=0)), 0.0) - column
    return gap


def _words(text: str) -> list[str]:
    if text.isascii():  # lower case is all that folds of it, and its words stay words
        return _WORD.findall(text.lower())
    return [word.casefold() for word in _WORD.findall(text)]


def _stem(word: str) -> str:
    inflected = _STEM.fullmatch(word)
    return inflected[1] if inflected else word


def _is_typo(name: str, other: str) -> bool:
    """Whether two long names differ by one letter that is left out, put in, changed or swapped with the next."""
    if min(len(name), len(other)) < _TYPO or name == other:
        return False
    name, other = (each.replace("ph", "f") for each in (name, other))  # Josefine, Josephine
    if name == other:
        return True
    if abs(len(name) - len(other)) > 1:
        return False
    short, long = sorted((name, other), key=len)
    same = next((place for place, letter in enumerate(short) if letter != long[place]), len(short))
    if len(short) < len(long):
        return short[same:] == long[same + 1 :]
    is_swapped = short[same : same + 2] == long[same : same + 2][::-1] and short[same + 2 :] == long[same + 2 :]
    return is_swapped or short[same + 1 :] == long[same + 1 :]
