"""Facts as of a moment: the rectangles of the versions table that overlap a point or a period.

There is one constant statement for each shape of a query (which of subject, relation, object and group it has). Open
and closed versions have an index each, and the statement names it, so that the plan is fixed here and not chosen from
statistics. A read as of a known moment shows nothing that was recorded later.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from operator import itemgetter
from typing import Any, Final

from asof_projections.graph.ports import Surroundings
from asof_projections.graph.sqlite_store.base import ENTITIES, OF_THESE, SqliteReader, listed
from asof_projections.model.queries import HEAD, FactsFilter, numbers_of
from asof_projections.model.rows import FactRow, Moment, Window, literals_of
from asof_streams.instants import INF

# The statements of a fact as of a window: of episodes that were known in it, and not withdrawn before it.
_SAID: Final = """(SELECT f.n AS n, f.episode AS episode, f.said_at AS said_at UNION ALL
        SELECT n, episode, said_at FROM reinforcements WHERE fact = f.n AND created_at <= :kmax ORDER BY n) said
    WHERE NOT EXISTS (SELECT 1 FROM withdrawals w WHERE w.episode = said.episode AND w.created_at <= :kmin)"""
# A fact that was said once is what its own row of `deeds` says. A reinforced fact is planned while every live
# statement of it is a plan. CASE, since SQLite evaluates both sides of an AND.
_PLANNED: Final = f"""CASE WHEN f.echoes THEN EXISTS (SELECT 1 FROM deeds p WHERE p.fact = f.n AND p.planned)
    AND coalesce((SELECT min(EXISTS (SELECT 1 FROM deeds p WHERE p.n = said.n AND p.planned)) FROM {_SAID}),
        own.planned) ELSE own.planned END"""
_LITERALS: Final = """CASE WHEN f.echoes THEN (
    SELECT json_group_array(json_array(given.number, json(given.qualifiers))) FROM (
        SELECT number, qualifiers, episode FROM literals WHERE fact = f.n AND created_at <= :kmax ORDER BY n) given
    WHERE NOT EXISTS (SELECT 1 FROM withdrawals w WHERE w.episode = given.episode AND w.created_at <= :kmin))
    WHEN stated.n NOT NULL THEN json_array(json_array(stated.number, json(stated.qualifiers))) END"""
FACT_COLUMNS: Final = f"""f.uuid, g.name, s.name, r.name, coalesce(o.name, f.object), s.uuid, o.uuid, f.sentence,
    v.vf, v.vt, f.created_at, iif(f.expired_at > :kmax, {INF}, f.expired_at), f.confidence, f.episode,
    CASE WHEN f.echoes THEN (SELECT json_group_array(episode) FROM {_SAID}) END,
    v.kf, iif(v.kt > :kmax, {INF}, v.kt), v.fact,
    own.occurrence, {_PLANNED}, {_LITERALS}"""
# CROSS JOIN fixes the order of the joins, and so keeps the order of `v`. A literal never equals an entity's id.
FACT_JOINS: Final = """CROSS JOIN facts f ON f.n = v.fact CROSS JOIN groups g ON g.n = f.grp
    CROSS JOIN entities s ON s.n = f.s CROSS JOIN relations r ON r.n = f.relation
    LEFT JOIN entities o ON typeof(f.object) = 'integer' AND o.n = f.object LEFT JOIN deeds own ON own.n = f.n
    LEFT JOIN literals stated ON stated.n = f.n"""
_ATTESTED: Final = f"coalesce(CASE WHEN f.echoes THEN (SELECT max(said_at) FROM {_SAID}) END, f.said_at)"
_NUMBER: Final = 17  # the place of a fact's number among the columns
_in_order: Final = itemgetter(8, _NUMBER, 15)  # from when on it holds, the number, and since when that is known
_DIRECTION: Final = 21  # of a row of both sides
_recency: Final = itemgetter(22, _NUMBER, 8)  # of such a row: when it was attested, the number, and from when it holds
_MET: Final = "vf <= :vmax AND vt > :vmin AND kf <= :kmax"
# What happened before as well, and what was planned when it was asserted; whether it still is, each row says.
_TOLD: Final = "LEFT JOIN (SELECT n AS told, occurrence, planned FROM deeds) ON told = fact"
_MET_OR_TOLD: Final = "(vf <= :vmax OR planned) AND (vt > :vmin OR occurrence) AND kf <= :kmax"
_TIMES: Final = (("now", f"kt = {INF}"), ("past", f"kt < {INF} AND kt > :kmin"))  # of open versions, of closed ones
_COLUMNS: Final = "fact, vf, vt, kf, kt"
_GROUP: Final = "(SELECT n FROM groups WHERE name = :group)"
AMONG: Final = "IN (SELECT value FROM json_each(:{}))"
_CONDITIONS: Final = {  # the kind, which decides the index; and the SQL
    "number among": ("number", f"fact {AMONG.format('number')}"),
    "subject": ("subject", f"s = ({ENTITIES} = :subject)"),
    "subject among": ("subject", f"s IN ({ENTITIES} {AMONG.format('subject')})"),
    "object": ("object", f"object = ({ENTITIES} = :object)"),
    "object among": ("object", f"object IN ({ENTITIES} {AMONG.format('object')})"),
    "value": ("object", "object = :value"),
    "object among or value": (
        "object",
        f"object IN ({ENTITIES} {AMONG.format('object')} UNION ALL SELECT :value)",
    ),
    "relation": ("relation", f"relation = (SELECT n FROM relations WHERE grp = {_GROUP} AND name = :relation)"),
    "relation named": ("relation", "relation IN (SELECT n FROM relations WHERE name = :relation)"),
    "group": ("group", f"grp = {_GROUP}"),
    "object type": ("type", "object IN (SELECT n FROM entities WHERE n = +object AND type = :object_type)"),
    "after": ("place", "(vf, fact, kf) > (:after_vf, :after_fact, :after_kf)"),
}


_FROM_THEM, _TO_THEM = (f"{side} {OF_THESE}" for side in ("s", "object"))


def meeting(*, deeds: bool) -> tuple[str, str]:
    """Return what versions are joined with, and the condition that they meet a window; `deeds`: or are told of it."""
    return (_TOLD, _MET_OR_TOLD) if deeds else ("", _MET)


@cache
def both_sides(*, of_group: bool, closed: bool, deeds: bool) -> str:
    """Return the statement for an entity's facts in either direction, in any order.

    Behind the columns of a fact stand its direction (0: from the entity), and when it was last attested.
    """
    scope = f" AND grp = {_GROUP}" if of_group else ""
    sides = _sides(f"{_FROM_THEM}{scope}", f"{_TO_THEM}{scope}", closed=closed, deeds=deeds)
    return f"SELECT {FACT_COLUMNS}, v.direction, {_ATTESTED} FROM ({sides} LIMIT -1) v {FACT_JOINS}"


@cache
def latest(*, deeds: bool) -> str:
    """Return the statement for an entity's facts in either direction, most recently attested first."""
    sides = _sides(_FROM_THEM, f"{_TO_THEM} AND NOT {_FROM_THEM}", closed=True, deeds=deeds)
    return f"""SELECT {FACT_COLUMNS} FROM (SELECT v.* FROM ({sides}) v CROSS JOIN facts f ON f.n = v.fact
        ORDER BY {_ATTESTED} DESC, v.fact DESC, v.vf DESC LIMIT :limit) v
        {FACT_JOINS}"""


