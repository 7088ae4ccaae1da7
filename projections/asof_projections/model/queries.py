"""The questions that a memory answers, each written once: every door takes its parameters from these models.

A query is frozen and checked when it is made: unknown fields, groups that cannot be and times that cannot be read are
refused by name. A time is RFC 3339 text, a date, month or year (its first instant in UTC), an aware datetime, or
microseconds since 1970; a query holds it as microseconds. Stores take the query itself.
"""

import base64
import binascii
from collections.abc import Callable, Iterable, Mapping
from datetime import date, datetime
from typing import Annotated, Any, Final, Literal, NamedTuple, TypedDict, TypeVar

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    ValidationError,
    ValidationInfo,
    WithJsonSchema,
    field_validator,
)

from asof_projections.model.rows import Moment
from asof_streams import instants
from asof_streams.errors import NOT_UNICODE, InvalidInput
from asof_streams.extraction_options import NO_ONTOLOGY, ONTOLOGY_PATTERN
from asof_streams.known_names import LONGEST_NAME, near_to, nearest
from asof_streams.messages import GROUP_PATTERN, MAX_GROUP_CHARACTERS, NO_GROUP
from asof_streams.timezones import zone_of

DEFAULT_GROUP: Final = "default"
HEAD: Final = instants.INF - 1  # as known so far: after everything that was recorded
MAX_NAME: Final = 1_000  # characters
MAX_QUERY: Final = 2_000  # characters
MAX_CHOICES: Final = 1_000  # of relations, types or groups
MAX_RETRIES: Final = 1_000  # messages that one request retries
MIN_BUDGET: Final = 200  # tokens of a context: what stands around its lines takes half of it
MAX_BUDGET: Final = 100_000
_A_WORD: Final = r"\S"
FAR: Final = 2**53  # no log is as long

Time = str | date | datetime | int
Over = Literal["facts", "episodes", "both"]
TextForm = Literal["json", "graphml", "csv", "jsonld", "mermaid"]
Form = Literal[TextForm, "parquet"]
Profile = Literal["default", "pipeline"]
Mindset = Literal["convergent", "divergent", "algorithmic"]
Kind = Literal["entity", "fact", "change", "episode"]


def instant(time: Time) -> int:
    """Return a time as microseconds since 1970. A date means its first instant in UTC.

    InvalidInput: it is no time, or a naive one: a time of day needs its offset.
    """
    match time:
        case bool():
            pass
        case int() if instants.NEG <= time <= instants.INF:
            return time
        case datetime():
            return instants.from_datetime(time)
        case date():
            return instants.parse_moment(time.isoformat())
        case str():
            return instants.parse_moment(time)
    raise InvalidInput("a time is RFC 3339 text, a date, an aware datetime, or microseconds since 1970 as an int")


def _time(value: Any) -> int:
    if type(value) is int and instants.NEG <= value <= instants.INF:
        return value
    try:
        return instants.parse_moment(value) if type(value) is str else instant(value)
    except InvalidInput as error:
        raise ValueError(str(error)) from None


_TIMES: Final = ["2024", "2024-05-01", "2024-05-01T09:30:00Z"]
Instant = Annotated[int, BeforeValidator(_time), WithJsonSchema({"type": "string", "examples": _TIMES})]
# Constraints that pydantic checks in compiled code: a question is asked in some tens of microseconds.
GroupId = Annotated[str, Field(pattern=GROUP_PATTERN, examples=["ana"])]
Name = Annotated[str, Field(max_length=MAX_NAME)]
Names = Annotated[tuple[Name, ...], Field(max_length=MAX_CHOICES)]


class Point(NamedTuple):
    """A point on both clocks; known None: all that is known."""

    valid: int
    known: int | None


def _point(value: Any) -> Any:
    if isinstance(value, list) and len(value) == 1:  # FastAPI reads the parameter of a tuple as a list of its values
        value = value[0]
    if isinstance(value, str):
        valid, comma, known = value.partition(",")
        return _time(valid), _time(known) if comma else None
    if isinstance(value, tuple | list) and len(value) == 2:
        return _time(value[0]), None if value[1] is None else _time(value[1])
    raise ValueError("a point is T or T,K: a valid time, and the time as of which it is known")


