"""The tool that corrects a fact: correct_fact."""

from datetime import UTC
from functools import partial
from typing import Any, Final, Literal

from pydantic import Field

from asof.mcp.answers import Learned
from asof.mcp.arguments import Arguments, like, read_time
from asof.mcp.explanations import explanation_of
from asof.mcp.tools import Access, Reply, tool
from asof.mcp.writes import LONGEST_WAIT, outcome_of
from asof.operations.errors import InvalidInput
from asof.operations.messages import (
    AnyMessage,
    FactStatement,
    validate,
)
from asof.operations.queries import WhyQuery
from asof.operations.times import from_datetime, system
from asof.service.api_keys import Permission

_REASON_CHARACTERS: Final = 1_000


class CorrectFactArguments(Arguments):
    """The arguments of correct_fact."""

    fact_id: str = like(WhyQuery, "id", ..., "Its id, or the first 8 letters.")
    how: Literal["ended", "wrong", "replace"] = Field(
        description="ended: it held, and no longer does. wrong: it never held. replace: new_value holds instead."
    )
    new_value: str | None = Field(None, description="With wrong: what was so; with replace: what is so.")
    valid_from: str | None = Field(None, description="From when on; now, if left out.")
    reason: str = Field(min_length=1, max_length=_REASON_CHARACTERS)
    group_id: str | None = None


@tool(CorrectFactArguments, Learned, needs=Permission.WRITE, destructive=True)
async def correct_fact(access: Access, asked: CorrectFactArguments) -> Reply:
    """Correct a fact. The past stays: what was believed before can still be asked about."""
    group = access.scope.one(asked.group_id)
    at = read_time("valid_from", asked.valid_from, UTC)
    if at is None and asked.how == "replace":
        at = system()  # one moment for both statements
    statements: list[AnyMessage] = [
        validate(FactStatement, {"group_id": group, **fields})
        for fields in await access.served.ask(partial(_corrections, asked=asked, group=group, at=at))
    ]
    positions = await access.served.take(statements)
    return await outcome_of(access, group, positions, LONGEST_WAIT, at, None)


def _corrections(session: Any, asked: CorrectFactArguments, group: str, at: int | None) -> list[dict[str, Any]]:
    """Return the statements that correct a fact; each has the reason in its words. InvalidInput, NotFound."""
    fact = explanation_of(session, group, asked.fact_id, None).fact
    if asked.how == "ended" and asked.new_value is not None:
        raise InvalidInput("an ending has none: leave it out, or say replace", field="new_value")
    if asked.how == "replace" and asked.new_value is None:
        raise InvalidInput("say what holds instead, or say ended", field="new_value")
    told: dict[str, Any] = {"ref": fact.uuid, "fact": asked.reason}
    claim = {
        "subject": fact.subject,
        "relation": fact.relation,
        "object": asked.new_value,
        "qualifiers": {"reason": asked.reason},
    }
    if asked.how == "ended":
        return [{"op": "end", **told, "invalid_at": at}]
    if asked.how == "replace":
        return [{"op": "end", **told, "invalid_at": at}, {"op": "assert", **claim, "valid_at": at}]
    if asked.new_value is None:
        return [{"op": "retract", **told}]
    since = None if fact.valid_at is None else from_datetime(fact.valid_at)
    return [{"op": "correct", "ref": fact.uuid, **claim, "valid_at": since if at is None else at}]
