"""The views of handlers on what is known so far: EpisodeView and BeliefView of asof_agents.ports, in constant SQL."""

from collections.abc import Hashable, Iterator, Mapping, Sequence
from typing import Any, Final

from asof_projections.graph.sqlite_store.base import SqliteReader, listed, value_of
from asof_projections.graph.sqlite_store.columns import COUNTS, ENTITY, EPISODE, MENTION, UNSETTLED, mention
from asof_projections.graph.sqlite_store.recent_turns import KEPT
from asof_projections.graph.sqlite_store.row_ids import Claim
from asof_projections.graph.sqlite_store.schema import has_id
from asof_projections.model.rows import EntityRow, EpisodeRow, MentionRow, Slot, Statement, Window
from asof_projections.names import key as key_of
from asof_projections.versions import UNKNOWN_GRAIN, Assertion, Ending, Interval
from asof_streams.episodic import ExtractionAnswered, ExtractionFailed
from asof_streams.instants import INF, NEG

_EPISODE_BY_ID: Final = f"{EPISODE} WHERE {has_id('e.uuid', '?1')}"
_EPISODES_RECENT: Final = f"""{EPISODE} WHERE e.grp = ? AND e.source = ? AND e.valid_at <= ? AND e.cause < ?
    AND NOT EXISTS (SELECT 1 FROM withdrawals w WHERE w.episode = e.uuid AND w.cause < ?)
    ORDER BY e.valid_at DESC, e.n DESC LIMIT ?"""
_EPISODES_BETWEEN: Final = f"""{EPISODE} WHERE (:grp IS NULL OR e.grp = :grp) AND e.valid_at BETWEEN :vmin AND :vmax
    AND e.created_at <= :kmax AND e.n > coalesce((SELECT n FROM episodes WHERE {has_id("uuid", ":after")}), -1)
    AND NOT EXISTS (SELECT 1 FROM withdrawals w WHERE w.episode = e.uuid AND w.created_at <= :kmax)
    ORDER BY e.n LIMIT :limit"""
_LAST_TEXTS: Final = """SELECT n FROM episodes WHERE source <> 'fact' AND content_length > 0
    AND (:grp IS NULL OR grp = :grp) ORDER BY n DESC LIMIT :most"""
_GROUPS: Final = """SELECT g.name, (SELECT count(*) FROM episodes e WHERE e.grp = g.n) AS many,
    (SELECT max(created_at) FROM episodes e WHERE e.grp = g.n)
    FROM groups g WHERE g.name > :after AND g.name >= :prefix AND g.name < :beyond AND many > 0
    ORDER BY g.name LIMIT :limit"""
_ANY_WITHDRAWAL: Final = "SELECT EXISTS (SELECT 1 FROM withdrawals)"
_WITHDRAWN: Final = "SELECT EXISTS (SELECT 1 FROM withdrawals WHERE episode = ?)"
_TIMEZONE: Final = "SELECT timezone FROM timezones WHERE grp = ? AND cause < ? ORDER BY cause DESC LIMIT 1"
_MENTIONS: Final = f"{MENTION} WHERE m.episode IN (SELECT value FROM json_each(?)) ORDER BY m.n"
_MENTIONS_CALLED: Final = "SELECT uuid FROM mentions WHERE grp = ? AND folded = ? ORDER BY n"
_TYPE_OF_NAME: Final = "SELECT type FROM mentions WHERE grp = ? AND folded = ? ORDER BY n DESC LIMIT 1"
_ANSWER: Final = "SELECT answered FROM answers WHERE grp = ? AND request = ? ORDER BY n LIMIT 1"

_ANSWERS: Final = """SELECT g.name, a.answered, a.n FROM answers a CROSS JOIN groups g ON g.n = a.grp
    WHERE (:grp IS NULL OR a.grp = :grp) AND a.n > :after AND NOT EXISTS (
        SELECT 1 FROM answers b WHERE b.grp = a.grp AND b.request = a.request AND b.n < a.n)
    ORDER BY a.n LIMIT :page"""
_FAILURES: Final = """SELECT g.name, f.cause, f.failed, f.n FROM failures f CROSS JOIN groups g ON g.n = f.grp
    WHERE (:grp IS NULL OR f.grp = :grp) AND f.n > :after ORDER BY f.n LIMIT :page"""
