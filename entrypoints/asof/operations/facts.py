"""The questions about facts: which hold, which overlap a period, which fit a question, which would be believed."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from asof.operations.moments import known_of, moment_of, page_of
from asof.operations.operation import operation
from asof.operations.times import in_instants
from asof.service.session import Session
from asof_projections.model.answers import Explanation, Fact, Hit, Hits, Page, Segment, WhatIf
from asof_projections.model.queries import (
    FactQuery,
    FactSearchQuery,
    FactsQuery,
    OverlappingQuery,
    ThroughoutQuery,
    WhyQuery,
)
from asof_projections.retrieval.center import nearness
from asof_streams.errors import InvalidInput, NotFound
from asof_streams.messages import FactStatement, accept


@operation(items="facts")
def facts(session: Session, query: FactsQuery) -> Page[Fact]:
    """Return the facts that hold at a moment, by the start of their period, then as said."""
    return session.queries(query.group).facts(query, moment_of(session, query))


@operation(items="facts")
def overlapping(session: Session, query: OverlappingQuery) -> Page[Fact]:
    """Return the facts that hold at some instant of a period, by the start of theirs, then as said."""
    return session.queries(query.group).overlapping(query, known_of(session, query))


@operation(items="segments")
def throughout(session: Session, query: ThroughoutQuery) -> Page[Segment]:
    """Return what holds at every instant of a period, slot by slot."""
    known = known_of(session, query)
    return page_of(session.queries(query.group).throughout(query, known), query, known)


def _nothing_found(session: Session, query: FactSearchQuery) -> Hits[Hit]:
    """Return the answer of a memory to which nothing was written: that of a later one as of a moment before it was."""
    hits: Hits[Hit] = Hits()
    if query.profile == "pipeline":
        from asof_projections.retrieval.pipeline.search import retrieval_of_nothing  # a command starts without it

        hits.retrieval = retrieval_of_nothing(query, session.settings.pipeline)
    return hits


@operation(items="facts", vectors=lambda _: True, empty=_nothing_found)
def search(session: Session, query: FactSearchQuery) -> Hits[Hit]:
    """Return the facts that hold and fit a question best, best first; of equals the one said first.

    With a centre, of those that fit the facts fewest steps away from it come first. Beside them are the episodes that
    fit it best, best first, and behind those the ones that say the facts. While the embedder fails, words alone decide,
    and `unavailable` says why; texts that have no vector yet, such as those of an import just before, are found by
    words, and `vectors_behind` says how many they are. With the profile `pipeline`, `retrieval` says what was made of
    the question.
    """
    at = moment_of(session, query)
    found = [session.search(source, query, at) for source in session.sources.among(query.groups)]
    hits = found[0] if len(found) == 1 else _joined(found, query.limit)
    if hits.retrieval is not None:
        shown = {"metrics": hits.metrics} if query.explain else {"ranking": ()}
        hits.retrieval = replace(hits.retrieval, **shown)
    return hits


def _joined(found: Sequence[Hits[Hit]], limit: int) -> Hits[Hit]:
    """Return the best of the answers of several partitions."""
    from asof_projections.retrieval.pipeline.answers import merged_retrieval, summed  # a command starts without them
    from asof_projections.retrieval.turns import merged

    hits = Hits(sorted((hit for each in found for hit in each), key=nearness)[:limit])
    hits.episodes = merged([each.episodes for each in found], hits, limit)
    hits.unavailable = next((each.unavailable for each in found if each.unavailable), None)
    hits.vectors_behind = sum(each.vectors_behind for each in found)
    hits.retrieval = merged_retrieval(found, hits, limit)
    hits.metrics = summed([each.metrics for each in found])
    return hits


@operation()
def fact(session: Session, query: FactQuery) -> Fact:
    """Return one fact as it is believed now, whenever it holds, the last of its periods. NotFound: not believed."""
    for source in session.sources.every():
        if (found := source.opened().questions.fact(query.id)) is not None:
            return found
    raise NotFound(f"no fact that is believed has the id {query.id}")


@operation()
def why(session: Session, query: WhyQuery) -> Explanation:
    """Return the words that a fact rests on, and those behind what became of it. NotFound: no fact has this id."""
    return session.sources.find(lambda queries: queries.why(query))


def what_if(session: Session, statements: Iterable[Mapping[str, Any] | FactStatement], group: str) -> WhatIf:
    """Return the slots that structured facts would touch if they were imported now, before and after.

    Nothing is written. InvalidInput, NotFound: one of them cannot stand; an import would park it.
    """
    now = session.now()
    stated = [_stated(number, given, group, now) for number, given in enumerate(statements)]
    with session.lock:
        return session.of(group).what_if(stated, now)


def _stated(number: int, given: Mapping[str, Any] | FactStatement, group: str, now: int) -> FactStatement:
    """Return a structured fact of a group. InvalidInput names its number and the field that is wrong."""
    try:
        one = given if isinstance(given, FactStatement) else _accepted({"group_id": group, **given}, now)
        if one.group_id != group:
            raise InvalidInput("it names another group than the one that is asked about", field="group_id")
    except InvalidInput as error:
        raise error.within(f"statements.{number}") from None
    return one


def _accepted(fields: Mapping[str, Any], now: int) -> FactStatement:
    return accept(FactStatement, in_instants(fields, lambda: now))
