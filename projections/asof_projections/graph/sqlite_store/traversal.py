"""Traversal: the facts of who has a name, and those from and to some entities and their duplicates."""

from collections.abc import Sequence

from asof_projections.entity_ids import entity_with_id
from asof_projections.graph.ports import Neighbourhood
from asof_projections.graph.sqlite_store.facts import SqliteFacts
from asof_projections.graph.sqlite_store.identities import SqliteIdentities
from asof_projections.graph.sqlite_store.scans import SqliteScans
from asof_projections.graph.sqlite_store.views import SqliteViews
from asof_projections.model.queries import FactsFilter
from asof_projections.model.rows import FactRow, Moment, Window


class Traversal(SqliteFacts, SqliteScans, SqliteIdentities, SqliteViews):
    """Facts of names, and one step of a traversal."""

    def facts(
        self,
        query: FactsFilter,
        window: Window,
        *,
        subjects: Sequence[str] | None = None,
        objects: Sequence[str] | None = None,
        limit: int | None = None,
    ) -> list[FactRow]:
        about = query.about if subjects is None else None
        thing = query.object if objects is None else None
        if about is None and thing is None:
            return super().facts(query, window, subjects=subjects, objects=objects, limit=limit)
        if about is not None and query.object is None:
            found = self._facts_called(about, query, window, limit)
            if found is not None:  # as for most questions: one statement sees one state
                return found
        with self._one_state():
            if about is not None and not (subjects := self._who(query.group, about, window.kmax)):
                return []
            if thing is not None:
                objects = self._who(query.group, thing, window.kmax)
            return super().facts(query, window, subjects=subjects, objects=objects, limit=limit)

    def reach(self, group: str | None, who: str | Sequence[str], at: Moment, limit: int | None) -> Neighbourhood:
        ids = self._who(group, who, at.known) if isinstance(who, str) else sorted(self.identity(who, at.known))
        if not ids:
            return Neighbourhood(frozenset(), [], [])
        if limit is None:
            outward, inward = (self._asked(rows, at) for rows in self._both_sides(group, ids, at))
        else:  # each direction is read in order, as far as needed
            outward, inward = (self._around(group, side, ids, at, limit) for side in ("subject", "object"))
        return Neighbourhood(frozenset(ids), outward, inward)

    def _who(self, group: str | None, name: str, known: int | None) -> list[str]:
        """Return the ids of the entities with a name, or else an id, and of their duplicates; sorted."""
        if meant := self.meant(group, name, known):
            return meant
        entity = entity_with_id(self, group, name)
        return [] if entity is None else sorted(self.identity([entity.uuid], known))
