"""Comparison: what changed between two ontologies, and from where on a generation must be made anew for it.

Extraction reads the types, the cues and the words, so a change of these needs the episodes. What decides how extracted
relationships become facts (cardinality, inverse, sentence, outcome or occurrence) needs the mentions alone. The ids of
a build depend on the whole ontology: "nothing" means that its facts say the same.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal, TypeVar

from asof_ontologies.model import AttributeType, EntityType, Example, Ontology, RelationType

Needs = Literal["nothing", "mentions", "episodes"]
Subject = Literal["ontology", "entity type", "attribute", "relation", "example"]
Label = Literal["renamed", "added", "removed", "changed"]
Part = TypeVar("Part", AttributeType, EntityType, RelationType)

ORDER: Final[tuple[Needs, ...]] = ("nothing", "mentions", "episodes")
"""What a change may need, the least first."""

_LISTED: Final = ("words", "names", "choices", "cues", "starts", "ends", "nouns")  # told item by item
_OF_FACTS: Final = frozenset({"sentence", "cardinality", "inverse"})  # read where relationships become facts
_OF_MODELS: Final = frozenset({"means", "description", "told"})  # read by a language model alone
_APART: Final = frozenset({"name", "attributes", "lasting"})  # compared by steps of their own


@dataclass(frozen=True, slots=True)
class OntologyChange:
    """One change: of what, of which of its keys ("": the whole), and what it needs.

    model: whether it matters only where a language model extracts. cues, words: those by which a text may extract
    otherwise; both empty, and the episodes are needed: any text may.
    """

    subject: Subject
    name: str
    label: Label
    key: str = ""
    before: str | None = None
    after: str | None = None
    needs: Needs = "nothing"
    model: bool = False
    cues: tuple[str, ...] = ()
    words: tuple[str, ...] = ()


def compare(base: Ontology, other: Ontology) -> list[OntologyChange]:
    """Return what changed from one ontology to another: the ontology, entity types, relations, examples.

    A type that goes while one of the same content comes is renamed. Example: `compare(load("default"), edited)`.
    """
    types = _renames(base.entity_types, other.entity_types)
    relations = _renames([_with_types(each, types) for each in base.relation_types], other.relation_types)
    return [
        *_of_ontology(base, other),
        *_of_entity_types(base, other, types),
        *_of_relations(base, other, types, relations),
        *_of_examples(base.examples, other.examples),
    ]


def _of_ontology(base: Ontology, other: Ontology) -> Iterator[OntologyChange]:
    for key in ("id", "version", "description", "closed"):
        before, after = getattr(base, key), getattr(other, key)
        if before != after:
            closed = key == "closed"
            needs: Needs = "episodes" if closed else "nothing"
            yield OntologyChange("ontology", base.id, "changed", key, _text(before), _text(after), needs, closed)


def _of_entity_types(base: Ontology, other: Ontology, renamed: dict[str, str]) -> Iterator[OntologyChange]:
    for name, kind in base.entities.items():
        new = other.entities.get(renamed.get(name, name))
        if new is None:
            yield _whole("entity type", kind, "removed")
            continue
        if new.name != name:
            yield _renamed("entity type", kind, new)
        yield from _of_part("entity type", name, kind, new)
        yield from _of_attributes(kind, new)
    came = other.entities.keys() - base.entities.keys() - set(renamed.values())
    yield from (_whole("entity type", kind, "added") for kind in other.entity_types if kind.name in came)
    yield from _of_order("entity_types", base.id, [renamed.get(n, n) for n in base.entities], list(other.entities))


def _of_attributes(base: EntityType, other: EntityType) -> Iterator[OntologyChange]:
    for attribute in base.attributes:
        name, new = f"{base.name}.{attribute.name}", other.attribute(attribute.name)
        if new is None:
            yield _whole("attribute", attribute, "removed", name)
        else:
            yield from _of_part("attribute", name, attribute, new)
    for attribute in other.attributes:
        if base.attribute(attribute.name) is None:
            yield _whole("attribute", attribute, "added", f"{other.name}.{attribute.name}")


def _of_relations(
    base: Ontology, other: Ontology, types: dict[str, str], renamed: dict[str, str]
) -> Iterator[OntologyChange]:
    for name, relation in base.relations.items():
        new = other.relations.get(renamed.get(name, name))
        if new is None:
            yield _whole("relation", relation, "removed")
            continue
        if new.name != name:
            yield _renamed("relation", relation, new)
        yield from _of_part("relation", name, _with_relations(_with_types(relation, types), renamed), new)
        kinds = _kind(base, relation), _kind(other, new)
        if kinds[0] != kinds[1]:
            needs: Needs = "episodes" if "lasting" in kinds else "mentions"
            yield OntologyChange(
                "relation", name, "changed", "kind", *kinds, needs=needs, cues=_cues(relation, new), words=new.nouns
            )
    came = other.relations.keys() - base.relations.keys() - set(renamed.values())
    yield from (_whole("relation", each, "added") for each in other.relation_types if each.name in came)
    yield from _of_order("relation_types", base.id, [renamed.get(n, n) for n in base.relations], list(other.relations))


def _of_examples(base: Sequence[Example], other: Sequence[Example]) -> Iterator[OntologyChange]:
    """Yield the examples that came, went or changed. They are tests: nothing is made of them."""
    before, after = {each.text: each for each in base}, {each.text: each for each in other}
    for text, example in before.items():
        if text not in after:
            yield OntologyChange("example", text, "removed")
        elif example != after[text]:
            yield OntologyChange("example", text, "changed")
    yield from (OntologyChange("example", text, "added") for text in after if text not in before)


def _of_part(subject: Subject, name: str, base: Part, other: Part) -> Iterator[OntologyChange]:
    """Yield what changed in the keys of a type, a relation or an attribute."""
    cues, words = _cues(base, other), (*_words(base), *_words(other))
    for key in type(base).model_fields:
        before, after = getattr(base, key), getattr(other, key)
        if before == after or key in _APART:
            continue
        if key in _LISTED and set(before) != set(after):
            yield from _of_list(subject, name, key, before, after)
            continue
        told = getattr(base, "told", True) or getattr(other, "told", True)  # a model is always told of attributes
        needs: Needs = "episodes"
        if key in _OF_FACTS:
            needs = "mentions"
        elif key in _OF_MODELS and not told:
            needs = "nothing"
        model = key in _OF_MODELS and told
        found = ((), ()) if model else (cues, words)
        yield OntologyChange(subject, name, "changed", key, _text(before), _text(after), needs, model, *found)


def _of_list(
    subject: Subject, name: str, key: str, base: Sequence[str], other: Sequence[str]
) -> Iterator[OntologyChange]:
    """Yield the cues or words that came or went, each with itself as what a text must have."""
    in_cues = key in ("cues", "starts", "ends")
    for item in (each for each in base if each not in other):
        cues, words = ((item,), ()) if in_cues else ((), (item,))
        yield OntologyChange(subject, name, "removed", key, item, None, "episodes", cues=cues, words=words)
    for item in (each for each in other if each not in base):
        cues, words = ((item,), ()) if in_cues else ((), (item,))
        yield OntologyChange(subject, name, "added", key, None, item, "episodes", cues=cues, words=words)


def _of_order(key: str, name: str, base: Sequence[str], other: Sequence[str]) -> Iterator[OntologyChange]:
    """Yield a change of order: of two types that fit, and of two inverse relations, the first is taken."""
    before, after = [each for each in base if each in other], [each for each in other if each in base]
    if before != after:
        yield OntologyChange("ontology", name, "changed", f"order of {key}", needs="episodes")


def _whole(subject: Subject, part: Part, label: Label, name: str | None = None) -> OntologyChange:
    anywhere = getattr(part, "open", False) or getattr(part, "value", None)  # found by no cue or word of its own
    cues, words = ((), ()) if anywhere else (_cues(part), _words(part))
    return OntologyChange(subject, name or part.name, label, needs="episodes", cues=cues, words=words)


def _renamed(subject: Subject, base: Part, other: Part) -> OntologyChange:
    whole = _whole(subject, base, "renamed")
    return OntologyChange(
        subject, base.name, "renamed", "name", base.name, other.name, "episodes", cues=whole.cues, words=whole.words
    )


def _renames(base: Sequence[Part], other: Sequence[Part]) -> dict[str, str]:
    """Return the new names of those that go, where exactly one of the same content comes."""
    kept = {each.name for each in base} & {each.name for each in other}
    came = [each for each in other if each.name not in kept]
    found: dict[str, str] = {}
    for gone in base:
        alike = [each.name for each in came if gone.name not in kept and _content(each) == _content(gone)]
        if len(alike) == 1 and alike[0] not in found.values():
            found[gone.name] = alike[0]
    return found


def _content(part: Part) -> dict[str, Any]:
    """Return what makes a type or relation the same under another name: its meaning, where it has no words."""
    apart = {"name", "sentence", "means", "description", "inverse", "opposite"}
    if not (_cues(part) or _words(part)):
        apart -= {"means", "description"}
    return part.model_dump(exclude=apart)


def _with_types(relation: RelationType, renamed: dict[str, str]) -> RelationType:
    """Return a relation with entity types by their new names."""
    return relation.model_copy(
        update={
            "sources": tuple(renamed.get(each, each) for each in relation.sources),
            "targets": tuple(renamed.get(each, each) for each in relation.targets),
            "pairs": tuple((renamed.get(one, one), renamed.get(two, two)) for one, two in relation.pairs),
        }
    )


def _with_relations(relation: RelationType, renamed: dict[str, str]) -> RelationType:
    """Return a relation with its inverse and its opposite by their new names."""
    names = {key: getattr(relation, key) for key in ("inverse", "opposite")}
    return relation.model_copy(update={key: renamed.get(name, name) if name else None for key, name in names.items()})


def _kind(ontology: Ontology, relation: RelationType) -> str:
    if not relation.is_deed:
        return "lasting"
    return "occurrence" if relation.name in ontology.occurrences else "outcome"


def _cues(*parts: AttributeType | EntityType | RelationType) -> tuple[str, ...]:
    lists = (getattr(part, key, ()) for part in parts for key in ("cues", "starts", "ends"))
    return tuple(dict.fromkeys(cue for cues in lists for cue in cues))


def _words(part: AttributeType | EntityType | RelationType) -> tuple[str, ...]:
    return tuple(word for key in ("words", "names", "nouns") for word in getattr(part, key, ()))


def _text(value: object) -> str:
    """Return a value as a file has it."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, tuple):
        return ", ".join(map(_text, value))
    return "" if value is None else str(value)