def _sides(subject: str, object_: str, *, closed: bool, deeds: bool) -> str:
    """Return a select of the versions whose subject, then of those whose object meets a condition, with a direction."""
    told, met = meeting(deeds=deeds)
    return " UNION ALL ".join(
        f"""SELECT {_COLUMNS}, {direction} AS direction FROM versions INDEXED BY {when}_{side} {told}
        WHERE {condition} AND {met} AND {kt}"""
        for direction, (side, condition) in enumerate((("subject", subject), ("object", object_)))
        for when, kt in _TIMES[: 1 + closed]
    )


@cache
def statement(*shape: str, closed: bool, limited: bool, deeds: bool) -> str:
    """Return the statement for a shape: the names of its conditions. `closed`: also of versions that are closed by now.

    As known so far no closed version is seen, and most questions are asked so: to look for none is a sixth of the cost.
    With a limit, open and closed ones are merged in order, as far as needed. Without one all are read, in any order:
    to sort the few of most questions SQLite would make a table.
    """
    now, past = _indexes({_CONDITIONS[name][0] for name in shape})
    told, met = meeting(deeds=deeds)
    where = " AND ".join([*(_CONDITIONS[name][1] for name in shape), met])
    versions = f"SELECT {_COLUMNS} FROM versions {now} {told} WHERE {where} AND kt = {INF}"
    if closed:
        versions += f"""
        UNION ALL SELECT {_COLUMNS} FROM versions {past} {told} WHERE {where} AND kt < {INF} AND kt > :kmin"""
    order = "LIMIT -1" if closed else ""  # so the program is not doubled: SQLite would join each half with the rest
    if limited:
        order = "ORDER BY vf, fact, kf LIMIT :limit"
    return f"""SELECT {FACT_COLUMNS} FROM (
        {versions}
        {order}) v {FACT_JOINS}"""


