"""The tools that state exactly, without a text to be read: add_fact, merge_entities, split_entity."""

from typing import Any

from pydantic import Field

from asof.mcp.arguments import Arguments, MaybeTime, like
from asof.mcp.outcomes import outcome_of
from asof.mcp.text import block
from asof.mcp.tools import Access, Reply, tool
from asof.mcp.writes import LONGEST_WAIT, Key, keyed_request
from asof.mcp.written_answers import Learned
from asof.operations.errors import InvalidInput
from asof.operations.messages import FactStatement, IdentityStatement, validate
from asof.operations.queries import TimelineQuery
from asof.service.api_keys import Permission


class AddFactArguments(Arguments):
    """The arguments of add_fact."""

    subject: str = like(TimelineQuery, "name")
    relation: str = Field(description="Such as lives_in.")
    object: str
    fact: str = Field(min_length=1, description="The same as a sentence.")
    valid_from: MaybeTime = Field(None, description="From when on; now, if left out.")
    valid_to: MaybeTime = None
    source_description: str = Field("", description="Where it comes from, such as a file.")
    idempotency_key: str | None = Key
    group_id: str | None = None


@tool(AddFactArguments, Learned, needs=Permission.WRITE, idempotent=True)
async def add_fact(access: Access, asked: AddFactArguments) -> Reply:
    """State one fact by exact names, without a text to be read. For what somebody said, use add_memory."""
    group = access.scope.one(asked.group_id)
    statement = stated(group, asked, "subject", "relation", "object", "fact", "source_description")
    positions = await access.served.take([statement], keyed_request(access, group, asked.idempotency_key, asked))
    return await outcome_of(access, group, positions, LONGEST_WAIT)


def stated(group: str, asked: Any, *fields: str) -> FactStatement:
    """Return the structured fact of some arguments, over their period. InvalidInput names the argument."""
    since, until = (asked.time(name) for name in ("valid_from", "valid_to"))
    if since is not None and until is not None and since >= until:
        raise InvalidInput("a period begins before it ends", field="valid_to")
    claim = asked.model_dump(include=set(fields), exclude_none=True)
    return validate(FactStatement, {"group_id": group, **claim, "valid_at": since, "invalid_at": until})


class MergeArguments(Arguments):
    """The arguments of merge_entities and split_entity."""

    entity: str = like(TimelineQuery, "name", ..., "Name or id.")
    into: str = like(TimelineQuery, "name", ..., "Name or id.")
    group_id: str | None = None


@tool(MergeArguments, Learned, needs=Permission.WRITE, idempotent=True)
async def merge_entities(access: Access, asked: MergeArguments) -> Reply:
    """State that two entities are one, known from now on. split_entity takes it back."""
    return await _stated(access, asked, "merge")


@tool(MergeArguments, Learned, needs=Permission.WRITE, idempotent=True)
async def split_entity(access: Access, asked: MergeArguments) -> Reply:
    """State that two entities that were merged are two."""
    return await _stated(access, asked, "split")


async def _stated(access: Access, asked: MergeArguments, op: str) -> Reply:
    group = access.scope.one(asked.group_id)
    fields: dict[str, Any] = {"op": op, "entity": asked.entity, "into": asked.into}
    statement = validate(IdentityStatement, {"group_id": group, **fields})
    positions = await access.served.take([statement])
    reply = await outcome_of(access, group, positions, LONGEST_WAIT)
    answer: Any = reply.answer
    if answer.state != "done":
        return reply
    return Reply(answer, block(answer, [f"From now on {'they are one' if op == 'merge' else 'they are two'}."]))
