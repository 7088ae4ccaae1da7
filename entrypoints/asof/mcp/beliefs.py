"""The tool that shows what facts would change: what_if."""

from dataclasses import replace
from typing import Final, Literal

from pydantic import Field

from asof.mcp.arguments import Arguments, MaybeTime, like
from asof.mcp.belief_answers import Supposed
from asof.mcp.history import segment_line, segment_of
from asof.mcp.statements import stated
from asof.mcp.text import block
from asof.mcp.tools import Access, Reply, shared_fields, tool
from asof.operations import facts
from asof.operations.errors import InvalidInput
from asof.operations.messages import FactStatement
from asof.operations.queries import TimelineQuery

_MOST_SUPPOSED: Final = 20  # facts


class SupposedFact(Arguments):
    """A fact that is supposed to hold, or, where it is ended, to hold no longer."""

    subject: str = like(TimelineQuery, "name")
    relation: str = Field(description="Such as lives_in.")
    object: str | None = Field(None, description="Of an ending: which value; every one, if left out.")
    op: Literal["assert", "end"] = "assert"
    valid_from: MaybeTime = Field(None, description="From when on; now, if left out.")
    valid_to: MaybeTime = Field(None, description="Until when; of an ending, when it is.")


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
        if supposed.op == "end" and supposed.valid_from is not None:
            raise InvalidInput("of an ending, valid_to says when it is: leave it out", field="valid_from")
        return stated(group, supposed, "subject", "relation", "object", "op")
    except InvalidInput as error:
        raise error.within(f"statements.{number}") from None
