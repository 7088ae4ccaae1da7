"""The tool that erases: forget. First it shows what would go, and only what was shown and confirmed goes."""

from collections.abc import Sequence
from functools import partial
from typing import Any, ClassVar, Final, Literal, Self

from pydantic import BaseModel, Field

from asof.mcp.answers import Instant, PagedAnswer
from asof.mcp.arguments import Arguments, MaybeTime, like
from asof.mcp.confirmations import is_token, token_of
from asof.mcp.pages import Pages
from asof.mcp.text import block, of_id, when
from asof.mcp.tools import Access, Reply, shared_fields, tool
from asof.operations import erasures
from asof.operations.answers import ErasedMessage, Erasure, ErasurePreview
from asof.operations.errors import InvalidInput, NotFound
from asof.operations.messages import ErasureRequest, RedactionRequest
from asof.operations.queries import ErasureQuery, ask
from asof.operations.quotes import quote
from asof.operations.service_answers import run
from asof.service.api_keys import Permission

_PAGE: Final = 50  # messages
_ASKED_ABOUT: Final = 10  # messages that a question to the user shows
_SELECTORS: Final = ("person", "topic", "start", "stop")


class MessageToErase(BaseModel):
    """A message that would be erased."""

    position: int
    type: str
    uuid: str | None = Field(description="Of its episode.")
    role: str
    content: str
    said_at: Instant

    @classmethod
    def of(cls, message: ErasedMessage) -> Self:
        """Return a message."""
        return cls(
            position=message.position,
            type=message.type,
            uuid=message.episode,
            role=message.role,
            content=message.content,
            said_at=message.valid_at,
        )


class LogOfGroup(BaseModel):
    """The records of the group in one log."""

    log: str
    held: int
    erased: int
    head: str | None = Field(description="The hash over all records of the log; null in a dry run.")


class Receipt(BaseModel):
    """What is certain of an erasure."""

    position: int = Field(description="Of the request on the log.")
    recorded_at: Instant | None
    done: bool | None = Field(description="Whether no file holds it any more; false: files are yet to be rewritten.")
    keys_destroyed: bool | None = Field(description="Whether the logs are encrypted, and its keys are gone.")
    messages: tuple[int, ...] | None = Field(description="The positions of what was erased; null: all of the group.")


class Forgetting(PagedAnswer):
    """What an erasure would erase, or its receipt."""

    state: Literal["dry_run", "declined", "erased"]
    count: int | None = Field(description="Messages; null: all of the group.")
    messages: tuple[MessageToErase, ...] = Field(description="Of a dry run, by their order.")
    logs: tuple[LogOfGroup, ...] = Field(description="What each log has of the whole group.")
    confirmation: str | None = Field(description="Of a dry run: call again with it to erase just what was shown.")
    receipt: Receipt | None


class ForgetArguments(Arguments):
    """The arguments of forget."""

    PAGING: ClassVar = frozenset({"cursor", "confirmation"})

    person: str | None = like(ErasureQuery, "person", None, "What they said, and all that means them.")
    only_said: bool = like(ErasureQuery, "only_said", False, "Of the person: only what they said themselves.")
    topic: str | None = like(ErasureQuery, "phrase", None, "What has these words.")
    start: MaybeTime = Field(None, alias="from", description="Said from this time on.")
    stop: MaybeTime = Field(None, alias="to", description="Said before this time.")
    everything: bool = Field(False, description="The whole group, in place of all that.")
    confirmation: str | None = Field(None, description="Of the dry run, once the user has agreed to it.")
    cursor: str | None = None
    group_id: str | None = None


@tool(ForgetArguments, Forgetting, needs=Permission.ADMIN, destructive=True)
async def forget(access: Access, asked: ForgetArguments) -> Reply:
    """Erase for ever, at every moment: what fits all that is given. The first call is a dry run that erases nothing."""
    group = access.scope.one(asked.group_id)
    pages = Pages("forget", asked, [group])
    query = _query(asked, group)
    preview = await run(access.served, erasures.erasure_preview, query)
    if preview.messages == ():
        raise NotFound("no message of this group fits, so there is nothing to forget: list_episodes shows them")
    state = await _state(access, asked, group, preview)
    if state == "erased":
        return await _erased(access, group, preview)
    messages = preview.messages or ()
    part = pages.cut(messages, _PAGE, (None, None))
    answer = Forgetting(
        **await shared_fields(access, [group]),
        next_cursor=part.next_cursor,
        state=state,
        count=None if preview.messages is None else len(messages),
        messages=tuple(map(MessageToErase.of, part.items)) if state == "dry_run" else (),
        logs=_logs_of(preview),
        confirmation=token_of(access.scope, "agent", *_shown(group, preview)) if state == "dry_run" else None,
        receipt=None,
    )
    return Reply(answer, block(answer, _lines(answer)))


