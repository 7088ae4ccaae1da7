"""The tools that ask about change: get_entity_timeline, what_changed, explain_fact."""

from collections.abc import Iterable
from datetime import UTC
from functools import partial
from typing import Any, Final, Literal

from pydantic import Field

from asof.mcp.answers import (
    ChangesBetween,
    ExplainedFact,
    Explanations,
    Moments,
    RecalledChange,
    RecalledFact,
    Timeline,
    TimelineSegment,
    WhatBecame,
    Words,
)
from asof.mcp.arguments import Arguments, like, read_time
from asof.mcp.identifiers import SEVERAL, is_beginning
from asof.mcp.text import block, of_fact, of_id, of_words, period, when
from asof.mcp.tools import Access, Reply, cut, page_of, tool
from asof.operations import facts, history
from asof.operations.answers import Difference, Explanation, Fact, Segment
from asof.operations.entities import expect_entity
from asof.operations.errors import InvalidInput, NotFound
from asof.operations.queries import DiffQuery, FactsQuery, TimelineQuery, WhyQuery, ask
from asof.operations.quotes import quote
from asof.operations.service_answers import Reached, reached_by, run_as_of
from asof.operations.times import from_datetime, to_datetime

_PAGE: Final = 50  # periods, or changes
_EXPLAINED: Final = 5  # facts of one relation


class TimelineArguments(Arguments):
    """The arguments of get_entity_timeline."""

    entity: str = like(TimelineQuery, "name", ..., "Name or id.")
    relation: str | None = like(TimelineQuery, "relation", None)
    start: str | None = Field(None, alias="from")
    stop: str | None = Field(None, alias="to")
    known_at: str | None = None
    cursor: str | None = None
    group_id: str | None = None


@tool(TimelineArguments, Timeline)
async def get_entity_timeline(access: Access, asked: TimelineArguments) -> Reply:
    """Show what held of an entity and when, relation by relation, with gaps."""
    group, page = access.scope.one(asked.group_id), page_of("get_entity_timeline", asked.cursor)
    start, stop = read_time("from", asked.start, UTC), read_time("to", asked.stop, UTC)
    known = read_time("known_at", asked.known_at, UTC) if page is None else page.known
    query = ask(TimelineQuery, {"name": asked.entity, "relation": asked.relation, "known_at": known, "group_id": group})
    found, reached = await run_as_of(access.served, history.timeline, query, [group])
    if not found:
        await access.served.ask(lambda session: expect_entity(session, asked.entity, query))
    within = [segment for segment in found if _overlaps(segment, start, stop)]
    part = cut("get_entity_timeline", within, page, _PAGE, (None, reached.known))
    answer = Timeline(
        group_ids=(group,),
        as_of=Moments.of(reached._replace(valid=None)),
        next_cursor=part.next_cursor,
        segments=tuple(map(segment_of, part.items)),
    )
    return Reply(answer, block(answer, map(segment_line, answer.segments)))


def _overlaps(segment: Segment, start: int | None, stop: int | None) -> bool:
    begins = None if segment.valid_at is None else from_datetime(segment.valid_at)
    ends = None if segment.invalid_at is None else from_datetime(segment.invalid_at)
    after = start is None or ends is None or ends > start
    return after and (stop is None or begins is None or begins < stop)


def segment_of(found: Segment) -> TimelineSegment:
    """Return a period of a timeline."""
    return TimelineSegment(
        subject=found.subject,
        relation=found.relation,
        object=found.object,
        valid_at=found.valid_at,
        invalid_at=found.invalid_at,
        facts=found.facts,
        planned=found.planned,
    )


def segment_line(segment: TimelineSegment) -> str:
    """Return the line of a period: claim, period, ids."""
    value = "nothing is known" if segment.object is None else quote(segment.object)
    planned = ", planned" if segment.planned else ""
    ids = "".join(f" {of_id(uuid)}" for uuid in segment.facts)
    claim = f"{quote(segment.subject)} {quote(segment.relation)}: {value}"
    return f"- {claim}{planned}{period(segment.valid_at, segment.invalid_at)}{ids}"


class WhatChangedArguments(Arguments):
    """The arguments of what_changed."""

    since: str = Field(description="A time, or words such as yesterday.")
    until: str | None = None
    entity: str | None = like(DiffQuery, "about", None)
    axis: Literal["known", "valid"] = Field(
        "known", description="known: between what was known then and now. valid: in the world, by what is known now."
    )
    cursor: str | None = None
    group_id: str | None = None


