"""An ontology: the entity types and relation types of a memory, and how English expresses them.

It is data (data/*.yaml), validated whole by `registry`. The English rules use its words and cues, a language model gets
its names and descriptions, and a generation records its id and digest.
"""

import hashlib
import json
import re
from datetime import date
from functools import cached_property
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

Cardinality = Literal["one", "many"]
ValueKind = Literal[
    "value", "version", "time", "amount", "quality", "favorite", "news", "state", "rule", "reason", "alternative"
]
_OUTCOMES = {  # of asof's own ontologies of a time before they said so; generations rest on these names
    "agent_memory_v1": frozenset(("completed", "decided", "released", "replaced_by")),
    "default": frozenset(("born_in", "decided_on", "founded", "graduated_from", "made", "won", "wrote")),
}
KEYED: frozenset[ValueKind] = frozenset({"amount", "quality", "favorite"})


def unset(value: object) -> bool:
    """Whether a field that was added later is unused: it is then left out, so that the digest stays as it was."""
    return not value


class Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class AttributeType(Part):
    """A quality that entities of a type have: one value each, of a kind, and how English expresses it."""

    name: str = Field(pattern=r"^[a-z][a-z0-9]*(_[a-z0-9]+){0,5}$")
    means: str = Field(min_length=1)
    kind: Literal["text", "number", "date"] = "text"  # a number may have a unit: "3 kg"
    choices: tuple[str, ...] = ()  # the only values, lower case; none: any of the kind
    cues: tuple[str, ...] = ()  # what stands between the entity and the value; see the module `cues`


class EntityType(Part):
    """A kind of thing."""

    name: str = Field(pattern=r"^[A-Z][A-Za-z]*$")
    description: str = Field(min_length=1)
    literal: bool = False  # a value, such as an age: never an entity of its own
    open: bool = False  # any noun phrase may be one; otherwise only names, and phrases that end in one of `words`
    words: tuple[str, ...] = ()  # common nouns for it, singular, lower case: "beach", "support group"
    names: tuple[str, ...] = ()  # well-known proper names of it, lower case
    told: bool = Field(default=False, exclude_if=unset)  # whether a model's prompt has the description beside the name
    attributes: tuple[AttributeType, ...] = Field(default=(), exclude_if=unset)

    def attribute(self, name: str) -> AttributeType | None:
        """Return an attribute of the type by name; None: the type has none of that name."""
        return next((attribute for attribute in self.attributes if attribute.name == name), None)


class RelationType(Part):
    """A kind of statement about a source and a target.

    A lasting relation is a state ("lives in"): it holds until something ends it. A deed whose `outcome` stays ("wrote")
    is true from its time on. Any other deed is an occurrence ("visited"): true of the day, month or year in which it
    happened, as often as it did.
    """

    name: str = Field(pattern=r"^[a-z][a-z0-9]*(_[a-z0-9]+)*$")
    sentence: str  # "{subject} lives in {object}"
    means: str = Field(min_length=1)
    sources: tuple[str, ...] = Field(min_length=1)
    targets: tuple[str, ...] = Field(min_length=1)
    cardinality: Cardinality = "many"  # one: a new value ends the old
    exclusive: bool = Field(default=False, exclude_if=unset)  # a target has one source at a time
    lasting: bool | Literal["outcome"] = True
    symmetric: bool = False
    inverse: str | None = None
    opposite: str | None = None  # the relation of the negated cue: "I don't like X" is dislikes
    named: bool = False  # targets have proper names: "a small town" is not one
    generic: bool = False  # targets are kinds of things, so "the painting" is not one
    cues: tuple[str, ...] = ()  # for a relation that holds, or an event that has happened; see the module `cues`
    starts: tuple[str, ...] = ()  # cues that begin it: "<move> to"
    ends: tuple[str, ...] = ()  # cues that end it: "<leave>"
    nouns: tuple[str, ...] = ()  # nouns for the target, as in "my sister Ana"
    told: bool = Field(default=False, exclude_if=unset)  # whether a model's prompt has `means` beside the name
    pairs: tuple[tuple[str, str], ...] = Field(default=(), exclude_if=unset)  # the only (source, target) pairs, if any
    value: ValueKind | None = Field(default=None, exclude_if=unset)  # what the rules state by it of a thing
    chooses: bool = Field(default=False, exclude_if=unset)  # its target was chosen: for a reason, over something else

    @property
    def keyed(self) -> bool:
        """Whether a noun completes its name: the favorite of a band is favorite_band, and {key} its words."""
        return self.value in KEYED

    def of_noun(self, noun: str) -> str:
        """Return the name under which a keyed relation has a noun: favorite_band."""
        return f"{self.name}_{re.sub(r'[^a-z0-9]+', '_', noun.lower()).strip('_')}"

    def said(self, name: str, subject: str, object_: str) -> str:
        """Return a fact of this relation, stated under a name, as a sentence."""
        key = name.removeprefix(f"{self.name}_").replace("_", " ") if self.keyed else ""
        return self.sentence.format(subject=subject, object=object_, key=key)

    @cached_property
    def is_deed(self) -> bool:
        """Whether it is something done, not a state."""
        return self.lasting is not True