def _indexes(kinds: set[str]) -> tuple[str, str]:
    """Return the indexes for open and for closed versions: those of the most selective kind."""
    if "number" in kinds:
        return "INDEXED BY version_fact", "INDEXED BY version_fact"
    for kind in ("subject", "object", "relation", "group"):
        if kind in kinds:
            return f"INDEXED BY now_{kind}", f"INDEXED BY past_{kind}"
    return "NOT INDEXED", "NOT INDEXED"


class SqliteFacts(SqliteReader):
    """Facts by subject, relation, object or number, as of a moment or over a period."""

    def facts(
        self,
        query: FactsFilter,
        window: Window,
        *,
        subjects: Sequence[str] | None = None,
        objects: Sequence[str] | None = None,
        limit: int | None = None,
    ) -> list[FactRow]:
        parameters = _within(window, limit)
        shape = [] if subjects is None else [_among("subject", subjects, parameters)]
        if query.object is not None:
            parameters |= {"object": listed(objects or ()), "value": query.object}
            shape.append("object among or value" if objects else "value")
        if query.object_type is not None:
            parameters["object_type"] = query.object_type
            shape.append("object type")
        if query.relation is not None:
            parameters["relation"] = query.relation
        shape += self._scope(query.group, query.relation, parameters)
        if (page := query.page) is not None:
            parameters |= zip(("after_vf", "after_fact", "after_kf"), numbers_of(page, 3), strict=True)
            shape.append("after")
        return self._read(self._meeting(shape, window, parameters))

    def facts_around(self, uuids: Sequence[str], at: Moment, limit: int) -> list[FactRow]:
        self._index_for("now_subject", "past_subject", "now_object", "past_object")
        sides = (self._around(None, side, uuids, at, limit) for side in ("subject", "object"))
        return [fact for side in sides for fact in side]

    def _around(self, group: str | None, side: str, ids: Sequence[str], at: Moment, limit: int | None) -> list[FactRow]:
        """Return the facts with entities on one side, `subject` or `object`."""
        window = Window.at(at)
        parameters = _within(window, limit)
        shape = [_among(side, ids, parameters), *self._scope(group, None, parameters)]
        return self._asked(self._meeting(shape, window, parameters), at)

    def _both_sides(self, group: str | None, ids: Sequence[str], at: Moment) -> tuple[list[Any], list[Any]]:
        """Return the rows of the facts from entities and of those to them, in the order of each."""
        window = Window.at(at)
        sql = both_sides(of_group=group is not None, closed=window.kmin < HEAD, deeds=window.deeds)
        rows = self._rows_of(ids, sql, group=group, **_within(window, None))
        rows.sort(key=_in_order)
        return [row for row in rows if not row[_DIRECTION]], [row for row in rows if row[_DIRECTION]]

    def _asked(self, rows: Iterable[Any], at: Moment) -> list[FactRow]:
        return [fact for fact in self._read(rows) if fact.is_asked(at)]

    def _scope(self, group: str | None, relation: str | None, parameters: dict[str, Any]) -> list[str]:
        parameters["group"] = group
        if relation is not None:
            return ["relation named" if group is None else "relation"]
        return [] if group is None else ["group"]

    def facts_numbered(self, numbers: Sequence[int], at: Moment) -> dict[int, list[FactRow]]:
        window = Window.at(at)
        parameters = _within(window, None) | {"number": listed(map(int, numbers))}
        versions: dict[int, list[FactRow]] = {int(n): [] for n in numbers}
        for row in self._meeting(["number among"], window, parameters):
            versions[row[_NUMBER]] += [fact for fact in self._read([row]) if fact.is_asked(at)]
        return {n: facts for n, facts in versions.items() if facts}

    def _meeting(self, shape: Sequence[str], window: Window, parameters: Mapping[str, Any]) -> list[Any]:
        """Return the rows of the facts that meet a window, by the start of their period, then as asserted."""
        limited = parameters["limit"] >= 0
        sql = statement(*shape, closed=window.kmin < HEAD, limited=limited, deeds=window.deeds)
        rows = self._rows(sql, parameters)
        rows.sort(key=_in_order)
        return rows

    def latest(self, entities: Sequence[str], at: Moment, limit: int) -> list[FactRow]:
        return self._asked(self._rows_of(entities, latest(deeds=at.deeds), **_within(Window.at(at), limit)), at)

    def _surroundings(self, entities: Sequence[str], at: Moment, most: int) -> Surroundings:
        """Return all facts from entities and to them, and the latest of them."""
        outward, inward = self._both_sides(None, entities, at)
        rows = {_in_order(row): row for row in (*outward, *inward)}  # one with both ends here is kept once, as outward
        facts = dict(zip(rows, self._read(rows.values()), strict=True))
        recent = (facts[_in_order(row)] for row in sorted(rows.values(), key=_recency, reverse=True)[:most])
        return Surroundings(
            [fact for fact in facts.values() if fact.is_asked(at)], [fact for fact in recent if fact.is_asked(at)]
        )

    def _read(self, rows: Iterable[Any]) -> list[FactRow]:
        """Return rows of FACT_COLUMNS as facts."""
        generation = self.generation
        return [
            FactRow._make(
                (
                    *row[:13],
                    (row[13],) if row[14] is None else _episodes(row),
                    generation,
                    *row[15:18],
                    row[18] == 1,
                    row[19] == 1,
                    *((None, ()) if row[20] is None else literals_of(row[4], json.loads(row[20]))),
                )
            )
            for row in rows
        ]


def _episodes(row: Any) -> tuple[str, ...]:
    """Return the episodes that say a fact, of which several do."""
    return tuple(dict.fromkeys(json.loads(row[14]))) or (row[13],)


def _within(window: Window, limit: int | None) -> dict[str, Any]:
    """Return the parameters that every statement has."""
    vmin, vmax, kmin, kmax, _ = window
    return {"vmin": vmin, "vmax": vmax, "kmin": kmin, "kmax": kmax, "limit": -1 if limit is None else limit}


def _among(name: str, uuids: Sequence[str], parameters: dict[str, Any]) -> str:
    """Set the parameter for one id or several; return the name of the condition."""
    parameters[name] = uuids[0] if len(uuids) == 1 else listed(uuids)
    return name if len(uuids) == 1 else f"{name} among"
