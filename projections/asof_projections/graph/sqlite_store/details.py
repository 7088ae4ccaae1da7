"""Details of the entities with a name: names, links, mentions, attributes, communities, and the facts around them."""

from collections.abc import Sequence
from typing import Any, Final

from asof_projections.graph.entity_details import details_of_each, names_of
from asof_projections.graph.ports import EntityDetails, Surroundings
from asof_projections.graph.sqlite_store.attributes import SqliteAttributes
from asof_projections.graph.sqlite_store.columns import ENTITY, EVER_MERGED
from asof_projections.graph.sqlite_store.communities import SqliteCommunities
from asof_projections.graph.sqlite_store.identities import NAMED
from asof_projections.graph.sqlite_store.traversal import Traversal
from asof_projections.model.rows import EntityRow, Moment
from asof_streams.ids import possible_ids
from asof_streams.instants import INF

# An entity, the number of mentions that mean it, and whether it ever had links, other names, attributes and
# communities: most have none of these, and a query for each would cost as much as this one.
_PARTS: Final = ENTITY.replace(
    " FROM ",
    f""", (SELECT count(*) FROM resolutions WHERE entity = e.n AND created_at <= :known), {EVER_MERGED.format("e.n")},
    EXISTS (SELECT 1 FROM names WHERE entity = e.n AND n <> e.n),
    EXISTS (SELECT 1 FROM attributes INDEXED BY attribute_held WHERE entity = e.n AND holds = 1),
    EXISTS (SELECT 1 FROM memberships WHERE entity = e.n) FROM """,
    1,
)
CALLED: Final = f"{_PARTS} WHERE e.n IN ({NAMED}) ORDER BY e.n"
WITH_ID: Final = f"{_PARTS} WHERE e.uuid = :uuid AND g.name = coalesce(:group, g.name)"
_COLUMNS: Final = len(EntityRow._fields)


class SqliteDetails(Traversal, SqliteAttributes, SqliteCommunities):
    """Entities with all that is known of them."""

    def details(self, group: str | None, name: str, known: int | None) -> list[EntityDetails]:
        rows = self._named(CALLED, group, name, known) or self._rows_with_id(group, name, known)
        return details_of_each(rows, lambda row: self._details(row, known))

    def _rows_with_id(self, group: str | None, asked: str, known: int | None) -> list[Any]:
        parameters = {"group": group, "known": INF - 1 if known is None else known}
        for stored in possible_ids(group, asked):
            if rows := self._rows(WITH_ID, {**parameters, "uuid": stored}):
                return rows
        return []

    def _details(self, row: Sequence[Any], known: int | None) -> EntityDetails:
        """Return the details of an entity, given a row of _PARTS."""
        entity = EntityRow._make(row[:_COLUMNS])
        mentions, is_linked, has_names, has_attributes, has_communities = row[_COLUMNS:]
        uuid = entity.uuid
        ids = sorted(self.identity([uuid], known)) if is_linked else [uuid]
        # An entity that was introduced after the known moment has no name yet.
        has_names = has_names or is_linked or not (known is None or entity.known_from <= known)
        return EntityDetails(
            entity,
            ids,
            names_of(self, uuid, ids, known) if has_names else [entity.name],
            self.links(ids, known) if is_linked else [],
            self.appearances(ids, known) if is_linked else mentions,
            self.attributes(ids, known) if has_attributes or is_linked else [],
            self.communities(None, known, of=ids) if has_communities or is_linked else [],
        )

    def surroundings(self, entities: Sequence[str], at: Moment, limit: int | None, latest: int) -> Surroundings:
        if limit is None:
            return self._surroundings(entities, at, latest)
        return Surroundings(self.reach(None, entities, at, limit).facts(), self.latest(entities, at, latest))
