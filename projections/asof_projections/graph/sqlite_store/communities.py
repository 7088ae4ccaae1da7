"""Communities of entities, the neighbours from which handlers form them, and what changed since they were detected."""

from collections.abc import Mapping, Sequence
from itertools import groupby
from typing import Any, Final

from asof_projections.graph.sqlite_store.base import OF_THESE, SqliteReader, listed
from asof_projections.model.rows import CommunityRow, ConsolidationRow, EntityRow
from asof_streams.instants import INF, NEG

_OF: Final = f"""SELECT e.uuid, c.uuid FROM memberships m CROSS JOIN entities e ON e.n = m.entity
    CROSS JOIN communities c ON c.n = m.community WHERE m.entity {OF_THESE} AND m.kt = {INF}"""
_MEMBERS: Final = "memberships m INDEXED BY membership_community"
_MEMBER: Final = "m.community = c.n AND m.kf <= :known AND m.kt > :known"
_SHOWN: Final = f"""SELECT c.uuid, g.name, c.name, c.created_at, e.uuid, g.name, e.name, e.type, e.created_at
    FROM (SELECT * FROM communities c WHERE {{}} AND EXISTS (SELECT 1 FROM {_MEMBERS} WHERE {_MEMBER})
        ORDER BY n LIMIT :limit) c
    CROSS JOIN groups g ON g.n = c.grp CROSS JOIN {_MEMBERS} ON {_MEMBER}
    CROSS JOIN entities e ON e.n = m.entity ORDER BY c.n, m.kf, e.n"""
_EVERY: Final = _SHOWN.format("created_at <= :known")
_OF_GROUP: Final = _SHOWN.format("grp = :grp AND created_at <= :known")
_THEIRS: Final = _SHOWN.format(
    f"n IN (SELECT community FROM memberships WHERE entity {OF_THESE} AND kf <= :known AND kt > :known)"
)
# A bounded part of an entity's facts, always the same part: a hub has too many to read them all.
_NEAR: Final = f"""SELECT f.uuid, e.uuid FROM (
        SELECT fact, {{other}} AS other, vf, vt FROM versions INDEXED BY now_{{side}} WHERE {{own}} = :n AND kt = {INF}
        ORDER BY {{order}}vf, fact LIMIT :limit) v
    CROSS JOIN facts f ON f.n = v.fact CROSS JOIN entities e ON typeof(v.other) = 'integer' AND e.n = v.other
    WHERE v.vf <= :valid AND v.vt > :valid"""
_FROM: Final = _NEAR.format(other="object", side="subject", own="s", order="relation, ")
_TO: Final = _NEAR.format(other="s", side="object", own="object", order="")
_SIZES: Final = f"""SELECT c.uuid, (SELECT count(*) FROM {_MEMBERS} WHERE m.community = c.n AND m.kt = {INF})
    FROM communities c WHERE c.uuid IN (SELECT value FROM json_each(?))"""
_MEMBERS_OF: Final = f"""SELECT e.uuid FROM communities c CROSS JOIN {_MEMBERS} ON m.community = c.n AND m.kt = {INF}
    CROSS JOIN entities e ON e.n = m.entity WHERE c.uuid IN (SELECT value FROM json_each(?)) ORDER BY e.n"""
_CONSOLIDATED: Final = "SELECT until, created_at FROM consolidations WHERE grp = ? ORDER BY n DESC LIMIT 1"
_COUNTED: Final = (
    "passes",
    "communities_detected",
    "communities_changed_nodes",
    "entity_duplicates_found",
    "entity_merges_performed",
    "nodes_decayed",
)
_COUNTS: Final = f"""SELECT count(DISTINCT uuid), {", ".join(f"coalesce(sum({name}), 0)" for name in _COUNTED[1:])}
    FROM consolidations"""
# An undoing is one more row with the id of its pass, and with the moment from which the next one looks again.
_STANDING: Final = """SELECT uuid,
        (SELECT until FROM consolidations b WHERE b.grp = :grp AND b.n < c.n ORDER BY n DESC LIMIT 1), created_at
    FROM (SELECT max(n) AS n, uuid, created_at FROM consolidations WHERE grp = :grp
        GROUP BY uuid HAVING count(*) = 1 ORDER BY n DESC LIMIT 1) c"""
_MOVED: Final = f"""SELECT e.uuid, c.uuid FROM (SELECT entity, max(iif(kt = :at, community, NULL)) AS before,
            max(iif(kf = :at, community, NULL)) AS given, max(iif(kt = {INF}, community, NULL)) AS now
        FROM memberships WHERE grp = :grp GROUP BY entity HAVING given IS now AND before IS NOT given) m
    CROSS JOIN entities e ON e.n = m.entity LEFT JOIN communities c ON c.n = m.before ORDER BY e.n"""
