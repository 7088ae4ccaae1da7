"""The answers that every door gives: Python values whose JSON, schema and documentation come from one declaration each.

Times are aware datetimes in UTC; None is an open end, or no time. A `repr` shows ids alone, since the rest is content;
`str` of a fact is its claim in words. The stores below answer with rows, whose times are microseconds: the class
methods named `of` are the one place where rows become answers.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from functools import cache, lru_cache
from typing import Annotated, Any, ClassVar, Generic, Literal, Self, TypeVar, dataclass_transform

from pydantic import Field, TypeAdapter

from asof_projections.model.periods import is_right_before
from asof_projections.model.rows import (
    AttributeRow,
    ChangeRow,
    CommunityRow,
    ContradictionRow,
    EntityRow,
    EpisodeRow,
    FactRow,
    FeedbackRow,
    LinkRow,
    ObjectiveRow,
    ParkedRow,
    SegmentRow,
)
from asof_streams.events import Record
from asof_streams.ids import shown_id
from asof_streams.instants import INF, NEG

Id = Annotated[str, Field(examples=["1c8e2d4a-7f0b-5c39-9a51-2f6d3b8e4c10"])]
Group = Annotated[str, Field(examples=["ana"])]
Instant = Annotated[datetime, Field(examples=["2024-03-01T00:00:00Z"], description="In UTC.")]
Position = Annotated[int, Field(examples=[17], description="Of the message, in the messages log.")]
Name = Annotated[str, Field(examples=["Ana"])]
Relation = Annotated[str, Field(examples=["lives_in"])]
Confidence = Annotated[float, Field(ge=0, le=1, examples=[0.9])]

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)
_OPEN = frozenset({INF, NEG})
_TIMES = 4_096  # that are kept: those of one message are many facts' times, and to make one costs as much as a row

T = TypeVar("T")


@lru_cache(_TIMES)
def time_of(instant: int) -> datetime | None:
    """Return microseconds as an aware datetime in UTC; None for an open end."""
    return None if instant in _OPEN else _EPOCH + instant * _MICROSECOND  # half as dear as to make a timedelta


@lru_cache(_TIMES)
def instant_of(instant: int) -> datetime:
    """Return microseconds that are no open end as an aware datetime in UTC."""
    return _EPOCH + instant * _MICROSECOND


@dataclass_transform(frozen_default=True, field_specifiers=(field,))
def answer(cls: type[T]) -> type[T]:
    """Declare an answer. It is frozen for type checkers alone: enforcing it would cost more than reading a row."""
    return dataclass(slots=True, unsafe_hash=True, repr=False)(cls)


@cache
def _adapter(kind: Any) -> TypeAdapter[Any]:
    return TypeAdapter(kind)


def to_json(value: Any, kind: Any) -> Any:
    """Return an answer of a type, such as `list[Fact]`, as JSON's own types."""
    return _adapter(kind).dump_python(value, mode="json")


class Answer:
    """The base of all answers."""

    __slots__ = ()

    SHOWN: ClassVar[tuple[str, ...]] = ("uuid",)  # in a repr: fields that say nothing of what was said

    def to_json(self) -> dict[str, Any]:
        """Return the answer as every door shows it: times in RFC 3339 with Z, null for an open end."""
        found: dict[str, Any] = to_json(self, type(self))
        return found

    def __repr__(self) -> str:
        """Return the class with an id, or with counts, where there are any: nothing that was said."""
        values = ((name, getattr(self, name, None)) for name in self.SHOWN)
        shown = [(name, len(value) if isinstance(value, tuple) else value) for name, value in values]
        return f"{type(self).__name__}({', '.join(f'{name}={value!r}' for name, value in shown if value is not None)})"


class Page(list[T], Generic[T]):
    """A list of answers, in their order; `next` is the cursor of the page that follows, None on the last one."""

    BESIDE: ClassVar[Mapping[str, Any]] = {"next": str | None}  # of the list in JSON

    next: str | None = None

    @classmethod
    def until(cls, items: Iterable[T], next: str | None) -> Self:  # noqa: A002 - the word of the JSON
        """Return a page that another may follow."""
        page = cls(items)
        page.next = next
        return page