@tool(WhatChangedArguments, ChangesBetween)
async def what_changed(access: Access, asked: WhatChangedArguments) -> Reply:
    """Show what differs between two moments: facts that began, ended, were learned, retracted or revised."""
    group, page = access.scope.one(asked.group_id), page_of("what_changed", asked.cursor)
    since, until = read_time("since", asked.since, UTC), read_time("until", asked.until, UTC)
    assert since is not None
    ask_between = partial(_differences, asked=asked, group=group, since=since, until=until)
    kept = None if page is None else (page.valid, page.known)
    found, reached = await access.served.ask(lambda session: ask_between(session, kept=kept))
    part = cut("what_changed", found, page, _PAGE, (reached.valid, reached.known))
    answer = ChangesBetween(
        group_ids=(group,),
        as_of=Moments.of(reached),
        next_cursor=part.next_cursor,
        axis=asked.axis,
        since=to_datetime(since),
        until=to_datetime(since if reached.valid is None else reached.valid),
        changes=tuple(map(change_of, part.items)),
    )
    heading = f"Since {when(answer.since)}, until {when(answer.until)}:"
    lines = list(map(change_line, answer.changes)) or ["Nothing changed."]
    return Reply(answer, block(answer, [heading, *lines]))


def _differences(
    session: Any,
    asked: WhatChangedArguments,
    group: str,
    since: int,
    until: int | None,
    kept: tuple[int | None, int | None] | None,
) -> tuple[list[Difference], Reached]:
    """Return what differs between two points, and the second of them; `kept`: that of the first page."""
    reached = reached_by(session, [group])
    valid, known = kept or (reached.valid, reached.known)
    if kept is None and until is not None:
        valid, known = until, until if asked.axis == "known" else known
    if valid is not None and since >= valid:
        raise InvalidInput("it must be before until, or before now", field="since")
    reached = reached._replace(valid=valid, known=known)
    if known is None or valid is None:
        return [], reached
    first = (since, since) if asked.axis == "known" else (since, known)
    fields = {"start": first, "stop": (valid, known), "about": asked.entity, "group_id": group}
    return list(history.diff(session, ask(DiffQuery, fields))), reached


def change_of(found: Difference) -> RecalledChange:
    """Return what differs of one fact."""
    before, after = (None if fact is None else RecalledFact.of(fact) for fact in (found.before, found.after))
    return RecalledChange(change=found.change, before=before, after=after)


def change_line(change: RecalledChange) -> str:
    """Return the line of what differs of one fact: its label, and the fact before and after."""
    match change.before, change.after:
        case RecalledFact() as before, RecalledFact() as after:
            return f"- {change.change}: {of_fact(before)}; now {of_fact(after)}"
        case before, after:
            fact = after or before
            return f"- {change.change}: {'' if fact is None else of_fact(fact)}"


class ExplainArguments(Arguments):
    """The arguments of explain_fact."""

    fact_id: str | None = like(WhyQuery, "id", None, "Its id, or the first 8 letters; else entity and relation.")
    entity: str | None = like(FactsQuery, "about", None)
    relation: str | None = like(FactsQuery, "relation", None)
    known_at: str | None = None
    group_id: str | None = None


@tool(ExplainArguments, Explanations)
async def explain_fact(access: Access, asked: ExplainArguments) -> Reply:
    """Show why a fact is believed: the words that it rests on, and what became of it."""
    group, known = access.scope.one(asked.group_id), read_time("known_at", asked.known_at, UTC)
    if asked.fact_id is None and (asked.entity is None or asked.relation is None):
        raise InvalidInput("give a fact's id, or both entity and relation", field="fact_id")
    explain = partial(_explained, asked=asked, group=group, known=known)
    found, reached = await access.served.ask(explain)
    answer = Explanations(group_ids=(group,), as_of=Moments.of(reached), facts=tuple(map(_explanation, found)))
    return Reply(answer, block(answer, _explanation_lines(answer.facts)))


def _explained(
    session: Any, asked: ExplainArguments, group: str, known: int | None
) -> tuple[list[Explanation], Reached]:
    reached = reached_by(session, [group])
    known = reached.known if known is None else known
    reached = reached._replace(known=known)
    if asked.fact_id is not None:
        found = explanation_of(session, group, asked.fact_id, known)
        return [found], reached._replace(valid=None)
    about = {"about": asked.entity, "relation": asked.relation, "known_at": known, "group_id": group}
    held: list[Fact] = facts.facts(session, ask(FactsQuery, {**about, "limit": _EXPLAINED}))
    if not held:  # of what no longer holds, the last
        held = facts.facts(session, ask(FactsQuery, {**about, "any_time": True}))[-_EXPLAINED:]
        reached = reached._replace(valid=None)
    if not held:
        raise NotFound("no fact is known of this entity and relation, as of then: search_memory_facts finds others")
    return [explanation_of(session, group, fact.uuid, known) for fact in held], reached


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
    return Words(**{name: getattr(evidence, name) for name in Words.model_fields})


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
