"""Entities, the episodic layer row by row, and the whole store: its counts and its digest."""

from collections.abc import Iterator, Sequence
from hashlib import sha256
from typing import Any, Final

from asof_projections.graph.sqlite_store.base import OF_THESE, SqliteReader
from asof_projections.graph.sqlite_store.columns import (
    COUNTED,
    ENTITY,
    EPISODE,
    EVER_MERGED,
    MENTION,
    PARKED,
    RELATIONSHIP,
    UNSETTLED,
    mention,
)
from asof_projections.graph.sqlite_store.schema import has_id, has_start
from asof_projections.graph.sqlite_store.statement_codec import STORED
from asof_projections.model.rows import ContradictionRow, EntityRow, EpisodeRow, MentionRow, ParkedRow, RelationshipRow
from asof_projections.names import key
from asof_streams.instants import INF

HASHED: Final = 1_000  # rows hashed at once: part of what the digest is
_OF_GROUP: Final = "(:grp IS NULL OR {0}.grp = :grp) AND {0}.n > :after ORDER BY {0}.n LIMIT :page"


def _every(select: str, row: str) -> str:
    """Return the statement that reads all rows of a select page by page, or those of one group."""
    columns, _, rest = select.partition(" FROM ")
    return f"{columns}, {row}.n FROM {rest} WHERE {_OF_GROUP.format(row)}"


_EPISODES: Final = _every(EPISODE, "e")
_MENTIONS: Final = _every(MENTION, "m")
_RELATIONSHIPS: Final = _every(RELATIONSHIP, "m")
_MENTION: Final = f"{MENTION} WHERE {has_id('m.uuid', ':id')}"
_RELATIONSHIP: Final = f"{RELATIONSHIP} WHERE {has_id('m.uuid', ':id')}"

_IDS: Final = (
    " UNION ".join(
        f"SELECT uuid FROM {table} WHERE {has_start('uuid', ':start', whole=whole)}"
        for table, whole in (
            ("facts", False),
            ("entities", True),
            ("episodes", False),
            ("links", True),
            ("endings", True),
            ("retractions", True),
            ("contradictions", True),
            ("communities", True),
        )
    )
    + " LIMIT 2"
)

_LATER: Final = "e.n > coalesce((SELECT n FROM entities WHERE uuid = :after), -1) ORDER BY e.n LIMIT :limit"
_ENTITIES: Final = f"{ENTITY} WHERE e.created_at <= :known AND {_LATER}"
_ENTITIES_OF_GROUP: Final = f"{ENTITY} WHERE e.grp = :grp AND e.created_at <= :known AND {_LATER}"
_ENTITIES_CALLED: Final = f"""{ENTITY} WHERE e.n IN (SELECT m.entity FROM names m INDEXED BY name_key
    WHERE m.grp = :grp AND m.key >= :prefix AND m.key < :beyond AND {COUNTED}) AND {_LATER}"""
_ENTITIES_CALLED_ANYWHERE: Final = _ENTITIES_CALLED.replace("m.grp = :grp", "m.grp IN (SELECT n FROM groups)")
_ALIASES: Final = f"""SELECT m.name FROM names m WHERE m.entity = (SELECT n FROM entities WHERE uuid = :uuid)
    AND {COUNTED} ORDER BY m.n"""
_LINKED: Final = "links l ON l.{0} = same.n AND l.kf <= :known AND l.kt > :known"
_IS_LINKED: Final = f"SELECT e.uuid, {EVER_MERGED.format('e.n')} FROM entities e WHERE e.n {OF_THESE}"
_IDENTITY: Final = f"""WITH RECURSIVE same (n) AS (
    SELECT n FROM entities WHERE n {OF_THESE}
    UNION SELECT l.into_ FROM same CROSS JOIN {_LINKED.format("duplicate")}
    UNION SELECT l.duplicate FROM same CROSS JOIN {_LINKED.format("into_")})
    SELECT e.uuid FROM same CROSS JOIN entities e ON e.n = same.n"""