PointField = Annotated[
    Point, BeforeValidator(_point), WithJsonSchema({"type": "string", "examples": ["2024-05-01", "2024,2024-06-01"]})
]


OTHER_QUESTION: Final = "it is the cursor of another question: take the `next` of the page before"


class Cursor(NamedTuple):
    """The end of a page: the question, the moments that the first page was asked as of, and the last item's key."""

    question: str
    valid: int | None
    known: int | None
    after: tuple[str, ...]

    def encode(self) -> str:
        """Return the cursor as text that no door reads."""
        moments = ("" if time is None else str(time) for time in (self.valid, self.known))
        return base64.urlsafe_b64encode("\n".join([self.question, *moments, *self.after]).encode()).decode().rstrip("=")

    @classmethod
    def decode(cls, text: str) -> "Cursor":
        """Read a cursor. ValueError: it is none that a page gave."""
        try:
            parts = base64.urlsafe_b64decode(text + "=" * (-len(text) % 4)).decode().split("\n")
            question, valid, known, first, *rest = parts
            return cls(question, _moment(valid), _moment(known), (first, *rest))
        except (ValueError, binascii.Error, InvalidInput):
            raise ValueError("it is no cursor of a page: take the `next` of the page before") from None


def _moment(text: str) -> int | None:
    return instant(int(text)) if text else None


def _cursor(text: str) -> str:
    Cursor.decode(text)
    return text


CursorField = Annotated[str, Field(max_length=2_000), AfterValidator(_cursor)]


def numbers_of(cursor: Cursor, count: int) -> tuple[int, ...]:
    """Return the key of a cursor as numbers. InvalidInput: it is the cursor of another question."""
    try:
        numbers = tuple(map(int, cursor.after))
    except ValueError:
        numbers = ()
    if len(numbers) != count or not all(abs(number) < 2**63 for number in numbers):
        raise InvalidInput(OTHER_QUESTION, field="cursor")
    return numbers


class Query(BaseModel):
    """The base of all queries."""

    model_config = ConfigDict(  # a process asks few of them, so each is built when it is first asked
        frozen=True, extra="forbid", hide_input_in_errors=True, validate_by_name=True, defer_build=True
    )

    @property
    def page(self) -> Cursor | None:
        """The end of the page before; None for the first, and for a question whose answer is whole."""
        return None

    @property
    def is_page(self) -> bool:
        """Whether the answer may go on on another page."""
        return False

    def __repr__(self) -> str:
        """Return the class alone: what is asked is content."""
        return f"{type(self).__name__}()"

    __str__ = __repr__


class GroupQuery(Query):
    """A question about one group, or about all of them."""

    group_id: GroupId = Field(DEFAULT_GROUP, description="The group that is asked about.")
    all_groups: bool = Field(False, description="Ask about every group instead.")

    @field_validator("all_groups")
    @classmethod
    def _one_or_all(cls, every: bool, given: ValidationInfo) -> bool:
        if every and given.data.get("group_id") != DEFAULT_GROUP:
            raise ValueError("leave group_id out, or this")
        return every

    @property
    def group(self) -> str | None:
        """The group; None for all."""
        return None if self.all_groups else self.group_id

    @property
    def groups(self) -> tuple[str, ...] | None:
        """The groups; None for all."""
        return None if self.group is None else (self.group,)


class KnownQuery(GroupQuery):
    """A question as of a moment of known time."""

    known_at: Instant | None = Field(None, description="As it was known then; all that is known, if left out.")

    @property
    def known(self) -> int:
        """The known moment; after everything, where none is given."""
        return HEAD if self.known_at is None else self.known_at


class MomentQuery(KnownQuery):
    """A question as of one moment on both clocks."""

    valid_at: Instant | None = Field(None, description="As the world was then; now, if left out.")

    def moment(self, now: Callable[[], int]) -> Moment:
        """Return the moment that is asked about."""
        return Moment(now() if self.valid_at is None else self.valid_at, self.known)


