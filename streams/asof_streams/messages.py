"""The messages that producers send: episodes, structured facts, entities, withdrawals and erasures."""

import re
from collections.abc import Collection, Mapping
from typing import Annotated, Any, ClassVar, Final, Literal, Self, TypeVar

from pydantic import (
    BeforeValidator,
    Field,
    StringConstraints,
    TypeAdapter,
    ValidationError,
    field_validator,
    model_validator,
)

from asof_streams.errors import NOT_UNICODE, InvalidInput
from asof_streams.events import Event, decode, event_of, register
from asof_streams.extraction_options import (
    NO_ONTOLOGY,
    NO_OPTION,
    EntityTypes,
    EpisodeIds,
    ExcludedTypes,
    OntologyId,
    RelationPair,
    RelationTypeMap,
    RelationTypes,
    TypeAttribute,
    TypeSchema,
    unset,
)
from asof_streams.ids import scoped_id
from asof_streams.instants import FIRST, LAST, parse_moment
from asof_streams.known_names import nearest
from asof_streams.literals import MAX_QUALIFIER_CHARACTERS, MAX_QUALIFIERS, Number, Qualifiers, text_of
from asof_streams.timezones import zone_of

MAX_CONTENT_BYTES: Final = 512 * 1024  # a record must fit Kafka's default limit of 1 MB, with room for its envelope
MAX_NAME_CHARACTERS: Final = 1_000
MAX_GROUP_CHARACTERS: Final = 200
NO_GROUP: Final = f"a group id has 1 to {MAX_GROUP_CHARACTERS} characters, and no control character"
_IN_GROUP: Final = rf"[^\x00-\x1f\x7f-\x9f]{{1,{MAX_GROUP_CHARACTERS}}}"
_GROUP: Final = re.compile(_IN_GROUP)


def check_group(group_id: str) -> str:
    """Return a group id unchanged: two are the same group if they are the same text, character by character.

    InvalidInput: it is empty, longer than 200 characters, or has a control character or half of a surrogate pair.
    """
    if not _GROUP.fullmatch(group_id):
        raise InvalidInput(NO_GROUP)
    if not group_id.isascii() and any("\ud800" <= character <= "\udfff" for character in group_id):
        raise InvalidInput(NOT_UNICODE)
    return group_id


_ZONE: Final = r"^[A-Z][A-Za-z0-9_+/-]{0,63}$"  # a name in small letters may mean another zone on another machine
Grain = Literal["second", "minute", "hour", "day", "week", "month", "quarter", "year"]
MessageKind = Literal["message", "reaction", "edit", "deletion", "feedback"]
IdentityOp = Literal["merge", "split", "alias", "unalias"]
IDENTITY_FIELDS: Final[dict[str, tuple[set[str], ...]]] = {  # that each op takes, one set or another
    "merge": ({"entity", "into"},),
    "split": ({"entity", "into"}, {"merge_id"}),
    "alias": ({"entity", "name"},),
    "unalias": ({"entity", "name"},),
}

# These constraints also run when a log is read, so they are pydantic's own, which are cheap; accept() checks the rest.
GROUP_PATTERN: Final = f"^{_IN_GROUP}$"
GroupId = Annotated[str, StringConstraints(pattern=GROUP_PATTERN)]
Text = Annotated[str, StringConstraints(max_length=MAX_CONTENT_BYTES)]
Label = Annotated[str, StringConstraints(max_length=MAX_NAME_CHARACTERS)]
Name = Annotated[str, StringConstraints(max_length=MAX_NAME_CHARACTERS, pattern=r"\S")]
ZoneName = Annotated[str, StringConstraints(pattern=_ZONE)]
StoredId = Annotated[str, StringConstraints(max_length=MAX_NAME_CHARACTERS + MAX_GROUP_CHARACTERS + 1, pattern=r"\S")]