class SearchedPage(Page[T], Generic[T]):
    """A page that a search by vectors may have made.

    `vectors_behind` is how many of the names that were searched have no vector yet: those are found by words. 0: all
    have one, or no vectors were asked for.
    """

    BESIDE: ClassVar[Mapping[str, Any]] = {**Page.BESIDE, "vectors_behind": int}  # of the list in JSON

    vectors_behind: int = 0


@answer
class Fact(Answer):
    """A fact: when it holds in the world, and when it was believed as first said. A null time is an open end."""

    uuid: Id
    group_id: Group
    subject: Name
    relation: Relation
    object: Annotated[str, Field(examples=["Berlin"])]
    subject_uuid: Id
    object_uuid: Annotated[Id | None, Field(description="Null where the object is a literal, such as a number.")]
    fact: Annotated[str, Field(examples=["Ana lives in Berlin"], description="Its sentence.")]
    valid_at: Annotated[Instant | None, Field(description="From when on it holds.")]
    invalid_at: Annotated[Instant | None, Field(description="Until when it holds, without that instant.")]
    created_at: Annotated[Instant, Field(description="When it was first believed.")]
    expired_at: Annotated[Instant | None, Field(description="When it stopped being believed as first said.")]
    confidence: Confidence
    episodes: Annotated[tuple[Id, ...], Field(description="The episodes that say it, its assertion's first.")]
    generation: Annotated[str, Field(examples=["main"])]
    occurrence: Annotated[bool, Field(description="Whether it happened within that time; otherwise it held over it.")]
    planned: Annotated[bool, Field(description="Whether it is a plan that nobody has told as done.")]
    value: Annotated[
        int | float | None, Field(examples=[42], description="The object as a number, where it was stated as one.")
    ]
    qualifiers: Annotated[
        dict[str, str | int | float],
        Field(
            examples=[{"role": "cook"}],
            description="What its statements say beside the claim; of one name the last stated.",
        ),
    ] = field(hash=False)

    @classmethod
    def of(cls, row: FactRow, *more: Any) -> Self:
        """Return a row as an answer; `more` are the values of a subclass's own fields."""
        return cls(
            row.uuid,
            row.group_id,
            row.subject,
            row.relation,
            row.object,
            shown_id(row.subject_uuid),
            row.object_uuid and shown_id(row.object_uuid),
            row.fact,
            time_of(row.valid_at),
            time_of(row.invalid_at),
            instant_of(row.created_at),
            time_of(row.expired_at),
            row.confidence,
            row.episodes,
            row.generation,
            row.occurrence,
            row.planned,
            row.value,
            dict(row.qualifiers),
            *more,
        )

    def __str__(self) -> str:
        """Return the claim: subject, relation, object and period."""
        return _claim(self)


def _claim(fact: "Fact | Belief") -> str:
    is_told = fact.valid_at is not None and not is_right_before(fact.valid_at, fact.invalid_at)
    since = f" from {_day(fact.valid_at)}" if fact.valid_at is not None and is_told else ""
    until = "" if fact.invalid_at is None else f" until {_day(fact.invalid_at)}"
    planned = " (planned)" if fact.planned else ""
    return f"{fact.subject} {fact.relation} {fact.object}{since}{until}{planned}"


def _day(moment: datetime) -> str:
    """Return a time as people read it: a date where it is a whole day."""
    text = moment.replace(tzinfo=None).isoformat() + "Z"
    return text.removesuffix("T00:00:00Z")


@answer
class Scores(Answer):
    """The parts of a score; null where that part did not find the fact."""

    words: Annotated[float | None, Field(examples=[0.8], description="Share of the best BM25, 0 to 1.")]
    meaning: Annotated[float | None, Field(examples=[0.7], description="Cosine, -1 to 1.")]