class AnyTimeQuery(MomentQuery):
    """A question as of one moment, or of any moment of valid time."""

    any_time: bool = Field(False, description="Whenever it was true.")

    @field_validator("any_time")
    @classmethod
    def _at_or_any(cls, lifted: bool, given: ValidationInfo) -> bool:
        if lifted and given.data.get("valid_at") is not None:
            raise ValueError("leave valid_at out, or this")
        return lifted

    def moment(self, now: Callable[[], int]) -> Moment:
        """Return the moment that is asked about, without a valid one where any will do."""
        return Moment(None, self.known) if self.any_time else super().moment(now)


class Limited(Query):
    """A question whose answer is a list."""

    limit: int | None = Field(None, ge=1, description="At most this many; all of them, if left out.")


class Paged(Limited):
    """A question whose answer comes page by page."""

    cursor: CursorField | None = Field(
        None, description="The `next` of the page before, with the same other parameters; left out, the first page."
    )

    @property
    def page(self) -> Cursor | None:
        """The end of the page before; None for the first. InvalidInput: it is the cursor of another question."""
        if self.cursor is None:
            return None
        page = Cursor.decode(self.cursor)
        if page.question != self._question:
            raise InvalidInput(OTHER_QUESTION, field="cursor")
        return page

    @property
    def _question(self) -> str:
        """The name of the question, by which its cursors are known."""
        return type(self).__name__.removesuffix("Query")

    def cursor_after(self, *key: str, valid: int | None = None, known: int | None = None) -> str:
        """Return the cursor of the page after the item with a key, as of the same moments."""
        return Cursor(self._question, valid, known, key).encode()

    @property
    def is_page(self) -> bool:
        """Whether the answer may go on on another page."""
        return self.limit is not None


class FactFilters(TypedDict, total=False):
    """The filters of facts as Python's keyword arguments: the fields of FactsFilter."""

    about: str | None
    relation: str | None
    object: str | None
    object_type: str | None


class FactsFilter(GroupQuery, Paged):
    """The facts that are asked for; what is left out is any."""

    about: Name | None = Field(None, description="Whose facts: the subject's name or id.", examples=["Ana"])
    relation: Name | None = Field(None, description="The relation.", examples=["lives_in"])
    object: Name | None = Field(
        None, description="The other end of the relation: a name, an id or a literal.", examples=["Berlin"]
    )
    object_type: Name | None = Field(None, description="The entity type of the other end.", examples=["Place"])


class FactsQuery(AnyTimeQuery, FactsFilter):
    """Ask which facts hold, as of one moment on both clocks."""


def _after_it_begins(stop: int | None, given: ValidationInfo) -> int | None:
    start = given.data.get("start")
    if start is not None and stop is not None and start >= stop:
        raise ValueError("a period begins before it ends")
    return stop


class PeriodQuery(KnownQuery, FactsFilter):
    """A question about a period of valid time."""

    start: Instant = Field(alias="from", description="From this time on.")
    stop: Instant = Field(alias="to", description="Before this time.")

    _check_order = field_validator("stop")(_after_it_begins)


class OverlappingQuery(PeriodQuery):
    """Ask which facts hold at some instant of a period [start, stop)."""


class ThroughoutQuery(PeriodQuery):
    """Ask what holds at every instant of a period [start, stop), said by one fact or by several that meet."""


