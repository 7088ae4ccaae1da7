"""Gathers the context of a question: what is known about it, as one text for a prompt and for replies."""

from collections.abc import Collection, Sequence
from dataclasses import fields, replace
from typing import Final

from asof.service.read_sessions import ReadSession
from asof.service.session import Session
from asof_projections.model.answers import Fact, Hit, Hits, Scores
from asof_projections.model.contexts import Context, EntityOutline
from asof_projections.model.queries import ContextQuery, FactSearchQuery, FactsQuery, ask
from asof_projections.model.rows import Moment
from asof_projections.retrieval.about import About
from asof_projections.retrieval.changes import SlotChanges, corrected, holds
from asof_projections.retrieval.context import Material, compose, search_of, turns_of
from asof_projections.retrieval.rule_scopes import RULE, Path, closeness, named_paths
from asof_streams.errors import EmptyMemory
from asof_streams.instants import FIRST, LAST, NEG

_RULES: Final = 200  # that are looked at


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
    if paths := named_paths(query.query):
        hits[:] = _with_rules(source, query, at, hits, paths)
    changed = session.search(source, *search_for_changes(query, at))
    return context_of(source, query, at, hits, changed, position)


def _with_rules(
    source: ReadSession, query: ContextQuery, at: Moment, hits: Sequence[Hit], paths: Sequence[Path]
) -> list[Hit]:
    """Return facts with the rules that hold for the paths that a question names, and without those of other paths.

    The rules of the paths and of folders above them come first, the closest first, and those of no path last: unless a
    least probability was asked for, all of them, whatever words they have.
    """
    scope = {"group_id": query.group_id, "all_groups": query.all_groups, "relation": RULE, "limit": _RULES}
    asked = ask(FactsQuery, {**scope, "valid_at": at.valid, "known_at": at.known})
    held = source.opened().questions.facts(asked, at) if query.min_probability is None else []
    rules = {fact.uuid: fact for fact in (*map(_unranked, held), *(hit for hit in hits if hit.relation == RULE))}
    near = {uuid: closeness(fact.object, paths) for uuid, fact in rules.items()}
    own = sorted((uuid for uuid in rules if near[uuid]), key=lambda uuid: -(near[uuid] or 0))
    found = [hit for hit in hits if near.get(hit.uuid, 0) == 0]
    known = {hit.uuid for hit in found}
    return [
        *(rules[uuid] for uuid in own),
        *found,
        *(fact for uuid, fact in rules.items() if near[uuid] == 0 and uuid not in known),
    ]


def _unranked(fact: Fact) -> Hit:
    """Return a fact that no search has weighed."""
    own = {each.name: getattr(fact, each.name) for each in fields(Fact)}
    return Hit(**own, score=0.0, probability=None, scores=Scores(None, None), hop=None)


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
