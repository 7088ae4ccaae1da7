"""Chained questions: those that ask through a person, or name two relations. For these alone the graph is walked.

"Where does Ana's brother work?" asks through a person: the facts that hold of Ana lead to Ben, and the question about
him is "Where does Ben work?". "Where does the man who Ana is married to work?" names two relations: by the first facts
lead to Dan, and facts of Dan have the second. A flat question leads nowhere, and costs no read of the graph.
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from importlib import resources
from itertools import islice
from typing import Final, NamedTuple

from asof_projections.model.rows import FactRow, Moment
from asof_projections.ports import BeliefStore
from asof_projections.retrieval.question import STOP_WORDS

_STEPS: Final = 2  # from person to person: Ana's brother's wife
_PEOPLE: Final = 3  # that one name leads to, those said last first
_FACTS: Final = 100  # of an entity, those said last first
_NAME_WORDS: Final = 3
_LONGEST: Final = 500  # characters of a question; a longer one is flat
_OF_PEOPLE: Final = ("Person", "", None)  # types; what was stated without one may be somebody
_ASKED_FOR: Final = STOP_WORDS.union("name named names call called s".split())  # "Who is Ana's brother?" asks no more
_STEM: Final = 4  # letters
_WORD: Final = re.compile(r"\w+(?:-\w+)*")
_OWNER: Final = re.compile(r"['’]s\s+(?=(\w[\w-]*)(?:\s+(\w[\w-]*))?)")
_OF: Final = re.compile(r"\bthe\s+((\w[\w-]*)(?:\s+(\w[\w-]*))?)\s+of\s+", re.IGNORECASE)
_WHOM: Final = re.compile(r"(?<=\w)\s+(?:who|whom|that|which)\s+", re.IGNORECASE)
_AND: Final = frozenset(("and", "or", "but"))  # what stands before the second of two questions
_CAPITALS: Final = re.compile(r"\b[^\W\d_a-z]\w*(?:\s+[^\W\d_a-z]\w*)*")


class Chain(NamedTuple):
    """A question about someone or something that a question leads to."""

    question: str
    through_person: bool


class ChainedQuestions:
    """Finds whom questions lead to, in the graph of one generation as of a moment."""

    def __init__(self, beliefs: BeliefStore, group: str | None, at: Moment) -> None:
        self._beliefs = beliefs
        self._group = group
        self._at = at

    def of(self, question: str) -> list[Chain]:
        """Return the questions that a question leads to; none, if it is flat."""
        if len(question) > _LONGEST:
            return []
        through: list[_Through] = []
        last = [_Through(question, "")]
        for _ in range(_STEPS):
            last = [further for each in last for further in self._through(each.question)]
            through = last or through
        if asking := [each.question for each in through if each.asks_on(question)]:
            return [Chain(text, through_person=True) for text in asking]
        return [Chain(text, through_person=False) for text in self._by_relations(question)]

    def _through(self, question: str) -> Iterator["_Through"]:
        """Yield a question with whoever it asks through named: "Ana's brother" as "Ben"."""
        for start, name, nouns in _owned(question):
            around = self._around(name)
            for noun, stop in nouns:
                if people := self._people(around, noun):
                    yield from (_Through(question[:start] + person + question[stop:], person) for person in people)
                    return

    def _around(self, name: str) -> "_Around":
        """Return the facts that hold of whom a name means, those said last first."""
        meant = set(self._beliefs.meant(self._group, name, self._at.known))
        return _Around(meant, self._beliefs.latest(sorted(meant), self._at, _FACTS) if meant else [])

    def _people(self, around: "_Around", noun: str) -> list[str]:
        """Return the names of whom a noun means of somebody: of Ana's friends those said last."""
        found: dict[str, str] = {}
        for fact in around.facts:
            is_subject = fact.subject_uuid in around.meant
            for uuid, person in around.other_ends(fact):
                if uuid not in found and _says(fact, noun, outward=is_subject) and self._is_somebody(uuid):
                    found[uuid] = person
        return list(found.values())[:_PEOPLE]

    def _is_somebody(self, uuid: str) -> bool:
        entity = self._beliefs.entity(uuid)
        return entity is not None and entity.type in _OF_PEOPLE

    def _by_relations(self, question: str) -> Iterator[str]:
        """Yield a question about what the first of two relations leads to, where facts of that have the second."""
        if (whom := _WHOM.search(question)) is None or _last_word(question[: whom.start()]) in _AND:
            return
        for name in _CAPITALS.finditer(question, whom.end()):
            around = self._around(name[0])
            if not around.meant:
                continue
            told = _stems(question[whom.end() : name.start()] + question[name.end() :])
            asked = told | _stems(question[: whom.start()])
            leads: dict[str, tuple[str, set[str]]] = {}
            for fact in around.facts:
                if first := _stems(fact.relation) & told:
                    for uuid, end in around.other_ends(fact):
                        leads.setdefault(uuid, (end, first))
            for uuid, (end, first) in list(leads.items())[:_PEOPLE]:
                facts = self._beliefs.latest([uuid], self._at, _FACTS)
                if any(fact.subject_uuid == uuid and _stems(fact.relation) & (asked - first) for fact in facts):
                    rest = [word for word in question[name.end() :].split() if not _stems(word) & first]
                    yield " ".join([question[: whom.start()], end, *rest])
            return