class ExampleFact(Part):
    """A fact that an example asserts, ends or retracts. Dates that are left out may be any."""

    op: Literal["assert", "end", "retract"] = "assert"
    subject: str = Field(min_length=1)
    relation: str
    object: str = Field(min_length=1)
    valid_at: date | None = None
    invalid_at: date | None = None


class ExampleAttribute(Part):
    """A value that an example states of an entity."""

    entity: str = Field(min_length=1)
    name: str
    value: str = Field(min_length=1)


class Example(Part):
    """A text, and exactly the facts and attributes that the English rules are to find in it."""

    text: str = Field(min_length=1)
    speaker: str = ""  # whose name the facts have for "I"; without one it is I
    said_at: date = date(2024, 1, 1)
    facts: tuple[ExampleFact, ...] = ()
    attributes: tuple[ExampleAttribute, ...] = ()


class Ontology(Part):
    """Entity types and relation types under a stable id. `closed` refuses relations that are not in it.

    Its examples are tests of the file: they are no part of its content, and so not of its digest.
    """

    id: str = Field(pattern=r"^[a-z][a-z0-9_]*$")
    version: int = Field(ge=1)
    description: str = Field(min_length=1)
    closed: bool = False
    entity_types: tuple[EntityType, ...] = Field(min_length=1)
    relation_types: tuple[RelationType, ...] = Field(min_length=1)
    examples: tuple[Example, ...] = Field(default=(), exclude=True)

    @cached_property
    def digest(self) -> str:
        """SHA-256 of the content in a canonical form, so the layout of its file does not matter."""
        content = json.dumps(self.model_dump(mode="json"), sort_keys=True, separators=(",", ":"), ensure_ascii=False)
        return hashlib.sha256(content.encode()).hexdigest()

    @cached_property
    def stored_form(self) -> bytes:
        """The content and its digest as JSON: the file that is kept by each directory that uses it."""
        kept = {"digest": self.digest, "ontology": self.model_dump(mode="json")}
        return json.dumps(kept, ensure_ascii=False).encode()

    @cached_property
    def entities(self) -> dict[str, EntityType]:
        """Entity types by name."""
        return {kind.name: kind for kind in self.entity_types}

    @cached_property
    def has_attributes(self) -> bool:
        """Whether any entity type declares attributes."""
        return any(kind.attributes for kind in self.entity_types)

    @cached_property
    def relations(self) -> dict[str, RelationType]:
        """Relation types by name."""
        return {relation.name: relation for relation in self.relation_types}

    @cached_property
    def occurrences(self) -> frozenset[str]:
        """The deeds whose outcome does not stay, by name. The outcome of one that has one value stays."""
        deeds = frozenset(r.name for r in self.relation_types if r.lasting is False and r.cardinality == "many")
        knows_outcomes = any(relation.lasting == "outcome" for relation in self.relation_types)
        return deeds if knows_outcomes else deeds - _OUTCOMES.get(self.id, frozenset())

    @cached_property
    def _keyed(self) -> tuple[RelationType, ...]:
        return tuple(sorted((r for r in self.relation_types if r.keyed), key=lambda r: -len(r.name)))

    @cached_property
    def _keys(self) -> tuple[str, ...]:
        """What the names of keyed relations begin with."""
        return tuple(f"{each.name}_" for each in self._keyed)

    def relation(self, name: str) -> RelationType | None:
        """Return the relation type of a name, also of a keyed one with its noun; None: it is not in the ontology."""
        found = self.relations.get(name)
        if found is None and name.startswith(self._keys):
            return next(each for each in self._keyed if name.startswith(f"{each.name}_"))
        return found

    def canonical(self, relation: str) -> tuple[str, bool]:
        """Return the name under which facts have a relation, and whether source and target are exchanged.

        Of two inverse relations it is the one that the ontology defines first.
        """
        found = self.relations.get(relation)
        if found is None or found.inverse is None or found.inverse == relation:
            return relation, False
        order = list(self.relations)
        return (found.inverse, True) if order.index(found.inverse) < order.index(relation) else (relation, False)

    def is_value(self, type_: str) -> bool:
        """Whether the instances of an entity type are values, such as ages, and not entities."""
        kind = self.entities.get(type_)
        return kind is not None and kind.literal
