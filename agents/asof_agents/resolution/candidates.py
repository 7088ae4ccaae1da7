"""Whom a name may mean where no rule is sure: things of its type that are called nearly so. Pure.

Alike are names that differ by a slip, that share most of their words, or of which one is the initials of the other; of
what shares a fact with an entity of the same episode, less will do. Vectors are not asked: readers keep them, behind
the log, and an answer that depended on how far behind could not be had again.
"""

from collections.abc import Collection, Iterable
from typing import Final, NamedTuple

from rapidfuzz.distance import JaroWinkler

from asof_agents.ports import BeliefKnown
from asof_projections.names import key, words
from asof_projections.rows import Entity, Fact, Moment

MOST: Final = 4  # candidates of one name
_SLIP: Final = 0.8  # Jaro-Winkler over keys: from here on one may be meant for the other
_RELATED: Final = 0.7  # the same, of what shares a fact with an entity of the episode
_SHARED: Final = 0.5  # of the words of both
_LIKE: Final = 0.9  # how like names are that share so many
_PREFIX: Final = 2  # characters that a slip of the pen leaves
_BEGINNING_SO: Final = 200  # entities that are looked at
_INITIALS: Final = range(2, 7)  # letters
_LITTLE: Final = frozenset("a an and at for from her his in my of on our the their to with your".split())
_FACTS: Final = 2  # which tell a model who is meant
_LOOKED_AT: Final = 50  # facts of an entity, in which another of the episode may be found


class Candidate(NamedTuple):
    """One whom a name may mean, with what tells it from others."""

    entity: Entity
    names: tuple[str, ...]  # its own first
    facts: tuple[str, ...]


class Circumstances(NamedTuple):
    """Where a name stands: the group, when it was heard, and which entities the same episode names."""

    group: str
    known_at: int
    present: Collection[str]
    introduced: Iterable[Entity]


def candidates(known: BeliefKnown, text: str, type_: str, where: Circumstances) -> list[Candidate]:
    """Return whom a name may mean, the likeliest first."""
    pool = {e.uuid: e for e in (*_called_so(known, where.group, text), *where.introduced) if e.type in (None, type_)}
    found = []
    for entity in pool.values():
        names = (entity.name, *(name for name in known.aliases(entity.uuid, None) if name != entity.name))
        alike = max(_alike(text, name) for name in names)
        if alike < _RELATED:
            continue
        facts = _facts(known, entity, where)
        related = any(f.subject_uuid in where.present or f.object_uuid in where.present for f in facts)
        if related or alike >= _SLIP:
            candidate = Candidate(entity, names, tuple(f.fact for f in facts[:_FACTS]))
            found.append((-alike, not related, entity.known_from, entity.name, candidate))
    return [row[-1] for row in sorted(found, key=lambda row: row[:-1])[:MOST]]


def _called_so(known: BeliefKnown, group: str, text: str) -> list[Entity]:
    own = key(text)
    found = [e for word in _weighty(text) for e in known.entities_with_word(group, word)]
    found += known.entities(group, None, prefix=own[:_PREFIX], limit=_BEGINNING_SO)
    if len(own) in _INITIALS and own.isalpha():  # it may be the initials of something
        found += known.entities(group, None, prefix=own[:1], limit=_BEGINNING_SO)
    if initials := _initials(text):
        found += known.entities_keyed(group, initials)
    return found


def _facts(known: BeliefKnown, entity: Entity, where: Circumstances) -> list[Fact]:
    """Return what is believed of an entity, as subject and as object, but for what it shares with itself."""
    at, one = Moment(None, where.known_at), (entity.uuid,)
    said = known.facts(None, at, subjects=one, limit=_LOOKED_AT)
    return [*said, *known.facts(None, at, objects=one, limit=_LOOKED_AT)]


def _alike(one: str, other: str) -> float:
    """Return how alike two names are, from 0 to 1."""
    if key(one) == _initials(other) or key(other) == _initials(one):
        return 1.0
    mine, theirs = _weighty(one), _weighty(other)
    shared = set(mine) & set(theirs)
    if shared and len(shared) >= _SHARED * len({*mine, *theirs}):
        return _LIKE
    # two with one first name are alike only if the rest is: what they share says nothing more
    rest, others = (" ".join(word for word in name if word not in shared) for name in (mine, theirs))
    return JaroWinkler.normalized_similarity(rest, others)


def _weighty(name: str) -> list[str]:
    return [word for word in words(name) if word not in _LITTLE]


def _initials(name: str) -> str:
    """Return the first letters of a name of several words; "" of any other."""
    parts = _weighty(name)
    return "".join(word[0] for word in parts) if len(parts) in _INITIALS else ""
