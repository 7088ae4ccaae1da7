"""The effect of a message on belief: the versions of facts that it opened and closed, and the facts it repeats. Pure.

A version is never edited, so the answer about a message is the same whenever it is asked.
"""

from collections.abc import Iterable, Mapping, Sequence
from itertools import takewhile

from asof_projections.graph.ports import GraphStore
from asof_projections.model.answers import Belief, Link
from asof_projections.model.rows import ChangeRow, FactRow, LinkRow
from asof_projections.model.write_answers import Effect
from asof_streams.events import Record
from asof_streams.instants import INF
from asof_streams.semantic import (
    EntityDescribed,
    EntityIntroduced,
    EntityMerged,
    FactInvalidated,
    FactReinforced,
    MemoryConsolidated,
    MentionResolved,
    RelationDeclared,
)

_NAMES = (EntityIntroduced, EntityDescribed, MentionResolved, RelationDeclared)  # state nothing by themselves

_STATES = 4  # rows of one message that say that it was parked or failed, at most

Rows = Mapping[str, Sequence[FactRow]]


def effect_of(store: GraphStore, records: Sequence[Record], changes: Iterable[ChangeRow], *, worded: bool) -> Effect:
    """Return the effect of a message, given its semantic records and the changes that it made, in log order.

    worded: it is kept as an episode of words, of which something may have been understood or nothing. The results of a
    consolidation that it causes are of its group, not of it.
    """
    records = list(takewhile(lambda record: not isinstance(record.event, MemoryConsolidated), records))
    stated = [record.event for record in records if not isinstance(record.event, _NAMES)]
    before, after = dict[str, list[FactRow]](), dict[str, list[FactRow]]()
    for change in changes:
        (after if change.opened else before).setdefault(change.fact.uuid, []).append(change.fact)
    new = [uuid for uuid, rows in after.items() if uuid not in before and rows[0].created_at == rows[0].known_from]
    finer = {event.fact_id for event in stated if isinstance(event, FactInvalidated) and event.kind == "refined"}
    wider = [uuid for uuid in after if uuid not in new and _within(before.get(uuid, ()), after[uuid])]
    return Effect(
        _beliefs(new, after),
        _beliefs([uuid for uuid in before if uuid in after and uuid not in wider and uuid not in finer], after),
        _beliefs([uuid for uuid in before if uuid not in after], before),
        _beliefs(wider, after),
        _beliefs([uuid for uuid in before if uuid in after and uuid in finer], after),
        tuple(dict.fromkeys(event.fact_id for event in stated if isinstance(event, FactReinforced))),
        tuple(_link(store, record.event, record) for record in records if isinstance(record.event, EntityMerged)),
        understood=not worded or bool(stated),
    )


def _link(store: GraphStore, merged: EntityMerged, record: Record) -> Link:
    ends = [store.entity(uuid) for uuid in (merged.duplicate, merged.into)]
    row = LinkRow(merged.merge_id, merged.duplicate, merged.into, merged.reason, record.recorded_at, INF)
    return Link.of(row, *(end.name if end else "" for end in ends))


def changes_at(store: GraphStore, position: int) -> list[ChangeRow]:
    """Return the changes that the message at a position made, in log order."""
    return [change for change in store.changes(position - 1, 1) if change.position == position]


def reasons_at(stores: Iterable[GraphStore], position: int) -> Mapping[str, str]:
    """Return why the message at a position was parked or failed, by that state; of several reasons the first."""
    rows = [row for store in stores for row in store.parked(None, after=position - 1, limit=_STATES)]
    return {row.state: row.reason for row in reversed(rows) if row.position == position}


def _beliefs(uuids: Iterable[str], rows: Rows) -> tuple[Belief, ...]:
    return tuple(Belief.of(row) for uuid in uuids for row in rows[uuid])


def _within(inner: Sequence[FactRow], outer: Sequence[FactRow]) -> bool:
    """Whether every period of `inner` lies within one of `outer`."""
    return all(any(out.valid_at <= row.valid_at and row.invalid_at <= out.invalid_at for out in outer) for row in inner)
