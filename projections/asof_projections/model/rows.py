"""The rows that graph stores return: one class of plain values for each kind. Times are microseconds."""

import json
from collections.abc import Collection, Iterable, Mapping
from typing import TYPE_CHECKING, NamedTuple

from asof_projections.versions import Assertion, Ending, Interval
from asof_streams.instants import INF, NEG

if TYPE_CHECKING:
    from asof_projections.long_slot import LongSlot


class Moment(NamedTuple):
    """One point on both clocks, fixed at the start of a question. None lifts a clock: any moment of it.

    deeds: not only what holds there, but also what happened before, and what is planned for later.
    """

    valid: int | None
    known: int | None
    ever: bool = False  # what was known at some time until then; else only what was known still
    deeds: bool = False


class Window(NamedTuple):
    """A part of both clocks: the first and the last instant of each. `deeds` is as of a Moment."""

    vmin: int
    vmax: int
    kmin: int
    kmax: int
    deeds: bool = False

    @classmethod
    def at(cls, moment: Moment) -> "Window":
        """Return the window of one moment; all of a clock that the moment lifts."""
        valid, known, ever, deeds = moment
        vmin, vmax = (NEG, INF) if valid is None else (valid, valid)
        kmin, kmax = (NEG, INF) if known is None else (known, known)
        return cls(vmin, vmax, NEG if ever else kmin, kmax, deeds)

    @classmethod
    def during(cls, start: int, stop: int, known: int | None) -> "Window":
        """Return the period [start, stop) of valid time, as known at a moment."""
        return cls.at(Moment(None, known))._replace(vmin=start, vmax=stop - 1)


class EntityRow(NamedTuple):
    """An entity, to which mentions are resolved. `known_from` is when it was introduced."""

    uuid: str
    group_id: str
    name: str
    type: str | None
    known_from: int


class FactRow(NamedTuple):
    """One version of a fact. Times are microseconds; INF is an open end."""

    uuid: str
    group_id: str
    subject: str
    relation: str
    object: str
    subject_uuid: str
    object_uuid: str | None  # None: the object is a literal
    fact: str
    valid_at: int
    invalid_at: int
    created_at: int  # when it was first believed
    expired_at: int  # when it stopped being believed as first asserted; INF: it has not
    confidence: float
    episodes: tuple[str, ...]
    generation: str
    known_from: int  # of this version
    known_to: int
    number: int  # of the fact: the position of its assertion in the log
    occurrence: bool = False  # it happened within its valid time; otherwise it held over it
    planned: bool = False  # it was still ahead when it was said, and nobody has told it as past
    value: float | None = None  # the object, where a statement gives it as a number
    qualifiers: tuple[tuple[str, str | float], ...] = ()  # of all its statements; of one name the last stated

    def is_asked(self, at: Moment) -> bool:
        """Whether it is of a moment with its deeds: of those that begin later, only plans are."""
        return self.planned or not at.deeds or at.valid is None or self.valid_at <= at.valid

    def __repr__(self) -> str:
        """Return the id alone: the rest is content."""
        return f"FactRow(uuid={self.uuid!r})"


def literals_of(
    object_: str, stated: Iterable[tuple[bool, Mapping[str, str | float]]]
) -> tuple[float | None, tuple[tuple[str, str | float], ...]]:
    """Return the value and the qualifiers of a fact, by whether each statement gives a number, and its qualifiers."""
    value: float | None = None
    qualifiers: dict[str, str | float] = {}
    for is_number, named in stated:
        value = json.loads(object_) if is_number else value
        qualifiers |= named
    return value, tuple(qualifiers.items())


class AttributeRow(NamedTuple):
    """A value of an attribute of an entity, as it was last said. Times are µs."""

    entity_uuid: str
    name: str
    value: str
    support: float  # the combined confidence of all its statements, 0 to 1
    attested: int  # when it was last said
    episode_id: str  # the last that says it

    @property
    def sureness(self) -> tuple[float, int]:
        """The key that decides between two values: the surer one, of equally sure ones the one said last."""
        return round(self.support, 6), self.attested


class Saying(NamedTuple):
    """A statement of an episode about an attribute of an entity. Times are µs."""

    entity_uuid: str
    name: str
    value: str
    confidence: float
    said_at: int
    episode_id: str
    attribute_id: str


class CommunityRow(NamedTuple):
    """Entities that facts connect. `known_from` is when it was formed; its members are those of one known moment."""

    uuid: str
    group_id: str
    name: str
    known_from: int
    members: tuple[EntityRow, ...]  # in the order in which they joined