class FactSearchQuery(AnyTimeQuery):
    """Find the facts that hold and fit a question best, and the turns that do, by words and by meaning.

    Times of validity, and all filters but groups, are of facts: with such a filter, only turns that say the facts found
    are there.
    """

    query: Annotated[str, Field(max_length=MAX_QUERY)] = Field(
        description="Words, or a question.", examples=["Where does Ana live?"]
    )
    relations: Names = Field((), description="Of these relations alone.", examples=[["lives_in", "works_at"]])
    entity_types: Names = Field(
        (), description="From or to an entity of one of these types alone.", examples=[["Person"]]
    )
    center: Name | None = Field(
        None, description="An entity, by name or id: facts fewer steps away from it come first.", examples=["Ana"]
    )
    hops: int | None = Field(None, ge=1, le=10, description="At most this many steps away from the center.")
    group_ids: Annotated[tuple[GroupId, ...], Field(max_length=MAX_CHOICES)] = Field(
        (), description="Several groups, instead of one.", examples=[["ana", "team"]]
    )
    over: Over = Field(
        "both", description="Facts, episodes (what was said, understood or not), or both; each up to the limit."
    )
    profile: Profile = Field(
        "default",
        description="How they are found and ranked: `default`, which finds most, or `pipeline`, which walks from what "
        "is similar through the graph around it.",
    )
    mindset: Mindset | None = Field(
        None, description="How the question thinks; told by its words, if left out. Of the profile `pipeline`."
    )
    start: Instant | None = Field(
        None, alias="from", description="Said last from this time on. Of the profile `pipeline`."
    )
    stop: Instant | None = Field(None, alias="to", description="Said last before this time. Of the profile `pipeline`.")
    explain: bool = Field(
        False, description="With the parts of each score and the time of each step. Of the profile `pipeline`."
    )
    limit: int = Field(10, ge=1, le=1_000, description="At most this many.")
    min_probability: float | None = Field(
        None,
        ge=0,
        le=1,
        description="Only what answers the question with this probability; left out: as measured to be best, which may "
        "be nothing at all. 0: all that is found, with more than two claims of a slot. Of the profile `default`.",
    )

    @field_validator("min_probability")
    @classmethod
    def _of_the_default_profile(cls, value: float | None, given: ValidationInfo) -> float | None:
        if value is not None and given.data.get("profile") == "pipeline":
            raise ValueError("the pipeline's hits have no probability: leave it out")
        return value

    @field_validator("profile")
    @classmethod
    def _without_a_center(cls, profile: Profile, given: ValidationInfo) -> Profile:
        if profile == "pipeline" and given.data.get("center") is not None:
            raise ValueError("the pipeline finds by itself which entities a question names: leave center out")
        return profile

    @field_validator("mindset", "start", "stop", "explain")
    @classmethod
    def _of_the_pipeline(cls, value: Any, given: ValidationInfo) -> Any:
        if value not in (None, False) and given.data.get("profile") == "default":
            raise ValueError("it is of the profile `pipeline`: give that too")
        return value

    @field_validator("over")
    @classmethod
    def _filters_are_of_facts(cls, over: Over, given: ValidationInfo) -> Over:
        if over == "episodes" and any(given.data.get(name) for name in ("relations", "entity_types", "center")):
            raise ValueError("relations, entity_types and center are of facts: leave them out, or search both")
        return over

    _check_order = field_validator("stop")(_after_it_begins)

    @field_validator("hops")
    @classmethod
    def _from_a_center(cls, hops: int | None, given: ValidationInfo) -> int | None:
        if hops is not None and given.data.get("center") is None:
            raise ValueError("it counts steps away from `center`: give that too")
        return hops

    @field_validator("group_ids")
    @classmethod
    def _one_or_several(cls, groups: tuple[str, ...], given: ValidationInfo) -> tuple[str, ...]:
        if groups and (given.data.get("group_id") != DEFAULT_GROUP or given.data.get("all_groups")):
            raise ValueError("leave group_id and all_groups out, or this")
        return tuple(dict.fromkeys(groups))

    @property
    def group(self) -> str | None:
        """The group; None for several, or all."""
        if self.group_ids:
            return self.group_ids[0] if len(self.group_ids) == 1 else None
        return super().group

    @property
    def groups(self) -> tuple[str, ...] | None:
        """The groups; None for all."""
        return self.group_ids or super().groups

    @property
    def is_filtered(self) -> bool:
        """Whether it is about fewer facts than those of one group, or of all."""
        return bool(self.relations or self.entity_types or self.hops or len(self.group_ids) > 1)

    @property
    def is_about_facts(self) -> bool:
        """Whether it has filters that only facts pass."""
        return bool(self.relations or self.entity_types or self.hops)


