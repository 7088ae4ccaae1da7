"""The base of every part of the SQLite graph: its connection, its statements, and the row ids of names."""

import json
import sqlite3
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import cache, cached_property
from typing import TYPE_CHECKING, Any, Final

from asof_projections.graph.sqlite_store.generational_cache import GenerationalCache
from asof_projections.graph.sqlite_store.recent_turns import RecentTurns
from asof_projections.graph.sqlite_store.write_buffer import WriteBuffer
from asof_projections.slot_cache import SlotCache
from asof_streams.sqlite import SqliteGuard, snapshot

if TYPE_CHECKING:
    from asof_projections.graph.sqlite_store.search_caches import SearchCaches

_PAGE: Final = 1_000  # rows
_RELATION: Final = "SELECT r.n FROM groups g CROSS JOIN relations r ON r.grp = g.n WHERE g.name = ? AND r.name = ?"


# +n has no affinity: with one, SQLite would read a literal '42' as the number 42, which is an entity's id.
ENTITIES: Final = "SELECT +n FROM entities WHERE uuid"
# A join: to look ids up in a set, SQLite would make a table of them first.
OF_THESE: Final = (
    "IN (SELECT +known.n FROM json_each(:uuids) given CROSS JOIN entities known ON known.uuid = given.value)"
)
_OF_ONE: Final = f"= ({ENTITIES} = :uuids)"


class SqliteReader:
    """Reads through the connection of one store. Each part of SqliteGraph inherits it and has one concern."""

    _db: sqlite3.Connection
    _guard: SqliteGuard
    _entity: Callable[[str], int]  # the row id of an entity; -1 where it is unknown
    generation: str  # the name of the generation; "" for the episodic layer
    _write_buffer: WriteBuffer | None = None  # the writer's; None: a reader
    _cache: GenerationalCache[Any] | None = None  # the writer's: rows that only it changes; None: a reader
    _slots: SlotCache | None = None  # the writer's, too
    _turns: RecentTurns | None = None  # the writer's, too

    @cached_property
    def _search(self) -> "SearchCaches":
        from asof_projections.graph.sqlite_store.search_caches import SearchCaches  # noqa: PLC0415 - it needs numpy

        return SearchCaches()

    def _forget_searches(self) -> None:
        self.__dict__.pop("_search", None)

    def _flush(self) -> None:
        """Write the buffered rows, so that a read misses none."""
        if self._write_buffer is not None:
            self._write_buffer.flush()

    def _index_for(self, *_indexes: str) -> None:
        """Make the indexes that a statement needs, where a bulk load has left them for its end."""

    def _execute(self, sql: str, values: Any = ()) -> sqlite3.Cursor:
        try:  # as within the guard, which costs nothing here unless something fails: most questions come through here
            return self._db.execute(sql, values)
        except Exception:
            with self._guard:
                raise

    def _rows(self, sql: str, values: Any = ()) -> list[Any]:
        try:
            self._flush()
            return self._db.execute(sql, values).fetchall()
        except Exception:
            with self._guard:
                raise

    def _rows_of(self, uuids: Sequence[str], sql: str, **parameters: Any) -> list[Any]:
        """Return the rows of a statement about entities, which it has as OF_THESE."""
        if len(uuids) == 1:  # mostly so, and to unpack a list would cost more than the rest
            return self._rows(_of_one(sql), {"uuids": uuids[0], **parameters})
        return self._rows(sql, {"uuids": listed(uuids), **parameters})

    def _row(self, sql: str, values: Any = ()) -> Any:
        with self._guard:
            self._flush()
            return self._db.execute(sql, values).fetchone()

    def _rows_on(self, dependence: Hashable, sql: str, values: Any) -> list[Any]:
        """Return rows that depend on the buffered rows that touch `dependence`, and on no others (see WriteBuffer)."""
        write_buffer = self._write_buffer
        if write_buffer is None:
            return self._rows(sql, values)
        if write_buffer.untouched(dependence):
            return []
        with self._guard:
            write_buffer.flush_for(dependence)
            return self._db.execute(sql, values).fetchall()

    def _one(self, sql: str, *values: Any) -> Any:
        """Return the first column of the first row, or None."""
        row = self._row(sql, values)
        return None if row is None else row[0]

    def _pages(self, sql: str, after: int = -1, **parameters: Any) -> Iterator[Any]:
        """Yield the rows of a statement page by page: `:page` rows behind the key `:after`, which is the last column.

        A slow reader so holds no snapshot, and little memory.
        """
        while rows := self._rows(sql, {"after": after, "page": _PAGE, **parameters}):
            yield from rows
            after = rows[-1][-1]

    def _cached(self, sql: str, *values: Any, buffered: bool = False) -> Any:
        """Return the first column of the first row, or None. A value is cached: only this writer can change it.

        buffered: the rows wait in the buffer to be written; those of groups, relations and few others never do.
        """
        if self._cache is None:
            return self._one(sql, *values)
        query = (sql, *values)
        value = self._cache[query]
        if value is None:
            if buffered:
                self._flush()
            row = self._execute(sql, values).fetchone()
            value = None if row is None else row[0]
            if value is not None:
                self._cache[query] = value
        return value

    def _group(self, name: str) -> int:
        """Return the row id of a group; -1, which no row has, where the group is unknown."""
        n: int | None = self._cached("SELECT n FROM groups WHERE name = ?", name)
        return -1 if n is None else n

    def _relation(self, group: str, name: str) -> int:
        """Return the row id of a relation of a group; -1 where no fact has it."""
        n: int | None = self._cached(_RELATION, group, name)
        return -1 if n is None else n

    def _object(self, value: str) -> int | str:
        """Return the content of the column `object` for a value such as "e:<uuid>" or "v:<literal>"."""
        kind, _, identity = value.partition(":")
        return identity if kind == "v" else self._entity(identity)

    @contextmanager
    def _one_state(self) -> Iterator[bool]:
        """Let several statements read one state; yield whether it may have uncommitted rows."""
        if self._db.in_transaction:
            yield self._write_buffer is not None
        else:
            with snapshot(self._db):
                yield False


@cache
def _of_one(sql: str) -> str:
    return sql.replace(OF_THESE, _OF_ONE)


def value_of(entity: str | None, literal: Any) -> str | None:
    """Return an object as slots compare it: "e:" and an entity's id, or "v:" and a literal; None for any."""
    if entity is not None:
        return f"e:{entity}"
    return None if literal is None else f"v:{literal}"


def listed(items: Iterable[Any]) -> str:
    """Return items as one parameter of `IN (SELECT value FROM json_each(?))`, so that the statement stays constant."""
    return json.dumps(list(items), ensure_ascii=False)