@register
class Message(Event):
    """A message of a conversation, or a text or JSON document.

    Without a timestamp it counts as said when it is recorded. A uuid names an episode that exists already: such a
    message adds nothing, and it is parked if its group has no such episode.

    The fields from `schema_id` on choose the ontology and its types. A message whose types do not fit each other or
    the ontology is parked.

    The fields from `external_id` on are of a chat. One `kind` of message makes a turn, feedback or a goal (`message`),
    the others change what was sent: `edit` and `deletion` name their message by `external_id`, `reaction` by
    `reply_to`. Whatever comes with an external id that the group has seen adds nothing but by such a change. A change
    of a message that the group has not is parked. Without a kind, a message is a turn.
    """

    type: ClassVar[str] = "message.sent"
    version: ClassVar[int] = 3
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
    external_id: Name | None = Field(default=None, exclude_if=unset)
    reply_to: Name | None = Field(default=None, exclude_if=unset)
    kind: MessageKind | None = Field(default=None, exclude_if=unset)
    is_proactive: bool = Field(default=False, exclude_if=unset)
    author_id: Name | None = Field(default=None, exclude_if=unset)

    @model_validator(mode="after")
    def _role_type_of_messages(self) -> Self:
        if self.source == "message" and self.role_type is None:
            raise ValueError("role_type is missing: one of user, assistant, system")
        if self.kind is not None:
            self._has_what_its_kind_needs(self.kind)
        return self

    def _has_what_its_kind_needs(self, kind: MessageKind) -> None:
        if self.source != "message":
            raise ValueError(f"kind is of a message: leave it out, or the source {self.source}")
        if self.uuid is not None:
            raise ValueError("uuid names an episode that is there already: leave it out, or the kind")
        if kind in ("edit", "deletion") and self.external_id is None:
            raise ValueError(f"external_id is missing: the message that the {kind} is of")
        if kind == "reaction" and self.reply_to is None:
            raise ValueError("reply_to is missing: the external id of the message that the reaction is put on")


@register
class FactStatement(Event):
    """A structured fact: exact names, no extraction, no model.

    assert: subject, relation and object hold from valid_at (else said_at) to invalid_at (else no end is stated).
    end: the fact ends at invalid_at (else said_at); without an object, every value of subject and relation ends.
    retract: the fact was wrong from the start. correct: a retraction and an assertion in one batch.
    `ref` is the producer's own id of a fact, or a fact's uuid; end, correct and retract then apply to that fact alone.

    `grain` says how exact valid_at is. What happened without an end, such as a visit, is dated by that granule: the day
    of valid_at, if none is given. An occurrence cannot be ended.

    An object that is a JSON number is a value and no entity: 1.0 is 1, and "1" is the name of an entity. `qualifiers`
    say more about what is asserted, each a name with a text or a number; they are no part of the claim, and neither is
    `source_description`, which says where the statement comes from, as that of a message does.
    """

    type: ClassVar[str] = "fact.stated"
    version: ClassVar[int] = 3
    since: ClassVar[int] = 1

    group_id: GroupId
    op: Literal["assert", "end", "correct", "retract"] = "assert"
    ref: Name | None = None
    subject: Name | None = Field(default=None, repr=False)
    subject_type: Name | None = None
    relation: Name | None = None
    object: Name | Number | None = Field(default=None, repr=False, union_mode="left_to_right")
    object_type: Name | None = None
    fact: Text | None = Field(default=None, repr=False)
    valid_at: int | None = None
    invalid_at: int | None = None
    grain: Grain | None = Field(default=None, exclude_if=unset)
    confidence: float = Field(default=1.0, ge=0.0, le=1.0)
    said_at: int | None = None
    qualifiers: Qualifiers | None = Field(default=None, repr=False, exclude_if=unset)
    source_description: Label = Field(default="", repr=False, exclude_if=unset)

    @field_validator("qualifiers")
    @classmethod
    def _some_or_none(cls, qualifiers: Qualifiers | None) -> Qualifiers | None:
        return qualifiers or None  # as an absent one is read

    @property
    def value(self) -> str | None:
        """The object in words, where it is a number."""
        return None if self.object is None or isinstance(self.object, str) else text_of(self.object)

    @model_validator(mode="after")
    def _says_enough(self) -> Self:
        if self.subject is None or self.relation is None or self.object is None:
            self._may_leave_out()
        if self.valid_at is not None and self.invalid_at is not None and self.valid_at >= self.invalid_at:
            raise ValueError("valid_at must be before invalid_at")
        if self.object_type is not None and self.value is not None:
            raise ValueError("object_type is of an entity, and a number is none: leave it out")
        if self.qualifiers and self.op not in ("assert", "correct"):
            raise ValueError(f"qualifiers are of what is asserted: {self.op} takes none")
        return self

    @classmethod
    def read(cls, written: bytes, version: int) -> Self:
        """Return a statement that a log has. DecodeError: a newer asof wrote it, or it is damaged.

        It was valid when it was written, so that of statements with the same fields of the same types one is validated.
        """
        try:
            fields = _FIELDS.validate_json(written) if cls.since <= version <= cls.version else {}
        except ValidationError:
            fields = {}
        shape = (*fields, *map(type, fields.values()))
        if shape in _SHAPES:
            return event_of(cls, {**_UNSTATED, **fields})
        stated = decode(cls.type, version, written)
        assert isinstance(stated, cls)
        if shape and stated.qualifiers is None and len(_SHAPES) < _MOST_SHAPES:
            _SHAPES.add(shape)
        return stated

    def _may_leave_out(self) -> None:
        if self.ref is not None and self.op in ("end", "retract"):
            return
        needed = ("subject", "relation") if self.op == "end" else ("subject", "relation", "object")
        missing = [name for name in needed if getattr(self, name) is None]
        if missing:
            raise ValueError(f"{self.op} needs {' and '.join(missing)}")


