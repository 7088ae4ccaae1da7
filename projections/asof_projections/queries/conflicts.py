"""Conflicts and supersessions as edges of an export: from the later fact's object to the earlier one's."""

from collections.abc import Iterator
from itertools import groupby
from typing import Final, Literal, NamedTuple

from asof_projections.graph.ports import GraphStore
from asof_projections.model.rows import FactRow

_BATCH: Final = 1_000


class Conflict(NamedTuple):
    """Two facts of one slot: the later contradicts the earlier one, which is open, or has taken its place."""

    uuid: str
    relation: Literal["conflicts_with", "supersedes"]
    later: FactRow
    earlier: FactRow
    recorded_at: int


def conflicts(beliefs: GraphStore, group: str | None, known: int) -> Iterator[Conflict]:
    """Yield the contradictions that are open at a known moment, then what had taken the place of what by then."""
    for row in beliefs.contradictions(group, known):
        yield from _conflict(beliefs, row.uuid, "conflicts_with", (row.later, row.earlier), row.flagged_at)
    yield from _supersessions(beliefs, group, known)


def _supersessions(beliefs: GraphStore, group: str | None, known: int) -> Iterator[Conflict]:
    """Yield for each fact that gave way to another, and was not restored since, that other one."""
    since = -1
    while changes := beliefs.changes(since, _BATCH):
        for position, of_one in groupby(changes, lambda change: change.position):
            closed = (c for c in of_one if not c.opened and c.recorded_at <= known)
            for uuid in dict.fromkeys(c.fact.uuid for c in closed if group in (None, c.fact.group_id)):
                provenance = beliefs.provenance(uuid)
                revisions = [r for r in provenance.revisions if r.recorded_at <= known] if provenance else []
                if revisions and (last := revisions[-1]).kind == "superseded" and last.position == position:
                    pair = last.statement, uuid
                    yield from _conflict(beliefs, f"supersedes:{uuid}", "supersedes", pair, last.recorded_at)
        since = changes[-1].position


def _conflict(
    beliefs: GraphStore,
    uuid: str,
    relation: Literal["conflicts_with", "supersedes"],
    pair: tuple[str, str],
    recorded_at: int,
) -> Iterator[Conflict]:
    later, earlier = (beliefs.fact(fact) for fact in pair)
    if later is not None and earlier is not None:
        yield Conflict(uuid, relation, later, earlier, recorded_at)