def _zone(name: str) -> str:
    zone_of(name)
    return name


TimezoneName = Annotated[str, AfterValidator(_zone)]


class ContextQuery(MomentQuery):
    """Ask for what is known about a question, as one text for a prompt."""

    query: Annotated[str, Field(max_length=MAX_QUERY)] = Field(
        description="Words, or a question.", examples=["Where does Ana live?"]
    )
    budget: int = Field(
        2_000,
        ge=MIN_BUDGET,
        le=MAX_BUDGET,
        description="The text has at most so many tokens, by a rule that counts a little more than models do.",
    )
    timezone: TimezoneName = Field(
        "UTC", description="The IANA name of the zone of the times in the text.", examples=["Europe/Berlin"]
    )
    kinds: Annotated[tuple[Kind, ...], Field(max_length=MAX_CHOICES)] = Field(
        (), description="Of these kinds of lines alone; of all, if left out.", examples=[["fact", "change"]]
    )
    min_probability: float | None = Field(
        None,
        ge=0,
        le=1,
        description="Only facts and turns that answer the question with this probability; all that fit, if left out.",
    )


class EntitiesQuery(KnownQuery, Paged):
    """List the entities that are known, in the order of their introduction."""

    like: Name | None = Field(
        None, description="Those with the nearest names, nearest first; ten, unless `limit` says how many."
    )


class EntityQuery(MomentQuery, Limited):
    """Ask for all that is known of everything that has a name: names, merges, attributes, facts."""

    name: Name = Field(description="A name, or an id.", examples=["Ana"])
    limit: int | None = Field(None, ge=1, description="At most this many facts of each; all, if left out.")


class CommunitiesQuery(KnownQuery, Paged):
    """List the communities that are known with their members, by when they were formed."""


class NeighbourhoodQuery(MomentQuery, Limited):
    """Ask for the facts around a name, step by step away from it."""

    name: Name = Field(description="A name, or an id.", examples=["Ana"])
    hops: int = Field(2, ge=1, le=10, description="Steps away from the name.")
    limit: int | None = Field(None, ge=1, description="At most this many facts of each step; all, if left out.")


class HistoryQuery(KnownQuery, Paged):
    """Ask for every version of a fact (by id) or of an entity's facts (by name), with what made each."""

    id: Name = Field(description="A fact's id, or an entity's name.", examples=["Ana"])


class TimelineQuery(KnownQuery, Paged):
    """Ask what held of an entity and when: slot by slot, gaps included."""

    name: Name = Field(description="A name, or an id.", examples=["Ana"])
    relation: Name | None = Field(None, description="The relation.", examples=["lives_in"])


class KnownHistoryQuery(Query):
    """Ask when a fact was believed."""

    id: Name = Field(description="A fact's id.")
    valid_at: Instant | None = Field(None, description="Believed to hold then; at any time, if left out.")


class DiffQuery(FactsFilter):
    """Ask what differs between two points (valid, known), each change under one label."""

    start: PointField = Field(alias="from", description="T or T,K: the world at T, as known at K.")
    stop: PointField = Field(alias="to", description="The other point.")


class ChangesQuery(GroupQuery):
    """Ask what messages changed, in their order."""

    after: int = Field(-1, ge=-1, le=FAR, description="After the message at this position; -1: from the first.")
    limit: int = Field(1_000, ge=1, description="At most this many changes; those of one message are never parted.")


class WhyQuery(Query):
    """Ask for the words that a fact rests on, and for those behind what became of it."""

    id: Name = Field(description="A fact's id.")
    known_at: Instant | None = Field(None, description="As it was known then; all that is known, if left out.")


class FactQuery(Query):
    """Ask for one fact by its id as it is believed now, the last of its periods."""

    id: Name = Field(description="A fact's id.")


class EpisodeQuery(Query):
    """Ask for one episode by its id."""

    id: Name = Field(description="An episode's id.")


