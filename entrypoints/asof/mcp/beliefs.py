"""The tools that set beliefs beside each other: compare_beliefs, what_if."""

from dataclasses import replace
from datetime import UTC
from functools import partial
from typing import Any, Final, Literal

from pydantic import Field

from asof.mcp.answers import BeliefsCompared, Moments, Supposed
from asof.mcp.arguments import Arguments, like, read_time
from asof.mcp.history import change_line, change_of, segment_line, segment_of
from asof.mcp.statements import stated
from asof.mcp.text import block, when
from asof.mcp.tools import Access, Reply, cut, page_of, shared_fields, tool
from asof.operations import facts, history
from asof.operations.answers import Difference
from asof.operations.errors import InvalidInput
from asof.operations.messages import FactStatement
from asof.operations.queries import DiffQuery, TimelineQuery, ask
from asof.operations.service_answers import Reached, reached_by
from asof.operations.times import to_datetime

_PAGE: Final = 50  # changes
_MOST_SUPPOSED: Final = 20  # facts


class CompareBeliefsArguments(Arguments):
    """The arguments of compare_beliefs."""

    before: str = Field(description="As it was known then.")
    after: str | None = Field(None, description="And as it was known then; now, if left out.")
    valid_at: str | None = Field(None, description="Of the world at this moment; now, if left out.")
    entity: str | None = like(DiffQuery, "about", None)
    relation: str | None = like(DiffQuery, "relation", None)
    cursor: str | None = None
    group_id: str | None = None


@tool(CompareBeliefsArguments, BeliefsCompared)
async def compare_beliefs(access: Access, asked: CompareBeliefsArguments) -> Reply:
    """Compare what was believed of one moment of the world at two times: what was learned, retracted or revised."""
    group, page = access.scope.one(asked.group_id), page_of("compare_beliefs", asked.cursor)
    names = ("before", "after", "valid_at")
    before, after, valid = (read_time(name, getattr(asked, name), UTC) for name in names)
    assert before is not None
    if page is not None:
        valid, after = page.valid, page.known
    compare = partial(_differences, asked=asked, group=group, before=before, after=after, valid=valid)
    found, reached = await access.served.ask(compare)
    part = cut("compare_beliefs", found, page, _PAGE, (reached.valid, reached.known))
    answer = BeliefsCompared(
        group_ids=(group,),
        as_of=Moments.of(reached),
        next_cursor=part.next_cursor,
        before=to_datetime(before),
        after=to_datetime(before if reached.known is None else reached.known),
        changes=tuple(map(change_of, part.items)),
    )
    heading = f"What was known until {when(answer.before)}, and until {when(answer.after)}:"
    lines = list(map(change_line, answer.changes)) or ["The same was believed."]
    return Reply(answer, block(answer, [heading, *lines]))


def _differences(
    session: Any, asked: CompareBeliefsArguments, group: str, before: int, after: int | None, valid: int | None
) -> tuple[list[Difference], Reached]:
    """Return what differs, and the moments of the later belief."""
    reached = reached_by(session, [group])
    reached = reached._replace(
        valid=reached.valid if valid is None else valid, known=reached.known if after is None else after
    )
    if reached.known is None:
        return [], reached
    if before >= (reached.known if after is not None else max(reached.known, session.now())):
        raise InvalidInput("it must be before after, or before now", field="before")
    points = {"start": (reached.valid, before), "stop": (reached.valid, reached.known)}
    given = {"about": asked.entity, "relation": asked.relation, "group_id": group}
    return list(history.diff(session, ask(DiffQuery, {**points, **given}))), reached


class SupposedFact(Arguments):
    """A fact that is supposed to hold, or, where it is ended, to hold no longer."""

    subject: str = like(TimelineQuery, "name")
    relation: str = Field(description="Such as lives_in.")
    object: str | None = Field(None, description="Of an ending: which value; every one, if left out.")
    op: Literal["assert", "end"] = "assert"
    valid_from: str | None = Field(None, description="From when on; now, if left out.")
    valid_to: str | None = Field(None, description="Until when; of an ending, when it is.")


class WhatIfArguments(Arguments):
    """The arguments of what_if."""

    statements: tuple[SupposedFact, ...] = Field(min_length=1, max_length=_MOST_SUPPOSED)
    group_id: str | None = None


@tool(WhatIfArguments, Supposed)
async def what_if(access: Access, asked: WhatIfArguments) -> Reply:
    """Show what would be believed if facts were stated now, before and after. Nothing is written."""
    group = access.scope.one(asked.group_id)
    supposed = [_stated(group, number, one) for number, one in enumerate(asked.statements)]
    found = await access.served.ask(lambda session: facts.what_if(session, supposed, group))
    believed = {uuid for segment in found.before for uuid in segment.facts}  # what is only supposed has no id
    answer = Supposed(
        **await shared_fields(access, [group]),
        before=tuple(map(segment_of, found.before)),
        after=tuple(
            segment_of(replace(one, facts=tuple(uuid for uuid in one.facts if uuid in believed))) for one in found.after
        ),
    )
    before, after = (list(map(segment_line, held)) or ["- nothing"] for held in (answer.before, answer.after))
    return Reply(answer, block(answer, ["Now:", *before, "Then:", *after]))


def _stated(group: str, number: int, supposed: SupposedFact) -> FactStatement:
    try:
        return stated(group, supposed, "subject", "relation", "object", "op")
    except InvalidInput as error:
        raise error.within(f"statements.{number}") from None
