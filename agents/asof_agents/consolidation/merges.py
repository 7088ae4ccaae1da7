"""The phase of merges: links entities of one normalised name and type whose names are alike. Pure.

A merge only links: facts keep their entities, no slot is joined, and a split takes it back for good. Values and events
are never merged, nor are two entities under ids of their producer's own, who says that they are two.
"""

from collections.abc import Callable, Sequence
from importlib import import_module
from typing import TYPE_CHECKING, Final, NamedTuple

from asof_agents.ports import ConsolidationView
from asof_projections.model.rows import EntityRow
from asof_projections.names import key
from asof_streams.events import Event
from asof_streams.ids import derive, is_scoped
from asof_streams.semantic import EntityMerged

if TYPE_CHECKING:
    from asof_projections.embedding.ports import Vectors

CONSOLIDATED: Final = "consolidated"  # the reason of such a merge
_EVENT: Final = "Event"
_FIRSTS: Final = 16  # entities of one name with which each later one is compared


class FoundMerges(NamedTuple):
    """The results of the phase."""

    events: Sequence[Event]
    duplicates: int  # pairs that are alike, merged now, before or never


def find_merges(
    changed: Sequence[str],
    known: ConsolidationView,
    group: str,
    is_value: Callable[[str], bool],
    *,
    threshold: float,
    consolidation: str,
) -> FoundMerges:
    """Return the merges of entities with the namesakes of those whose facts changed: the first introduced wins."""
    events: list[Event] = []
    duplicates = 0
    seen = set[tuple[str, str | None]]()
    for uuid in changed:
        entity = known.entity(uuid)
        assert entity is not None, f"entity {uuid} is in no log"
        name = key(entity.name)
        if (name, entity.type) in seen or (entity.type and (entity.type == _EVENT or is_value(entity.type))):
            continue
        seen.add((name, entity.type))
        for into, duplicate in _alike(_namesakes(entity, name, known, group), threshold):
            duplicates += 1
            if _may_merge(into, duplicate, known):
                merge = derive("merge", consolidation, duplicate.uuid, into.uuid)
                events.append(
                    EntityMerged(merge_id=merge, duplicate=duplicate.uuid, into=into.uuid, reason=CONSOLIDATED)
                )
    return FoundMerges(events, duplicates)


def _namesakes(entity: EntityRow, name: str, known: ConsolidationView, group: str) -> list[EntityRow]:
    """Return the entities of one type and one normalised name of their own, first introduced first."""
    called = {other.uuid: other for other in known.entities_keyed(group, name)}
    same = (other for other in called.values() if other.type == entity.type and key(other.name) == name)
    return sorted(same, key=lambda other: (other.known_from, other.uuid))


def _alike(entities: Sequence[EntityRow], threshold: float) -> list[tuple[EntityRow, EntityRow]]:
    """Return each entity whose name is like that of an earlier one, behind the first such."""
    if len(entities) < 2:
        return []
    vectors = _vectors([entity.name for entity in entities])
    firsts: list[int] = []
    pairs = []
    for place, entity in enumerate(entities):
        like = next((first for first in firsts if float(vectors[first] @ vectors[place]) >= threshold), None)
        if like is not None:
            pairs.append((entities[like], entity))
        elif len(firsts) < _FIRSTS:
            firsts.append(place)
    return pairs


def _vectors(names: Sequence[str]) -> "Vectors":
    """Return vectors of names that are the same on every machine, and need no weights: so a replay merges alike."""
    hashing = import_module("asof_projections.embedding.hashing")  # numpy loads slowly
    vectors: Vectors = hashing.HashingEmbedder().embed(names)
    return vectors


def _may_merge(into: EntityRow, duplicate: EntityRow, known: ConsolidationView) -> bool:
    if is_scoped(into.uuid) and is_scoped(duplicate.uuid):
        return False
    return into.uuid not in known.identity([duplicate.uuid], None) and into.uuid not in known.parted(duplicate.uuid)
