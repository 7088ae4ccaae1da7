"""What producers send: messages, structured facts and entities, and what is to count no longer, or be forgotten."""

import re
from collections.abc import Mapping
from typing import Annotated, Any, ClassVar, Final, Literal, Self, TypeVar

from pydantic import Field, StringConstraints, ValidationError, model_validator

from asof_streams.errors import NOT_UNICODE, InvalidInput
from asof_streams.events import Event, register
from asof_streams.instants import FIRST, LAST, parse
from asof_streams.options import (
    EntityTypes,
    EpisodeIds,
    ExcludedTypes,
    OntologyId,
    RelationPair,
    RelationTypeMap,
    RelationTypes,
    unset,
)

MAX_CONTENT_BYTES: Final = 512 * 1024  # a record must stay below Kafka's usual 1 MB with room for its envelope
MAX_NAME_CHARACTERS: Final = 1_000
_GROUP: Final = re.compile(r"[A-Za-z0-9_-]{1,128}", re.ASCII)


def check_group(group_id: str) -> str:
    """Return the group id if it is one (Graphiti's rule: letters, digits, _ and -; up to 128)."""
    if not _GROUP.fullmatch(group_id):
        raise InvalidInput("a group id has 1 to 128 letters, digits, _ or -")
    return group_id


IdentityOp = Literal["merge", "split", "alias", "unalias"]
IDENTITY_FIELDS: Final[dict[str, tuple[set[str], ...]]] = {  # that each op takes, one set or another
    "merge": ({"entity", "into"},),
    "split": ({"entity", "into"}, {"merge_id"}),
    "alias": ({"entity", "name"},),
    "unalias": ({"entity", "name"},),
}

# Constraints are pydantic's own, which cost a decode next to nothing; what they cannot say is checked in accept().
GroupId = Annotated[str, StringConstraints(pattern=rf"^{_GROUP.pattern}$")]
Text = Annotated[str, StringConstraints(max_length=MAX_CONTENT_BYTES)]
Label = Annotated[str, StringConstraints(max_length=MAX_NAME_CHARACTERS)]
Name = Annotated[str, StringConstraints(max_length=MAX_NAME_CHARACTERS, pattern=r"\S")]


@register
class Message(Event):
    """One thing said in a conversation, or a text or JSON document.

    Without a timestamp it was said when it was recorded. A uuid names an episode that exists already
    (spec/add-messages 9, 10): such a message adds nothing, and one that names no episode is parked.

    The fields from `schema_id` on say how it is read; one whose types do not fit each other or the ontology is parked.
    """

    type: ClassVar[str] = "message.sent"
    version: ClassVar[int] = 2
    since: ClassVar[int] = 1

    group_id: GroupId
    content: Text = Field(repr=False)
    role_type: Literal["user", "assistant", "system"] | None = None
    role: Label = Field(default="", repr=False)
    name: Label = Field(default="", repr=False)
    uuid: Name | None = None
    timestamp: int | None = None
    source: Literal["message", "text", "json"] = "message"
    source_description: Label = Field(default="", repr=False)
    schema_id: OntologyId | None = None
    entity_types: EntityTypes | None = Field(default=None, repr=False)
    excluded_entity_types: ExcludedTypes | None = Field(default=None, repr=False)
    relation_types: RelationTypes | None = Field(default=None, repr=False)
    relation_type_map: RelationTypeMap | None = Field(default=None, repr=False)
    previous_episode_ids: EpisodeIds | None = None
    suppress_content: bool = Field(default=False, exclude_if=unset)
    update_communities: bool = Field(default=False, exclude_if=unset)

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
        if self.subject is None or self.relation is None or self.object is None:
            self._may_leave_out()
        if self.valid_at is not None and self.invalid_at is not None and self.valid_at >= self.invalid_at:
            raise ValueError("valid_at must be before invalid_at")
        return self

    def _may_leave_out(self) -> None:
        if self.ref is not None and self.op in ("end", "retract"):
            return
        needed = ("subject", "relation") if self.op == "end" else ("subject", "relation", "object")
        missing = [name for name in needed if getattr(self, name) is None]
        if missing:
            raise ValueError(f"{self.op} needs {' and '.join(missing)}")


@register
class EntityStatement(Event):
    """An entity as its producer states it, under an id of the producer's own.

    Stated again under that id it is the same one: also called by the new name, with the new summary if one is given.
    """

    type: ClassVar[str] = "entity.stated"

    group_id: GroupId
    entity_id: Name
    name: Name = Field(repr=False)
    summary: Text = Field(default="", repr=False)


@register
class IdentityStatement(Event):
    """Who is whom, as somebody who knows states it: no text, no relation and no ontology is needed.

    merge: `entity` and `into` are one, known from here on; their facts keep their own ids, and the past stays as it was
    known. split: they are two; or, with `merge_id`, that merge alone was wrong. A merge that rests on a fact takes the
    fact with it. alias: `entity` is also called `name`. unalias takes back what alias stated, not what was said in
    words. `entity` and `into` are exact names or ids of entities of this group; what cannot stand is parked.
    """

    type: ClassVar[str] = "identity.stated"

    group_id: GroupId
    op: IdentityOp
    entity: Name | None = Field(default=None, repr=False)
    into: Name | None = Field(default=None, repr=False)
    merge_id: Name | None = None
    name: Name | None = Field(default=None, repr=False)

    @model_validator(mode="after")
    def _takes_its_fields(self) -> Self:
        given = {field for field in ("entity", "into", "merge_id", "name") if getattr(self, field) is not None}
        if given not in IDENTITY_FIELDS[self.op]:
            needed = " or ".join(" and ".join(sorted(fields)) for fields in IDENTITY_FIELDS[self.op])
            raise ValueError(f"{self.op} takes {needed}, and nothing else")
        return self


