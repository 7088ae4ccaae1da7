"""Details of entities: the parts of them that each store puts together alike."""

from collections.abc import Callable, Iterable, Sequence
from typing import Any, Protocol, TypeVar

from asof_projections.graph.ports import EntityDetails

R = TypeVar("R", bound=Sequence[Any])


class NameReader(Protocol):
    """A store of names."""

    def aliases(self, uuid: str, known: int | None) -> list[str]: ...


def names_of(store: NameReader, entity: str, ids: Sequence[str], known: int | None) -> list[str]:
    """Return the names of an entity, then those of its duplicates, each once."""
    return list(dict.fromkeys(name for uuid in (entity, *ids) for name in store.aliases(uuid, known)))


def details_of_each(rows: Iterable[R], details: Callable[[R], EntityDetails]) -> list[EntityDetails]:
    """Return the details of each entity whose row begins with its id, but of no duplicate of an earlier one."""
    found: list[EntityDetails] = []
    seen: set[str] = set()
    for row in rows:
        if row[0] not in seen:
            found.append(details(row))
            seen.update(found[-1].ids)
    return found
