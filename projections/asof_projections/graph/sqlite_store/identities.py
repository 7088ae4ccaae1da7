"""Identities: entities by name, the links between duplicates, and the mentions resolved to them."""

from collections.abc import Iterator, Sequence
from functools import cache
from typing import Any, Final

from asof_projections.graph.sqlite_store.base import OF_THESE, SqliteReader, listed
from asof_projections.graph.sqlite_store.columns import COUNTED, COUNTS, ENTITY, EVER_MERGED
from asof_projections.graph.sqlite_store.schema import has_id
from asof_projections.model.rows import EntityRow, LinkRow
from asof_projections.names import key
from asof_streams.instants import INF

_PAGE: Final = 1_000  # names
_WITH_NAME: Final = f"WHERE {{}} AND m.key = :key {{}}AND {COUNTED}"
NAMED: Final = f"SELECT m.entity FROM names m INDEXED BY name_key {_WITH_NAME}"
_OWNERS: Final = f"""SELECT e.uuid, {EVER_MERGED.format("e.n")}
    FROM names m INDEXED BY name_key CROSS JOIN entities e ON e.n = m.entity {_WITH_NAME}"""
_LINKED: Final = "links l ON l.{} = same.n AND l.kf <= :known AND l.kt > :known"
_MEANT: Final = f"""WITH RECURSIVE same (n) AS ({NAMED}
    UNION SELECT l.into_ FROM same CROSS JOIN {_LINKED.format("duplicate")}
    UNION SELECT l.duplicate FROM same CROSS JOIN {_LINKED.format("into_")})
    SELECT e.uuid FROM same CROSS JOIN entities e ON e.n = same.n"""
_CALLED: Final = f"{ENTITY} WHERE e.n IN ({NAMED}) ORDER BY e.n"
_UNTIL: Final = f"iif(l.kt > :known, {INF}, l.kt)"
_LINK: Final = f"""SELECT l.uuid, d.uuid, i.uuid, l.reason, l.kf, {_UNTIL}, l.n FROM links l
    CROSS JOIN entities d ON d.n = l.duplicate CROSS JOIN entities i ON i.n = l.into_"""
_LINKS: Final = f"""{_LINK} WHERE l.kf <= :known AND l.n IN (SELECT n FROM links WHERE duplicate {OF_THESE}
    UNION SELECT n FROM links WHERE into_ {OF_THESE}) ORDER BY l.n"""
_LINK_BY_ID: Final = f"{_LINK} WHERE l.uuid = :uuid ORDER BY l.n DESC LIMIT 1"
_PARTED: Final = """SELECT d.uuid, i.uuid FROM links l
    CROSS JOIN entities d ON d.n = l.duplicate CROSS JOIN entities i ON i.n = l.into_
    WHERE l.n IN (SELECT n FROM links WHERE duplicate = :n UNION SELECT n FROM links WHERE into_ = :n)
    AND l.closed IS NOT NULL AND NOT EXISTS (SELECT 1 FROM withdrawals w WHERE w.cause = l.closed)"""
_MERGED: Final = f"""SELECT uuid FROM links WHERE grp = (SELECT n FROM groups WHERE name = ?) AND kt = {INF}
    AND kf IN (SELECT value FROM json_each(?)) AND reason <> 'consolidated' ORDER BY n"""
_CONSOLIDATED_AT: Final = f"""SELECT uuid FROM links WHERE grp = (SELECT n FROM groups WHERE name = ?) AND kf = ?
    AND reason = 'consolidated' AND kt = {INF} ORDER BY n"""
_MERGED_NAMES: Final = f"""SELECT l.uuid FROM links l WHERE l.grp = (SELECT n FROM groups WHERE name = ?)
    AND l.reason = 'consolidated' AND l.kt = {INF} AND EXISTS (SELECT 1 FROM entities e
        WHERE e.n IN (l.duplicate, l.into_) AND e.episode = ?) ORDER BY l.n"""
_GIVEN: Final = """SELECT e.uuid, m.name FROM json_each(:names) named
    CROSS JOIN names m INDEXED BY name_key ON m.grp = :grp AND m.key = named.value
    CROSS JOIN entities e ON e.n = m.entity WHERE m.episode = :episode AND m.n <> m.entity
    GROUP BY m.entity, m.name ORDER BY min(m.n)"""
_NAMINGS: Final = f"""SELECT m.episode FROM names m INDEXED BY name_key
    WHERE m.grp = :grp AND m.key = :key AND m.name = :name AND m.entity = :n AND m.n <> :n AND {COUNTS} ORDER BY m.n"""
_MEANING: Final = f"""SELECT r.episode FROM json_each(:mentions) said
    CROSS JOIN resolutions r INDEXED BY resolution_mention ON {has_id("r.mention", "said.value")}
    WHERE r.entity = :n AND r.episode <> :without
    AND NOT EXISTS (SELECT 1 FROM withdrawals w WHERE w.episode = r.episode) ORDER BY r.n LIMIT 1"""
_APPEARANCES: Final = f"SELECT count(*) FROM resolutions WHERE entity {OF_THESE} AND created_at <= :known"
_GROUPS: Final = "SELECT name FROM groups WHERE name >= :start ORDER BY name LIMIT :page"
_INTRODUCED: Final = "names m INDEXED BY name_key WHERE m.grp = :grp AND m.key {} AND m.n = m.entity"
_SUBJECT_KEYS: Final = f"""SELECT m.key FROM {_INTRODUCED.format(">= :start")}
    GROUP BY m.key ORDER BY m.key LIMIT :page"""
_SUBJECTS: Final = f"""SELECT e.uuid FROM entities e
    WHERE e.n IN (SELECT m.entity FROM {_INTRODUCED.format("= :key")}) ORDER BY e.n"""
