"""The tool that says how far the memory is, or what became of a message: get_status."""

from functools import partial
from typing import Final

from pydantic import Field

from asof.mcp.answers import Moments
from asof.mcp.arguments import Arguments
from asof.mcp.local_settings import of_settings
from asof.mcp.outcomes import learned_lines, learned_of
from asof.mcp.text import block
from asof.mcp.tools import Access, Reply, tool
from asof.mcp.writes import Key, keyed_request
from asof.mcp.written_answers import ModelBudgetState, Status
from asof.operations import curation, logs, usage
from asof.operations.errors import NotFound
from asof.operations.queries import FAR, ParkedQuery, UsageQuery, ask
from asof.operations.service_answers import reached_by, run

_PARKED: Final = 1_000  # that are counted


class StatusArguments(Arguments):
    """The arguments of get_status."""

    job: int | None = Field(None, ge=0, le=FAR, description="As add_memory returned it.")
    idempotency_key: str | None = Key
    group_id: str | None = None


@tool(StatusArguments, Status)
async def get_status(access: Access, asked: StatusArguments) -> Reply:
    """Tell how far the memory is, or what became of an add_memory."""
    group, served = access.scope.one(asked.group_id), access.served
    job = None
    if (position := await _position(access, group, asked)) is not None:
        job = await learned_of(access, group, [position])
    reached = await served.ask(partial(reached_by, groups=[group]))
    parked = await run(served, curation.parked, ask(ParkedQuery, {"group_id": group, "limit": _PARKED}))
    alive = served.worker.alive
    answer = Status(
        group_ids=(group,),
        as_of=Moments.of(reached),
        status="ok" if alive else "error",
        message="asof is running, and its memory answers" if alive else "nothing is processed any more: start it again",
        parked=len(parked),
        budget=await _budget(access, group),
        settings_not_used=access.settings_not_used,
        job=job,
    )
    lines = [f"{answer.message}. Parked: {answer.parked}.", *([] if job is None else learned_lines(job))]
    if access.settings_not_used:
        lines.append(f"{of_settings(access.settings_not_used)}.")
    return Reply(answer, block(answer, lines))


async def _position(access: Access, group: str, asked: StatusArguments) -> int | None:
    """Return the position that is asked about. NotFound: the group has no such message."""
    served, position = access.served, asked.job
    if asked.idempotency_key is not None:
        request = keyed_request(access, group, asked.idempotency_key, None)
        positions = await served.ask(lambda reader: None if request is None else reader.positions_of(request))
        if positions is None:
            raise NotFound("no add_memory of the last day had this idempotency_key: send it again")
        position = positions[-1]
    if position is None:
        return None
    await served.seen(position)
    unknown = NotFound(f"this group has no job {position}: add_memory returns them")
    try:
        whose = (await served.ask(lambda session: logs.message_at(session, position)))[0]
    except NotFound:
        raise unknown from None
    if whose != group:
        raise unknown
    return position


async def _budget(access: Access, group: str) -> ModelBudgetState:
    used = await run(access.served, usage.usage, ask(UsageQuery, {"group_id": group}))
    costs = [each.cost for each in used if each.cost is not None]
    return ModelBudgetState(
        tokens=access.budget.tokens,
        tokens_used=sum(each.prompt_tokens + each.completion_tokens for each in used),
        cost=access.budget.cost,
        cost_used=sum(costs) if costs else None,
    )