class EpisodesQuery(KnownQuery, Paged):
    """List episodes in the order in which they were recorded."""

    start: Instant | None = Field(None, alias="from", description="Said from this time on.")
    stop: Instant | None = Field(None, alias="to", description="Said before this time.")
    _check_order = field_validator("stop")(_after_it_begins)

    @property
    def first(self) -> int:
        """The first instant of the period."""
        return instants.NEG if self.start is None else self.start

    @property
    def last(self) -> int:
        """The last instant of the period."""
        return instants.INF if self.stop is None else self.stop - 1


class ErasureQuery(Query):
    """Erase a group, or those of its messages that fit all that is given."""

    group_id: GroupId = Field(description="The group.")
    person: Name | None = Field(
        None, min_length=1, description="What this person said, and all that means them, under any of their names."
    )
    only_said: bool = Field(False, description="Of a person: what they said themselves, not what others said of them.")
    phrase: Name | None = Field(
        None, pattern=_A_WORD, description="What has these words, one after another, in whatever case."
    )
    start: Instant | None = Field(None, alias="from", description="Said from this time on.")
    stop: Instant | None = Field(None, alias="to", description="Said before this time.")
    _check_order = field_validator("stop")(_after_it_begins)

    @field_validator("only_said")
    @classmethod
    def _of_a_person(cls, only_said: bool, given: ValidationInfo) -> bool:
        if only_said and given.data.get("person") is None:
            raise ValueError("it is of a person: give `person` too")
        return only_said

    @property
    def is_of_all(self) -> bool:
        """Whether the whole group is asked for."""
        return self.person is None and self.phrase is None and self.start is None and self.stop is None

    @property
    def first(self) -> int:
        """The first instant of the period."""
        return instants.NEG if self.start is None else self.start

    @property
    def last(self) -> int:
        """The last instant of the period."""
        return instants.INF if self.stop is None else self.stop - 1


class GroupsQuery(Paged):
    """List the groups, in the order of their ids, with how much each holds."""

    prefix: str = Field("", max_length=MAX_GROUP_CHARACTERS, description="Those whose ids begin with it.")


class ContradictionsQuery(KnownQuery, Limited):
    """List the contradictions that wait for a person, by when they were flagged."""

    settled: bool = Field(False, description="Those too that were settled.")


class ObjectivesQuery(KnownQuery, Limited):
    """List what a group aims at, by the goals that it declared: the most salient first."""


class FeedbackQuery(KnownQuery, Limited):
    """List the feedback on messages of the bot, as it came."""

    withdrawn: bool = Field(False, description="That too which was taken back.")


class SettleRequest(Query):
    """Keep one fact of the contradictions that are open, and retract the others."""

    group_id: GroupId = Field(DEFAULT_GROUP, description="The group of the fact.")
    id: Name = Field(description="The id of the fact that stands.")


class ConsolidateQuery(Query):
    """Consolidate a group."""

    group_id: GroupId = Field(DEFAULT_GROUP, description="The group.")
    undo: bool = Field(False, description="Undo the last pass that still stands, in place of another one.")
    dry_run: bool = Field(False, description="Show what would change, and write nothing.")


class RetryQuery(GroupQuery):
    """Process messages again that were parked, or about which a model gave no answer."""

    positions: tuple[int, ...] = Field(
        (), max_length=MAX_RETRIES, description="Of the messages; all of the list of parked messages, if left out."
    )


class ParkedQuery(GroupQuery):
    """List the messages of which nothing could be made, or about which a model gave no answer."""

    after: int = Field(-1, ge=-1, le=FAR, description="After the message at this position; -1: from the first.")
    limit: int = Field(100, ge=1, le=1_000, description="At most this many.")


class MessageQuery(Query):
    """Ask what became of a message."""

    position: int = Field(ge=0, le=FAR, description="Its position in the messages log; on Kafka its offset.")


class ReadQuery(Query):
    """Read a text by the rules, and show what is found in it. Nothing is written, and no memory is asked."""

    content: str = Field(min_length=1, description="The words.")
    ontology: str | None = Field(None, description="Its id, or a YAML file; that of the settings, if left out.")
    role: str = Field("", description="The speaker's name; I, if left out.")
    timestamp: Instant | None = Field(None, description="When it was said; now, if left out.")
    source: Literal["message", "text", "json"] = Field("message", description="The kind of the content.")


