"""The rows that graph stores keep and give back: plain values, one class for each kind of thing."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from asof_projections.versions import Assertion, Ending
from asof_streams.instants import INF, render


class Moment(NamedTuple):
    """One point on both clocks, fixed once at the start of a question. None lifts a clock: every moment of it."""

    valid: int | None
    known: int | None


class Entity(NamedTuple):
    """What mentions are resolved to. `known_from` is when it was introduced."""

    uuid: str
    group_id: str
    name: str
    type: str | None
    known_from: int


@dataclass(frozen=True, slots=True)
class Fact:
    """One version of a fact: the answer to most questions (design 8 names its JSON). Times are µs, INF open."""

    uuid: str
    group_id: str
    subject: str = field(repr=False)
    relation: str
    object: str = field(repr=False)
    subject_uuid: str
    object_uuid: str | None  # None: the object is a literal
    fact: str = field(repr=False)
    valid_at: int
    invalid_at: int
    created_at: int  # when it was first believed
    expired_at: int  # when it stopped being believed as first asserted; INF: it has not
    confidence: float
    episodes: tuple[str, ...]
    generation: str
    known_from: int  # of this version
    known_to: int

    def to_json(self) -> dict[str, Any]:
        """Return the fact as every door shows it: RFC 3339 times, null for an open end."""
        return {
            "uuid": self.uuid,
            "group_id": self.group_id,
            "subject": self.subject,
            "relation": self.relation,
            "object": self.object,
            "subject_uuid": self.subject_uuid,
            "object_uuid": self.object_uuid,
            "fact": self.fact,
            "valid_at": render(self.valid_at),
            "invalid_at": render(self.invalid_at),
            "created_at": render(self.created_at),
            "expired_at": render(self.expired_at),
            "confidence": self.confidence,
            "episodes": list(self.episodes),
            "generation": self.generation,
        }

    @property
    def open(self) -> bool:
        """Whether no end of it is stated or known."""
        return self.invalid_at == INF


class Attribute(NamedTuple):
    """A value of an attribute of an entity, as it was last said. Times are µs."""

    entity_uuid: str
    name: str
    value: str
    support: float  # how sure it is, 0 to 1, by all that said it
    attested: int  # the latest moment at which it was said
    episode_id: str  # the last that says it

    @property
    def sureness(self) -> tuple[float, int]:
        """What decides between two values: the surer is believed, of equally sure ones that which was said last."""
        return round(self.support, 6), self.attested

    def to_json(self) -> dict[str, Any]:
        """Return the attribute as every door shows it."""
        return {
            "name": self.name,
            "value": self.value,
            "confidence": round(self.support, 6),
            "said_at": render(self.attested),
            "episode_id": self.episode_id,
        }


class Saying(NamedTuple):
    """That an episode says of an attribute of an entity that it has a value. Times are µs."""

    entity_uuid: str
    name: str
    value: str
    confidence: float
    said_at: int
    episode_id: str
    attribute_id: str


class Community(NamedTuple):
    """Entities that facts connect, as one. `known_from` is when it was formed; its members are of one known moment."""

    uuid: str
    group_id: str
    name: str
    known_from: int
    members: tuple[Entity, ...]  # in the order in which they joined


class Episode(NamedTuple):
    """The record of one message, text, JSON document or structured fact."""

    uuid: str
    group_id: str
    position: int  # of its message, in the messages log
    name: str
    source: str
    source_description: str
    role: str
    role_type: str
    body: str
    content_length: int
    valid_at: int
    created_at: int

    @property
    def content(self) -> str:
        """The words themselves, without the prefix that names the speaker."""
        return self.body[len(self.body) - self.content_length :]


class MentionRow(NamedTuple):
    """A mention as observed."""

    uuid: str
    episode_id: str
    type: str
    text: str
    start: int
    speaker: bool
    repeats: str | None
    valid_at: int
    created_at: int


class RelationshipRow(NamedTuple):
    """A relationship as stated."""

    uuid: str
    episode_id: str
    relation: str
    source: str
    target: str
    stance: str
    confidence: float
    start: int
    end: int
    valid_at: int
    created_at: int


class Parked(NamedTuple):
    """A message of which nothing could be made."""

    position: int  # in the messages log
    group_id: str
    recorded_at: int
    reason: str


class Slot(NamedTuple):
    """The live statements of one subject and relation."""

    assertions: tuple[Assertion, ...]
    endings: tuple[Ending, ...]
    held: Mapping[str, tuple[tuple[int, int], ...]]  # what is believed now: open versions by fact, in order


class Statement(NamedTuple):
    """What a retraction may aim at: an assertion, an ending or a retraction, live or dead."""

    uuid: str
    group_id: str
    subject: str  # entity id; with `relation` the slot that it touches. "" for a retraction
    relation: str
    dead: bool
    assertion: Assertion | None = None
    ending: Ending | None = None
    target: str | None = None  # of a retraction
    confidence: float = 1.0
    ref: str | None = None
