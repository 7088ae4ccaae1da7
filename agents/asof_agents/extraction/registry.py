"""Chooses the ontology and the extractor of an episode: those that its message names, otherwise the layer's own.

Pure, except for `find`, which looks up a named ontology; the runtime passes it in.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from operator import attrgetter
from typing import Any, Final

from asof_agents.extraction.ports import (
    Extraction,
    Extractor,
    KnownNames,
    Mention,
    ModelRequest,
    RejectedPart,
    Relationship,
    Turn,
)
from asof_ontologies.adaptation import TypePair, adapt_ontology
from asof_ontologies.errors import OntologyError
from asof_ontologies.model import AttributeType, Ontology
from asof_streams.episodic import EpisodeRecorded
from asof_streams.errors import InvalidInput
from asof_streams.extraction_options import TypeSchema
from asof_streams.messages import Message

TAG: Final = "<graphiti_episode"  # the tag around an agent's episode
TAGGED: Final = "agent_memory_v1"  # the ontology of such an episode, if its message names no other
_TYPES: Final = ("entity_types", "excluded_entity_types", "relation_types", "relation_type_map")
_types_of: Final = attrgetter(*_TYPES)
_MOST: Final = 32  # adapted ontologies, and extractors, in memory

FindOntology = Callable[[str], Ontology | None]
MakeExtractor = Callable[[Ontology, Ontology | None], Extractor]
"""Makes the extractor of an ontology. The second argument is the ontology that was adapted to a message, if any was."""


class Ontologies:
    """The ontologies that a message may choose: the memory's own, and named ones, adapted to the message's types."""

    def __init__(self, own: Ontology, names: Sequence[str] = (), find: FindOntology = lambda _: None) -> None:
        self.own: Final = own
        self.names: Final = sorted({own.id, *names})
        self._find = find
        self._named: dict[str, Ontology] = {}
        self._adapted: dict[tuple[str, str], Ontology] = {}

    def choose(self, message: Message) -> dict[str, Any]:
        """Return the episode's fields for the ontology and types that a message chooses; {}: it chooses none.

        A message with types and no ontology chooses the memory's own. InvalidInput: there is no such ontology, or the
        types do not fit it.
        """
        given = _types_of(message)
        types = {name: value for name, value in zip(_TYPES, given, strict=True) if value} if any(given) else {}
        named = message.schema_id or (TAGGED if TAG in message.content else self.own.id if types else None)
        if named is None:
            return {}
        self._adapt(self.named(named), types)
        return {"ontology": named, **types}

    def of(self, episode: EpisodeRecorded, default: Ontology) -> Ontology:
        """Return the ontology of an episode: the one that its message chose, else `default`."""
        if episode.ontology is None:
            return default
        return self._adapt(self.named(episode.ontology), {n: t for n in _TYPES if (t := getattr(episode, n))})

    def named(self, name: str) -> Ontology:
        """Return an ontology by its id. InvalidInput: there is none."""
        if name == self.own.id:
            return self.own
        ontology = self._named.get(name) or self._find(name)
        if ontology is None:
            raise InvalidInput(f"there is no such ontology; known are {', '.join(self.names)}", field="schema_id")
        self._named[name] = ontology
        return ontology

    def _adapt(self, ontology: Ontology, types: Mapping[str, Any]) -> Ontology:
        if not types:
            return ontology
        kinds = types.get("entity_types", {})
        pairs = [TypePair(p.source, p.target, p.relations) for p in types.get("relation_type_map", ())]
        key = ontology.digest, repr((types, pairs))
        if key not in self._adapted:
            try:
                changed = adapt_ontology(
                    ontology,
                    {name: kind if isinstance(kind, str) else kind.description for name, kind in kinds.items()},
                    types.get("excluded_entity_types", ()),
                    types.get("relation_types", {}),
                    pairs,
                    {name: _attributes_of(kind) for name, kind in kinds.items() if isinstance(kind, TypeSchema)},
                )
            except OntologyError as error:
                raise InvalidInput(error.reason, error.field) from None
            _keep(self._adapted, key, changed)
        return self._adapted[key]


def _attributes_of(kind: TypeSchema) -> list[AttributeType]:
    return [
        AttributeType(name=each.name, means=each.means, kind=each.kind, choices=tuple(each.choices))
        for each in kind.attributes
    ]


class ExtractorRegistry:
    """The extractors of one layer: one for each ontology that its episodes choose, made when it is first needed."""

    def __init__(self, ontology: Ontology, ontologies: Ontologies, make: MakeExtractor) -> None:
        self.ontologies: Final = ontologies
        self._named = ontology
        self._make = make
        self._made: dict[str, Extractor] = {}

    @cached_property
    def _usual(self) -> Extractor:
        usual = self._make(self._named, None)
        return SchemaFilter(usual, self._named) if is_restricted(self._named) else usual

    def of(self, episode: EpisodeRecorded) -> Extractor:
        """Return the extractor of an episode. InvalidInput: its ontology cannot be found any more."""
        if episode.ontology is None:
            return self._usual
        ontology = self.ontologies.of(episode, self._named)
        if ontology.digest not in self._made:
            named = self.ontologies.named(episode.ontology)
            made = self._make(ontology, None if named is ontology else named)
            _keep(self._made, ontology.digest, SchemaFilter(made, ontology))
        return self._made[ontology.digest]


class SchemaFilter:
    """An extractor whose results are restricted to the entity types and the related pairs of an ontology.

    The English rules find some types whatever the ontology, and know nothing of pairs.
    """

    def __init__(self, extractor: Extractor, ontology: Ontology) -> None:
        self._extractor = extractor
        self._types = ontology.entities.keys()
        self._pairs = {relation.name: set(relation.pairs) for relation in ontology.relation_types if relation.pairs}

    @property
    def version(self) -> str:
        return self._extractor.version

    def request(self, turn: Turn, before: Sequence[Turn]) -> ModelRequest | None:
        """Return the request of the extractor."""
        return self._extractor.request(turn, before)

    def extract(self, turn: Turn, before: Sequence[Turn], known: KnownNames, answer: str | None = None) -> Extraction:
        """Return the extractor's result without mentions and relationships of other types."""
        return self.restrict(self._extractor.extract(turn, before, known, answer))

    def restrict(self, extraction: Extraction) -> Extraction:
        """Return an extraction without mentions and relationships of other types."""
        relationships = tuple(filter(self._may_relate, extraction.relationships))
        rejected = (RejectedPart("fact", "type"),) * (len(extraction.relationships) - len(relationships))
        return replace(
            extraction,
            mentions=tuple(filter(self._is_known, extraction.mentions)),
            relationships=relationships,
            attributes=tuple(attribute for attribute in extraction.attributes if self._is_known(attribute.mention)),
            refused=(*extraction.refused, *rejected),
        )

    def _is_known(self, mention: Mention) -> bool:
        return mention.type in self._types

    def _may_relate(self, relationship: Relationship) -> bool:
        pairs = self._pairs.get(relationship.relation)
        ends = relationship.source.type, relationship.target.type
        return self._types >= set(ends) and (pairs is None or ends in pairs)


def is_restricted(ontology: Ontology) -> bool:
    """Whether an ontology relates only some pairs of types, which extractors do not know by themselves."""
    return any(relation.pairs for relation in ontology.relation_types)


def _keep(kept: dict[Any, Any], key: Any, value: Any) -> None:
    """Keep a value for later messages; the oldest one goes if there are too many."""
    if len(kept) >= _MOST:
        del kept[next(iter(kept))]
    kept[key] = value
