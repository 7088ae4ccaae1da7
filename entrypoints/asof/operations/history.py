"""The questions about change: what held when, when it was believed, and what differs between two points."""

from asof.operations.moments import known_of, page_of
from asof.operations.operation import operation
from asof.service.session import Session
from asof_projections.model.answers import BeliefPeriod, Changes, Difference, FactVersion, Page, Segment
from asof_projections.model.queries import (
    ChangesQuery,
    DiffQuery,
    HistoryQuery,
    KnownHistoryQuery,
    TimelineQuery,
)
from asof_streams.errors import EmptyMemory


@operation(items="versions")
def history(session: Session, query: HistoryQuery) -> Page[FactVersion]:
    """Return every version of a fact (by id) or of an entity's facts (by name), with what made each."""
    known = known_of(session, query)
    versions = [v for source in session.sources.every() for v in source.opened().questions.history(query, known)]
    return page_of(versions, query, known)


@operation(items="periods")
def known_history(session: Session, query: KnownHistoryQuery) -> list[BeliefPeriod]:
    """Return when a fact was believed to hold at a moment, or at any. NotFound: no fact has this id."""
    return session.sources.find(lambda queries: queries.known_history(query))


@operation(items="segments")
def timeline(session: Session, query: TimelineQuery) -> Page[Segment]:
    """Return what held of an entity and when: slot by slot, by time, with the gaps."""
    known = known_of(session, query)
    return page_of(session.queries(query.group).timeline(query, known), query, known)


@operation(items="changes")
def diff(session: Session, query: DiffQuery) -> Page[Difference]:
    """Return what differs between two points, each change under one label, by the start of the fact's period."""
    known = known_of(session, query)
    return page_of(session.queries(query.group).diff(query, known), query, known)


@operation()
def changes(session: Session, query: ChangesQuery) -> Changes:
    """Return what messages after a position changed, in their order, and where to go on from."""
    try:
        return session.queries(query.group).changes(query)
    except EmptyMemory:
        return Changes((), query.after)
