"""What the routes under /v1 answer, field by field, for those who read the API's description.

Answers are made by the `to_json` of what they show, and not looked at again: a test holds that they are as said here.
"""

from typing import Annotated, Any, Literal

from pydantic import BaseModel, Field

Id = Annotated[str, Field(examples=["1c8e2d4a-7f0b-5c39-9a51-2f6d3b8e4c10"])]
Group = Annotated[str, Field(examples=["ana"])]
Instant = Annotated[
    str, Field(json_schema_extra={"format": "date-time"}, examples=["2024-03-01T00:00:00Z"], description="In UTC.")
]
Position = Annotated[int, Field(examples=[17], description="Of the message, in the messages log.")]
Cursor = Annotated[
    str | None, Field(examples=["100"], description="For the next page, as `cursor`; null where this is the last.")
]


class Fact(BaseModel):
    """A fact: when it holds in the world, and when it was believed as first said. A null time is an open end."""

    uuid: Id
    group_id: Group
    subject: str = Field(examples=["Ana"])
    relation: str = Field(examples=["lives_in"])
    object: str = Field(examples=["Berlin"])
    subject_uuid: Id
    object_uuid: Id | None = Field(description="Null where the object is a literal, such as a number.")
    fact: str = Field(examples=["Ana lives in Berlin"])
    valid_at: Instant | None
    invalid_at: Instant | None
    created_at: Instant
    expired_at: Instant | None
    confidence: float = Field(ge=0, le=1, examples=[0.9])
    episodes: list[Id] = Field(description="What it rests on.")
    generation: str = Field(examples=["main"])


class Facts(BaseModel):
    """A page of facts."""

    facts: list[Fact]
    next: Cursor


class Scores(BaseModel):
    """How well a fact fits, by each way of looking; null where it was not found by it."""

    words: float | None = Field(examples=[0.8])
    meaning: float | None = Field(examples=[0.7])


class Hit(Fact):
    """A fact that fits a question."""

    score: float = Field(examples=[0.75])
    scores: Scores


class Hits(BaseModel):
    """The facts that fit a question, best first."""

    facts: list[Hit]


class Entity(BaseModel):
    """Somebody, or something."""

    uuid: Id
    group_id: Group
    name: str = Field(examples=["Ana"])
    type: str | None = Field(examples=["Person"])
    created_at: Instant


class Entities(BaseModel):
    """A page of entities."""

    entities: list[Entity]
    next: Cursor


class Link(BaseModel):
    """That two entities are one, over the known time in which it was thought so."""

    uuid: str
    duplicate: Id
    duplicate_name: str = Field(examples=["Annie"])
    into: Id
    into_name: str = Field(examples=["Ana"])
    reason: str = Field(examples=["also known as"])
    known_from: Instant
    known_to: Instant | None


class Attribute(BaseModel):
    """What an entity is like: a value that is believed, and how sure it is by all that said it."""

    name: str = Field(examples=["role"])
    value: str = Field(examples=["cook"])
    confidence: float = Field(ge=0, le=1, examples=[0.9])
    said_at: Instant
    episode_id: Id


class Named(BaseModel):
    """What something is called."""

    uuid: Id
    name: str = Field(examples=["Ana, Ben"])


class Community(Named):
    """Entities that facts connect, taken together because a message asked for it."""

    group_id: Group
    created_at: Instant
    members: list[Named]


class Communities(BaseModel):
    """A page of communities."""

    communities: list[Community]
    next: Cursor


class Portrait(Entity):
    """What is known of an entity, together with all that were taken to be the same."""

    names: list[str]
    duplicate_of: list[Link]
    mentions: int
    summary: str = Field(examples=["role: cook. Ana lives in Berlin."])
    attributes: list[Attribute]
    communities: list[Named]
    facts: list[Fact]


class Portraits(BaseModel):
    """Everything that has a name."""

    entities: list[Portrait]


class Turn(BaseModel):
    """What began or ended a belief."""

    kind: str = Field(examples=["asserted"])
    statement: Id


class Version(Fact):
    """A period in the world, believed over a period of known time."""

    known_from: Instant
    known_to: Instant | None
    opened: Turn
    closed: Turn | None


