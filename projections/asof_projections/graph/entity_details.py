"""Details of entities: the parts of them that each store puts together alike."""

from collections.abc import Iterable, Sequence
from typing import Protocol

from asof_projections.graph.ports import EntityDetails


class NameReader(Protocol):
    """A store of names."""

    def aliases(self, uuid: str, known: int | None) -> list[str]: ...


def names_of(store: NameReader, entity: str, ids: Sequence[str], known: int | None) -> list[str]:
    """Return the names of an entity, then those of its duplicates, each once."""
    return list(dict.fromkeys(name for uuid in (entity, *ids) for name in store.aliases(uuid, known)))


def without_duplicates(details: Iterable[EntityDetails]) -> list[EntityDetails]:
    """Return the details of each entity, without those that are duplicates of an earlier one."""
    kept: list[EntityDetails] = []
    seen: set[str] = set()
    for one in details:
        if one.entity.uuid not in seen:
            seen.update(one.ids)
            kept.append(one)
    return kept
