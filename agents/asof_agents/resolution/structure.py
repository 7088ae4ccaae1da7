"""Structural similarity: whether a name means an entity that is like it in name and in neighbours. Pure.

The cosine is that of the lexical hash, which is the same on every machine and needs no weights: a replay decides alike.
"""

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass
from importlib import import_module
from typing import Final

from asof_agents.ports import BeliefView
from asof_projections.model.rows import EntityRow
from asof_projections.names import words
from asof_streams.episodic import MentionObserved, RelationshipStated

_JACCARD: Final = 0.6
_COSINE: Final = 0.4
_CANDIDATES: Final = 5  # of one name: the nearest by their names
_NEIGHBOURS: Final = 50  # of a candidate, in each direction


@dataclass(frozen=True, slots=True)
class StructuralMatcher:
    """Compares the names of one message with known entities, by what the message relates them to.

    related: by a mention, those that a relationship of the message joins to it.
    """

    known: BeliefView
    group: str
    at: int  # when the message was said
    threshold: float
    related: Mapping[str, Collection[str]]

    def match(self, mention: MentionObserved, meant: Callable[[str], str | None]) -> tuple[EntityRow, float] | None:
        """Return the entity that a mention means, and their similarity; None: none, or two are as similar.

        meant: returns the entity of a mention that is resolved.
        """
        own = {entity for other in self.related.get(mention.mention_id, ()) if (entity := meant(other)) is not None}
        ranked = sorted(self._compared(mention, own), key=lambda found: (-found[1], found[0].known_from))
        if not ranked or ranked[0][1] < self.threshold:
            return None
        return None if len(ranked) > 1 and ranked[1][1] == ranked[0][1] else ranked[0]

    def _compared(self, mention: MentionObserved, own: Collection[str]) -> Iterable[tuple[EntityRow, float]]:
        for entity, cosine in self._nearest(mention):
            pairs = self.known.neighbours(entity.uuid, self.at, _NEIGHBOURS)
            yield entity, round(structural_similarity(own, {other for _, other in pairs}, cosine), 6)

    def _nearest(self, mention: MentionObserved) -> list[tuple[EntityRow, float]]:
        found = {
            entity.uuid: entity
            for word in words(mention.text)
            for entity in self.known.entities_with_word(self.group, word)
            if entity.type == mention.entity_type
        }
        entities = list(found.values())
        cosines = name_cosines(mention.text, [entity.name for entity in entities])
        near = [(e, cosine) for e, cosine in zip(entities, cosines, strict=True) if cosine >= self.threshold]
        return sorted(near, key=lambda pair: (-pair[1], pair[0].known_from, pair[0].uuid))[:_CANDIDATES]


def structural_similarity(one: Collection[str], other: Collection[str], cosine: float) -> float:
    """Return 0.6 of the common neighbours as a share of all, and 0.4 of the cosine of the names."""
    common, every = len(set(one) & set(other)), len(set(one) | set(other))
    return _JACCARD * (common / every if every else 0.0) + _COSINE * cosine


def name_cosines(name: str, others: list[str]) -> list[float]:
    """Return the cosine of a name with each of some others."""
    if not others:
        return []
    hashing = import_module("asof_projections.embedding.hashing")  # numpy loads slowly
    vectors = hashing.HashingEmbedder().embed([name, *others])
    return [float(vectors[0] @ vector) for vector in vectors[1:]]


def related_mentions(stated: Iterable[RelationshipStated]) -> dict[str, list[str]]:
    """Return the mentions that relationships join, by each of their two ends."""
    related: dict[str, list[str]] = {}
    for relationship in stated:
        related.setdefault(relationship.source, []).append(relationship.target)
        related.setdefault(relationship.target, []).append(relationship.source)
    return related
