"""One step of a traversal: who somebody is at a moment, and the facts from and to them."""

from collections.abc import Sequence

from asof_projections.graph.ports import Neighbourhood
from asof_projections.graph.sqlite_store.facts import SqliteFacts
from asof_projections.graph.sqlite_store.identities import SqliteIdentities
from asof_projections.graph.sqlite_store.scans import SqliteScans
from asof_projections.model.rows import Moment


class Traversal(SqliteFacts, SqliteScans, SqliteIdentities):
    """Traversals, a step at a time."""

    def reach(self, group: str | None, who: str | Sequence[str], at: Moment, limit: int | None) -> Neighbourhood:
        if isinstance(who, str):
            entities = set(self.meant(group, who, at.known) or self.identity([who], at.known))
        else:
            entities = self.identity(who, at.known)
        ids = sorted(entities)
        if not ids:
            return Neighbourhood(frozenset(), [], [])
        outward, inward = (self._around(group, side, ids, at, limit) for side in ("subject", "object"))
        return Neighbourhood(frozenset(ids), outward, inward)