class _Around(NamedTuple):
    """The entities that a name means, and facts from and to them."""

    meant: set[str]
    facts: Sequence[FactRow]

    def other_ends(self, fact: FactRow) -> Iterator[tuple[str, str]]:
        """Yield the id and the name of each end of a fact that is another entity."""
        for uuid, name in ((fact.subject_uuid, fact.subject), (fact.object_uuid, fact.object)):
            if uuid is not None and uuid not in self.meant:
                yield uuid, name


class _Through(NamedTuple):
    """A question, and whom it leads to."""

    question: str
    person: str

    def asks_on(self, first: str) -> bool:
        """Whether it asks more of them than who they are."""
        who = {*_WORD.findall(self.person.casefold())}
        return bool({*_WORD.findall(self.question.casefold())} & {*_WORD.findall(first.casefold())} - who - _ASKED_FOR)


def _owned(question: str) -> Iterator[tuple[int, str, Sequence[tuple[str, int]]]]:
    """Yield what may be a name, what it owns, and where both start: "Ana's twin brother", "the brother of Ana".

    Each noun is with where it stops, or where the name does if that is later. Longer names and nouns come first.
    """
    for match in _OWNER.finditer(question):
        nouns = [(question[match.end() : match.end(n)], match.end(n)) for n in (2, 1) if match[n]]
        for start in _starts(question[: match.start()]):
            yield start, question[start : match.start()], nouns
    for match in _OF.finditer(question):
        for word in reversed([*islice(_WORD.finditer(question, match.end()), _NAME_WORDS)]):
            owned = [(phrase, word.end()) for phrase in (match[1], match[3]) if phrase]
            yield match.start(), question[match.end() : word.end()], owned


def _starts(text: str) -> list[int]:
    """Return where the last words of a text start, of the most words first."""
    return [word.start() for word in list(_WORD.finditer(text))[-_NAME_WORDS:]]


def _says(fact: FactRow, noun: str, *, outward: bool) -> bool:
    """Whether a fact says that the other end is someone's brother, or whatever a noun names."""
    noun = noun.casefold()
    if noun in _by_noun().get((fact.relation, outward), ()):
        return True
    return outward and fact.relation.casefold().removeprefix("has_") == noun.replace(" ", "_")


def _stems(text: str) -> set[str]:
    """Return the first letters of the words of a text: "works" and "work", "married" and "marry" have the same."""
    words = _WORD.findall(text.replace("_", " ").casefold())
    return {word[:_STEM] for word in words if word not in STOP_WORDS}


def _last_word(text: str) -> str:
    words = _WORD.findall(text)
    return words[-1].casefold() if words else ""


@cache
def _by_noun() -> Mapping[tuple[str, bool], frozenset[str]]:
    """Return the nouns for the other end of a relation between people, by whether that is the object."""
    relations = json.loads(resources.files(__package__).joinpath("people.json").read_text("utf-8"))
    nouns = {(name, True): frozenset(each["nouns"]) for name, each in relations.items()}
    return nouns | {
        (each["backward"], False): frozenset(each["nouns"]) for each in relations.values() if each["backward"]
    }