_FAILURE: Final = "SELECT failed FROM failures WHERE grp = ? AND cause = ? AND request = ? ORDER BY n LIMIT 1"
_RETRIED: Final = "SELECT created_at FROM retries WHERE cause = ? ORDER BY n"
_STATES: Final = f"SELECT DISTINCT state FROM parked p WHERE cause = ? AND {UNSETTLED} ORDER BY state"

_ENTITY_BY_ID: Final = f"{ENTITY} WHERE e.uuid = ?"
_ENTITIES_NAMED: Final = f"""SELECT e.n, e.uuid, e.name, e.type, e.created_at
    FROM names m CROSS JOIN entities e ON e.n = m.entity WHERE m.grp = ? AND m.key = ? AND m.name = ? AND {COUNTS}"""
_ENTITIES_KEYED: Final = f"""SELECT e.n, e.uuid, e.name, e.type, e.created_at
    FROM names m CROSS JOIN entities e ON e.n = m.entity WHERE m.grp = ? AND m.key = ? AND {COUNTS}"""
_ENTITIES_WITH_WORD: Final = """SELECT e.n, e.uuid, e.name, e.type, e.created_at
    FROM words w CROSS JOIN entities e ON e.n = w.entity WHERE w.grp = ? AND w.word = ?
    AND (w.episode = '' OR NOT EXISTS (SELECT 1 FROM withdrawals d WHERE d.episode = w.episode))
    GROUP BY w.entity ORDER BY w.entity LIMIT 50"""
_RESOLVED: Final = f"""SELECT e.uuid FROM resolutions r CROSS JOIN entities e ON e.n = r.entity
    WHERE {has_id("r.mention", ":id")} ORDER BY r.n DESC LIMIT 1"""
ANY_ENDING: Final = "SELECT EXISTS (SELECT 1 FROM endings)"
ANY_TIMEZONE: Final = "SELECT EXISTS (SELECT 1 FROM timezones)"
_UNKNOWN: Final = -1  # the id of a name that has no row
_SINGLE: Final = """SELECT coalesce((SELECT c.single FROM groups g CROSS JOIN cardinalities c ON c.grp = g.n
    WHERE g.name IN ('', ?) AND c.relation = ? ORDER BY g.name DESC LIMIT 1), 0)"""
_NOTHING: Final = Slot((), (), {})  # as most slots are before their first statement

# The test of the type keeps literals apart from ids: SQLite would read the literal '42' as the number 42.
_OBJECT: Final = "LEFT JOIN entities o ON typeof(f.object) = 'integer' AND o.n = f.object"
_ASSERTIONS: Final = f"""
    SELECT f.uuid, o.uuid, f.object, f.stated_from, f.stated_to, f.cause, f.place, f.attested, v.vf, v.vt, f.n,
    EXISTS (SELECT 1 FROM deeds own WHERE own.n = f.n AND own.occurrence)
    FROM facts f {_OBJECT} LEFT JOIN versions v ON v.fact = f.n AND v.kt = {INF}
    WHERE f.s = ? AND f.relation = ? AND f.dead = 0"""
_ASSERTIONS_OF_SLOT: Final = f"{_ASSERTIONS} ORDER BY f.n, v.vf"
_ASSERTIONS_OF_VALUE: Final = f"{_ASSERTIONS} AND f.object = ? ORDER BY f.n, v.vf"
_GRANULES: Final = """SELECT c.fact, c.vf, c.vt, c.planned,
    EXISTS (SELECT 1 FROM withdrawals w WHERE w.episode = c.episode)
    FROM deeds c WHERE c.fact IN (SELECT value FROM json_each(?)) AND c.occurrence ORDER BY c.n"""
_ENDINGS: Final = f"""SELECT f.uuid, o.uuid, f.object, f.at, f.fact FROM endings f {_OBJECT}
    WHERE f.s = ? AND f.relation = ? AND f.dead = 0"""
_ENDINGS_OF_SLOT: Final = f"{_ENDINGS} ORDER BY f.n"
_ENDINGS_OF_VALUE: Final = f"{_ENDINGS} AND (f.object IS NULL OR f.object = ?) ORDER BY f.n"

