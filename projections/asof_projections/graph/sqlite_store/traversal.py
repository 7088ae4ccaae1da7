"""One step of a traversal: who somebody is at a moment, and the facts from and to them."""

from collections.abc import Sequence

from asof_projections.graph.ports import Reached
from asof_projections.graph.sqlite_store.facts import FactReads
from asof_projections.graph.sqlite_store.identities import Identities
from asof_projections.graph.sqlite_store.scans import Listings
from asof_projections.model.rows import Moment


class Steps(FactReads, Listings, Identities):
    """Traversals, a step at a time."""

    def reach(self, group: str | None, who: str | Sequence[str], at: Moment, limit: int | None) -> Reached:
        if isinstance(who, str):
            alike = self.meant(group, who, at.known) or self.identity([who], at.known)
        else:
            alike = self.identity(who, at.known)
        ids = sorted(alike)
        if not ids:
            return Reached(frozenset(), [], [])
        outward, inward = (self._around(group, side, ids, at, limit) for side in ("subject", "object"))
        return Reached(frozenset(ids), outward, inward)
