"""Finds what an ending ends: among the facts that hold of its subject, those that its words can mean. Pure.

"I left Acme" ends the membership where no job is known, and "I sold the Civic" the ownership of the Honda Civic. What
is called by a common noun alone ("the band") is the one fact with an object of that type. If several can be meant, or
none, the ending is kept as it was said, unless it calls its object by its role alone: "I quit my job".
"""

from functools import lru_cache
from typing import Final

from asof_agents.extraction.ports import JOB, ROLES
from asof_agents.resolution.entities import Resolver
from asof_ontologies.cues import parse_cue
from asof_ontologies.model import Ontology, RelationType
from asof_projections.model.rows import EntityRow, FactRow, Moment
from asof_projections.names import words

_ANY: Final = frozenset({"be", "get", "lose"})  # say too little alone
_LATEST: Final = 256  # facts of a subject that are looked at


def ended_facts(
    subject: str, relation: str, ended: EntityRow, at: int, ontology: Ontology, names: Resolver
) -> list[tuple[str, str]]:
    """Return the relation and object of the facts that an ending of an object means, if it is not one that holds."""
    in_role = ended.name in ROLES
    relations = {relation} if ended.name == JOB else _ended_alike(ontology.relation_types, relation)
    around = names.known.facts_around([subject], Moment(at, names.recorded_at), _LATEST)
    held = [f for f in around if f.subject_uuid == subject and f.relation in relations and f.object_uuid]
    same = held if in_role else [fact for fact in held if fact.object_uuid == ended.uuid]
    found = same or _called_so(held, ended) or _of_type(held, ended, names)
    objects = {fact.object_uuid for fact in found}
    return [(fact.relation, fact.object_uuid or "") for fact in found] if len(objects) == 1 else []


def _ended_alike(relations: tuple[RelationType, ...], relation: str) -> set[str]:
    """Return the relations that the same verbs end, this one among them."""
    verbs = {each.name: {_verb(cue) for cue in each.ends} - _ANY for each in relations if each.ends}
    own = verbs.get(relation, set())
    return {relation, *(name for name, others in verbs.items() if not own.isdisjoint(others))}


@lru_cache(maxsize=4096)
def _verb(cue: str) -> str | None:
    return parse_cue(cue).verb


def _called_so(held: list[FactRow], ended: EntityRow) -> list[FactRow]:
    name = set(words(ended.name))
    return [f for f in held if name and (name <= (other := set(words(f.object))) or (other and other <= name))]


def _of_type(held: list[FactRow], ended: EntityRow, names: Resolver) -> list[FactRow]:
    """Return the facts with a named object of the type of a common noun: "the car" may be the Civic, but no house."""
    if ended.name != ended.name.lower() or ended.type is None:
        return []
    named = [fact for fact in held if fact.object != fact.object.lower()]
    return [fact for fact in named if fact.object_uuid and names.entity(fact.object_uuid).type == ended.type]
