"""Finds candidates for a name that no rule resolves: entities of its type with a similar name. Pure.

Names are alike if they differ by a slip, share most of their words, or if one is the initials of the other. An entity
that shares a fact with one of the same episode needs less likeness. Names are near if their vectors are: "Holland" and
"the Netherlands". The vector index of the readers lags behind the log, so its answers could not be
repeated in a rebuild; `NameIndex` therefore has the vector of every name that is known.
"""

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Final, NamedTuple, Protocol

from asof_agents.ports import BeliefView
from asof_projections.model.rows import EntityRow, FactRow, Moment
from asof_projections.names import key, words
from asof_projections.spelling import jaro_winkler

MOST: Final = 4  # candidates of one name
_SLIP: Final = 0.8  # Jaro-Winkler over keys: from here on one may be a slip for the other
_RELATED: Final = 0.7  # the same, for an entity that shares a fact with an entity of the episode
_SHARED: Final = 0.5  # of the words of both
_LIKE: Final = 0.9  # the likeness of names that share so many words
_PREFIX: Final = 2  # characters that a slip of the pen leaves unchanged
_WITH_PREFIX: Final = 200  # entities with that prefix that are compared
_INITIALS: Final = range(2, 7)  # letters
_LITTLE: Final = frozenset("a an and at for from her his in my of on our the their to with your".split())
_FACTS: Final = 2  # of a candidate, in the prompt
_COMPARED: Final = 50  # facts of an entity that are searched for another entity of the episode
_NUMBER: Final = re.compile(r"\d+")

# The cosine of names that are near. Of 60 pairs of real names for one thing 43 are not alike, of 60 for two things 54.
# By all-MiniLM-L6-v2, with numbers told apart, 10 of the 43 and 4 of the 54 reach 0.75, and from 0.6 on it would be 18
# of each. It does not know the world: "the Big Apple" and "New York City" have 0.31, less than tea and coffee (0.62).
NEAR: Final = 0.75


class Candidate(NamedTuple):
    """An entity that a name may mean, with its names and facts, which tell it from others."""

    entity: EntityRow
    names: tuple[str, ...]  # its own first
    facts: tuple[str, ...]


Nearest = Sequence[tuple[EntityRow, float]]
"""Entities, each with the cosine of one of its names."""


class NameIndex(Protocol):
    """The names of a generation by their meaning. Its answers include the events of all messages before this one."""

    @property
    def model_id(self) -> str:
        """The embedder of the names."""
        ...

    def nearest(self, group: str, texts: Sequence[str], least: float) -> Mapping[str, Nearest]:
        """Return for each text the entities with a name whose cosine with it is at least `least`, nearest first.

        The answer depends on the known names alone, so a rebuild gets the same one. ModelUnavailable: the embedder
        cannot be loaded or reached.
        """
        ...


class CandidateContext(NamedTuple):
    """The context of a name: its group, its recorded time, the entities of its episode, and those with a near name."""

    group: str
    known_at: int
    present: Collection[str]
    introduced: Iterable[EntityRow]
    near: Nearest


def candidates(known: BeliefView, text: str, type_: str, where: CandidateContext) -> list[Candidate]:
    """Return the candidates for a name of an entity type, likeliest first, at most four."""
    cosines = {entity.uuid: cosine for entity, cosine in reversed(where.near)}
    likely = (*_with_similar_name(known, where.group, text), *where.introduced, *(entity for entity, _ in where.near))
    found = []
    for entity in {e.uuid: e for e in likely if e.type in (None, type_)}.values():
        names = (entity.name, *(name for name in known.aliases(entity.uuid, None) if name != entity.name))
        alike = max(_alike(text, name) for name in names)
        near = cosines.get(entity.uuid, 0.0) if any(_numbers(text) == _numbers(name) for name in names) else 0.0
        if max(alike, near) < _RELATED:
            continue
        facts = _facts(known, entity, where)
        related = any(f.subject_uuid in where.present or f.object_uuid in where.present for f in facts)
        if related or alike >= _SLIP or near:
            candidate = Candidate(entity, names, tuple(f.fact for f in facts[:_FACTS]))
            found.append((-max(alike, near), not related, entity.known_from, entity.name, candidate))
    return [row[-1] for row in sorted(found, key=lambda row: row[:-1])[:MOST]]


def _with_similar_name(known: BeliefView, group: str, text: str) -> list[EntityRow]:
    own = key(text)
    found = [e for word in _weighty(text) for e in known.entities_with_word(group, word)]
    found += known.entities(group, None, prefix=own[:_PREFIX], limit=_WITH_PREFIX)
    if len(own) in _INITIALS and own.isalpha():  # it may be the initials of something
        found += known.entities(group, None, prefix=own[:1], limit=_WITH_PREFIX)
    if initials := _initials(text):
        found += known.entities_keyed(group, initials)
    return found


def _facts(known: BeliefView, entity: EntityRow, where: CandidateContext) -> list[FactRow]:
    """Return the believed facts of an entity, first those of which it is the subject, then those as object."""
    at, one = Moment(None, where.known_at), (entity.uuid,)
    return known.facts_around(one, at, _COMPARED)


def _alike(one: str, other: str) -> float:
    """Return the likeness of two names, from 0 to 1."""
    if key(one) == _initials(other) or key(other) == _initials(one):
        return 1.0
    mine, theirs = _weighty(one), _weighty(other)
    shared = set(mine) & set(theirs)
    if shared and len(shared) >= _SHARED * len({*mine, *theirs}):
        return _LIKE
    # two with one first name are alike only if the rest is: what they share says nothing more
    rest, others = (" ".join(word for word in name if word not in shared) for name in (mine, theirs))
    return jaro_winkler(rest, others)


def _numbers(name: str) -> list[str]:
    """Return the numbers in a name: "model 12" and "model 13" have near vectors, and are two things."""
    return _NUMBER.findall(name)


def _weighty(name: str) -> list[str]:
    return [word for word in words(name) if word not in _LITTLE]


def _initials(name: str) -> str:
    """Return the initials of a name of several words; "" for any other name."""
    parts = _weighty(name)
    return "".join(word[0] for word in parts) if len(parts) in _INITIALS else ""
