"""Gathers the context of a question: what is known about it, as one text for a prompt and for replies."""

from asof.service.read_sessions import ReadSession
from asof.service.session import Session
from asof_projections.model.answers import Hit, Hits
from asof_projections.model.contexts import Context
from asof_projections.model.queries import ContextQuery
from asof_projections.model.rows import Moment
from asof_projections.retrieval.about import About
from asof_projections.retrieval.changes import SlotChanges, corrected, holds
from asof_projections.retrieval.context import Material, compose, search_of, turns_of
from asof_streams.errors import EmptyMemory
from asof_streams.instants import FIRST, LAST, NEG


def gather_context(session: Session, query: ContextQuery) -> Context:
    """Return what is known about a question; of an empty memory that nothing is."""
    valid = _rendered(session.now() if query.valid_at is None else query.valid_at)
    try:
        source = session.of(query.group)
        source.opened()
    except EmptyMemory:
        known, position = (NEG, 0) if query.known_at is None else (_rendered(query.known_at), None)
        return compose(query, Moment(valid, known), position, Material())
    known, position = source.reached(query.group) if query.known_at is None else (_rendered(query.known_at), None)
    at = Moment(valid, known)
    if known == NEG:
        return compose(query, at, position, Material())
    hits = session.search(source, search_of(query, at), at)
    return context_of(session, source, query, at, hits, position)


def context_of(
    session: Session, source: ReadSession, query: ContextQuery, at: Moment, hits: Hits[Hit], position: int | None = None
) -> Context:
    """Return what is known about a question, given what `search_of` it found as of a moment."""
    assert at.valid is not None
    assert at.known is not None
    opened = source.opened()
    whenever = search_of(query, at).model_copy(update={"valid_at": None, "any_time": True, "over": "facts"})
    others = session.search(source, whenever, Moment(None, at.known, ever=True))
    facts = [fact for fact in hits if fact.occurrence or holds(fact, at.valid)]
    turns = turns_of(hits)
    material = Material(
        About(opened.beliefs).entities(query.query, query.group, at.known, facts, turns),
        facts,
        SlotChanges(opened.questions, opened.beliefs, opened.episodes).of(others, at.valid, at.known),
        turns,
        corrected(opened.beliefs, facts),
        hits.unavailable or others.unavailable,
        max(hits.vectors_behind, others.vectors_behind),  # the facts that hold are among those of any time
    )
    return compose(query, at, position, material)


def _rendered(instant: int) -> int:
    """Return an instant, or the nearest one that a calendar has."""
    return min(max(instant, FIRST), LAST)