@answer
class Hit(Fact):
    """A fact that fits a question, with its score."""

    score: Annotated[float, Field(examples=[0.75])]
    probability: Annotated[
        float | None,
        Field(
            ge=0, le=1, examples=[0.62], description="That it answers the question; null: by the profile `pipeline`."
        ),
    ]
    scores: Scores
    hop: Annotated[
        int | None,
        Field(description="Steps away from the centre of the search; null: further, or there is none.", examples=[1]),
    ]


@answer
class Entity(Answer):
    """A person, place or thing that mentions are resolved to."""

    uuid: Id
    group_id: Group
    name: Name
    type: Annotated[str | None, Field(examples=["Person"])]
    created_at: Annotated[Instant, Field(description="When it was introduced.")]

    @classmethod
    def of(cls, row: EntityRow) -> Self:
        """Return a row as an answer."""
        return cls(shown_id(row.uuid), *row[1:4], instant_of(row.known_from))

    def __str__(self) -> str:
        """Return the name, and the type where there is one."""
        return self.name if self.type is None else f"{self.name} ({self.type})"


@answer
class Link(Answer):
    """That two entities are one, over the known time in which it was believed."""

    uuid: Id
    duplicate: Id
    into: Id
    reason: Annotated[str, Field(examples=["also known as"])]
    known_from: Instant
    known_to: Instant | None
    duplicate_name: Annotated[str, Field(examples=["Annie"])]
    into_name: Name

    @classmethod
    def of(cls, row: LinkRow, duplicate_name: str, into_name: str) -> Self:
        """Return a row as an answer, with the names of both ends."""
        ends = (shown_id(row.duplicate), shown_id(row.into))
        known = (instant_of(row.known_from), time_of(row.known_to))
        return cls(row.uuid, *ends, row.reason, *known, duplicate_name, into_name)


@answer
class Attribute(Answer):
    """The believed value of an entity's attribute, and how sure it is by all episodes that said it."""

    name: Annotated[str, Field(examples=["role"])]
    value: Annotated[str, Field(examples=["cook"])]
    confidence: Confidence
    said_at: Annotated[Instant, Field(description="When it was last said.")]
    episode_id: Annotated[Id, Field(description="The last episode that says it.")]

    @classmethod
    def of(cls, row: AttributeRow) -> Self:
        """Return a row as an answer."""
        return cls(row.name, row.value, round(row.support, 6), instant_of(row.attested), row.episode_id)


@answer
class NodeName(Answer):
    """An id with its name."""

    uuid: Id
    name: Annotated[str, Field(examples=["Ana, Ben"])]


@answer
class Community(Answer):
    """Entities that facts connect, taken together because a message asked for it; members in the order of joining."""

    uuid: Id
    group_id: Group
    name: Annotated[str, Field(examples=["Ana, Ben"])]
    created_at: Instant
    members: tuple[NodeName, ...]
    summary: Annotated[
        str,
        Field(
            examples=["Ana knows Ben. Ben works at Acme."],
            description="Facts of its members that hold at the known moment, those between two of them first, in at "
            "most 600 characters; empty where none holds.",
        ),
    ]

    @classmethod
    def of(cls, row: CommunityRow, summary: str) -> Self:
        """Return a row as an answer."""
        members = tuple(NodeName(shown_id(member.uuid), member.name) for member in row.members)
        return cls(row.uuid, row.group_id, row.name, instant_of(row.known_from), members, summary)


@answer
class EntityProfile(Entity):
    """An entity as of a moment, with its facts, its attributes and the entities that were merged into it."""

    names: Annotated[tuple[str, ...], Field(description="Its own first.")]
    duplicate_of: Annotated[tuple[Link, ...], Field(description="Also those that were taken back.")]
    mentions: Annotated[int, Field(description="How many mentions were resolved to it.")]
    summary: Annotated[str, Field(examples=["role: cook. Ana lives in Berlin."])]
    attributes: Annotated[tuple[Attribute, ...], Field(description="The most recently said first.")]
    communities: tuple[NodeName, ...]
    facts: Annotated[tuple[Fact, ...], Field(description="Those with it as subject, then those with it as object.")]


