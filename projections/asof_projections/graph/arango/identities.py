"""Identities in ArangoDB: entities, the links between duplicates, and the steps of a traversal."""

from collections.abc import Iterator, Sequence
from typing import Any

from asof_projections.entity_ids import entity_with_id
from asof_projections.graph.arango import aql
from asof_projections.graph.arango.base import LATEST, NO_LIMIT
from asof_projections.graph.arango.facts import ArangoFacts
from asof_projections.graph.arango.wire import Document, declaration
from asof_projections.graph.entity_details import details_of_each, names_of
from asof_projections.graph.ports import EntityDetails, Neighbourhood, Surroundings
from asof_projections.model.rows import AttributeRow, CommunityRow, EntityRow, LinkRow, Moment, Window
from asof_projections.names import key as key_of
from asof_streams.ids import possible_ids
from asof_streams.instants import INF


class ArangoIdentities(ArangoFacts):
    """Entities and their links. A link has the period over which it was believed: a reverted merge stays visible."""

    def entity(self, uuid: str) -> EntityRow | None:
        document = self._document("entities", uuid)
        return None if document is None else entity_of(document)

    def entities(
        self,
        group: str | None,
        known: int | None,
        *,
        prefix: str = "",
        after: str | None = None,
        limit: int | None = None,
    ) -> list[EntityRow]:
        most = NO_LIMIT if limit is None else limit
        until = LATEST if known is None else known
        last = None if after is None else self._document("entities", after)
        start = -1 if last is None else last["n"]
        if prefix:
            names = {n["whose"]["n"]: n for n in self._counting_names(group, until, key_of(prefix))}
            numbers = [n for n in sorted(names) if n > start][:most]
            return [entity_of(names[n]["whose"] | {"grp": names[n]["grp"]}) for n in numbers]
        return [entity_of(row) for row in self._page("entities", group, start, until, most)]

    def aliases(self, uuid: str, known: int | None) -> list[str]:
        names: list[str] = self._entity_part("names", [uuid], known)
        return names

    def _counting_names(self, group: str | None, known: int, beginning: str | None = None) -> Iterator[Document]:
        """Yield the names that count at a moment: an entity's first, and those whose episode is not withdrawn."""
        withdrawn = {row["episode"] for row in self._pages("withdrawals", group, known=known)}
        rows = self._pages("names", group, known=known, beginning=beginning)
        return (row for row in rows if row["n"] == row["entity"] or row["episode"] not in withdrawn)

    def called(self, group: str | None, name: str, known: int | None) -> list[EntityRow]:
        return [entity_of(row) for row in self._reach(group, name, [], Moment(None, known), 0)["called"]]

    def meant(self, group: str | None, name: str, known: int | None) -> list[str]:
        step = self._reach(group, name, [], Moment(None, known), 0)
        return sorted(step["alike"])

    def identity(self, uuids: Sequence[str], known: int | None) -> set[str]:
        return set(self._reach(None, None, uuids, Moment(None, known), 0)["alike"])

    def details(self, group: str | None, name: str, known: int | None) -> list[EntityDetails]:
        entities = self.called(group, name, known)
        by_id = None if entities else entity_with_id(self, group, name)
        return details_of_each(entities if by_id is None else [by_id], lambda entity: self._details(entity, known))

    def _details(self, entity: EntityRow, known: int | None) -> EntityDetails:
        ids = sorted(self.identity([entity.uuid], known))
        return EntityDetails(
            entity,
            ids,
            names_of(self, entity.uuid, ids, known),
            self.links(ids, known),
            self.appearances(ids, known),
            self.attributes(ids, known),
            self.communities(None, known, of=ids),
        )

    def surroundings(self, entities: Sequence[str], at: Moment, limit: int | None, latest: int) -> Surroundings:
        return Surroundings(self.reach(None, entities, at, limit).facts(), self.latest(entities, at, latest))

    def reach(self, group: str | None, who: str | Sequence[str], at: Moment, limit: int | None) -> Neighbourhood:
        window, most = Window.at(at), NO_LIMIT if limit is None else limit
        name, uuids = (who, possible_ids(group, who)) if isinstance(who, str) else (None, who)
        step = self._reach(group, name, uuids, at, most)
        outward, inward = (
            [fact for fact in self.read(step[direction], window.kmax) if fact.is_asked(at)]
            for direction in ("outward", "inward")
        )
        return Neighbourhood(frozenset(step["alike"]), outward, inward)

    def single(self, group: str, relation: str) -> bool:
        declared = (self._document("cardinalities", declaration(of, relation)) for of in dict.fromkeys((group, "")))
        found = next((document for document in declared if document is not None), None)
        return found is not None and bool(found["single"])

    def links(self, uuids: Sequence[str], known: int | None) -> list[LinkRow]:
        until = INF if known is None else known
        return [_link(row, until) for row in self._entity_part("links", uuids, known)]

    def appearances(self, uuids: Sequence[str], known: int | None) -> int:
        return int(self._entity_part("mentions", uuids, known))

    def attributes(self, uuids: Sequence[str], known: int | None) -> list[AttributeRow]:
        rows = self._entity_part("attributes", uuids, known)
        last = {(row["entity_uuid"], row["name"]): row for row in rows}  # the last row of each stays
        supported = (row for row in last.values() if row["support"])  # without support it is not believed
        believed = sorted(supported, key=lambda row: (row["attested"], row["n"]), reverse=True)
        return [_attribute(row) for row in believed]

    def communities(
        self, group: str | None, known: int | None, *, of: Sequence[str] | None = None, limit: int | None = None
    ) -> list[CommunityRow]:
        most = NO_LIMIT if limit is None else limit
        whose = group if of is None else None
        return [
            CommunityRow(
                row["uuid"], row["grp"], row["name"], row["created_at"], tuple(map(entity_of, community["members"]))
            )
            for community in self._entity_part("communities", of, known, whose, most)
            for row in (community["row"],)
        ]

    def each_entity(self, group: str | None, known: int) -> Iterator[EntityRow]:
        return (entity_of(row) for row in self._pages("entities", group, known=known))

    def each_link(self, group: str | None, known: int) -> Iterator[LinkRow]:
        rows = self._pages("duplicate_of", group)
        return (_link(row, known) for row in rows if row["kf"] <= known < row["kt"])

    def _entity_part(
        self, part: str, uuids: Sequence[str] | None, known: int | None, group: str | None = None, limit: int = NO_LIMIT
    ) -> Any:
        """Return one part of aql.ABOUT; `group` and `limit` are for communities."""
        ids, until = None if uuids is None else self._ids(uuids), LATEST if known is None else known
        return self._query(aql.ABOUT, parts=[part], ids=ids, known=until, group=group, limit=limit)[0][part]

    def _reach(self, group: str | None, name: str | None, uuids: Sequence[str], at: Moment, limit: int) -> Document:
        parameters = {
            "group": group,
            "name": name,
            "key": None if name is None else key_of(name),
            "ids": self._ids(uuids),
        }
        known = LATEST if at.known is None else at.known
        also: list[str] = []
        while True:
            window = Window.at(at)._asdict()
            [step] = self._query(aql.REACH, **parameters, also=also, known=known, limit=limit, **window)
            if not step["more"]:
                found: Document = step
                return found
            also = step["same"]  # some are more than three links away


def entity_of(row: Document) -> EntityRow:
    """Return a document as an entity."""
    return EntityRow(row["uuid"], row["grp"], row["name"], row["type"], row["created_at"])


def _attribute(row: Document) -> AttributeRow:
    return AttributeRow(
        row["entity_uuid"], row["name"], row["value"], float(row["support"]), row["attested"], row["episode"]
    )


def _link(row: Document, known: int) -> LinkRow:
    until = INF if row["kt"] > known else row["kt"]
    return LinkRow(row["uuid"], row["duplicate_uuid"], row["into_uuid"], row["reason"], row["kf"], until)
