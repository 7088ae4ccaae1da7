"""Traversal: the facts from and to some entities and their duplicates, as of a moment."""

from collections.abc import Sequence

from asof_projections.entity_ids import entity_with_id
from asof_projections.graph.ports import Neighbourhood
from asof_projections.graph.sqlite_store.facts import SqliteFacts
from asof_projections.graph.sqlite_store.identities import SqliteIdentities
from asof_projections.graph.sqlite_store.scans import SqliteScans
from asof_projections.graph.sqlite_store.views import SqliteViews
from asof_projections.model.rows import Moment


class Traversal(SqliteFacts, SqliteScans, SqliteIdentities, SqliteViews):
    """One step of a traversal."""

    def reach(self, group: str | None, who: str | Sequence[str], at: Moment, limit: int | None) -> Neighbourhood:
        if isinstance(who, str):
            ids = self.meant(group, who, at.known) or self._with_id(group, who, at)
        else:
            ids = sorted(self.identity(who, at.known))
        if not ids:
            return Neighbourhood(frozenset(), [], [])
        if limit is None:
            outward, inward = (self._asked(rows, at) for rows in self._both_sides(group, ids, at))
        else:  # each direction is read in order, as far as needed
            outward, inward = (self._around(group, side, ids, at, limit) for side in ("subject", "object"))
        return Neighbourhood(frozenset(ids), outward, inward)

    def _with_id(self, group: str | None, asked: str, at: Moment) -> list[str]:
        entity = entity_with_id(self, group, asked)
        return [] if entity is None else sorted(self.identity([entity.uuid], at.known))
