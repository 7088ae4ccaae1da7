"""An ontology: which kinds of things and relations a group's memory speaks of, and how they are said in English.

It is data (data/*.yaml), validated whole by `registry`. Rules read its words and cues; a language model gets its
names and sentences; facts carry its id and digest.
"""

import hashlib
import json
from functools import cached_property
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

Cardinality = Literal["one", "many"]


def unset(value: object) -> bool:
    """Whether a field that came later is not used: then it is not written, and the digest is what it was without it."""
    return not value


class Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class EntityType(Part):
    """A kind of thing."""

    name: str = Field(pattern=r"^[A-Z][A-Za-z]*$")
    description: str = Field(min_length=1)
    literal: bool = False  # a value (an age, a meaning), never an entity of its own
    open: bool = False  # any noun phrase may be one; otherwise only names, and phrases that end in one of `words`
    words: tuple[str, ...] = ()  # common nouns for it, singular, lower case: "beach", "support group"
    names: tuple[str, ...] = ()  # well-known proper names of it, lower case
    told: bool = Field(default=False, exclude_if=unset)  # whether a model gets the description: the name is not enough


class RelationType(Part):
    """A kind of statement about a source and a target.

    A lasting relation holds on until something ends it ("lives in"). One that is not lasting is an event: its fact
    begins when the event happened and stays true ("has visited").
    """

    name: str = Field(pattern=r"^[a-z][a-z0-9]*(_[a-z0-9]+)*$")
    sentence: str  # "{subject} lives in {object}"
    means: str = Field(min_length=1)
    sources: tuple[str, ...] = Field(min_length=1)
    targets: tuple[str, ...] = Field(min_length=1)
    cardinality: Cardinality = "many"  # one: a new value ends the old
    lasting: bool = True
    symmetric: bool = False
    inverse: str | None = None
    opposite: str | None = None  # what the negated cue says: "I don't like X" is dislikes
    named: bool = False  # targets have proper names: "a small town" is not one
    generic: bool = False  # targets are kinds of things, so "the painting" is not one
    cues: tuple[str, ...] = ()  # said while it holds (or, of an event, when it has happened); see `cues`
    starts: tuple[str, ...] = ()  # said of what begins it: "<move> to"
    ends: tuple[str, ...] = ()  # said of what ends it: "<leave>"
    nouns: tuple[str, ...] = ()  # "my sister Ana": what the target is to the source
    told: bool = Field(default=False, exclude_if=unset)  # whether a model gets what it means: the name is not enough
    pairs: tuple[tuple[str, str], ...] = Field(default=(), exclude_if=unset)  # of source and target alone, where given


class Ontology(Part):
    """Entity types and relation types under a stable id. `closed` refuses relations that are not in it."""

    id: str = Field(pattern=r"^[a-z][a-z0-9_]*$")
    version: int = Field(ge=1)
    description: str = Field(min_length=1)
    closed: bool = False
    entity_types: tuple[EntityType, ...] = Field(min_length=1)
    relation_types: tuple[RelationType, ...] = Field(min_length=1)

    @cached_property
    def digest(self) -> str:
        """SHA-256 of the content in a canonical form: the same for the same meaning, whatever the file's layout."""
        content = json.dumps(self.model_dump(mode="json"), sort_keys=True, separators=(",", ":"), ensure_ascii=False)
        return hashlib.sha256(content.encode()).hexdigest()

    @cached_property
    def entities(self) -> dict[str, EntityType]:
        """Entity types by name."""
        return {kind.name: kind for kind in self.entity_types}

    @cached_property
    def relations(self) -> dict[str, RelationType]:
        """Relation types by name."""
        return {relation.name: relation for relation in self.relation_types}

    def is_value(self, type_: str) -> bool:
        """Whether what is of an entity type is a value: it is what it says, and no thing."""
        kind = self.entities.get(type_)
        return kind is not None and kind.literal
