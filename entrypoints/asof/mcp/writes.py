"""The tool that remembers: add_memory; and what became of messages, for every tool that writes."""

import re
from collections.abc import Sequence
from contextlib import suppress
from functools import partial
from hashlib import sha256
from json import dumps
from typing import Any, ClassVar, Final

from pydantic import Field

from asof.mcp.answers import Moments, time_or_none
from asof.mcp.arguments import Arguments, MaybeTime, Several
from asof.mcp.text import block, of_id, period
from asof.mcp.tools import Access, Reply, tool
from asof.mcp.written_answers import ChangedFact, Learned
from asof.operations.answers import Outcome
from asof.operations.errors import InvalidInput, UnavailableError
from asof.operations.messages import (
    KeyedRequest,
    Message,
    episode_id,
    validate,
)
from asof.operations.quotes import quote
from asof.operations.service_answers import outcome, reached_by
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
    message = _message(asked, group, said_at)
    request = keyed_request(access, group, asked.idempotency_key, asked)
    [position] = await access.served.take([message], request)
    unused = [name for name in _UNUSED if getattr(asked, name) is not None]
    uuid = None if access.served.on_topics else message.uuid or episode_id(group, position)
    return await outcome_of(access, group, [position], asked.wait_seconds, said_at=said_at, uuid=uuid, unused=unused)


def _message(asked: AddMemoryArguments, group: str, said_at: int | None) -> Message:
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
    said = None if asked is None else dumps(asked.model_dump(exclude={"wait_seconds"}))
    return KeyedRequest(_digest(whose), None if said is None else _digest(said))


def _digest(text: str) -> bytes:
    return sha256(text.encode("utf-8", "surrogatepass")).digest()


async def outcome_of(
    access: Access,
    group: str,
    positions: Sequence[int],
    seconds: float,
    *,
    said_at: int | None = None,
    uuid: str | None = None,
    unused: Sequence[str] = (),
) -> Reply:
    """Wait for messages for so many seconds at most, and return what became of them as one answer.

    It is an error if nothing could be made of one.
    """
    if seconds:
        with suppress(UnavailableError):  # it is on the log all the same
            await access.served.done(positions[-1], seconds)
    answer = await learned_of(access, group, positions, said_at=said_at, uuid=uuid, unused=unused)
    return Reply(answer, block(answer, learned_lines(answer)), is_error=answer.state == "parked")


async def learned_of(
    access: Access,
    group: str,
    positions: Sequence[int],
    *,
    said_at: int | None = None,
    uuid: str | None = None,
    unused: Sequence[str] = (),
) -> Learned:
    """Return what became of messages as one: what all of them changed, and the state of the one that is behind."""
    found = [await outcome(access.served, position) for position in positions]
    reached = await access.served.ask(partial(reached_by, groups=[group]))
    last = next((one for one in found if one.state != "done"), found[-1])
    effects = [one.effect for one in found if one.state == "done"]

    def changed(*ways: str) -> tuple[ChangedFact, ...]:
        return tuple(_changed(belief) for effect in effects for way in ways for belief in getattr(effect, way))

    return Learned(
        group_ids=(group,),
        as_of=Moments.of(reached._replace(valid=None)),
        message=_sentence(last, unused),
        job=positions[-1],
        uuid=last.episode_id if last.state == "done" else uuid,
        state=last.state,
        reason=last.reason if last.state == "parked" else None,
        said_at=time_or_none(said_at),
        kept_as_note=not any(effect.understood for effect in effects) if len(effects) == len(found) else None,
        learned=changed("began", "restored", "refined"),
        ended=changed("ended"),
        retracted=changed("retracted"),
    )


def _changed(belief: Any) -> ChangedFact:
    return ChangedFact(uuid=belief.uuid, fact=belief.fact, valid_at=belief.valid_at, invalid_at=belief.invalid_at)


def _sentence(became: Outcome, unused: Sequence[str]) -> str:
    match became.state:
        case "queued":
            said = f"It is on the log for good, and waits to be processed: get_status with job {became.position} tells"
        case "done":
            said = "It was processed"
        case "parked":
            said = "Nothing could be made of it: it is parked, and nothing of it is believed"
        case _:
            said = "It was erased"
    return said + (f". Not used: {', '.join(unused)}" if unused else "")


def learned_lines(learned: Learned) -> list[str]:
    """Return the lines of what became of messages."""
    lines = [f"{learned.message}."]
    if learned.reason is not None:
        lines.append(f"Reason: {quote(learned.reason)}. Change that and call again.")
    for word, changed in (("Learned", learned.learned), ("Ended", learned.ended), ("Retracted", learned.retracted)):
        lines += [
            f"- {word}: {quote(one.fact)}{period(one.valid_at, one.invalid_at)} {of_id(one.uuid)}" for one in changed
        ]
    if learned.kept_as_note is False and len(lines) == 1:
        lines.append("It says nothing new.")
    if learned.kept_as_note:
        lines.append("No fact was understood: it is kept as a note, which recall finds by its words.")
    return lines