class ConsolidationRow(NamedTuple):
    """A pass of consolidation. It looked at what was recorded since `begin`, where the one before ended."""

    uuid: str
    begin: int | None
    recorded_at: int


class EpisodeRow(NamedTuple):
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


class PostRow(NamedTuple):
    """A message of a chat under its external id: a turn, feedback or a goal. Times are µs."""

    uuid: str
    kind: str  # turn | feedback | goal
    reply_to: str | None
    role: str
    role_type: str
    author_id: str | None
    is_proactive: bool
    content: str
    suppressed: bool
    valid_at: int
    edited_at: int | None
    withdrawn: bool


class FeedbackRow(NamedTuple):
    """Feedback as it was received, and until when it was not withdrawn (INF: it is not). Times are µs."""

    uuid: str
    group_id: str
    position: int  # of its message, in the messages log
    external_id: str | None
    reply_to: str | None
    episode_id: str | None  # of the turn that it is about, if the group has that
    role: str
    role_type: str
    author_id: str | None
    content: str
    valid_at: int
    created_at: int
    withdrawn_at: int


class ObjectiveRow(NamedTuple):
    """An objective over the known time in which it was believed so. Times are µs."""

    uuid: str
    group_id: str
    description: str
    saliency: float
    status: str
    said_at: int
    known_from: int
    known_to: int  # INF: it is believed
    goals: tuple[str, ...] = ()  # for which it is believed, declared and implied, in the order of the log
    goals_recorded: tuple[int, ...] = ()  # when each of them was


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
    """A relationship as stated, dated by its turn; how a time in its words was interpreted stands beside that."""

    uuid: str
    episode_id: str
    relation: str
    source: str
    target: str
    stance: str
    valid_from: int | None  # interpreted, as is all up to the words that say it
    valid_to: int | None
    grain: str | None
    time_words: str | None
    confidence: float
    start: int
    end: int
    valid_at: int
    created_at: int


class ParkedRow(NamedTuple):
    """A message of which nothing could be made, or about which a model gave no answer, and why."""

    position: int  # in the messages log
    group_id: str
    recorded_at: int  # of the message; where a retry came to nothing, of the retry
    reason: str
    state: str  # parked | failed


class ContradictionRow(NamedTuple):
    """Two facts that contradict each other, and how that was settled as far as it was known. Times are µs."""

    uuid: str
    group_id: str
    earlier: str  # id of the fact that was asserted first
    later: str
    flagged_at: int
    settled_at: int  # INF: it is open
    kept: str | None  # id of the fact that stands; None: it is open
    dropped: str | None


class Slot(NamedTuple):
    """The live statements of one subject and relation, in the order of the log."""

    assertions: Collection[Assertion]
    endings: Collection[Ending]
    held: Mapping[str, tuple[tuple[int, int], ...]]  # the open versions of each fact, in order
    long: "LongSlot | None" = None  # the same with indexes, where a writer has kept many


class Statement(NamedTuple):
    """A statement that can be retracted: an assertion, an ending or a retraction, live or dead."""

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
    said_at: int | None = None  # of an assertion that is stored: when it was said first


class LinkRow(NamedTuple):
    """A merge of two entities, and the known time over which it was believed."""

    uuid: str
    duplicate: str
    into: str
    reason: str
    known_from: int
    known_to: int


class ChangeRow(NamedTuple):
    """A version that a message opened or closed."""

    position: int  # of the message, in the messages log
    recorded_at: int
    opened: bool
    fact: FactRow


class SegmentRow(NamedTuple):
    """A period of valid time over which a slot has one value without a break. A gap has no object and no facts.

    An occurrence is a segment of its own, for it says nothing of the times around it.
    """

    subject: str
    subject_uuid: str
    relation: str
    object: str | None
    object_uuid: str | None  # None: the object is a literal, or this is a gap
    valid_at: int
    invalid_at: int
    facts: tuple[str, ...]  # ids of the facts that say so, by start
    planned: bool = False
    occurrence: bool = False

    def __repr__(self) -> str:
        """Return the slot alone: the rest is content."""
        return f"SegmentRow(subject_uuid={self.subject_uuid!r}, relation={self.relation!r})"

    def covers(self, period: Interval) -> bool:
        """Whether it holds at every instant of the period."""
        return self.valid_at <= period[0] and period[1] <= self.invalid_at