_FACT: Final = f"""SELECT f.uuid, g.name, s.uuid, r.name, f.dead, o.uuid, f.object, f.stated_from, f.stated_to,
    f.cause, f.place, f.attested, f.said_at, f.confidence, f.ref, f.n
    FROM facts f CROSS JOIN groups g ON g.n = f.grp CROSS JOIN entities s ON s.n = f.s
    CROSS JOIN relations r ON r.n = f.relation {_OBJECT}"""
_FACT_BY_ID: Final = f"{_FACT} WHERE {has_id('f.uuid', '?1')}"
_FACT_BY_REF: Final = f"{_FACT} WHERE f.grp = ? AND f.ref = ? ORDER BY f.n DESC LIMIT 1"
_ENDING_BY_ID: Final = f"""SELECT f.uuid, g.name, s.uuid, r.name, f.dead, o.uuid, f.object, f.at, f.fact
    FROM endings f CROSS JOIN groups g ON g.n = f.grp CROSS JOIN entities s ON s.n = f.s
    CROSS JOIN relations r ON r.n = f.relation {_OBJECT} WHERE f.uuid = ?"""
_RETRACTION: Final = """SELECT f.uuid, g.name, f.dead, f.target FROM retractions f CROSS JOIN groups g ON g.n = f.grp"""
_RETRACTION_BY_ID: Final = f"{_RETRACTION} WHERE f.uuid = ?"
_RETRACTIONS_OF: Final = f"{_RETRACTION} WHERE f.target = ? ORDER BY f.n"
_OTHERS: Final = "({0} <> :episode AND NOT EXISTS (SELECT 1 FROM withdrawals w WHERE w.episode = {0}))"
_THEN: Final = "created_at IN (SELECT value FROM json_each(:at)) AND episode = :episode"
_SAID_THEN: Final = f"SELECT n, uuid FROM {{0}} WHERE {_THEN}"
_FACTS_SAID: Final = f"SELECT n FROM facts WHERE {_THEN} UNION SELECT fact FROM reinforcements WHERE {_THEN}"
_ATTESTED: Final = f"""SELECT uuid, last FROM (SELECT f.n, f.uuid, f.attested, max(
        iif({_OTHERS.format("f.episode")}, f.said_at, {NEG}), coalesce((SELECT max(r.said_at) FROM reinforcements r
            WHERE r.fact = f.n AND {_OTHERS.format("r.episode")}), {NEG})) AS last
        FROM facts f WHERE f.n IN ({_FACTS_SAID}))
    WHERE last <> {NEG} AND last <> attested ORDER BY n"""
_RESTING: Final = f"""SELECT f.n, f.uuid FROM facts f WHERE f.n IN ({_FACTS_SAID})
    AND NOT {_OTHERS.format("f.episode")}
    AND NOT EXISTS (SELECT 1 FROM reinforcements r WHERE r.fact = f.n AND {_OTHERS.format("r.episode")})
    UNION ALL {_SAID_THEN.format("endings")} UNION ALL {_SAID_THEN.format("retractions")} ORDER BY 1 DESC"""
_GRANULES_OF_OTHERS: Final = f"""SELECT f.uuid, c.vf, c.vt FROM facts f CROSS JOIN deeds c ON c.fact = f.n
    WHERE c.occurrence AND f.n IN ({_FACTS_SAID}) AND {_OTHERS.format("c.episode")} ORDER BY f.n, c.n"""
_CONTRADICTIONS: Final = f"""SELECT uuid, earlier, later FROM contradictions WHERE settled_at = {INF} AND n IN (
    SELECT n FROM contradictions WHERE settled_at = {INF} AND earlier IN (SELECT value FROM json_each(:facts))
    UNION SELECT n FROM contradictions WHERE settled_at = {INF} AND later IN (SELECT value FROM json_each(:facts)))
    ORDER BY n"""

_PUT_BACK: Final = f"""SELECT uuid FROM facts
    WHERE corrects IN (SELECT value FROM json_each(?)) AND grain = '{UNKNOWN_GRAIN}' AND dead = 0 ORDER BY n"""

_Told = tuple[Interval, bool]  # a granule, and whether it was planned


