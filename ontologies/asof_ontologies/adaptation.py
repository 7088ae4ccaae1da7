"""Adapts an ontology to one message, which may add types, exclude types and restrict the pairs of related types.

Types of the ontology keep their words and cues. An added type has none, so only a language model can find it; so it is
with the attributes of a type.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import product
from typing import Final, NamedTuple

from asof_ontologies.attributes import attribute_problems
from asof_ontologies.errors import OntologyError
from asof_ontologies.model import AttributeType, EntityType, Ontology, RelationType

ANY: Final = "Entity"  # in a pair of types: any type


class TypePair(NamedTuple):
    """Two entity types and the relations that may lead from `source` to `target`."""

    source: str
    target: str
    relations: Sequence[str]


def adapt_ontology(
    ontology: Ontology,
    entity_types: Mapping[str, str],
    excluded_entity_types: Sequence[str],
    relation_types: Mapping[str, str],
    relation_type_map: Sequence[TypePair],
    attributes: Mapping[str, Sequence[AttributeType]],
) -> Ontology:
    """Return the ontology with a message's changes.

    entity_types, relation_types: descriptions by name; a name of the ontology gets the new description.
    attributes: of those entity types; of a type of the ontology besides its own, or in their place.
    relation_type_map: a relation in it connects these pairs alone; an added relation that is not in it connects any
    types. OntologyError: the changes contradict each other or the ontology; it names the field, and no type.
    """
    if ANY in entity_types:
        raise OntologyError(f"{ANY} stands for any type: give it another name", "entity_types")
    kinds = {**ontology.entities, **dict(_entity_types(ontology, entity_types, attributes))}
    _check(excluded_entity_types, kinds, "excluded_entity_types", "an entity type of the ontology or of entity_types")
    kept = {name: kind for name, kind in kinds.items() if name not in set(excluded_entity_types)}
    if not kept:
        raise OntologyError("nothing is left: leave one type at least", "excluded_entity_types")
    relations = {**ontology.relations, **dict(_relation_types(ontology, relation_types, kept))}
    pairs = _pairs(relation_type_map, kept, relations)
    limited = [_limited(relation, kept, pairs.get(name)) for name, relation in relations.items()]
    left = {relation.name: relation for relation in limited if relation.sources and relation.targets}
    if not left:
        raise OntologyError("no relation is left: leave types that one may connect", "excluded_entity_types")
    return Ontology(  # made anew: a copy would keep what the other one has worked out of itself
        id=ontology.id,
        version=ontology.version,
        description=ontology.description,
        closed=ontology.closed,
        entity_types=tuple(kept.values()),
        relation_types=tuple(_alone(relation, left) for relation in left.values()),
    )


def _entity_types(
    ontology: Ontology, descriptions: Mapping[str, str], attributes: Mapping[str, Sequence[AttributeType]]
) -> Iterator[tuple[str, EntityType]]:
    for name, description in descriptions.items():
        known = ontology.entities.get(name) or EntityType(name=name, description=description)
        given = tuple(_with_cues(attribute, known) for attribute in attributes.get(name, ()))
        names = {attribute.name for attribute in given}
        kept = tuple(attribute for attribute in known.attributes if attribute.name not in names)
        kind = known.model_copy(update={"description": description, "told": True, "attributes": (*kept, *given)})
        for where, remedy in attribute_problems(kind):
            place = [where[0] - len(kept), *where[1:]] if where and isinstance(where[0], int) else where
            raise OntologyError(remedy, ".".join(map(str, ("entity_types", "attributes", *place))))
        yield name, kind


def _with_cues(attribute: AttributeType, kind: EntityType) -> AttributeType:
    """Return an attribute with the cues of the one of its name that a type has."""
    known = kind.attribute(attribute.name)
    return attribute if known is None else attribute.model_copy(update={"cues": known.cues})


def _relation_types(
    ontology: Ontology, descriptions: Mapping[str, str], kinds: Mapping[str, EntityType]
) -> Iterator[tuple[str, RelationType]]:
    for name, means in descriptions.items():
        known = ontology.relations.get(name)
        if known is not None:
            yield name, known.model_copy(update={"means": means, "told": True})
            continue
        yield (
            name,
            RelationType(
                name=name,
                sentence=f"{{subject}} {name.replace('_', ' ')} {{object}}",
                means=means,
                told=True,
                sources=_things(kinds),
                targets=tuple(kinds),
            ),
        )


def _pairs(
    relation_type_map: Sequence[TypePair], kinds: Mapping[str, EntityType], relations: Mapping[str, RelationType]
) -> dict[str, list[tuple[str, str]]]:
    """Return the pairs of types that each relation of the map may connect."""
    pairs: dict[str, list[tuple[str, str]]] = {}
    for number, pair in enumerate(relation_type_map):
        where = f"relation_type_map.{number}"
        _check([pair.source], {*kinds, ANY}, f"{where}.source", f"an entity type that is not excluded, or {ANY}")
        _check([pair.target], {*kinds, ANY}, f"{where}.target", f"an entity type that is not excluded, or {ANY}")
        _check(pair.relations, relations, f"{where}.relations", "a relation of the ontology or of relation_types")
        for relation in pair.relations:
            sources = _things(kinds) if pair.source == ANY else (pair.source,)
            targets = tuple(kinds) if pair.target == ANY else (pair.target,)
            pairs.setdefault(relation, []).extend(product(sources, targets))
    return pairs


def _things(kinds: Mapping[str, EntityType]) -> tuple[str, ...]:
    """Return the entity types that may be a subject: all but values."""
    return tuple(kind.name for kind in kinds.values() if not kind.literal)


def _limited(
    relation: RelationType, kinds: Mapping[str, EntityType], pairs: Sequence[tuple[str, str]] | None
) -> RelationType:
    """Return a relation restricted to the types that are left, or to its pairs."""
    if pairs is not None:
        sources, targets = (tuple(dict.fromkeys(pair[at] for pair in pairs)) for at in (0, 1))
        return relation.model_copy(
            update={"sources": sources, "targets": targets, "pairs": tuple(dict.fromkeys(pairs))}
        )
    left = {key: tuple(name for name in getattr(relation, key) if name in kinds) for key in ("sources", "targets")}
    return relation.model_copy(update=left)


def _alone(relation: RelationType, left: Mapping[str, RelationType]) -> RelationType:
    """Return a relation without an inverse or opposite that is gone."""
    gone = {key: None for key in ("inverse", "opposite") if getattr(relation, key) not in left}
    return relation.model_copy(update=gone)


def _check(names: Iterable[str], known: Iterable[str], where: str, remedy: str) -> None:
    if not set(names).issubset(known):
        raise OntologyError(f"it must name {remedy}", where)
