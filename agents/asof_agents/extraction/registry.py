"""With which ontology an episode is read, and by what: as its message says, else as is left to whoever reads it.

Pure but for `find`, which the composition root gives: it looks a named ontology up, and keeps it as it was found.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
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
from asof_ontologies.adapting import Pair, adapted
from asof_ontologies.errors import OntologyError
from asof_ontologies.model import Ontology
from asof_streams.episodic import EpisodeRecorded
from asof_streams.errors import InvalidInput
from asof_streams.messages import Message

TAG: Final = "<graphiti_episode"  # what agents wrap their episodes in
TAGGED: Final = "agent_memory_v1"  # what such content is read with where nothing else is said (agent-memory 1.3)
_TYPES: Final = ("entity_types", "excluded_entity_types", "relation_types", "relation_type_map")
_MOST: Final = 32  # ontologies, and extractors, that are kept for the messages to come

FindOntology = Callable[[str], Ontology | None]
MakeExtractor = Callable[[Ontology, Ontology | None], Extractor]
"""Given an ontology, and where it is one adapted to a message, the one that it was made of: what reads with it."""


class Ontologies:
    """The ontologies that a message may be read with: the memory's own, and named ones."""

    def __init__(self, own: Ontology, names: Sequence[str] = (), find: FindOntology = lambda _: None) -> None:
        self.own: Final = own
        self.names: Final = sorted({own.id, *names})
        self._find = find
        self._found: dict[str, Ontology] = {}
        self._adapted: dict[tuple[str, str], Ontology] = {}

    def choose(self, said: Message) -> dict[str, Any]:
        """Return the fields of an episode that say what its message is read with; none where it leaves that open.

        Types that come with a message are for the memory's own ontology where it names none, and stay so.
        InvalidInput: there is no such ontology, or the types do not fit it.
        """
        types = {name: given for name in _TYPES if (given := getattr(said, name))}
        named = said.schema_id or (TAGGED if TAG in said.content else self.own.id if types else None)
        if named is None:
            return {}
        self._adapt(self.named(named), types)
        return {"ontology": named, **types}

    def of(self, episode: EpisodeRecorded, left: Ontology) -> Ontology:
        """Return what an episode is read with; `left` where that was left open."""
        if episode.ontology is None:
            return left
        return self._adapt(self.named(episode.ontology), {n: t for n in _TYPES if (t := getattr(episode, n))})

    def named(self, name: str) -> Ontology:
        """Return an ontology by its id. InvalidInput: there is none."""
        if name == self.own.id:
            return self.own
        found = self._found.get(name) or self._find(name)
        if found is None:
            raise InvalidInput(f"there is no such ontology; known are {', '.join(self.names)}", field="schema_id")
        self._found[name] = found
        return found

    def _adapt(self, ontology: Ontology, types: Mapping[str, Any]) -> Ontology:
        if not types:
            return ontology
        pairs = [Pair(p.source, p.target, p.relations) for p in types.get("relation_type_map", ())]
        key = ontology.digest, repr((types, pairs))
        if key not in self._adapted:
            try:
                changed = adapted(
                    ontology,
                    types.get("entity_types", {}),
                    types.get("excluded_entity_types", ()),
                    types.get("relation_types", {}),
                    pairs,
                )
            except OntologyError as error:
                raise InvalidInput(error.reason, error.field) from None
            _keep(self._adapted, key, changed)
        return self._adapted[key]


class ExtractorRegistry:
    """What reads the episodes of one layer: an extractor for each ontology, made when it is first needed."""

    def __init__(self, ontology: Ontology, ontologies: Ontologies, make: MakeExtractor) -> None:
        self.ontologies: Final = ontologies
        self._ontology = ontology
        self._make = make
        usual = make(ontology, None)
        self._usual = SchemaFilter(usual, ontology) if any(r.pairs for r in ontology.relation_types) else usual
        self._made: dict[str, Extractor] = {}

    def of(self, episode: EpisodeRecorded) -> Extractor:
        """Return what reads an episode."""
        if episode.ontology is None:
            return self._usual
        ontology = self.ontologies.of(episode, self._ontology)
        if ontology.digest not in self._made:
            named = self.ontologies.named(episode.ontology)
            made = self._make(ontology, None if named is ontology else named)
            _keep(self._made, ontology.digest, SchemaFilter(made, ontology))
        return self._made[ontology.digest]


class SchemaFilter:
    """An extractor that finds nothing but what its ontology has: no type that was excluded, no pair that was not given.

    Rules know of some types whatever the ontology, and of no pairs.
    """

    def __init__(self, extractor: Extractor, ontology: Ontology) -> None:
        self._extractor = extractor
        self._types = ontology.entities.keys()
        self._pairs = {relation.name: set(relation.pairs) for relation in ontology.relation_types if relation.pairs}

    @property
    def version(self) -> str:
        return self._extractor.version

    def request(self, turn: Turn, before: Sequence[Turn]) -> ModelRequest | None:
        """Return what a language model has to be asked first."""
        return self._extractor.request(turn, before)

    def extract(self, turn: Turn, before: Sequence[Turn], known: KnownNames, answer: str | None = None) -> Extraction:
        """Return what the turn says within the bounds."""
        found = self._extractor.extract(turn, before, known, answer)
        relationships = tuple(filter(self._may_relate, found.relationships))
        refused = (RejectedPart("fact", "type"),) * (len(found.relationships) - len(relationships))
        return replace(
            found,
            mentions=tuple(filter(self._is_known, found.mentions)),
            relationships=relationships,
            attributes=tuple(attribute for attribute in found.attributes if self._is_known(attribute.mention)),
            refused=(*found.refused, *refused),
        )

    def _is_known(self, mention: Mention) -> bool:
        return mention.type in self._types

    def _may_relate(self, found: Relationship) -> bool:
        pairs = self._pairs.get(found.relation)
        ends = found.source.type, found.target.type
        return self._types >= set(ends) and (pairs is None or ends in pairs)


def _keep(kept: dict[Any, Any], key: Any, value: Any) -> None:
    """Keep a value for the messages to come, in the place of the oldest where there are many."""
    if len(kept) >= _MOST:
        del kept[next(iter(kept))]
    kept[key] = value
