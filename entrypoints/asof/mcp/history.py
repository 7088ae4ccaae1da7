"""The tool that shows an entity over time: get_entity_timeline."""

from collections.abc import Iterable
from datetime import datetime
from functools import partial
from typing import Any, Final

from pydantic import Field

from asof.mcp.answers import Moments, time_or_none
from asof.mcp.arguments import Arguments, MaybeTime, like
from asof.mcp.belief_answers import Timeline, TimelineSegment
from asof.mcp.identifiers import expect_known
from asof.mcp.pages import Pages
from asof.mcp.text import block, of_id, period
from asof.mcp.tools import Access, Reply, tool
from asof.operations import facts, history
from asof.operations.answers import Fact, Segment
from asof.operations.queries import FactsQuery, TimelineQuery, ask
from asof.operations.quotes import quote
from asof.operations.service_answers import Reached, reached_by

_PAGE: Final = 50  # periods


class TimelineArguments(Arguments):
    """The arguments of get_entity_timeline."""

    entity: str = like(TimelineQuery, "name", ..., "Name or id.")
    relation: str | None = like(TimelineQuery, "relation", None)
    start: MaybeTime = Field(None, alias="from")
    stop: MaybeTime = Field(None, alias="to")
    known_at: MaybeTime = None
    cursor: str | None = None
    group_id: str | None = None


@tool(TimelineArguments, Timeline)
async def get_entity_timeline(access: Access, asked: TimelineArguments) -> Reply:
    """Show what held of an entity and when, relation by relation, with gaps; then what it is the object of."""
    group = access.scope.one(asked.group_id)
    pages = Pages("get_entity_timeline", asked, [group])
    known = asked.time("known_at") if pages.is_first else pages.moments[1]
    start, stop = (time_or_none(asked.time(name)) for name in ("from", "to"))
    found, reached = await access.served.ask(partial(_segments, asked=asked, group=group, known=known))
    within = [segment for segment in found if _overlaps(segment, start, stop)]
    part = pages.cut(within, _PAGE, (None, reached.known))
    answer = Timeline(
        group_ids=(group,),
        as_of=Moments.of(reached),
        next_cursor=part.next_cursor,
        segments=tuple(part.items),
    )
    lines = list(map(segment_line, answer.segments)) or ["Nothing is known of this."]
    return Reply(answer, block(answer, lines))


def _segments(
    session: Any, asked: TimelineArguments, group: str, known: int | None
) -> tuple[list[TimelineSegment], Reached]:
    """Return the periods of an entity: those of its own slots, then those of the facts that point to it. NotFound."""
    reached = reached_by(session, [group])._replace(valid=None)
    reached = reached if known is None else reached._replace(known=known)
    at = {"group_id": group, "known_at": reached.known}
    own = history.timeline(session, ask(TimelineQuery, {"name": asked.entity, "relation": asked.relation, **at}))
    pointing = facts.facts(
        session, ask(FactsQuery, {"object": asked.entity, "relation": asked.relation, "any_time": True, **at})
    )
    if not own and not pointing:
        expect_known(session, asked.entity, group, reached.known)
    return [*map(segment_of, own), *_pointing(pointing, own)], reached


def _pointing(found: Iterable[Fact], own: Iterable[Segment]) -> list[TimelineSegment]:
    """Return the periods of facts that point to an entity, relation by relation; without those about itself."""
    shown = {uuid for segment in own for uuid in segment.facts}
    return [
        TimelineSegment(
            subject=fact.subject,
            relation=fact.relation,
            object=fact.object,
            valid_at=fact.valid_at,
            invalid_at=fact.invalid_at,
            facts=(fact.uuid,),
            planned=fact.planned,
        )
        for fact in sorted(found, key=lambda fact: fact.relation)
        if fact.uuid not in shown
    ]


def _overlaps(segment: TimelineSegment, start: datetime | None, stop: datetime | None) -> bool:
    after = start is None or segment.invalid_at is None or segment.invalid_at > start
    return after and (stop is None or segment.valid_at is None or segment.valid_at < stop)


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
