"""A context: what a memory knows about a question, as one text within a budget of tokens.

The parts alternate: the entities first, then the best fact, two turns and a change, the next ones, and so on; each line
that still fits is taken. So a small budget has something of each, and a line is there whole or not at all.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain, zip_longest
from typing import Final, NamedTuple

from asof_projections.model.answers import EpisodeHit, Hit, Hits, instant_of, time_of
from asof_projections.model.contexts import (
    ChangeLine,
    Context,
    EntityLine,
    EntityOutline,
    EpisodeLine,
    FactLine,
    Item,
    LeftOut,
)
from asof_projections.model.queries import ContextQuery, FactSearchQuery, ask
from asof_projections.model.rows import Moment
from asof_projections.retrieval.changes import SlotChange
from asof_projections.retrieval.token_count import tokens
from asof_projections.retrieval.wording import HEADINGS, ContextFrame, Wording
from asof_streams.timezones import zone_of

_LINE: Final = 40  # tokens that a line takes at least, more or less: so many are looked for
_MOST: Final = 200  # facts, and as many turns


class Material(NamedTuple):
    """The parts of a context, each with the best first."""

    entities: Sequence[EntityOutline] = ()
    facts: Sequence[Hit] = ()
    changes: Sequence[SlotChange] = ()
    episodes: Sequence[EpisodeHit] = ()
    corrected: Mapping[str, str] = {}  # the sentence that a fact corrects, by its id
    unavailable: str | None = None
    vectors_behind: int = 0


def search_of(query: ContextQuery, at: Moment) -> FactSearchQuery:
    """Return the search that a context rests on: over facts and turns, as of a moment."""
    scope = {"group_id": query.group_id, "all_groups": query.all_groups}
    limit = min(query.budget // _LINE, _MOST)
    moment = {"valid_at": at.valid, "known_at": at.known}
    # Left out, what merely may help stands in a context too, as far as the budget goes.
    least = query.min_probability or 0
    return ask(FactSearchQuery, {"query": query.query, **moment, "limit": limit, "min_probability": least, **scope})


def turns_of(hits: Hits[Hit]) -> list[EpisodeHit]:
    """Return the turns of a search, best first; one that says a fact is right behind the turn of the fact's rank."""
    ranks = {fact.uuid: rank for rank, fact in enumerate(hits)}

    def rank(numbered: tuple[int, EpisodeHit]) -> float:
        number, episode = numbered
        return min([number, *(ranks[fact] + 0.5 for fact in episode.facts if fact in ranks)])

    return [episode for _, episode in sorted(enumerate(hits.episodes), key=rank)]


def compose(query: ContextQuery, at: Moment, position: int | None, material: Material) -> Context:
    """Return the context of what was found as of a moment; never longer than the budget."""
    assert at.valid is not None
    assert at.known is not None
    valid_at, known_at = instant_of(at.valid), time_of(at.known)
    wording = Wording(query.query, zone_of(query.timezone), longest=query.budget)
    frame = wording.frame(query.timezone, valid_at, known_at)
    wanted = (line for line in _lines(material, wording) if not query.kinds or line.kind in query.kinds)
    items, left_out = _fitting(wanted, frame, query.budget)
    text = frame.text([(item.kind, item.line) for item in items], [each.kind for each in left_out])
    return Context(
        text,
        tokens(text),
        query.budget,
        tuple(items),
        tuple(left_out),
        valid_at,
        known_at,
        position,
        query.timezone,
        material.unavailable,
        material.vectors_behind,
    )


def _lines(material: Material, wording: Wording) -> Iterator[Item]:
    """Yield the lines in the order in which they are taken."""

    def counted(line: str) -> tuple[str, int]:
        return line, tokens(line)

    wrong = material.corrected
    facts = (
        FactLine(*counted(wording.fact(fact, wrong.get(fact.uuid))), "fact", fact, wrong.get(fact.uuid))
        for fact in material.facts
    )
    episodes = (EpisodeLine(*counted(wording.episode(hit)), "episode", hit) for hit in material.episodes)
    changes = (
        ChangeLine(
            *counted(wording.change(*change)), "change", change.fact, change.changed_at, change.other, change.retracted
        )
        for change in material.changes
    )
    yield from (EntityLine(*counted(wording.entity(entity)), "entity", entity) for entity in material.entities)
    rounds = zip_longest(facts, episodes, episodes, changes)  # one iterator twice: two turns to each fact
    yield from filter(None, chain.from_iterable(rounds))


def _fitting(lines: Iterable[Item], frame: ContextFrame, budget: int) -> tuple[list[Item], list[LeftOut]]:
    """Return the lines that fit a budget in the order of the text, and what is left out."""
    items: list[Item] = []
    left_out: list[LeftOut] = []
    headed = set()
    rest = budget - frame.tokens
    for item in lines:
        heading = 0 if item.kind in headed else tokens(HEADINGS[item.kind]) + 1
        if heading + item.tokens + 1 <= rest:
            rest -= heading + item.tokens + 1
            headed.add(item.kind)
            items.append(item)
        else:
            left_out.append(LeftOut(item.kind, _uuid(item), item.tokens))
    return sorted(items, key=_place), left_out


def _uuid(item: Item) -> str:
    match item:
        case EntityLine():
            return item.entity.uuid
        case EpisodeLine():
            return item.episode.uuid
        case _:
            return item.fact.uuid


def _place(item: Item) -> tuple[int, float, int]:
    """Return the key of an item in the text: by section; changes latest first, turns as they were said."""
    section = [*HEADINGS].index(item.kind)
    match item:
        case ChangeLine():
            return section, -item.changed_at.timestamp(), 0
        case EpisodeLine():
            return section, item.episode.valid_at.timestamp(), item.episode.position
        case _:
            return section, 0, 0