def _query(asked: ForgetArguments, group: str) -> ErasureQuery:
    """Return what is to be erased. InvalidInput: nothing is named, or everything beside a part of it."""
    is_named = any(getattr(asked, name) is not None for name in _SELECTORS)
    if is_named == asked.everything:
        raise InvalidInput("say which person, topic or dates, or everything alone", field="everything")
    fields = {
        "person": asked.person,
        "only_said": asked.only_said,
        "phrase": asked.topic,
        "from": asked.time("from"),
        "to": asked.time("to"),
        "group_id": group,
    }
    return ask(ErasureQuery, {name: value for name, value in fields.items() if value is not None})


async def _state(
    access: Access, asked: ForgetArguments, group: str, preview: ErasurePreview
) -> Literal["dry_run", "declined", "erased"]:
    """Return whether what is shown is confirmed, and is to be erased. InvalidInput: it is not what was confirmed."""
    shown = _shown(group, preview)
    if asked.confirmation is not None:
        if not is_token(asked.confirmation, token_of(access.scope, "agent", *shown)):
            raise InvalidInput("it is not of what would be erased now: call without it", field="confirmation")
        return "erased"
    confirmed = await access.confirmation.asked(_question(group, preview), token_of(access.scope, "user", *shown))
    return "dry_run" if confirmed is None else "erased" if confirmed else "declined"


def _shown(group: str, preview: ErasurePreview) -> tuple[str, Sequence[int] | None, Sequence[int]]:
    """Return what a confirmation is bound to: the messages; of a whole group, how much there is of it."""
    if preview.messages is None:
        return group, None, [log.held for log in preview.logs]
    return group, [message.position for message in preview.messages], []


def _question(group: str, preview: ErasurePreview) -> str:
    if preview.messages is None:
        return f"Erase all of the group {quote(group)} for ever, at every moment: {_records_of(preview)}?"
    shown = [_line(MessageToErase.of(message)) for message in preview.messages[:_ASKED_ABOUT]]
    more = len(preview.messages) - len(shown)
    rest = [f"- and {more} more"] if more else []
    heading = f"Erase {_counted(len(preview.messages))} of the group {quote(group)} for ever, at every moment?"
    return "\n".join([heading, *shown, *rest])


def _records_of(preview: ErasurePreview) -> str:
    return ", ".join(f"{log.held} records of {log.log}" for log in preview.logs)


async def _erased(access: Access, group: str, preview: ErasurePreview) -> Reply:
    """Erase what was shown, and nothing else; return the receipt."""
    served = access.served
    request: ErasureRequest | RedactionRequest = ErasureRequest(group_id=group)
    if preview.messages is not None:
        request = RedactionRequest(group_id=group, positions=tuple(one.position for one in preview.messages))
    positions = await served.take_and_see([request])
    await served.erased()
    erasure = await served.ask(partial(erasures.erasure_at, group=group, position=positions.start))
    answer = Forgetting(
        **await shared_fields(access, [group]),
        next_cursor=None,
        state="erased",
        count=None if erasure.messages is None else len(erasure.messages),
        messages=(),
        logs=_logs_of(erasure),
        confirmation=None,
        receipt=Receipt(**{name: getattr(erasure, name) for name in Receipt.model_fields}),
    )
    return Reply(answer, block(answer, _lines(answer)))


def _logs_of(found: ErasurePreview | Erasure) -> tuple[LogOfGroup, ...]:
    return tuple(LogOfGroup(log=one.log, held=one.held, erased=one.erased, head=one.head) for one in found.logs)


def _lines(answer: Forgetting) -> list[str]:
    what = "All of the group" if answer.count is None else _counted(answer.count)
    match answer.state:
        case "dry_run":
            lines = [f"{what} would be erased for ever; nothing is yet.", *map(_line, answer.messages)]
            return [*lines, f"Once the user has agreed, call again with confirmation {answer.confirmation}"]
        case "declined":
            return ["The user did not agree: nothing was erased."]
        case _:
            done: Any = None if answer.receipt is None else answer.receipt.done
            rest = "." if done else "; files that still hold some of it are being rewritten."
            return [f"{what} erased, at every moment{rest}"]


def _counted(count: int) -> str:
    return "1 message" if count == 1 else f"{count} messages"


def _line(message: MessageToErase) -> str:
    speaker = f" by {quote(message.role)}" if message.role else ""
    name = f" {of_id(message.uuid)}" if message.uuid else ""
    return f"- {when(message.said_at)}{speaker}: {quote(message.content)}{name}"