_EVERY_LINK: Final = f"""{_LINK} WHERE l.n > :after AND (:grp IS NULL OR l.grp = :grp)
    AND l.kf <= :known AND l.kt > :known ORDER BY l.n LIMIT :page"""
_EVERY_ENTITY: Final = f"""{ENTITY.replace(" FROM ", ", e.n FROM ", 1)} WHERE e.n > :after
    AND (:grp IS NULL OR e.grp = :grp) AND e.created_at <= :known ORDER BY e.n LIMIT :page"""


@cache
def _by_name(select: str, *, of_group: bool, exact: bool) -> str:
    """Return a select over the entities with a name: exactly this one, or one with the same key."""
    groups = "m.grp = (SELECT n FROM groups WHERE name = :group)" if of_group else "m.grp IN (SELECT n FROM groups)"
    return select.format(groups, "AND m.name = :name " if exact else "")


class SqliteIdentities(SqliteReader):
    """Entities and their links. A link has the period over which it was believed: a reverted merge stays visible."""

    def called(self, group: str | None, name: str, known: int | None) -> list[EntityRow]:
        return [EntityRow._make(row) for row in self._named(_CALLED, group, name, known)]

    def meant(self, group: str | None, name: str, known: int | None) -> list[str]:
        owners = self._named(_OWNERS, group, name, known)
        if any(linked for _, linked in owners):  # few are: to look for duplicates of the others doubles the cost
            owners = self._named(_MEANT, group, name, known)
        return sorted({uuid for uuid, *_ in owners})

    def _named(self, select: str, group: str | None, name: str, known: int | None) -> list[Any]:
        parameters = {"group": group, "key": key(name), "name": name, "known": INF - 1 if known is None else known}
        of_group = group is not None
        rows = self._rows(_by_name(select, of_group=of_group, exact=False), parameters)
        if len(rows) < 2:  # as for most names; that of one entity is found whether it is exact or not
            return rows
        return self._rows(_by_name(select, of_group=of_group, exact=True), parameters) or rows

    def names_given(self, group: str, names: Sequence[str], episode: str) -> list[tuple[str, str]]:
        parameters = {"grp": self._group(group), "names": listed(dict.fromkeys(map(key, names))), "episode": episode}
        return self._rows(_GIVEN, parameters)

    def namings(self, entity: EntityRow, name: str) -> list[str]:
        parameters = {
            "grp": self._group(entity.group_id),
            "key": key(name),
            "name": name,
            "n": self._entity(entity.uuid),
        }
        return [episode for (episode,) in self._rows(_NAMINGS, parameters)]

    def meaning(self, entity: str, mentions: Sequence[str], without: str) -> str | None:
        parameters = {"n": self._entity(entity), "mentions": listed(mentions), "without": without}
        other: str | None = (self._row(_MEANING, parameters) or [None])[0]
        return other

    def links(self, uuids: Sequence[str], known: int | None) -> list[LinkRow]:
        rows = self._rows_of(uuids, _LINKS, known=INF if known is None else known)
        return [LinkRow._make(row[:-1]) for row in rows]

    def link(self, uuid: str) -> LinkRow | None:
        row = self._row(_LINK_BY_ID, {"uuid": uuid, "known": INF})
        return None if row is None else LinkRow._make(row[:-1])

    def parted(self, uuid: str) -> set[str]:
        pairs = self._rows(_PARTED, {"n": self._entity(uuid)})
        return {other for pair in pairs for other in pair if other != uuid}

    def merged(self, group: str, recorded_at: Sequence[int]) -> list[str]:
        return [uuid for (uuid,) in self._rows(_MERGED, (group, listed(recorded_at)))]

    def consolidated_at(self, group: str, recorded_at: int) -> list[str]:
        return [uuid for (uuid,) in self._rows(_CONSOLIDATED_AT, (group, recorded_at))]

    def merged_names(self, group: str, episode: str) -> list[str]:
        return [uuid for (uuid,) in self._rows(_MERGED_NAMES, (group, episode))]

    def appearances(self, uuids: Sequence[str], known: int | None) -> int:
        [(count,)] = self._rows_of(uuids, _APPEARANCES, known=INF if known is None else known)
        return int(count)

    def each_entity(self, group: str | None, known: int) -> Iterator[EntityRow]:
        grp = None if group is None else self._group(group)
        return (EntityRow._make(row[:-1]) for row in self._pages(_EVERY_ENTITY, grp=grp, known=known))

    def each_link(self, group: str | None, known: int) -> Iterator[LinkRow]:
        grp = None if group is None else self._group(group)
        return (LinkRow._make(row[:-1]) for row in self._pages(_EVERY_LINK, grp=grp, known=known))

    def group_names(self, start: str) -> Iterator[str]:
        return self._ascending(_GROUPS, start)

    def subject_keys(self, group: str, start: str) -> Iterator[str]:
        return self._ascending(_SUBJECT_KEYS, start, grp=self._group(group))

    def _ascending(self, sql: str, start: str, **parameters: int) -> Iterator[str]:
        """Yield the values of a statement page by page: `:page` values from `:start` on."""
        last = None
        while values := [v for (v,) in self._rows(sql, {"start": start, "page": _PAGE, **parameters}) if v != last]:
            yield from values
            last = start = values[-1]

    def introduced(self, group: str, name_key: str) -> list[str]:
        return [uuid for (uuid,) in self._rows(_SUBJECTS, {"grp": self._group(group), "key": name_key})]

    def fact_count(self) -> int:
        count: int = self._one("SELECT count(*) FROM facts")
        return count
