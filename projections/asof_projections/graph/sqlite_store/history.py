"""The history of facts: their versions, their provenance, and the changes since a position."""

from collections.abc import Sequence
from operator import itemgetter
from typing import Any, Final

from asof_projections.graph.ports import CounterStatement, Provenance, Repetition, Revision, StatementSource, retracted
from asof_projections.graph.sqlite_store.base import listed
from asof_projections.graph.sqlite_store.facts import FACT_COLUMNS, FACT_JOINS, SqliteFacts
from asof_projections.graph.sqlite_store.schema import has_id
from asof_projections.model.rows import ChangeRow, FactRow
from asof_streams.instants import INF, NEG

_VERSIONS: Final = f"""SELECT {FACT_COLUMNS} FROM (SELECT fact, vf, vt, kf, kt FROM versions INDEXED BY version_fact
    WHERE fact = (SELECT n FROM facts WHERE {has_id("uuid", ":fact")}) AND kf <= :kmax) v
    {FACT_JOINS} ORDER BY v.kf, v.vf"""
_AS_SAID: Final = "SELECT n AS fact, stated_from AS vf, stated_to AS vt, created_at AS kf, expired_at AS kt FROM facts"
_FACT: Final = f"SELECT {FACT_COLUMNS} FROM ({_AS_SAID} WHERE {has_id('uuid', ':fact')}) v {FACT_JOINS}"
_ASSERTED: Final = f"""SELECT {FACT_COLUMNS} FROM ({_AS_SAID} INDEXED BY fact_recorded
    WHERE created_at = :at AND grp = :grp) v {FACT_JOINS} ORDER BY v.fact"""
_EVER: Final = {"kmin": NEG, "kmax": INF}

_QUALIFIED: Final = "coalesce((SELECT qualifiers FROM literals l WHERE l.n = t.n), '{}')"
_ASSERTION: Final = f"""SELECT n, grp, s, relation, object, stated_from, episode, relationship, said_at, created_at,
    {_QUALIFIED}, time_words, grain, ref, corrects FROM facts t WHERE {has_id("uuid", "?1")}"""
_REINFORCEMENTS: Final = f"""SELECT episode, relationship, said_at, created_at, {_QUALIFIED}
    FROM reinforcements t WHERE fact = ? ORDER BY n"""
_CORRECTING: Final = f"""SELECT f.uuid, f.corrects FROM json_each(?) asked
    CROSS JOIN facts f ON {has_id("f.uuid", "asked.value")} WHERE f.corrects IS NOT NULL"""
_CORRECTED_BY: Final = "SELECT uuid FROM facts WHERE corrects = ? ORDER BY n"
_REPETITIONS: Final = f"""SELECT uuid, stated_from, episode, relationship, said_at, created_at, {_QUALIFIED}, n
    FROM facts t INDEXED BY fact_slot WHERE dead = 0 AND s = ? AND relation = ? AND object = ? AND n > ? ORDER BY n"""
# Those that count no longer, but may have before retractions that came after a moment.
_RETRACTED_REPETITIONS: Final = f"""WITH RECURSIVE undone (uuid) AS (
        SELECT target FROM retractions INDEXED BY retraction_recorded WHERE created_at > ?5 AND grp = ?6
        UNION SELECT r.target FROM undone CROSS JOIN retractions r ON r.uuid = undone.uuid)
    SELECT t.uuid, stated_from, episode, relationship, said_at, created_at, {_QUALIFIED}, t.n
    FROM undone CROSS JOIN facts t ON {has_id("t.uuid", "undone.uuid")}
    WHERE dead = 1 AND s = ?1 AND relation = ?2 AND object = ?3 AND t.n > ?4"""
_RETRACTED_BY: Final = """WITH RECURSIVE against (uuid, target) AS (
        SELECT r.uuid, r.target FROM json_each(?1) said CROSS JOIN retractions r ON r.target = said.value
        WHERE r.created_at <= ?2
        UNION SELECT r.uuid, r.target FROM against CROSS JOIN retractions r ON r.target = against.uuid
        WHERE r.created_at <= ?2)
    SELECT uuid, target FROM against"""
_ENDINGS: Final = """SELECT uuid, at, dead, episode, relationship, said_at, created_at
    FROM endings INDEXED BY ending_slot WHERE s = ? AND relation = ? AND (object IS NULL OR object = ?)
    AND at > ? AND (fact IS NULL OR fact = ?) ORDER BY n"""
_RETRACTIONS: Final = """SELECT uuid, created_at, dead, episode, NULL, created_at, created_at FROM retractions
    WHERE target = ? ORDER BY n"""