@register
class WithdrawalRequest(Event):
    """The wish that an episode count no longer: it is retracted whole, and its past can still be asked about."""

    type: ClassVar[str] = "withdrawal.requested"

    group_id: GroupId
    episode_id: Name


@register
class ErasureRequest(Event):
    """The wish that everything of a group be gone, at every moment of both clocks."""

    type: ClassVar[str] = "erasure.requested"

    group_id: GroupId


@register
class RecordRefused(Event):
    """Something reached the messages topic that cannot be a message; it keeps its place, so that nothing is lost.

    `group_id` is the group that it names, or "" where it names none. `reason` names fields, never content.
    """

    type: ClassVar[str] = "record.refused"

    group_id: str
    reason: str


AnyMessage = (
    Message | FactStatement | EntityStatement | IdentityStatement | WithdrawalRequest | ErasureRequest | RecordRefused
)

M = TypeVar("M", bound=Event)
_LONG: Final = frozenset({"content", "fact", "summary"})
_REASONS: Final = {
    "string_pattern_mismatch": "it must not be empty",
    "string_too_long": f"it is too long, the limit is {MAX_NAME_CHARACTERS} characters",
    "string_unicode": NOT_UNICODE,
}
_OPTIONS: Final = frozenset({"entity_types", "excluded_entity_types", "relation_types", "relation_type_map"})
_IDS: Final = {
    "group_id": "a group id has 1 to 128 letters, digits, _ or -",
    "schema_id": "it must be letters, digits and _, in lower case, as agent_memory_v1",
}
TIMES: Final = ("timestamp", "valid_at", "invalid_at", "said_at")


def accept(kind: type[M], fields: Any) -> M:
    """Return what a producer sent as JSON, or InvalidInput naming the field and the reason, never its content.

    Times are text; `validate` takes them as microseconds.
    """
    if not isinstance(fields, dict):
        raise InvalidInput("a line must be one JSON object")
    read = dict(fields)
    for name in TIMES:
        if isinstance(read.get(name), str):
            try:
                read[name] = parse(read[name])
            except InvalidInput as error:
                raise InvalidInput(f"{name}: {error}") from None
        elif read.get(name) is not None:
            raise InvalidInput(f"{name}: a time is a string such as 2024-05-01T09:30:00Z")
    return validate(kind, read)


def validate(kind: type[M], fields: Mapping[str, Any]) -> M:
    """Return a message of these fields, with times in microseconds; InvalidInput as of `accept`."""
    for name in TIMES:
        if isinstance(time := fields.get(name), int) and not FIRST <= time <= LAST:
            raise InvalidInput(f"{name}: it is outside of the years 1 to 9999")
    for name in _LONG.intersection(fields):
        _check_size(name, fields[name])
    try:
        return kind.model_validate(fields, strict=True)
    except ValidationError as error:
        raise InvalidInput(_told(error, kind)) from None


def _check_size(name: str, value: Any) -> None:
    """Refuse what a record cannot carry: it is bytes that count, and pydantic counts characters."""
    if isinstance(value, str) and len(value) > MAX_CONTENT_BYTES // 4:
        size = len(value.encode(errors="replace"))
        if size > MAX_CONTENT_BYTES:
            limit = f"the limit is {MAX_CONTENT_BYTES}: split it into several messages"
            raise InvalidInput(f"{name}: it has {size} bytes, {limit}")


def _told(error: ValidationError, kind: type[Event]) -> str:
    """Return the first thing that is wrong, and where, without a word of the content."""
    first = error.errors(include_input=False, include_url=False, include_context=False)[0]
    if first["loc"] and first["loc"][0] in _OPTIONS:
        return _told_of_option(first["loc"], first["type"], first["msg"])
    where, kind_of_error = ".".join(map(str, first["loc"])), first["type"]
    reason = _REASONS.get(kind_of_error) or first["msg"].removeprefix("Value error, ")
    if kind_of_error == "extra_forbidden":
        where = where if where.isidentifier() else "(a name)"
        reason = f"no such field; known are {', '.join(kind.model_fields)}"
    elif kind_of_error == "string_pattern_mismatch":
        reason = _IDS.get(where, reason)
    return f"{where}: {reason}" if where else reason


def _told_of_option(loc: tuple[int | str, ...], kind_of_error: str, reason: str) -> str:
    """Return what is wrong with types that a producer made up, without their names."""
    ours = {*_OPTIONS, *RelationPair.model_fields}
    where = ".".join(str(at) for at in loc if isinstance(at, int) or at in ours)
    if kind_of_error == "extra_forbidden":
        return f"{where}: no such field; known are {', '.join(RelationPair.model_fields)}"
    return f"{where}: {NOT_UNICODE if kind_of_error == 'string_unicode' else reason}"