class SqliteViews(SqliteReader):
    """EpisodeView and BeliefView over one store."""

    def episode(self, uuid: str) -> EpisodeRow | None:
        row = self._row(_EPISODE_BY_ID, (uuid,))
        return EpisodeRow._make(row) if row else None

    def timezone(self, group: str, before: int) -> str | None:
        if not self._cached(ANY_TIMEZONE):  # cached: every message asks, and most memories have none
            return None
        row = self._execute(_TIMEZONE, (self._group(group), before)).fetchone()  # they are written at once
        return None if row is None else str(row[0])

    def recent(self, group: str, source: str, until: int, before: int, limit: int) -> list[EpisodeRow]:
        def read(until: int, before: int, limit: int) -> list[EpisodeRow]:
            rows = self._rows(_EPISODES_RECENT, (self._group(group), source, until, before, before, limit))
            return [EpisodeRow._make(row) for row in reversed(rows)]

        if self._turns is None or self._cached(_ANY_WITHDRAWAL):  # a past position may come before a withdrawal
            return read(until, before, limit)
        kept = self._turns.recent(group, source, until, before, limit, lambda: read(INF, INF, KEPT))
        return read(until, before, limit) if kept is None else kept

    def episodes_between(
        self, group: str | None, window: Window, *, after: str | None = None, limit: int | None = None
    ) -> list[EpisodeRow]:
        """Return the episodes that were said and known in a window and are not withdrawn, in the order of the log.

        after: only those recorded after the episode with this id.
        """
        grp = None if group is None else self._group(group)
        parameters = {**window._asdict(), "grp": grp, "after": after, "limit": -1 if limit is None else limit}
        return [EpisodeRow._make(row) for row in self._rows(_EPISODES_BETWEEN, parameters)]

    def last_texts(self, group: str | None, most: int) -> list[int]:
        """Return the positions in the log of the last episodes with words, of a group or of all, latest first."""
        rows = self._rows(_LAST_TEXTS, {"grp": None if group is None else self._group(group), "most": most})
        return [n for (n,) in rows]

    def group_counts(self, prefix: str, after: str, limit: int | None) -> list[tuple[str, int, int]]:
        """Return (group, its episodes, when the last was recorded) by name; only with a prefix, and after a group."""
        return list(
            self._rows(
                _GROUPS,
                {
                    "prefix": prefix,
                    "beyond": prefix + "\U0010ffff",
                    "after": after,
                    "limit": -1 if limit is None else limit,
                },
            )
        )

    def withdrawn(self, episode: str) -> bool:
        return bool(self._one(_WITHDRAWN, episode))

    def mentions_of(self, episodes: Sequence[str]) -> list[MentionRow]:
        kept = None if self._turns is None else self._turns.mentions_of(episodes)
        return [mention(row) for row in self._rows(_MENTIONS, (listed(episodes),))] if kept is None else kept

    def mentions_called(self, group: str, name: str) -> list[str]:
        return [uuid for (uuid,) in self._rows(_MENTIONS_CALLED, (self._group(group), name.casefold()))]

    def types_of_names(self, group: str, names: Sequence[str]) -> Mapping[str, str]:
        types, n = {}, self._group(group)
        for name in names:
            called = ("called", n, name.casefold())
            type_ = None if self._cache is None else self._cache[called]
            if type_ is None and (rows := self._rows_on(called, _TYPE_OF_NAME, called[1:])):
                type_ = rows[0][0]
                if self._cache is not None:
                    self._cache[called] = type_
            if type_ is not None:
                types[name] = type_
        return types

    def answer(self, group: str, request: str) -> ExtractionAnswered | None:
        payload = self._one(_ANSWER, self._group(group), request)
        return None if payload is None else ExtractionAnswered.model_validate_json(payload)

    def failure(self, group: str, request: str, cause: int) -> ExtractionFailed | None:
        payload = self._one(_FAILURE, self._group(group), cause, request)
        return None if payload is None else ExtractionFailed.model_validate_json(payload)

    def answers(self, group: str | None) -> Iterator[tuple[str, ExtractionAnswered]]:
        """Yield what a model answered, with the group: each request once, in the order of the log."""
        rows = self._pages(_ANSWERS, grp=None if group is None else self._group(group))
        return ((name, ExtractionAnswered.model_validate_json(payload)) for name, payload, _ in rows)

    def failures(self, group: str | None) -> Iterator[tuple[str, int, ExtractionFailed]]:
        """Yield what a model did not answer, with the group and the position of the message, in their order."""
        rows = self._pages(_FAILURES, grp=None if group is None else self._group(group))
        return ((name, cause, ExtractionFailed.model_validate_json(payload)) for name, cause, payload, _ in rows)

    def unsettled(self, position: int) -> set[str]:
        return {state for (state,) in self._rows(_STATES, (position,))}

    def retried(self, position: int) -> list[int]:
        return [at for (at,) in self._rows(_RETRIED, (position,))]

    def entity(self, uuid: str) -> EntityRow | None:
        query = ("entity", uuid)
        entity: EntityRow | None = None if self._cache is None else self._cache[query]
        if entity is None and (rows := self._rows_on(uuid, _ENTITY_BY_ID, (uuid,))):
            entity = EntityRow._make(rows[0])
            if self._cache is not None:  # nothing changes it but the erasure of its group
                self._cache[query] = entity
        return entity

    def entities_named(self, group: str, name: str) -> list[EntityRow]:
        query = ("name", group, name)
        entities: list[EntityRow] | None = None if self._cache is None else self._cache[query]
        if entities is None:
            n, key = self._group(group), key_of(name)
            rows = self._rows_on(("name", n, key), _ENTITIES_NAMED, (n, key, name))
            entities = _entities(group, rows) if rows else []
            if self._cache is not None:
                self._cache[query] = entities
        return entities

    def entities_keyed(self, group: str, key: str) -> list[EntityRow]:
        n = self._group(group)
        return _entities(group, self._rows_on(("name", n, key), _ENTITIES_KEYED, (n, key)))

    def entities_with_word(self, group: str, word: str) -> list[EntityRow]:
        n = self._group(group)
        return _entities(group, self._rows_on(("word", n, word), _ENTITIES_WITH_WORD, (n, word)))

    def resolved(self, mention: str) -> str | None:
        rows = self._rows_on(("meant", mention), _RESOLVED, {"id": mention})
        return rows[0][0] if rows else None

    def single(self, group: str, relation: str) -> bool:
        return bool(self._cached(_SINGLE, group, relation))

    def slot(self, group: str, subject: str, relation: str, value: str | None) -> Slot:
        if value is not None or self._slots is None:
            return self.read_slot(group, subject, relation, value)
        return self._slots.read(group, subject, relation, lambda: self.read_slot(group, subject, relation, None))

    def read_slot(self, group: str, subject: str, relation: str, value: str | None) -> Slot:
        """Return a slot as `slot` does, from the rows, and without indexes."""
        key = (self._entity(subject), self._relation(group, relation))
        ended = self._cached(
            ANY_ENDING, buffered=True
        )  # cached: it is read for every statement, and most memories have no ending
        if value is None:
            rows = self._rows_on(("slot", *key), _ASSERTIONS_OF_SLOT, key)
            ends = self._rows_on(("ending", *key), _ENDINGS_OF_SLOT, key) if ended else []
        else:
            only = (*key, self._object(value))
            rows = self._rows_on(("slot", *only), _ASSERTIONS_OF_VALUE, only) if _UNKNOWN not in only else []
            ends = self._rows_on(("ending", *key), _ENDINGS_OF_VALUE, only) if ended else []
        if not rows and not ends:
            return _NOTHING
        grp = self._group(group)
        happened = [row[10] for row in rows if row[11]]
        told = self._granules(("slot", *key), happened) if happened else {}
        assertions: dict[str, Assertion] = {}
        held: dict[str, tuple[tuple[int, int], ...]] = {}
        for row in rows:
            uuid, vf, vt = row[0], row[8], row[9]
            if uuid not in assertions:
                assertions[uuid] = _assertion(uuid, row[1:8], told.get(row[10], ()))
                held[uuid] = ()
                self._remember_fact(uuid, row[10], (grp, *key, row[2]))
            if vf is not None:
                held[uuid] += ((vf, vt),)
        return Slot(tuple(assertions.values()), tuple(_ending(end[0], end[1:]) for end in ends), held)

    def _granules(self, dependence: Hashable, facts: Sequence[int]) -> dict[int, list[_Told]]:
        """Return what live statements tell of some occurrences, by row id: the granule, and whether it is planned.

        Of an occurrence whose episodes are all withdrawn it is what its assertion tells.
        """
        told: dict[int, list[_Told]] = {}
        withdrawn: dict[int, _Told] = {}
        for fact, vf, vt, planned, is_withdrawn in self._rows_on(dependence, _GRANULES, (listed(facts),)):
            if is_withdrawn:
                withdrawn.setdefault(fact, ((vf, vt), bool(planned)))
            else:
                told.setdefault(fact, []).append(((vf, vt), bool(planned)))
        return {fact: [first] for fact, first in withdrawn.items()} | told

    def _remember_fact(self, uuid: str, n: int, claim: Claim) -> None:
        """Cache the row ids of a fact that was read: the message may change it next."""

    def statement(self, uuid: str) -> Statement | None:
        self._index_for("fact_uuid", "deed_fact")
        row = self._row(_FACT_BY_ID, (uuid,))
        if row is not None:
            return self._fact(row)
        row = self._row(_ENDING_BY_ID, (uuid,))
        if row is not None:
            _, group, subject, relation, dead, *ending = row
            return Statement(uuid, group, subject, relation, bool(dead), ending=_ending(uuid, ending))
        row = self._row(_RETRACTION_BY_ID, (uuid,))
        return None if row is None else _retraction(row)

    def resting_on(self, episode: str, recorded_at: Sequence[int]) -> list[str]:
        return [uuid for _, uuid in self._rows(_RESTING, {"episode": episode, "at": listed(recorded_at)})]

    def attested_without(self, episode: str, recorded_at: Sequence[int]) -> list[tuple[str, int]]:
        return self._rows(_ATTESTED, {"episode": episode, "at": listed(recorded_at)})

    def put_back(self, facts: Sequence[str]) -> list[str]:
        if not facts:  # as for most messages
            return []
        self._index_for("fact_corrects")
        return [uuid for (uuid,) in self._rows(_PUT_BACK, (listed(facts),))]

    def granules_without(self, episode: str, recorded_at: Sequence[int]) -> list[tuple[str, tuple[Interval, ...]]]:
        rows = self._rows(_GRANULES_OF_OTHERS, {"episode": episode, "at": listed(recorded_at)})
        told: dict[str, list[Interval]] = {}
        for uuid, vf, vt in rows:
            told.setdefault(uuid, []).append((vf, vt))
        return [(uuid, tuple(granules)) for uuid, granules in told.items()]

    def retractions_of(self, uuid: str) -> list[Statement]:
        return [_retraction(row) for row in self._rows(_RETRACTIONS_OF, (uuid,))]

    def fact_with_ref(self, group: str, ref: str) -> Statement | None:
        row = self._row(_FACT_BY_REF, (self._group(group), ref))
        return None if row is None else self._fact(row)

    def _fact(self, row: Any) -> Statement:
        *_, said_at, confidence, ref, n = row
        uuid, group, subject, relation, dead = row[:5]
        assertion = _assertion(uuid, row[5:12], self._granules(uuid, [n]).get(n, ()))
        return Statement(
            uuid, group, subject, relation, bool(dead), assertion, confidence=confidence, ref=ref, said_at=said_at
        )

    def open_contradictions(self, facts: Sequence[str]) -> list[tuple[str, str, str]]:
        return self._rows(_CONTRADICTIONS, {"facts": listed(facts)})


def _entities(group: str, rows: list[Any]) -> list[EntityRow]:
    """Return entities oldest first, each once: one that was given a name twice has two rows."""
    return [EntityRow(row[1], group, *row[2:]) for row in dict.fromkeys(sorted(rows) if len(rows) > 1 else rows)]


def _assertion(uuid: str, row: Any, told: Sequence[_Told]) -> Assertion:
    entity, obj, start, end, cause, place, attested = row
    value = value_of(entity, obj)
    assert value is not None
    granules = tuple(granule for granule, _ in told)
    done = not told or not all(planned for _, planned in told)
    return Assertion(uuid, value, start, end, (cause, place), attested, granules, done)


def _ending(uuid: str, row: Any) -> Ending:
    entity, obj, at, fact = row
    return Ending(uuid, value_of(entity, obj), at, fact)


def _retraction(row: Any) -> Statement:
    uuid, group, dead, target = row
    return Statement(uuid, group, "", "", bool(dead), target=target)
