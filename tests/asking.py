"""Questions in few words: queries made of plain arguments, put to stores and to TemporalQueries."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from asof.api.memory import Memory
from asof.runtime.wiring import open_log
from asof_projections.model import queries
from asof_projections.model.answers import time_of
from asof_projections.model.queries import FactsFilter, ask
from asof_projections.model.rows import FactRow, Moment, Window
from asof_projections.queries.temporal import TemporalQueries
from asof_streams.instants import INF, NEG, from_datetime

NO_LITERAL = "\0"  # where the objects are entities alone


def filter_of(group: str | None, **fields: Any) -> FactsFilter:
    scope = {"all_groups": True} if group is None else {"group_id": group}
    return ask(FactsFilter, {**scope, **fields})


def facts_at(
    store: Any,
    group: str | None,
    at: Moment | Window,
    *,
    subjects: Sequence[str] | None = None,
    relation: str | None = None,
    objects: Sequence[str] | None = None,
    value: str | None = None,
    limit: int | None = None,
    cursor: str | None = None,
) -> list[FactRow]:
    """Return the versions of a store that meet a moment, or a window."""
    window = at if isinstance(at, Window) else Window.at(at)
    literal = NO_LITERAL if value is None and objects is not None else value
    query = filter_of(group, relation=relation, object=literal, cursor=cursor)
    rows: list[FactRow] = store.facts(query, window, subjects=subjects, objects=objects, limit=limit)
    return rows


def facts_during(store: Any, group: str | None, start: int, stop: int, known: int | None, **of: Any) -> list[FactRow]:
    """Return the versions of a store that hold at some instant of [start, stop)."""
    return facts_at(store, group, Window.during(start, stop, known), **of)


def records(
    memory: Memory,
    log: str = "semantic",
    start: int = 0,
    stop: int | None = None,
    *,
    generation: str | None = None,
    partition: int | None = None,
) -> list[Any]:
    """Return the records of a log of a memory, their events typed."""
    source = memory._session.sources.partition(partition)
    source.process_backlog()
    with open_log(source.places, log, generation) as opened:
        return list(opened.read(start, stop))


class Asker:
    """TemporalQueries asked with a moment and a group: None is every group."""

    def __init__(self, questions: TemporalQueries) -> None:
        self._questions = questions

    def _query(self, kind: Any, group: str | None, **fields: Any) -> Any:
        scope = {"all_groups": True} if group is None else {"group_id": group}
        return ask(kind, {**scope, **fields})

    def facts(self, at: Moment, group: str | None = None, **of: Any) -> Any:
        return self._questions.facts(self._query(queries.FactsQuery, group, **of), at)

    def overlapping(self, start: int, stop: int, known: int, group: str | None = None, **of: Any) -> Any:
        query = self._query(queries.OverlappingQuery, group, start=start, stop=stop, **of)
        return self._questions.overlapping(query, known)

    def throughout(self, start: int, stop: int, known: int, group: str | None = None, **of: Any) -> Any:
        query = self._query(queries.ThroughoutQuery, group, start=start, stop=stop, **of)
        return self._questions.throughout(query, known)

    def timeline(self, name: str, known: int, group: str | None = None, **of: Any) -> Any:
        return self._questions.timeline(self._query(queries.TimelineQuery, group, name=name, **of), known)

    def entities(self, known: int, group: str | None = None, **of: Any) -> Any:
        return self._questions.entities(self._query(queries.EntitiesQuery, group, **of), known)

    def communities(self, known: int, group: str | None = None) -> Any:
        rows = self._questions.communities(self._query(queries.CommunitiesQuery, group), known)
        return [self._questions.community(row, Moment(known, known)) for row in rows]

    def entity(self, name: str, at: Moment, group: str | None = None, **of: Any) -> Any:
        return self._questions.entity(self._query(queries.EntityQuery, group, name=name, **of), at)

    def neighbourhood(self, name: str, hops: int, at: Moment, group: str | None = None, **of: Any) -> Any:
        query = self._query(queries.NeighbourhoodQuery, group, name=name, hops=hops, **of)
        return self._questions.neighbourhood(query, at)

    def history(self, what: str, group: str | None = None, known: int = queries.HEAD) -> Any:
        return self._questions.history(self._query(queries.HistoryQuery, group, id=what), known)

    def known_history(self, fact: str, valid: int | None) -> Any:
        return self._questions.known_history(queries.KnownHistoryQuery(id=fact, valid_at=valid))

    def diff(self, first: Moment, second: Moment, group: str | None = None, **of: Any) -> Any:
        query = self._query(queries.DiffQuery, group, start=first[:2], stop=second[:2], **of)
        return self._questions.diff(query, queries.HEAD)

    def changes(self, after: int, limit: int, group: str | None = None) -> Any:
        return self._questions.changes(self._query(queries.ChangesQuery, group, after=after, limit=limit))

    def why(self, fact: str, known: int | None = None) -> Any:
        return self._questions.why(queries.WhyQuery(id=fact, known_at=known))


def start_of(moment: datetime | None) -> int:
    """Return the start of a period of an answer as microseconds."""
    return NEG if moment is None else from_datetime(moment)


def end_of(moment: datetime | None) -> int:
    """Return the end of a period of an answer as microseconds."""
    return INF if moment is None else from_datetime(moment)


def time(instant: int) -> datetime | None:
    """Return microseconds as answers have them."""
    return time_of(instant)


def search_of(text: str, group: str | None = None, **fields: Any) -> queries.FactSearchQuery:
    scope = {} if "group_ids" in fields else {"all_groups": True} if group is None else {"group_id": group}
    return ask(queries.FactSearchQuery, {"query": text, **scope, **fields})