COUNTS: Final = {
    "episodes": "SELECT count(*) FROM episodes",
    "mentions": "SELECT count(*) FROM mentions",
    "relationships": "SELECT count(*) FROM relationships",
    **PARKED,
    "entities": "SELECT count(*) FROM entities",
    "merges": f"SELECT count(*) FROM links WHERE kt = {INF}",
    "communities": f"SELECT count(DISTINCT community) FROM memberships WHERE kt = {INF}",
    "facts": "SELECT count(*) FROM facts",
    "versions": "SELECT count(*) FROM versions",
    "open_versions": f"SELECT count(*) FROM versions WHERE kt = {INF}",
    "contradictions": f"SELECT count(*) FROM contradictions WHERE settled_at = {INF}",
}

# These two scan a table. That is cheap: each of its rows is an exception, of which a memory has few.
_PARKED: Final = f"""SELECT p.cause, g.name, p.created_at, p.reason, p.state
    FROM parked p CROSS JOIN groups g ON g.n = p.grp
    WHERE (:grp IS NULL OR p.grp = :grp) AND p.cause > :after AND {UNSETTLED} ORDER BY p.cause, p.n LIMIT :limit"""
_CONTRADICTIONS: Final = f"""SELECT c.uuid, g.name, c.earlier, c.later, c.created_at,
    iif(c.settled_at > :known, {INF}, c.settled_at), iif(c.settled_at > :known, NULL, c.kept),
    iif(c.settled_at > :known, NULL, c.dropped) FROM contradictions c CROSS JOIN groups g ON g.n = c.grp
    WHERE (:grp IS NULL OR c.grp = :grp) AND c.created_at <= :known AND (:settled OR c.settled_at > :known)
    ORDER BY c.n LIMIT :limit"""

# The tables that the digest covers, and the order of their rows. An id n is a position of the log: it may order the
# rows but not stand for them, since after an erasure a rebuilt log has fewer positions, and the same content.
ORDER: Final = dict.fromkeys(
    ("episodes", "mentions", "relationships", "withdrawals", "parked", "retries", "entities", "names", "resolutions",
     "links", "attributes", "communities", "facts", "reinforcements", "deeds", "literals", "endings",
     "retractions", "contradictions", "closings", "posts", "feedback", "goals", "objectives", "objective_goals"),
    "n",
) | {"cardinalities": "relation, grp", "versions": "fact, kf, vf", "memberships": "entity, kf"}  # fmt: skip
LATER: Final = frozenset(  # tables that came later: empty, they leave a digest as it always was
    ("deeds", "literals", "posts", "feedback", "goals", "objectives", "objective_goals")
)
_NAMED: Final = {
    "grp": "(SELECT name FROM groups WHERE groups.n = t.grp)",
    "relation": "(SELECT name FROM relations WHERE relations.n = t.relation)",
}
IDENTIFIED: Final = {  # columns that hold an id n, and of which table; `object` may hold a literal
    **dict.fromkeys(("s", "object", "entity", "duplicate", "into_"), "entities"),
    "fact": "facts",
    "community": "communities",
}
_WORDED: Final = {("relationships", "relation"), ("cardinalities", "relation"), ("endings", "fact")}  # by name or uuid


def identified(table: str, column: str) -> str | None:
    """Return the table whose ids n a column holds; None: it holds none."""
    return None if (table, column) in _WORDED else IDENTIFIED.get(column)


def _digested(table: str, column: str) -> str:
    """Return a column as the digest has it: with names and uuids in the place of row ids."""
    if (named := _NAMED.get(column)) and (table, column) not in _WORDED:
        return named
    if (of := identified(table, column)) is None:
        return column
    uuid = f"(SELECT uuid FROM {of} WHERE {of}.n = t.{column})"
    return f"iif(typeof(t.{column}) = 'text', 'v:' || t.{column}, 'n:' || {uuid})"


