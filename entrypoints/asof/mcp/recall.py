"""The tool that answers a question by what is known: recall."""

from datetime import tzinfo
from functools import partial
from typing import Any, Final

from pydantic import Field

from asof.mcp.answers import Moments
from asof.mcp.arguments import Arguments, MaybeTime, Several, like
from asof.mcp.found_answers import Recalled, RecalledItem
from asof.mcp.text import with_moments
from asof.mcp.tools import Access, Reply, tool
from asof.operations import context
from asof.operations.answers import Context
from asof.operations.queries import MAX_BUDGET, MIN_BUDGET, ContextQuery, ask
from asof.operations.service_answers import Reached, reached_by, run
from asof.operations.times import zone_of

_LAST_LINE: Final = 60  # tokens that the line of the moments takes at most


class RecallArguments(Arguments):
    """The arguments of recall."""

    query: str = like(ContextQuery, "query")
    valid_at: MaybeTime = Field(None, description="As the world was then; now, if left out.")
    known_at: MaybeTime = Field(None, description="As it was known then; all, if left out.")
    max_tokens: int = Field(1_200, ge=MIN_BUDGET + _LAST_LINE, le=MAX_BUDGET)
    kinds: Several = Field((), description="Of: entity, fact, change, episode.")
    min_probability: float | None = like(ContextQuery, "min_probability", None)
    timezone: str = like(ContextQuery, "timezone", "UTC")
    group_id: str | None = None

    @property
    def zone(self) -> tzinfo:
        """The zone that is asked for."""
        return zone_of(self.timezone)


@tool(RecallArguments, Recalled)
async def recall(access: Access, asked: RecallArguments) -> Reply:
    """Recall what is known about a question: facts with their dates, what changed, what was said. Call it first."""
    group = access.scope.one(asked.group_id)
    given = {name: getattr(asked, name) for name in ("query", "timezone", "kinds", "min_probability")}
    query = ask(ContextQuery, {**given, "budget": asked.max_tokens - _LAST_LINE})
    moments = {name: asked.time(name) for name in ("valid_at", "known_at")}
    reached = await access.served.ask(partial(reached_by, groups=[group]))
    found = await run(access.served, context.context, query.model_copy(update={"group_id": group, **moments}))
    as_of = _moments(found, reached)
    text = with_moments(found.text, as_of)
    items = tuple(RecalledItem(kind=item.kind, uuid=_uuid_of(item)) for item in found.items)
    answer = Recalled(
        group_ids=(group,),
        as_of=as_of,
        unavailable=found.unavailable,
        vectors_behind=found.vectors_behind,
        text=text,
        tokens=found.tokens + _LAST_LINE,
        items=items,
        left_out=len(found.left_out),
    )
    return Reply(answer, text)


def _moments(found: Context, reached: Reached) -> Moments:
    position = reached.position if found.position is None else found.position
    lag = max(reached.lag + reached.position - position, 0)
    return Moments(valid_at=found.valid_at, known_at=found.known_at, position=position, lag=lag)


def _uuid_of(item: Any) -> str:
    uuid: str = getattr(item, "fact" if item.kind == "change" else item.kind).uuid
    return uuid