_CLOSINGS: Final = "SELECT kind, statement, cause, created_at FROM closings WHERE fact = ? ORDER BY n"
_STATEMENT: Final = f"""SELECT episode, relationship, said_at, created_at, {_QUALIFIED} FROM facts t
    WHERE {has_id("uuid", ":uuid")}
    UNION ALL SELECT episode, relationship, said_at, created_at, '{{}}' FROM endings WHERE uuid = :uuid
    UNION ALL SELECT episode, NULL, created_at, created_at, '{{}}' FROM retractions WHERE uuid = :uuid"""

_CHANGED: Final = "SELECT {at} AS at, {opened} AS opened, n FROM versions INDEXED BY version_{at} WHERE {at} > :since"
_CHANGES: Final = f"""{_CHANGED.format(at="opened", opened=1)} AND opened <= :until
    UNION ALL {_CHANGED.format(at="closed", opened=0)} AND closed <= :until"""
_UNTIL: Final = f"""SELECT at FROM ({_CHANGED.format(at="opened", opened=1)}
    UNION ALL {_CHANGED.format(at="closed", opened=0)} ORDER BY at LIMIT 1 OFFSET :limit - 1)"""
# Each fact as of its change: what was recorded later is not told with it.
_AS_CHANGED: Final = FACT_COLUMNS.replace(":kmax", "iif(c.opened, v.kf, v.kt)")
_CHANGED_FACTS: Final = f"""SELECT c.at, c.opened, {_AS_CHANGED} FROM ({_CHANGES}) c
    CROSS JOIN versions v ON v.n = c.n {FACT_JOINS} ORDER BY c.at, c.opened, c.n"""


class SqliteHistory(SqliteFacts):
    """Facts over known time."""

    def fact(self, uuid: str, known: int = INF) -> FactRow | None:
        versions = self._read(self._rows(_FACT, {"fact": uuid, **_EVER, "kmax": known}))
        return versions[0] if versions else None

    def asserted(self, group: str, recorded_at: int) -> list[FactRow]:
        return self._read(self._rows(_ASSERTED, {"at": recorded_at, "grp": self._group(group), **_EVER}))

    def versions(self, uuid: str, known: int = INF) -> list[FactRow]:
        return self._read(self._rows(_VERSIONS, {"fact": uuid, **_EVER, "kmax": known}))

    def changes(self, since: int, limit: int) -> list[ChangeRow]:
        until = self._row(_UNTIL, {"since": since, "limit": limit})
        parameters = {"since": since, "until": until[0] if until else INF, "kmin": NEG}
        rows = self._rows(_CHANGED_FACTS, parameters)
        facts = self._read(row[2:] for row in rows)
        return [
            ChangeRow(at, fact.known_from if opened else fact.known_to, bool(opened), fact)
            for (at, opened, *_), fact in zip(rows, facts, strict=True)
        ]

    def provenance(self, uuid: str, known: int = INF) -> Provenance | None:
        row = self._row(_ASSERTION, (uuid,))
        if row is None:
            return None
        n, group, s, relation, obj, start, *source, time_words, grain, ref, corrects = row
        reinforcements = self._rows(_REINFORCEMENTS, (n,))
        again = self._rows(_REPETITIONS, (s, relation, obj, n))
        if known != INF:
            again += self._rows(_RETRACTED_REPETITIONS, (s, relation, obj, n, known, group))
            again.sort(key=itemgetter(-1))
        found = Provenance(
            uuid,
            (StatementSource._make(source), *map(StatementSource._make, reinforcements)),
            time_words,
            grain,
            ref,
            corrects,
            tuple(correction for (correction,) in self._rows(_CORRECTED_BY, (uuid,))),
            tuple(
                Repetition(uuid_again, since, StatementSource._make(words)) for uuid_again, since, *words, _ in again
            ),
            tuple(map(_counter_statement, self._rows(_ENDINGS, (s, relation, obj, start, uuid)))),
            tuple(map(_counter_statement, self._rows(_RETRACTIONS, (uuid,)))),
            tuple(self._revision(*revision) for revision in self._rows(_CLOSINGS, (n,))),
        )
        if known == INF:
            return found
        return found.counting(retracted(self._rows(_RETRACTED_BY, (listed(found.statements()), known))))

    def correcting(self, uuids: Sequence[str]) -> dict[str, str]:
        return dict(self._rows(_CORRECTING, (listed(uuids),)))

    def _revision(self, kind: str, statement: str, position: int, recorded_at: int) -> Revision:
        return Revision(kind, statement, position, recorded_at, self._source(statement))

    def _source(self, statement: str) -> StatementSource | None:
        row = self._row(_STATEMENT, {"uuid": statement})
        return None if row is None else StatementSource._make(row)


def _counter_statement(row: Any) -> CounterStatement:
    uuid, at, dead, *source = row
    return CounterStatement(uuid, at, bool(dead), StatementSource(*source))
