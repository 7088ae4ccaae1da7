"""Gathers the context of a question: what is known about it, as one text for a prompt and for replies."""

from asof.service.session import Session
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
        opened = source.opened()
    except EmptyMemory:
        known, position = (NEG, 0) if query.known_at is None else (_rendered(query.known_at), None)
        return compose(query, Moment(valid, known), position, Material())
    known, position = source.reached(query.group) if query.known_at is None else (_rendered(query.known_at), None)
    at = Moment(valid, known)
    if known == NEG:
        return compose(query, at, position, Material())
    search = search_of(query, at)
    hits = session.search(source, search, at)
    whenever = search.model_copy(update={"valid_at": None, "any_time": True, "over": "facts"})
    others = session.search(source, whenever, Moment(None, known, ever=True))
    facts = [fact for fact in hits if fact.occurrence or holds(fact, valid)]
    turns = turns_of(hits)
    material = Material(
        About(opened.beliefs).entities(query.query, query.group, known, facts, turns),
        facts,
        SlotChanges(opened.questions, opened.beliefs, opened.episodes).of(others, valid, known),
        turns,
        corrected(opened.beliefs, facts),
        hits.unavailable or others.unavailable,
        max(hits.vectors_behind, others.vectors_behind),  # the facts that hold are among those of any time
    )
    return compose(query, at, position, material)


def _rendered(instant: int) -> int:
    """Return an instant, or the nearest one that a calendar has."""
    return min(max(instant, FIRST), LAST)
