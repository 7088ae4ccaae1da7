"""What producers send: messages, structured facts, and the wish that a group be forgotten."""

import re
from typing import Annotated, Any, ClassVar, Final, Literal, Self, TypeVar

from pydantic import AfterValidator, Field, ValidationError, model_validator

from asof_streams.errors import InvalidInput
from asof_streams.events import Event, register
from asof_streams.instants import parse

MAX_CONTENT_BYTES: Final = 512 * 1024  # a record must stay below Kafka's usual 1 MB with room for its envelope
MAX_NAME_CHARACTERS: Final = 1_000
_GROUP: Final = re.compile(r"[A-Za-z0-9_-]{1,128}", re.ASCII)


def check_group(group_id: str) -> str:
    """Return the group id if it is one (Graphiti's rule: letters, digits, _ and -; up to 128)."""
    if not _GROUP.fullmatch(group_id):
        raise InvalidInput("a group id has 1 to 128 letters, digits, _ or -")
    return group_id


def _group(value: str) -> str:
    if not _GROUP.fullmatch(value):
        raise ValueError("a group id has 1 to 128 letters, digits, _ or -")
    return value


def _storable(value: str) -> str:
    """Refuse what UTF-8 cannot hold (a lone surrogate) and what a record cannot carry."""
    try:
        size = len(value.encode())
    except UnicodeEncodeError:
        raise ValueError("text must be valid Unicode (it has half of a surrogate pair)") from None
    if size > MAX_CONTENT_BYTES:
        raise ValueError(f"it has {size} bytes, the limit is {MAX_CONTENT_BYTES}: split it into several messages")
    return value


def _label(value: str) -> str:
    if len(value) > MAX_NAME_CHARACTERS:
        raise ValueError(f"it has {len(value)} characters, the limit is {MAX_NAME_CHARACTERS}")
    return _storable(value)


def _name(value: str) -> str:
    if not value.strip():
        raise ValueError("it must not be empty")
    return _label(value)


GroupId = Annotated[str, AfterValidator(_group)]
Text = Annotated[str, AfterValidator(_storable)]
Label = Annotated[str, AfterValidator(_label)]
Name = Annotated[str, AfterValidator(_name)]


@register
class Message(Event):
    """One thing said in a conversation, or a text or JSON document.

    Without a timestamp it was said when it was recorded. A uuid names an episode that exists already
    (spec/add-messages 9, 10): such a message adds nothing, and one that names no episode is parked.
    """

    type: ClassVar[str] = "message.sent"

    group_id: GroupId
    content: Text = Field(repr=False)
    role_type: Literal["user", "assistant", "system"] | None = None
    role: Label = Field(default="", repr=False)
    name: Label = Field(default="", repr=False)
    uuid: Name | None = None
    timestamp: int | None = None
    source: Literal["message", "text", "json"] = "message"
    source_description: Label = Field(default="", repr=False)

    @model_validator(mode="after")
    def _role_type_of_messages(self) -> Self:
        if self.source == "message" and self.role_type is None:
            raise ValueError("role_type is missing: one of user, assistant, system")
        return self


@register
class FactStatement(Event):
    """A structured fact as its producer states it: no extraction, no model, exact names (design 8).

    assert: subject, relation, object hold from valid_at (else said_at) to invalid_at (else no end stated).
    end: the fact, or with no object whatever holds there, ends at invalid_at (else said_at).
    retract: it was wrong to say so. correct: retract and assert in one.
    `ref` is the producer's own id of a fact, or the uuid of one: end, correct and retract then concern that fact alone.
    """

    type: ClassVar[str] = "fact.stated"

    group_id: GroupId
    op: Literal["assert", "end", "correct", "retract"] = "assert"
    ref: Name | None = None
    subject: Name | None = Field(default=None, repr=False)
    subject_type: Name | None = None
    relation: Name | None = None
    object: Name | None = Field(default=None, repr=False)
    object_type: Name | None = None
    fact: Text | None = Field(default=None, repr=False)
    valid_at: int | None = None
    invalid_at: int | None = None
    confidence: float = Field(default=1.0, ge=0.0, le=1.0)
    said_at: int | None = None

    @model_validator(mode="after")
    def _says_enough(self) -> Self:
        if self.ref is None or self.op in ("assert", "correct"):
            needed = ("subject", "relation") if self.op == "end" else ("subject", "relation", "object")
            missing = [name for name in needed if getattr(self, name) is None]
            if missing:
                raise ValueError(f"{self.op} needs {' and '.join(missing)}")
        if self.valid_at is not None and self.invalid_at is not None and self.valid_at >= self.invalid_at:
            raise ValueError("valid_at must be before invalid_at")
        return self


@register
class ErasureRequest(Event):
    """The wish that everything of a group be gone, at every moment of both clocks."""

    type: ClassVar[str] = "erasure.requested"

    group_id: GroupId


AnyMessage = Message | FactStatement | ErasureRequest

M = TypeVar("M", Message, FactStatement)
_TIMES: Final = ("timestamp", "valid_at", "invalid_at", "said_at")


def accept(kind: type[M], fields: Any) -> M:
    """Return what a producer sent as JSON, or InvalidInput naming the field and the reason, never its content."""
    if not isinstance(fields, dict):
        raise InvalidInput("a line must be one JSON object")
    read = dict(fields)
    for name in _TIMES:
        if isinstance(read.get(name), str):
            try:
                read[name] = parse(read[name])
            except InvalidInput as error:
                raise InvalidInput(f"{name}: {error}") from None
        elif read.get(name) is not None:
            raise InvalidInput(f"{name}: a time is a string such as 2024-05-01T09:30:00Z")
    try:
        return kind.model_validate(read)
    except ValidationError as error:
        first = error.errors(include_input=False, include_url=False, include_context=False)[0]
        where = ".".join(map(str, first["loc"]))
        reason = first["msg"].removeprefix("Value error, ")
        if first["type"] == "extra_forbidden":
            reason = f"no such field; known are {', '.join(kind.model_fields)}"
            where = where if where.isidentifier() else "(a name)"
        raise InvalidInput(f"{where}: {reason}" if where else reason) from None