@answer
class Hop(Answer):
    """The facts that are so many steps away."""

    hop: Annotated[int, Field(ge=1, description="Steps, from 1.")]
    facts: tuple[Fact, ...]


@answer
class Cause(Answer):
    """The cause that began or ended a belief."""

    kind: Annotated[
        str,
        Field(
            examples=["asserted"],
            description="asserted, superseded, ended, retracted, corrected, contradicted, merged, refined or restored.",
        ),
    ]
    statement: Annotated[Id, Field(description="Of the assertion, ending or retraction that caused it.")]


@answer
class FactVersion(Fact):
    """A version of a fact: a period in the world, believed over a period of known time."""

    known_from: Instant
    known_to: Annotated[Instant | None, Field(description="Null: it is still believed.")]
    opened: Cause
    closed: Cause | None


@answer
class Segment(Answer):
    """A period over which a slot has one value; with a null object, a gap in which nothing is known to hold."""

    subject: Name
    subject_uuid: Id
    relation: Relation
    object: Annotated[str | None, Field(examples=["Berlin"])]
    object_uuid: Id | None
    valid_at: Instant | None
    invalid_at: Instant | None
    facts: Annotated[tuple[Id, ...], Field(description="The facts that say so, by their start.")]
    planned: Annotated[bool, Field(description="Whether it is a plan that nobody has told as done.")]

    @classmethod
    def of(cls, row: SegmentRow) -> Self:
        """Return a row as an answer."""
        object_uuid = row.object_uuid and shown_id(row.object_uuid)
        claim = (row.subject, shown_id(row.subject_uuid), row.relation, row.object, object_uuid)
        return cls(*claim, time_of(row.valid_at), time_of(row.invalid_at), row.facts, row.planned)


@answer
class BeliefPeriod(Answer):
    """A period of known time over which a fact was believed."""

    fact: Id
    group_id: Group
    known_from: Instant
    known_to: Instant | None


@answer
class Difference(Answer):
    """The difference of one fact between two points (valid, known)."""

    change: Literal["began", "ended", "learned", "retracted", "revised"]
    before: Fact | None
    after: Fact | None


@answer
class Change(Answer):
    """A version that a message opened or closed."""

    position: Position
    recorded_at: Instant
    change: Literal["opened", "closed"]
    fact: Fact

    @classmethod
    def of(cls, row: ChangeRow) -> Self:
        """Return a row as an answer."""
        change: Literal["opened", "closed"] = "opened" if row.opened else "closed"
        return cls(row.position, instant_of(row.recorded_at), change, Fact.of(row.fact))


@answer
class Changes(Answer):
    """The changes of some messages, in their order."""

    changes: tuple[Change, ...]
    next: Annotated[int, Field(examples=[17], description="Ask for what follows with this as `after`.")]


@answer
class Evidence(Answer):
    """The words that said something, and their message."""

    episode: Id
    name: Annotated[str, Field(description="The producer's name of the message.")]
    position: Position
    role: Annotated[str, Field(examples=["Ana"])]
    said_at: Instant
    recorded_at: Instant
    quote: Annotated[str, Field(examples=["I moved to Berlin in March."])]
    relationship: Id | None
    mentions: Annotated[tuple[str, ...], Field(description="The ends of the relationship, as worded.")]
    qualifiers: Annotated[
        dict[str, str | int | float],
        Field(examples=[{"role": "cook"}], description="Of this statement; only structured facts have any."),
    ] = field(hash=False)
    source_description: Annotated[
        str, Field(examples=["payroll export"], description="Where it comes from, in the producer's words.")
    ]


@answer
class Consequence(Answer):
    """Something that became of a fact, by which statement, in whose words."""

    kind: Annotated[str, Field(examples=["superseded"])]
    statement: Id
    recorded_at: Instant
    ends_at: Annotated[Instant | None, Field(description="Of an ending: from when on the fact no longer holds.")]
    evidence: Evidence | None


