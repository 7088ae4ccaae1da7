"""The tool that explains a fact by the words that it rests on: explain_fact."""

from collections.abc import Iterable, Mapping
from functools import partial
from typing import Any, Final

from asof.mcp.answers import Moments
from asof.mcp.arguments import Arguments, MaybeTime, like
from asof.mcp.belief_answers import ExplainedFact, Explanations, WhatBecame, Words
from asof.mcp.episode_text import sentence_of_statement
from asof.mcp.found_answers import RecalledFact
from asof.mcp.identifiers import SEVERAL, is_beginning
from asof.mcp.pages import Cut, Pages
from asof.mcp.pictures import picture_of
from asof.mcp.text import block, of_fact, of_words, when
from asof.mcp.tools import Access, Reply, tool
from asof.operations import facts, history
from asof.operations.answers import Explanation, Fact
from asof.operations.errors import InvalidInput, NotFound
from asof.operations.queries import FactsQuery, HistoryQuery, WhyQuery, ask
from asof.operations.quotes import quote
from asof.operations.service_answers import Reached, reached_by

_EXPLAINED: Final = 5  # facts of one relation, a page


class ExplainArguments(Arguments):
    """The arguments of explain_fact."""

    fact_id: str | None = like(WhyQuery, "id", None, "Its id, or the first 8 letters; else entity and relation.")
    entity: str | None = like(FactsQuery, "about", None)
    relation: str | None = like(FactsQuery, "relation", None)
    known_at: MaybeTime = None
    cursor: str | None = None
    group_id: str | None = None


@tool(ExplainArguments, Explanations, pictured=True)
async def explain_fact(access: Access, asked: ExplainArguments) -> Reply:
    """Show why a fact is believed: the words that it rests on, and what became of it."""
    group = access.scope.one(asked.group_id)
    if asked.fact_id is None and (asked.entity is None or asked.relation is None):
        raise InvalidInput("give a fact's id, or both entity and relation", field="fact_id")
    pages = Pages("explain_fact", asked, [group])
    (found, next_cursor), reached = await access.served.ask(partial(_explained, asked=asked, group=group, pages=pages))
    answer = Explanations(
        group_ids=(group,),
        as_of=Moments.of(reached),
        next_cursor=next_cursor,
        facts=tuple(map(_explanation, found)),
    )
    picture = None
    if access.shows_apps:
        picture = await access.served.ask(partial(_picture, fact=found[0].fact, known=asked.time("known_at")))
    return Reply(answer, block(answer, _explanation_lines(answer.facts)), picture)


def _picture(session: Any, fact: Fact, known: int | None) -> str:
    """Return the picture of all versions of a fact's slot."""
    asked = {"id": fact.subject_uuid, "group_id": fact.group_id, "known_at": known}
    versions = history.history(session, ask(HistoryQuery, asked))
    return picture_of([one for one in versions if one.relation == fact.relation and one.subject == fact.subject])


def _explained(session: Any, asked: ExplainArguments, group: str, pages: Pages) -> tuple[Cut[Explanation], Reached]:
    reached = reached_by(session, [group])
    known = asked.time("known_at") if pages.is_first else pages.moments[1]
    known = reached.known if known is None else known
    reached = reached._replace(known=known)
    if asked.fact_id is not None:
        found = explanation_of(session, group, asked.fact_id, known)
        return Cut([found], None), reached._replace(valid=None)
    if not pages.is_first:
        reached = reached._replace(valid=pages.moments[0])
    held: list[Fact] = []
    if reached.valid is not None:
        held = _facts_of(session, asked, group, {"valid_at": reached.valid, "known_at": known})
    if not held:  # of what no longer holds, the latest first
        held = _facts_of(session, asked, group, {"any_time": True, "known_at": known})[::-1]
        reached = reached._replace(valid=None)
    if not held:
        raise NotFound("no fact is known of this entity and relation, as of then: search_memory_facts finds others")
    part = pages.cut(held, _EXPLAINED, (reached.valid, known))
    return Cut([explanation_of(session, group, fact.uuid, known) for fact in part.items], part.next_cursor), reached


def _facts_of(session: Any, asked: ExplainArguments, group: str, moments: Mapping[str, Any]) -> list[Fact]:
    """Return the facts of an entity by a relation: what it has, or, where it has none, what points to it."""
    for end in ("about", "object"):
        fields = {end: asked.entity, "relation": asked.relation, "group_id": group, **moments}
        found = facts.facts(session, ask(FactsQuery, fields))
        if found:
            return list({fact.uuid: fact for fact in found}.values())
    return []


def explanation_of(session: Any, group: str, text: str, known: int | None) -> Explanation:
    """Return the explanation of a group's fact, by its id or the first letters of it.

    NotFound: the group has none; what others have is as what nobody has. InvalidInput: several ids begin so.
    """
    ids = session.sources.of(group).ids(text) if is_beginning(text) else [text]
    found = [one for uuid in dict.fromkeys(ids) for one in _own(session, group, uuid, known)]
    if len(found) > 1:
        raise InvalidInput(SEVERAL, field="fact_id")
    if not found:
        raise NotFound("no fact of this group has this id: search_memory_facts shows the ids")
    return found[0]


def _own(session: Any, group: str, uuid: str, known: int | None) -> Iterable[Explanation]:
    try:
        found = facts.why(session, ask(WhyQuery, {"id": uuid, "known_at": known}))
    except NotFound:
        return
    if found.fact.group_id == group:
        yield found


def _explanation(found: Explanation) -> ExplainedFact:
    return ExplainedFact(
        fact=RecalledFact.of(found.fact),
        words=tuple(map(_words, found.evidence)),
        time_words=found.time_words,
        became=tuple(
            WhatBecame(
                kind=one.kind,
                recorded_at=one.recorded_at,
                ends_at=one.ends_at,
                words=None if one.evidence is None else _words(one.evidence),
            )
            for one in found.consequences
        ),
    )


def _words(evidence: Any) -> Words:
    words = {name: getattr(evidence, name) for name in Words.model_fields}
    is_structured = evidence.relationship is None and not evidence.mentions
    return Words(**{**words, "quote": sentence_of_statement(evidence.quote) if is_structured else evidence.quote})


def _explanation_lines(explained: Iterable[ExplainedFact]) -> Iterable[str]:
    for one in explained:
        yield f"- {of_fact(one.fact)}"
        yield from (f"  because of {of_words(words)}" for words in one.words)
        if one.time_words:
            yield f"  dated by {quote(one.time_words)}"
        for became in one.became:
            words = "" if became.words is None else f": {of_words(became.words)}"
            since = "" if became.ends_at is None else f" as of {when(became.ends_at)}"
            yield f"  {became.kind}{since}, known since {when(became.recorded_at)}{words}"