class SqliteScans(SqliteReader):
    """Reads of everything but facts."""

    def entities(
        self,
        group: str | None,
        known: int | None,
        *,
        prefix: str = "",
        after: str | None = None,
        limit: int | None = None,
    ) -> list[EntityRow]:
        parameters: dict[str, Any] = {
            "grp": None if group is None else self._group(group),
            "known": INF if known is None else known,
            "limit": -1 if limit is None else limit,
            "after": after,
            "prefix": key(prefix),
            "beyond": key(prefix) + "\U0010ffff",
        }
        if prefix:
            sql = _ENTITIES_CALLED_ANYWHERE if group is None else _ENTITIES_CALLED
        else:
            sql = _ENTITIES if group is None else _ENTITIES_OF_GROUP
        return [EntityRow._make(row) for row in self._rows(sql, parameters)]

    def aliases(self, uuid: str, known: int | None) -> list[str]:
        parameters = {"uuid": uuid, "known": INF if known is None else known}
        return [name for (name,) in self._rows(_ALIASES, parameters)]

    def identity(self, uuids: Sequence[str], known: int | None) -> set[str]:
        found = self._rows_of(uuids, _IS_LINKED)
        if any(linked for _, linked in found):  # few are: a walk over links costs ten times as much
            found = self._rows_of(uuids, _IDENTITY, known=INF - 1 if known is None else known)
        return {uuid for uuid, *_ in found}

    def mention(self, uuid: str) -> MentionRow | None:
        row = self._row(_MENTION, {"id": uuid})
        return None if row is None else mention(row)

    def relationship(self, uuid: str) -> RelationshipRow | None:
        row = self._row(_RELATIONSHIP, {"id": uuid})
        return None if row is None else RelationshipRow._make(row)

    def episodes(self, group: str | None) -> Iterator[EpisodeRow]:
        return (EpisodeRow._make(row[:-1]) for row in self._every(_EPISODES, group))

    def mentions(self, group: str | None) -> Iterator[MentionRow]:
        return (mention(row[:-1]) for row in self._every(_MENTIONS, group))

    def relationships(self, group: str | None) -> Iterator[RelationshipRow]:
        return (RelationshipRow._make(row[:-1]) for row in self._every(_RELATIONSHIPS, group))

    def _every(self, sql: str, group: str | None) -> Iterator[Any]:
        return self._pages(sql, grp=None if group is None else self._group(group))

    def ids(self, start: str) -> list[str]:
        """Return ids that begin so, two at most."""
        return [uuid for (uuid,) in self._rows(_IDS, {"start": start})]

    def counts(self) -> dict[str, int]:
        return {kind: self._one(sql) for kind, sql in COUNTS.items()}

    def parked(self, group: str | None, *, after: int = -1, limit: int) -> list[ParkedRow]:
        parameters = {"grp": None if group is None else self._group(group), "after": after, "limit": limit}
        return [ParkedRow._make(row) for row in self._rows(_PARKED, parameters)]

    def parked_count(self, state: str = "parked") -> int:
        count: int = self._cached(PARKED[state], buffered=True)  # cached: it is asked before and after every import
        return count

    def contradictions(
        self, group: str | None, known: int | None, *, settled: bool = False, limit: int | None = None
    ) -> list[ContradictionRow]:
        parameters = {
            "grp": None if group is None else self._group(group),
            "known": INF - 1 if known is None else known,
            "settled": settled,
            "limit": -1 if limit is None else limit,
        }
        return [ContradictionRow._make(row) for row in self._rows(_CONTRADICTIONS, parameters)]

    def digest(self) -> str:
        digest = sha256()
        for table, order in ORDER.items():
            if table in LATER and not self._one(f"SELECT EXISTS (SELECT 1 FROM {table})"):
                continue
            declared = [column for (column,) in self._rows("SELECT name FROM pragma_table_xinfo(?)", (table,))]
            columns = [column for column in declared if column != STORED]
            digest.update(f"{table} {columns}\n".encode())
            kept = [f"{_digested(table, column)} AS {column}" for column in columns if column != "n"]
            with self._guard:
                self._flush()
                ordered = ", ".join(column if column == "grp" else f"t.{column}" for column in order.split(", "))
                cursor = self._db.execute(f"SELECT {', '.join(kept)} FROM {table} t ORDER BY {ordered}")
                while rows := cursor.fetchmany(HASHED):
                    digest.update(repr(rows).encode())
        return digest.hexdigest()