class History(BaseModel):
    """A page of versions."""

    versions: list[Version]
    next: Cursor


class Segment(BaseModel):
    """A period over which something held of an entity; with a null object, one in which nothing is known to hold."""

    subject: str = Field(examples=["Ana"])
    subject_uuid: Id
    relation: str = Field(examples=["lives_in"])
    object: str | None = Field(examples=["Berlin"])
    object_uuid: Id | None
    valid_at: Instant | None
    invalid_at: Instant | None
    facts: list[Id]


class Timeline(BaseModel):
    """A page of segments, slot by slot."""

    segments: list[Segment]
    next: Cursor


class Difference(BaseModel):
    """What differs of one fact between two points."""

    change: Literal["began", "ended", "learned", "retracted", "revised"]
    before: Fact | None
    after: Fact | None


class Differences(BaseModel):
    """A page of what differs between two points."""

    changes: list[Difference]
    next: Cursor


class Evidence(BaseModel):
    """Where something was said, in which words."""

    episode: Id
    name: str
    position: Position
    role: str = Field(examples=["Ana"])
    said_at: Instant
    recorded_at: Instant
    quote: str = Field(examples=["I moved to Berlin in March."])
    relationship: Id | None
    mentions: list[str]


class Consequence(BaseModel):
    """Something that became of a fact, by which statement, in whose words."""

    kind: str = Field(examples=["superseded"])
    statement: Id
    recorded_at: Instant
    ends_at: Instant | None
    evidence: Evidence | None


class Why(BaseModel):
    """What a fact rests on, and what became of it."""

    fact: Fact
    evidence: list[Evidence]
    time_words: str | None = Field(examples=["in March"])
    corrects: Id | None
    corrected_by: list[Id]
    consequences: list[Consequence]


class Change(BaseModel):
    """A version that a message opened or closed."""

    position: Position
    recorded_at: Instant
    change: Literal["opened", "closed"]
    fact: Fact


class Changes(BaseModel):
    """What some messages changed."""

    changes: list[Change]
    next: int = Field(examples=[17], description="For what follows, as `since`.")


class Event(BaseModel):
    """An event in its envelope; docs/reference/events.md says what each type is, and what its `data` has."""

    position: int = Field(examples=[42], description="In its log.")
    id: Id
    type: str = Field(examples=["fact.asserted"])
    version: int = Field(examples=[1])
    group_id: str = Field(examples=["ana"])
    generation: str | None = Field(None, examples=["main"], description="Of the semantic log alone.")
    recorded_at: Instant
    cause: int = Field(examples=[17])
    index: int = Field(examples=[0])
    count: int = Field(examples=[1])
    term: int = Field(examples=[1])
    data: dict[str, Any]


class Events(BaseModel):
    """A page of a log. Positions of erased events, and of those of other groups, are passed over."""

    events: list[Event]
    next: int = Field(examples=[42], description="For what follows, as `from`.")


class Queued(BaseModel):
    """A message that waits to be processed, behind so many others."""

    position: Position
    state: Literal["queued"]
    ahead: int = Field(examples=[3])


class Done(BaseModel):
    """A message that was processed, and what it made."""

    position: Position
    state: Literal["done"]
    group_id: Group
    episode_id: Id | None = Field(description="Null where it became none, such as one that names an older episode.")
    mentions: int = Field(examples=[2])
    changes: list[Change]


class Parked(BaseModel):
    """A message of which nothing could be made, and never can."""

    position: Position
    state: Literal["parked"]
    group_id: str = Field(examples=["ana"])
    reason: str = Field(examples=["uuid: no episode of this group has it; leave it out to record a new one"])


class Erased(BaseModel):
    """A message that was erased with its group."""

    position: Position
    state: Literal["erased"]


Outcome = Annotated[Queued | Done | Parked | Erased, Field(discriminator="state")]


class Problem(BaseModel):
    """An error, as RFC 9457 has it."""

    type: str = Field(examples=["about:blank"])
    title: str = Field(examples=["Not Found"])
    status: int = Field(examples=[404])
    detail: str = Field(examples=["no fact has the id x"])
