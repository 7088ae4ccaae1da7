"""The row ids of what events name: looked up once, then cached within bounds."""

import sqlite3
from collections.abc import Callable
from typing import Final

from asof_projections.graph.sqlite_store.generational_cache import GenerationalCache
from asof_projections.graph.sqlite_store.schema import has_id
from asof_projections.graph.sqlite_store.write_buffer import WriteBuffer
from asof_streams.errors import DamagedLog
from asof_streams.events import Record
from asof_streams.ids import possible_ids, scoped_id

_NO_GROUP: Final = -1  # under which groups themselves are cached
_INTERNED: Final = {
    "groups": ("SELECT n FROM groups WHERE name = ?", "INSERT INTO groups VALUES (?, ?)"),
    "relations": ("SELECT n FROM relations WHERE grp = ? AND name = ?", "INSERT INTO relations VALUES (?, ?, ?)"),
}
_ENTITY: Final = "SELECT e.n, g.name FROM entities e CROSS JOIN groups g ON g.n = e.grp WHERE e.uuid = ?"
_COMMUNITY: Final = "SELECT n FROM communities WHERE uuid = ?"
_FACT: Final = f"SELECT n, grp, s, relation, object FROM facts WHERE {has_id('uuid', '?1')}"

Claim = tuple[int, int, int, int | str | None]
"""The row ids that a fact and its versions share: group, subject, relation, object."""


class RowIds:
    """Resolves the names in events to row ids. DamagedLog: an event names something that no earlier event made."""

    def __init__(self, db: sqlite3.Connection, index_for: Callable[[str], None], write_buffer: WriteBuffer) -> None:
        self._db = db
        self._write_buffer = write_buffer
        self._index_for = index_for
        self._entities: GenerationalCache[tuple[int, str]] = GenerationalCache()  # with the group, by uuid
        self._names: GenerationalCache[int] = GenerationalCache()  # of relations, by group and name; and of groups
        self._seen: GenerationalCache[tuple[int, Claim]] = GenerationalCache()  # of slots that are kept, or were read

    def forget(self) -> None:
        """Drop the cached ids: after a rollback or an erasure the rows may be gone."""
        self._entities.clear()
        self._names.clear()
        self._seen.clear()

    def group(self, record: Record) -> int:
        """Return the id of a record's group; a new group gets a row."""
        return self._interned(record, "groups", _NO_GROUP, record.group)

    def relation(self, record: Record, group: int, name: str) -> int:
        """Return the id of a relation of a group; a new relation gets a row."""
        return self._interned(record, "relations", group, name)

    def introduce(self, record: Record, uuid: str) -> str | None:
        """Return the id under which to store the entity that a record introduces; None: its group has it already.

        An id that an entity of another group has is put into the scope of the record's group.
        """
        taken = self._owned(uuid)
        if taken is not None and taken[1] != record.group:
            uuid = scoped_id(record.group, uuid)
            taken = self._owned(uuid)
        if taken is not None:
            return None
        self._entities[uuid] = record.position, record.group
        return uuid

    def remembered_entity(self, uuid: str) -> int | None:
        """Return the cached id of an entity, whose row may still be buffered; None: not cached."""
        owned = self._entities[uuid]
        return None if owned is None else owned[0]

    def entity(self, record: Record, uuid: str) -> int:
        """Return the id of an entity of a record's group."""
        owned = self._entities[uuid]
        if owned is not None and owned[1] == record.group:
            return owned[0]  # mostly so, and no other id needs to be made
        for stored in possible_ids(record.group, uuid):
            owned = self._owned(stored)
            if owned is not None and owned[1] == record.group:
                return owned[0]
        raise _unknown(record, "entity", uuid)

    def _owned(self, uuid: str) -> tuple[int, str] | None:
        """Return the row id and the group of an entity by its stored id."""
        owned = self._entities[uuid]
        if owned is None and not self._write_buffer.untouched(uuid):
            self._write_buffer.flush_for(uuid)
            owned = self._db.execute(_ENTITY, (uuid,)).fetchone()
            if owned is not None:
                self._entities[uuid] = owned
        return owned

    def object(self, record: Record, entity: str | None, literal: str | None) -> int | str | None:
        """Return the content of the column `object`: an entity's id or a literal; None for any."""
        return literal if entity is None else self.entity(record, entity)

    def community(self, record: Record, uuid: str) -> int:
        """Return the id of a community."""
        row = self._db.execute(_COMMUNITY, (uuid,)).fetchone()
        if row is None:
            raise _unknown(record, "community", uuid)
        n: int = row[0]
        return n

    def remember_fact(self, uuid: str, n: int, claim: Claim) -> None:
        """Remember a fact that messages may change."""
        self._seen[uuid] = n, claim

    def fact(self, record: Record, uuid: str) -> tuple[int, Claim]:
        """Return the id of a fact, and its claim."""
        seen = self._seen[uuid]
        if seen is not None:
            return seen
        self._index_for("fact_uuid")
        row = self._db.execute(_FACT, (uuid,)).fetchone()
        if row is None:
            raise _unknown(record, "fact", uuid)
        n, *claim = row
        return n, tuple(claim)

    def _interned(self, record: Record, table: str, group: int, name: str) -> int:
        n = self._names[group, name]
        if n is None:
            select, insert = _INTERNED[table]
            key = (name,) if group == _NO_GROUP else (group, name)
            row = self._db.execute(select, key).fetchone()
            n = record.position if row is None else row[0]
            if row is None:
                self._db.execute(insert, (n, *key))
            self._names[group, name] = n
        return n


def _unknown(record: Record, kind: str, uuid: str) -> DamagedLog:
    return DamagedLog(f"the record at position {record.position} names {kind} {uuid}, which no record before it made")