_UNSTATED: Final = {name: field.default for name, field in FactStatement.model_fields.items()}  # in their order
_FIELDS: Final = TypeAdapter(dict[str, Any])
_MOST_SHAPES: Final = 1_000
_SHAPES: Final = set[tuple[object, ...]]()  # of statements that were validated: the names of fields, then their types


@register
class EntityStatement(Event):
    """An entity under an id of its producer's own.

    Another statement with that id adds its name to the same entity, and replaces the summary if it has one. The doors
    write the id with its group in front, so that it is no id of another group, nor one that asof derives; every answer
    has it as it was given.
    """

    type: ClassVar[str] = "entity.stated"

    group_id: GroupId
    entity_id: StoredId
    name: Name = Field(repr=False)
    summary: Text = Field(default="", repr=False)


@register
class IdentityStatement(Event):
    """A statement about the identity of entities: merged, split or also called. It needs no text and no ontology.

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
class TimezoneStatement(Event):
    """The time zone of a group's speakers, by its IANA name.

    From here on "yesterday" and other times in the words of its messages are read by their days; times that were read
    before stay. Another statement takes its place. A name that is in no database of zones is parked.
    """

    type: ClassVar[str] = "timezone.stated"

    group_id: GroupId
    timezone: ZoneName


@register
class WithdrawalRequest(Event):
    """A request to withdraw an episode: its statements are retracted; queries as of earlier times still see them."""

    type: ClassVar[str] = "withdrawal.requested"

    group_id: GroupId
    episode_id: Name


@register
class RetryRequest(Event):
    """A request to process a message again that was parked, or about which a model gave no answer.

    What follows from it is known from the retry on, and valid as of the message that it names. Of a message that was
    neither parked nor failed, or is of another group, nothing changes.
    """

    type: ClassVar[str] = "retry.requested"

    group_id: GroupId
    position: int = Field(ge=0)


@register
class ConsolidationRequest(Event):
    """A request to consolidate a group: a pass over what changed since the last one. It takes nothing away.

    With `undo` the last pass that still stands is undone instead.
    """

    type: ClassVar[str] = "consolidation.requested"
    version: ClassVar[int] = 2
    since: ClassVar[int] = 1

    group_id: GroupId
    undo: bool = Field(default=False, exclude_if=unset)


@register
class ErasureRequest(Event):
    """A request to erase a group: all of its data is destroyed, at every valid and known time."""

    type: ClassVar[str] = "erasure.requested"

    group_id: GroupId


def _array(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value


Positions = Annotated[tuple[Annotated[int, Field(ge=0)], ...], BeforeValidator(_array)]


@register
class RedactionRequest(Event):
    """A request to erase some messages of a group, by their positions, as if they had never been.

    What is left of the group is processed again from the beginning, at the times at which it was recorded. A position
    that is none of an earlier message of the group is passed over.
    """

    type: ClassVar[str] = "redaction.requested"

    group_id: GroupId
    positions: Positions


@register
class RecordRefused(Event):
    """A record of the messages topic that is no valid message. It takes a position like any other, and is parked.

    `group_id` is the group that the record names, or "" if it names none. `reason` names fields, never content.
    """

    type: ClassVar[str] = "record.refused"

    group_id: str
    reason: str


AnyMessage = (
    Message
    | FactStatement
    | EntityStatement
    | IdentityStatement
    | TimezoneStatement
    | WithdrawalRequest
    | RetryRequest
    | ConsolidationRequest
    | ErasureRequest
    | RedactionRequest
    | RecordRefused
)


def takes_back(event: Event) -> bool:
    """Whether a message takes back what an earlier one of its chat said: nothing else of that is read from then on."""
    return isinstance(event, Message) and event.kind in ("edit", "deletion")


M = TypeVar("M", bound=Event)
_LONG: Final = frozenset({"content", "fact", "summary"})
_REASONS: Final = {
    "string_pattern_mismatch": "it must not be empty",
    "string_too_long": f"it is too long, the limit is {MAX_NAME_CHARACTERS} characters",
    "string_unicode": NOT_UNICODE,
}
_LITERALS: Final = {
    "object": "it must be a name or a number",
    "qualifiers": f"it must be an object of at most {MAX_QUALIFIERS} names, each with a text or a number: a name has "
    f"1 to {MAX_QUALIFIER_CHARACTERS} characters, a text 1 to {MAX_NAME_CHARACTERS}",
}
_OPTIONS: Final = frozenset({"entity_types", "excluded_entity_types", "relation_types", "relation_type_map"})
_IDS: Final = {
    "group_id": NO_GROUP,
    "timezone": "it must be the IANA name of a time zone, as Europe/Berlin",
    "schema_id": NO_ONTOLOGY,
}
TIMES: Final = ("timestamp", "valid_at", "invalid_at", "said_at")


def accept(kind: type[M], fields: Any) -> M:
    """Return a message made of a producer's JSON object; times are RFC 3339 strings, or dates.

    InvalidInput names the first field that is wrong and the reason, never content. Unknown fields are refused.
    `content`, `fact` and `summary` may have 512 KiB in UTF-8, names 1000 characters.

    Example: `accept(Message, {"group_id": "ana", "role_type": "user", "content": "I moved to Oslo."})`.
    `validate` does the same for times in microseconds.
    """
    if not isinstance(fields, dict):
        raise InvalidInput("a line must be one JSON object")
    values = dict(fields)
    for name in TIMES:
        if isinstance(values.get(name), str):
            try:
                values[name] = parse_moment(values[name])
            except InvalidInput as error:
                raise error.within(name) from None
        elif values.get(name) is not None:
            raise InvalidInput("a time is a string such as 2024-05-01T09:30:00Z", field=name)
    return validate(kind, values)


def in_scope(stated: EntityStatement) -> EntityStatement:
    """Return the statement of an entity as the log has it: under its producer's own id within its group.

    InvalidInput: the id has more than 1000 characters.
    """
    if len(stated.entity_id) > MAX_NAME_CHARACTERS:
        raise InvalidInput(_REASONS["string_too_long"], field="entity_id")
    return stated.model_copy(update={"entity_id": scoped_id(stated.group_id, stated.entity_id)})


def in_database(stated: TimezoneStatement) -> TimezoneStatement:
    """Return the statement of a time zone. InvalidInput: this machine knows none of the name."""
    try:
        zone_of(stated.timezone)
    except ValueError as error:
        raise InvalidInput(str(error), field="timezone") from None
    return stated


def validate(kind: type[M], fields: Mapping[str, Any]) -> M:
    """Return a message of these fields, with times in UTC microseconds. InvalidInput is as in `accept`."""
    for name in TIMES:
        if isinstance(time := fields.get(name), int) and not FIRST <= time <= LAST:
            raise InvalidInput("it is outside of the years 1 to 9999", field=name)
    for name in _LONG.intersection(fields):
        _check_size(name, fields[name])
    try:
        return kind.model_validate(fields, strict=True)
    except ValidationError as error:
        raise _first_problem(error, kind) from None


def _check_size(name: str, value: Any) -> None:
    """Refuse a text that is too large for a record. The limit is in bytes, and pydantic counts characters."""
    if isinstance(value, str) and len(value) > MAX_CONTENT_BYTES // 4:
        size = len(value.encode(errors="replace"))
        if size > MAX_CONTENT_BYTES:
            limit = f"the limit is {MAX_CONTENT_BYTES}: split it into several messages"
            raise InvalidInput(f"it has {size} bytes, {limit}", field=name)


def _first_problem(error: ValidationError, kind: type[Event]) -> InvalidInput:
    """Return the first thing that is wrong, and where, without a word of the content."""
    first = error.errors(include_input=False, include_url=False)[0]
    if first["loc"] and first["loc"][0] in _OPTIONS:
        pattern = str(first.get("ctx", {}).get("pattern"))
        return _option_problem(first["loc"], first["type"], NO_OPTION.get(pattern, first["msg"]))
    if first["loc"] and first["loc"][0] in _LITERALS and first["type"] != "extra_forbidden":
        return _literal_problem(str(first["loc"][0]), error)
    where, kind_of_error = ".".join(map(str, first["loc"])), first["type"]
    reason = _REASONS.get(kind_of_error) or first["msg"].removeprefix("Value error, ")
    if kind_of_error == "extra_forbidden":
        reason = f"no such field; {nearest(where, kind.model_fields)}"
        where = where if where.isidentifier() else "(a name)"
    elif kind_of_error == "string_pattern_mismatch":
        reason = _IDS.get(where, reason)
    return InvalidInput(reason, where or None)


def _literal_problem(field: str, error: ValidationError) -> InvalidInput:
    """Return what is wrong with a number, or with what may be one, without the names of qualifiers."""
    found = error.errors(include_input=False, include_url=False, include_context=False)
    problems = {one["type"]: one["msg"] for one in found if one["loc"][0] == field}
    if "value_error" in problems:
        return InvalidInput(problems["value_error"].removeprefix("Value error, "), field)
    reasons = _REASONS if field == "object" else {"string_unicode": NOT_UNICODE}
    return InvalidInput(next((reasons[type_] for type_ in problems if type_ in reasons), _LITERALS[field]), field)


def _option_problem(loc: tuple[int | str, ...], kind_of_error: str, reason: str) -> InvalidInput:
    """Return what is wrong with types that a producer made up, without their names."""
    part = RelationPair if loc[0] == "relation_type_map" else TypeAttribute if "attributes" in loc else TypeSchema
    ours = {*_OPTIONS, *part.model_fields, *TypeSchema.model_fields}
    if kind_of_error == "extra_forbidden":
        known = ", ".join(part.model_fields)
        return InvalidInput(f"no such field; known are {known}", _place(loc[:-1], ours))
    where = _place(loc, ours)
    return InvalidInput(NOT_UNICODE if kind_of_error == "string_unicode" else reason, where)


def _place(loc: tuple[int | str, ...], ours: Collection[str]) -> str:
    """Return a dotted place without the names that a producer made up."""
    return ".".join(str(at) for at in loc if isinstance(at, int) or at in ours)