@answer
class Explanation(Answer):
    """The evidence of a fact, and what became of it, each in the order of the log."""

    fact: Annotated[Fact, Field(description="As first said.")]
    evidence: Annotated[
        tuple[Evidence, ...], Field(description="Of its assertion, then of its repetitions, then of its restatements.")
    ]
    time_words: Annotated[str | None, Field(examples=["in March"])]
    corrects: Id | None
    corrected_by: tuple[Id, ...]
    restated_by: Annotated[
        tuple[Id, ...],
        Field(description="Facts that state the same under another ref, said later while it was believed."),
    ]
    consequences: tuple[Consequence, ...]


@answer
class WhatIf(Answer):
    """The slots that statements would touch, as they are and as they would be: by subject and relation, with gaps."""

    before: tuple[Segment, ...]
    after: tuple[Segment, ...]


@answer
class Episode(Answer):
    """The record of one message, text, JSON document or structured fact."""

    uuid: Id
    group_id: Group
    position: Position
    name: str
    source: Annotated[str, Field(examples=["message"], description="message, text, json or fact.")]
    source_description: str
    role: Annotated[str, Field(examples=["Ana"])]
    role_type: Annotated[str, Field(examples=["user"])]
    content: Annotated[str, Field(examples=["I moved to Berlin in March."])]
    valid_at: Annotated[Instant, Field(description="When it was said.")]
    created_at: Annotated[Instant, Field(description="When it was recorded.")]

    @classmethod
    def of(cls, row: EpisodeRow, *more: Any) -> Self:
        """Return a row as an answer; `more` are the values of a subclass's own fields."""
        return cls(*row[:8], row.content, instant_of(row.valid_at), instant_of(row.created_at), *more)


@answer
class EpisodeHit(Episode):
    """An episode that fits a question, or that says a fact which does."""

    score: Annotated[
        float | None,
        Field(
            description="Compares the episodes of one answer; null: it is here for the facts that it says.",
            examples=[4.25],
        ),
    ]
    probability: Annotated[
        float | None,
        Field(ge=0, le=1, examples=[0.41], description="That it answers the question; null: not known."),
    ]
    scores: Scores
    facts: Annotated[tuple[Id, ...], Field(description="The facts of this answer that it says.")]


@answer
class RankedNode(Answer):
    """A fact, turn or entity that the retrieval pipeline ranked, with the parts of its score."""

    kind: Annotated[str, Field(examples=["fact"], description="fact, turn or entity.")]
    uuid: Id
    score: Annotated[float, Field(examples=[0.61])]
    similarity: Annotated[float, Field(examples=[0.7], description="Its own, or what a walk through the graph left.")]
    centrality: Annotated[float, Field(examples=[0.5], description="Its neighbours, as a share of the most.")]
    recency: Annotated[float, Field(examples=[0.9], description="A half after each half-life.")]
    mindset: Annotated[float | None, Field(description="How it fits the mindset; null: the question has none.")]
    way: Annotated[
        str, Field(examples=["meaning"], description="What reached it: meaning, words, name, graph or community.")
    ]
    hops: Annotated[int, Field(examples=[0], description="Steps through the graph from what the question found.")]


@answer
class RetrievalMetrics(Answer):
    """The time that each step of the retrieval pipeline took, in microseconds."""

    query_embedding_us: int
    vector_search_us: int
    entity_extraction_us: int
    graph_expansion_us: int
    community_selection_us: int
    reranking_us: int
    context_assembly_us: int
    total_us: int


@answer
class Retrieval(Answer):
    """The result of the retrieval pipeline for a question."""

    mindset: Annotated[str | None, Field(examples=["convergent"], description="Null: its words tell none.")]
    entities: Annotated[tuple[Entity, ...], Field(description="Those that the question names, in its order.")]
    context: Annotated[str, Field(description="The memories and entities in markdown, as reference data of a prompt.")]
    ranking: Annotated[tuple[RankedNode, ...], Field(description="Best first; none unless `explain` asks for them.")]
    metrics: Annotated[RetrievalMetrics | None, Field(description="Null unless `explain` asks for it.")]