class EventsQuery(Query):
    """Replay a log, or a page of it."""

    log: Literal["messages", "episodic", "semantic"] = Field("semantic", description="The log.")
    start: int = Field(0, alias="from", ge=0, le=FAR, description="From this position on.")
    stop: int | None = Field(None, alias="to", ge=0, le=FAR, description="Before this position.")
    generation: Name | None = Field(None, description="Of the semantic log: the one that answers, if left out.")


class ExportQuery(MomentQuery):
    """Write out the graph."""

    format: Form = Field(
        "json", description="The form. csv and parquet: facts alone, a row each. jsonld: in terms of PROV."
    )
    versions: bool = Field(
        False, description="Every version that was ever believed, not only what is; each with its known time."
    )
    episodic: bool = Field(False, description="What was recorded, instead of what is believed.")
    details: bool = Field(
        False, description="Also conflicts and supersessions as edges; with episodic, sentences and what they mention."
    )

    @field_validator("episodic")
    @classmethod
    def _is_json_without_versions(cls, episodic: bool, given: ValidationInfo) -> bool:
        if episodic and given.data.get("format", "json") != "json":
            raise ValueError("what was recorded is exported as json: leave the format out")
        if episodic and given.data.get("versions"):
            raise ValueError("what was recorded has one version: leave versions out")
        return episodic

    @field_validator("details")
    @classmethod
    def _is_of_one_moment(cls, details: bool, given: ValidationInfo) -> bool:
        if details and given.data.get("versions"):
            raise ValueError("it is of one moment: leave versions out")
        return details


Q = TypeVar("Q", bound=BaseModel)

_NO_OBJECT: Final = "it has to be an object, of names and values"
_REASONS: Final = {
    "missing": "it is missing",
    "string_too_long": "it is too long",
    "string_too_short": "it must not be empty",
    "string_unicode": NOT_UNICODE,
    "model_type": _NO_OBJECT,
    "model_attributes_type": _NO_OBJECT,
}
_PATTERNS: Final = {
    GROUP_PATTERN: NO_GROUP,
    _A_WORD: "there are no words in it",
    ONTOLOGY_PATTERN: NO_ONTOLOGY,
}


def ask(kind: type[Q], fields: Mapping[str, Any]) -> Q:
    """Return a query of a kind. InvalidInput names the field that is wrong, and the nearest one to an unknown field."""
    try:
        query: Q = kind.__pydantic_validator__.validate_python(fields)  # a third cheaper than kind(**fields)
    except ValidationError as error:
        raise invalid(error, kind.model_fields) from None
    return query


def invalid(error: ValidationError, known: Iterable[str]) -> InvalidInput:
    """Return the first thing that is wrong with some fields, without their content."""
    first = error.errors(include_input=False, include_url=False)[0]
    where = ".".join(str(part) for part in first["loc"])
    if first["type"] == "extra_forbidden":
        return unknown(where, known)
    return InvalidInput(reason_of(first), where or None)


def reason_of(error: Mapping[str, Any]) -> str:
    """Return what is wrong with a field, of an error of pydantic's: no user is told a regular expression."""
    if error["type"] == "string_pattern_mismatch":
        reason = _PATTERNS.get(error["ctx"]["pattern"])
    else:
        reason = _REASONS.get(error["type"])
    return reason or str(error["msg"]).removeprefix("Value error, ")


def unknown(name: str, known: Iterable[str], kind: str = "field") -> InvalidInput:
    """Return the refusal of an unknown name, with the nearest known one.

    The name of a field that is near to none may be content, and is not repeated; nor is a name that is no identifier.
    """
    names = [*known]
    is_told = kind != "field" or near_to(name, names) is not None
    is_shown = is_told and name.isidentifier() and len(name) <= LONGEST_NAME
    return InvalidInput(f"no such {kind}; {nearest(name, names)}", field=name if is_shown else "(a name)")
