"""The tools that ask about change: get_entity_timeline, what_changed."""

from datetime import UTC
from functools import partial
from typing import Any, Final, Literal

from pydantic import Field

from asof.mcp.answers import (
    ChangesBetween,
    Moments,
    RecalledChange,
    RecalledFact,
    Timeline,
    TimelineSegment,
)
from asof.mcp.arguments import Arguments, like, read_time
from asof.mcp.text import block, of_fact, of_id, period, when
from asof.mcp.tools import Access, Reply, cut, page_of, tool
from asof.operations import history
from asof.operations.answers import Difference, Segment
from asof.operations.entities import expect_entity
from asof.operations.errors import InvalidInput
from asof.operations.queries import DiffQuery, TimelineQuery, ask
from asof.operations.quotes import quote
from asof.operations.service_answers import Reached, reached_by, run_as_of
from asof.operations.times import from_datetime, to_datetime

_PAGE: Final = 50  # periods, or changes


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
