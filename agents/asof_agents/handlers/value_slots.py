"""Finds the slot that a new value of a thing belongs to: "the rent" may be what the speaker called "my rent". Pure.

A thing that has no value yet means one that has, if only one can be meant: what the speaker has of that name, or the
one thing that is called so with more or fewer words before ("the deadline", "the project deadline").
"""

from collections.abc import Callable, Sequence
from typing import Final

from asof_agents.resolution.entities import Resolver
from asof_ontologies.model import Ontology, RelationType
from asof_projections.model.rows import EntityRow
from asof_projections.names import words as words_of

OF_THINGS: Final = frozenset({"value", "version", "time"})
Held = Callable[[str, str], bool]
"""Whether a subject has a value of a relation, now or before."""


def slot_of(
    subject: EntityRow,
    relation: RelationType,
    speaker: EntityRow | None,
    ontology: Ontology,
    names: Resolver,
    held: Held,
) -> tuple[str, str]:
    """Return the subject and the relation of a value that was said of a thing, by a relation OF_THINGS."""
    if held(subject.uuid, relation.name):
        return subject.uuid, relation.name
    words = words_of(subject.name)
    own = next((each for each in ontology.relation_types if each.value == "quality"), None)
    if speaker is not None and own is not None and held(speaker.uuid, own.of_noun(" ".join(words))):
        return speaker.uuid, own.of_noun(" ".join(words))
    alike = {
        other.uuid
        for other in names.known.entities_with_word(names.group, words[-1])
        if other.uuid != subject.uuid and _ends_alike(words, words_of(other.name))
    }
    found = [uuid for uuid in alike if held(uuid, relation.name)]
    return (found[0] if len(found) == 1 else subject.uuid), relation.name


def _ends_alike(one: Sequence[str], other: Sequence[str]) -> bool:
    shorter = min(len(one), len(other))
    return one[-shorter:] == other[-shorter:]
