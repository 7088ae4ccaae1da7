"""What is known of entities, put together of what a store answers to one question each."""

from collections.abc import Iterable, Sequence
from typing import Protocol

from asof_projections.graph.ports import EntityDetails


class NameReader(Protocol):
    """A store of names."""

    def aliases(self, uuid: str, known: int | None) -> list[str]: ...


def names_of(store: NameReader, entity: str, ids: Sequence[str], known: int | None) -> list[str]:
    """Return the names of an entity, then those of its duplicates, each once."""
    return list(dict.fromkeys(name for uuid in (entity, *ids) for name in store.aliases(uuid, known)))


def each_once(details: Iterable[EntityDetails]) -> list[EntityDetails]:
    """Return details without those of entities that are duplicates of an entity before them."""
    kept: list[EntityDetails] = []
    seen: set[str] = set()
    for one in details:
        if one.entity.uuid not in seen:
            seen.update(one.ids)
            kept.append(one)
    return kept