class Hits(list[T], Generic[T]):
    """The facts that a search found, best first, with the episodes that it found.

    `unavailable` says why they were found by words alone; None: as the settings say. `vectors_behind` is how many of
    the facts and episodes that were searched have no vector yet: those are found by words. 0: all have one, or no
    vectors were asked for. `retrieval` is what the profile `pipeline` made of the question; None: another one ranked.
    """

    BESIDE: ClassVar = {  # of the list in JSON
        "unavailable": str | None,
        "vectors_behind": int,
        "episodes": list[EpisodeHit],
        "retrieval": Retrieval | None,
    }

    unavailable: str | None = None
    vectors_behind: int = 0
    retrieval: Retrieval | None = None
    metrics: RetrievalMetrics | None = None  # of the profile `pipeline`, also where nobody asks for them
    probable: frozenset[str] = frozenset()  # ids of facts that answer by default, whatever probability was asked for
    episodes: list[EpisodeHit]

    def __init__(self, facts: Iterable[T] = (), episodes: Iterable[EpisodeHit] = ()) -> None:
        super().__init__(facts)
        self.episodes = list(episodes)


@answer
class Embedded(Answer):
    """The vectors that search compares with, once none is missing."""

    vectors: Annotated[int, Field(examples=[42], description="Of facts, names and episodes; 0 without an embedder.")]


@answer
class Belief(Answer):
    """A fact over one period, as it was believed at some moment."""

    uuid: Id
    subject: Name
    relation: Relation
    object: Annotated[str, Field(examples=["Berlin"])]
    fact: Annotated[str, Field(examples=["Ana lives in Berlin"], description="Its sentence.")]
    valid_at: Instant | None
    invalid_at: Instant | None
    planned: Annotated[bool, Field(description="Whether it is a plan that nobody has told as done.")]

    @classmethod
    def of(cls, row: FactRow) -> Self:
        """Return a row as an answer."""
        return cls(row.uuid, *row[2:5], row.fact, time_of(row.valid_at), time_of(row.invalid_at), row.planned)

    def __str__(self) -> str:
        """Return the claim: subject, relation, object and period."""
        return _claim(self)


@answer
class LogEvent(Answer):
    """An event in its envelope; docs/reference/events.md says what each type is, and what its `data` has."""

    position: Annotated[int, Field(examples=[42], description="In its log.")]
    id: Id
    type: Annotated[str, Field(examples=["fact.asserted"])]
    version: Annotated[int, Field(examples=[1])]
    group_id: Group
    generation: Annotated[
        str | None,
        Field(examples=["main"], description="Of the semantic log alone.", exclude_if=lambda name: name is None),
    ]
    recorded_at: Instant
    cause: Annotated[int, Field(examples=[17], description="The position of its message.")]
    index: Annotated[int, Field(examples=[0], description="Its place within the events of its message.")]
    count: Annotated[int, Field(examples=[1], description="How many events its message has in this log.")]
    term: Annotated[int, Field(examples=[1])]
    data: dict[str, Any]

    @classmethod
    def of(cls, record: Record, log: str, generation: str | None) -> Self:
        """Return a record of a log as an answer."""
        event = record.event
        return cls(
            record.position,
            record.id_in(log if generation is None else f"semantic.{generation}"),
            event.type,
            event.version,
            record.group,
            generation,
            instant_of(record.recorded_at),
            record.cause,
            record.place,
            record.size,
            record.term,
            event.model_dump(mode="json", exclude_none=True),
        )


@answer
class EventPage(Answer):
    """A page of a log. Positions of erased events, and of those of other groups, are passed over."""

    events: tuple[LogEvent, ...]
    next: Annotated[int, Field(examples=[42], description="Ask for what follows from here on.")]