_INTRODUCED: Final = "SELECT count(*) FROM entities WHERE grp = ? AND created_at < ?"
_EPISODES: Final = """SELECT count(*) FROM (SELECT 1 FROM episodes WHERE grp = ? AND created_at > ? AND created_at <= ?
    LIMIT ?)"""
_BEYOND: Final = """SELECT kf FROM versions INDEXED BY opened_group WHERE grp = :grp AND kf >= :since AND kf < :until
    ORDER BY kf LIMIT 1 OFFSET :budget"""
_CHANGED: Final = "FROM versions INDEXED BY {0}_group WHERE grp = :grp AND {1} >= :since AND {1} < :until"
_ENDS: Final = " UNION ".join(
    f"SELECT {end} AS entity {_CHANGED.format(index, clock)} AND typeof({end}) = 'integer'{past}"
    for index, clock, past in (("opened", "kf", ""), ("past", "kt", f" AND kt < {INF}"))
    for end in ("s", "object")
)
_CHANGED_ENTITIES: Final = f"SELECT e.uuid FROM ({_ENDS}) c CROSS JOIN entities e ON e.n = c.entity ORDER BY e.n"


class SqliteCommunities(SqliteReader):
    """Communities as of a known moment, the neighbours of an entity, and what a consolidation has to look at."""

    def communities(
        self, group: str | None, known: int | None, *, of: Sequence[str] | None = None, limit: int | None = None
    ) -> list[CommunityRow]:
        parameters: dict[str, Any] = {
            "grp": None if group is None else self._group(group),
            "known": INF - 1 if known is None else known,
            "limit": -1 if limit is None else limit,
        }
        if of is not None:
            rows = self._rows_of(of, _THEIRS, **parameters)
        else:
            rows = self._rows(_EVERY if group is None else _OF_GROUP, parameters)
        return [
            CommunityRow._make((*community, tuple(EntityRow._make(row[4:]) for row in members)))
            for community, members in groupby(rows, key=lambda row: row[:4])
        ]

    def communities_of(self, entities: Sequence[str]) -> Mapping[str, str]:
        return dict(self._rows_of(entities, _OF))

    def neighbours(self, entity: str, valid: int, limit: int) -> list[tuple[str, str]]:
        self._index_for("now_subject", "now_object")
        parameters = {"n": self._entity(entity), "valid": valid, "limit": limit}
        return [pair for sql in (_FROM, _TO) for pair in self._rows(sql, parameters)]

    def community_sizes(self, communities: Sequence[str]) -> Mapping[str, int]:
        return dict(self._rows(_SIZES, (listed(communities),)))

    def community_members(self, communities: Sequence[str]) -> list[str]:
        return [uuid for (uuid,) in self._rows(_MEMBERS_OF, (listed(communities),))]

    def last_pass(self, group: str) -> tuple[int, int] | None:
        row = self._row(_CONSOLIDATED, (self._group(group),))
        return None if row is None else (row[0], row[1])

    def standing_pass(self, group: str) -> ConsolidationRow | None:
        row = self._row(_STANDING, {"grp": self._group(group)})
        return None if row is None else ConsolidationRow(row[0], None if row[1] in (None, NEG) else row[1], row[2])

    def moved_at(self, group: str, recorded_at: int) -> list[tuple[str, str | None]]:
        return self._rows(_MOVED, {"grp": self._group(group), "at": recorded_at})

    def introduced_before(self, group: str, instant: int) -> int:
        count: int = self._one(_INTRODUCED, self._group(group), instant)
        return count

    def episodes_since(self, group: str, since: int, until: int, limit: int) -> int:
        count: int = self._one(_EPISODES, self._group(group), since, until, limit)
        return count

    def consolidation_counts(self) -> dict[str, int]:
        """Return the number of passes, and the sums of the counts of their results, by their names."""
        return dict(zip(_COUNTED, self._row(_COUNTS), strict=True))

    def change_beyond(self, group: str, since: int, until: int, budget: int) -> int | None:
        self._index_for("opened_group")
        row = self._row(_BEYOND, {"grp": self._group(group), "since": since, "until": until, "budget": budget})
        return None if row is None else row[0]

    def changed_entities(self, group: str, since: int, until: int) -> list[str]:
        self._index_for("opened_group", "past_group")
        parameters = {"grp": self._group(group), "since": since, "until": until}
        return [uuid for (uuid,) in self._rows(_CHANGED_ENTITIES, parameters)]
