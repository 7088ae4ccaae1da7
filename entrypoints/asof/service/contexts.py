"""Gathers the context of a question: what is known about it, as one text for a prompt and for replies."""

from collections.abc import Collection
from dataclasses import replace

from asof.service.read_sessions import ReadSession
from asof.service.session import Session
from asof_projections.model.answers import Hit, Hits
from asof_projections.model.contexts import Context, EntityOutline
from asof_projections.model.queries import ContextQuery, FactSearchQuery
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
    changed = session.search(source, *search_for_changes(query, at))
    return context_of(source, query, at, hits, changed, position)


def search_for_changes(query: ContextQuery, at: Moment) -> tuple[FactSearchQuery, Moment]:
    """Return the search for what changed, and its moment: over facts of any time."""
    whenever = search_of(query, at).model_copy(update={"valid_at": None, "any_time": True, "over": "facts"})
    return whenever, Moment(None, at.known, ever=True)


def context_of(
    source: ReadSession,
    query: ContextQuery,
    at: Moment,
    hits: Hits[Hit],
    changed: Hits[Hit],
    position: int | None,
    without: Collection[str] = (),
) -> Context:
    """Return what is known about a question, given what `search_of` and `search_for_changes` found as of a moment.

    without: ids of episodes; attributes that they said last are left out.
    """
    assert at.valid is not None
    assert at.known is not None
    opened = source.opened()
    facts = [fact for fact in hits if fact.occurrence or holds(fact, at.valid)]
    turns = turns_of(hits)
    entities = About(opened.beliefs).entities(query.query, query.group, at.known, facts, turns)
    material = Material(
        [_outline_without(entity, without) for entity in entities] if without else entities,
        facts,
        SlotChanges(opened.questions, opened.beliefs, opened.episodes).of(changed, at.valid, at.known),
        turns,
        corrected(opened.beliefs, facts),
        hits.unavailable or changed.unavailable,
        max(hits.vectors_behind, changed.vectors_behind),  # the facts that hold are among those of any time
    )
    return compose(query, at, position, material)


def _outline_without(entity: EntityOutline, episodes: Collection[str]) -> EntityOutline:
    attributes = tuple(each for each in entity.attributes if each.episode_id not in episodes)
    return replace(entity, attributes=attributes)


def _rendered(instant: int) -> int:
    """Return an instant, or the nearest one that a calendar has."""
    return min(max(instant, FIRST), LAST)