@answer
class GroupInfo(Answer):
    """A group, and how much it holds."""

    group_id: Group
    episodes: Annotated[int, Field(examples=[42], description="How many it has.")]
    last_recorded_at: Annotated[Instant, Field(description="When its last episode was recorded.")]


@answer
class ParkedMessage(Answer):
    """A message of which nothing could be made, or about which a model gave no answer, and why."""

    position: Position
    group_id: Group
    recorded_at: Annotated[Instant, Field(description="When; where a retry came to nothing, that of the retry.")]
    state: Annotated[
        Literal["parked", "failed"],
        Field(description="parked: nothing was made of it; failed: a model gave no answer, and rules decided alone."),
    ]
    reason: Annotated[str, Field(examples=["uuid: no episode of this group has it; leave it out to record a new one"])]

    @classmethod
    def of(cls, row: ParkedRow) -> Self:
        """Return a row as an answer."""
        state: Literal["parked", "failed"] = "failed" if row.state == "failed" else "parked"
        return cls(row.position, row.group_id, instant_of(row.recorded_at), state, row.reason)


@answer
class Contradiction(Answer):
    """Two facts that contradict each other, flagged for a person; retracting either of them settles it."""

    uuid: Id
    group_id: Group
    earlier: Annotated[Id, Field(description="The fact that was asserted first.")]
    later: Annotated[Id, Field(description="The fact that contradicts it.")]
    flagged_at: Instant
    settled_at: Annotated[Instant | None, Field(description="Null: it is open.")]
    kept: Annotated[Id | None, Field(description="The fact that stands.")]
    dropped: Annotated[Id | None, Field(description="The fact that was retracted.")]

    @classmethod
    def of(cls, row: ContradictionRow) -> Self:
        """Return a row as an answer."""
        return cls(*row[:4], instant_of(row.flagged_at), time_of(row.settled_at), row.kept, row.dropped)


@answer
class Objective(Answer):
    """What a group aims at, as believed: its goals with the same words."""

    uuid: Id
    group_id: Group
    description: Annotated[
        str, Field(examples=["run a marathon"], description="The goal, in the words that declared it.")
    ]
    saliency: Annotated[float, Field(examples=[1.0], description="The greatest of its goals, 0 to 1.")]
    status: Literal["pending"]
    said_at: Annotated[Instant, Field(description="When it was last declared.")]
    known_from: Annotated[Instant, Field(description="From when on it was believed so.")]
    goals: Annotated[tuple[Id, ...], Field(description="The declarations that stand, in their order.")]

    @classmethod
    def of(cls, row: ObjectiveRow) -> Self:
        """Return a row as an answer."""
        believed = (instant_of(row.said_at), instant_of(row.known_from))
        return cls(*row[:4], "pending", *believed, row.goals)


@answer
class Feedback(Answer):
    """What somebody said about a message of the bot. It is no episode."""

    uuid: Id
    group_id: Group
    position: Position
    external_id: Annotated[str | None, Field(examples=["1234567890"], description="The platform's own id of it.")]
    reply_to: Annotated[str | None, Field(examples=["1234567889"], description="That of the message it is about.")]
    episode_id: Annotated[Id | None, Field(description="The turn that it is about, where the group has that.")]
    role: Annotated[str, Field(examples=["Ana"], description="Who said it, by name.")]
    role_type: Annotated[str, Field(examples=["user"])]
    author_id: Annotated[str | None, Field(examples=["111222333"], description="The platform's own id of who said it.")]
    content: Annotated[str, Field(examples=["Too long."], description="The words; empty, where they were suppressed.")]
    said_at: Instant
    recorded_at: Instant
    withdrawn_at: Annotated[Instant | None, Field(description="Null: it stands.")]

    @classmethod
    def of(cls, row: FeedbackRow) -> Self:
        """Return a row as an answer."""
        return cls(*row[:10], instant_of(row.valid_at), instant_of(row.created_at), time_of(row.withdrawn_at))


def facts_of(rows: Sequence[FactRow]) -> tuple[Fact, ...]:
    """Return rows as facts, in their order."""
    return tuple(map(Fact.of, rows))
