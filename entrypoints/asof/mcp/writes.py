"""The tool that remembers: add_memory."""

import re
from hashlib import sha256
from json import dumps
from typing import Any, ClassVar, Final

from pydantic import Field

from asof.mcp.arguments import Arguments, MaybeTime, Several
from asof.mcp.outcomes import outcome_of
from asof.mcp.tools import Access, Reply, tool
from asof.mcp.written_answers import Learned
from asof.operations.errors import InvalidInput
from asof.operations.messages import (
    KeyedRequest,
    Message,
    episode_id,
    validate,
)
from asof.service.api_keys import Permission

LONGEST_WAIT: Final = 30  # seconds
_TURN: Final = re.compile(r"([^\s:][^:\n]{0,59}): (\S.*)", re.DOTALL)
_ROLES: Final = ("user", "assistant", "system")
_UNUSED: Final = ("custom_extraction_instructions", "saga", "saga_previous_episode_uuid")
Key = Field(None, min_length=1, max_length=255)


class AddMemoryArguments(Arguments):
    """Graphiti's arguments of add_memory, a key under which it is done once, and how long to wait for its effect."""

    QUIET: ClassVar = frozenset(
        {"uuid", "excluded_entity_types", "previous_episode_uuids", "update_communities", *_UNUSED}
    )

    name: str = Field("", description="A short title.")
    episode_body: str = Field(min_length=1)
    group_id: str | None = None
    source: str = Field("text", description="text, json, or message: one turn, as 'Ana: I moved'.")
    source_description: str = ""
    uuid: str | None = None
    reference_time: MaybeTime = Field(None, description="When it was said; now, if left out.")
    excluded_entity_types: Several = ()
    custom_extraction_instructions: str | None = None
    previous_episode_uuids: Several | None = None
    update_communities: bool = False
    saga: str | None = None
    saga_previous_episode_uuid: str | None = None
    idempotency_key: str | None = Key
    wait_seconds: float = Field(0, ge=0, le=LONGEST_WAIT, description="Wait for what is learned.")


@tool(AddMemoryArguments, Learned, needs=Permission.WRITE, idempotent=True)
async def add_memory(access: Access, asked: AddMemoryArguments) -> Reply:
    """Remember something that was said, decided or found out, in whole sentences with names and dates."""
    group = access.scope.one(asked.group_id)
    said_at = asked.time("reference_time")
    message = _message(asked, group, said_at, access.schema)
    request = keyed_request(access, group, asked.idempotency_key, asked)
    [position] = await access.served.take([message], request)
    unused = [name for name in _UNUSED if getattr(asked, name) is not None]
    uuid = None if access.served.on_topics else message.uuid or episode_id(group, position)
    return await outcome_of(access, group, [position], asked.wait_seconds, said_at=said_at, uuid=uuid, unused=unused)


def _message(asked: AddMemoryArguments, group: str, said_at: int | None, schema: str | None) -> Message:
    turn = _TURN.fullmatch(asked.episode_body) if asked.source == "message" else None
    speaker, content = (turn[1].strip(), turn[2]) if turn else ("", asked.episode_body)
    role_type = speaker.casefold() if speaker.casefold() in _ROLES else "user"
    fields: dict[str, Any] = {
        "group_id": group,
        "content": content,
        "name": asked.name,
        "uuid": asked.uuid,
        "timestamp": said_at,
        "source": asked.source if asked.source in ("message", "json") else "text",  # as in Graphiti
        "source_description": asked.source_description,
        "excluded_entity_types": list(asked.excluded_entity_types) or None,
        "previous_episode_ids": None if asked.previous_episode_uuids is None else list(asked.previous_episode_uuids),
        "update_communities": asked.update_communities,
        "schema_id": schema,
    }
    if asked.source != "json":  # who writes a text says "we" of somebody, too
        fields |= {"role_type": role_type, "role": "" if speaker.casefold() in _ROLES else speaker}
    try:
        return validate(Message, fields)
    except InvalidInput as error:
        names = {"content": "episode_body", "previous_episode_ids": "previous_episode_uuids"}
        raise InvalidInput(error.reason, field=names.get(error.field or "", error.field)) from None


def keyed_request(access: Access, group: str, key: str | None, asked: Arguments | None) -> KeyedRequest | None:
    """Return the request of a key: callers and groups do not share keys."""
    if key is None:
        return None
    whose = f"mcp\0{access.scope.caller.name}\0{group}\0{key}"  # no group id has this sign
    # The key is an argument, too, and stored nowhere: nobody can guess suppressed content by the digest.
    said = None if asked is None else dumps(asked.model_dump(exclude={"wait_seconds"}))
    return KeyedRequest(_digest(whose), None if said is None else _digest(said))


def _digest(text: str) -> bytes:
    return sha256(text.encode("utf-8", "surrogatepass")).digest()
