"""The semantic events of one generation: what is believed, and what follows from it."""

from typing import ClassVar, Literal

from pydantic import Field

from asof_streams.events import Event, register

Period = tuple[int, int | None]  # [from, to); None is no end stated
Ending = Literal["superseded", "ended", "retracted", "corrected", "contradicted", "merged"]


@register
class GenerationStarted(Event):
    """A build of the semantic layer began. `build` is the digest of all that decides its content."""

    type: ClassVar[str] = "generation.started"

    build: str
    ontology: str
    ontology_digest: str
    extractor: str
    policy: Literal["recency", "graded"]
    source: Literal["mentions", "episodes"]


@register
class RelationDeclared(Event):
    """From here on this relation is single-valued or not: in its group, or with none in every one.

    A relation that was never declared is many-valued.
    """

    type: ClassVar[str] = "relation.declared"

    relation: str
    cardinality: Literal["one", "many"]


@register
class EntityIntroduced(Event):
    """A mention, or a structured fact, named something not known before in its group."""

    type: ClassVar[str] = "entity.introduced"

    entity_id: str
    name: str = Field(repr=False)
    entity_type: str | None = None
    episode_id: str


@register
class EntityDescribed(Event):
    """An entity is also called so.

    Where the episode that gave the name is withdrawn, the first that calls it so as well gives it from there on.
    """

    type: ClassVar[str] = "entity.described"

    entity_id: str
    alias: str = Field(repr=False)
    episode_id: str


@register
class EntityUndescribed(Event):
    """An entity is not called so, known from here on: the statement that gave the name is taken back.

    Where others call it so as well, it keeps the name.
    """

    type: ClassVar[str] = "entity.undescribed"

    entity_id: str
    alias: str = Field(repr=False)
    episode_id: str


@register
class MentionResolved(Event):
    """A mention was taken to mean an entity, for this reason."""

    type: ClassVar[str] = "mention.resolved"

    mention_id: str
    episode_id: str
    entity_id: str
    reason: str  # new | name | alias | speaker | first name | similar name | repeated | model
    score: float


@register
class EntityMerged(Event):
    """Two entities are one, known from here on: a duplicate_of link. Facts keep their own ids."""

    type: ClassVar[str] = "entity.merged"

    merge_id: str
    duplicate: str
    into: str
    reason: str  # also known as | same name | model | stated


@register
class EntityUnmerged(Event):
    """A merge was wrong, known from here on."""

    type: ClassVar[str] = "entity.unmerged"

    merge_id: str


@register
class EntityAttributed(Event):
    """An attribute of an entity was said to have a value; `holds` says whether that is what is believed from here on.

    If so, the value stands in the place of any other. If not, it was said less surely than the one that is believed.
    Where an episode was withdrawn, the values that it said are weighed again, and so is the one that is believed
    instead; a value that nobody else says has a support of 0, and if that one holds, nothing is believed.
    """

    type: ClassVar[str] = "entity.attributed"

    entity_id: str
    name: str
    value: str = Field(repr=False)
    confidence: float
    support: float  # how sure the value is, 0 to 1, by all that said it so far
    attested: int  # the latest moment at which it was said so far
    holds: bool
    said_at: int
    episode_id: str
    attribute_id: str


@register
class CommunityFormed(Event):
    """Entities that facts connect are one community from here on, each of them of this one and no other.

    It is named after those that it begins with; the first of them is the one that it was formed for.
    """

    type: ClassVar[str] = "community.formed"

    community_id: str
    name: str = Field(repr=False)
    members: tuple[str, ...]
    episode_id: str


@register
class CommunityJoined(Event):
    """An entity is of this community from here on, and of no other."""

    type: ClassVar[str] = "community.joined"

    community_id: str
    entity_id: str
    episode_id: str


@register
class FactAsserted(Event):
    """A claim holds in the world from valid_from, to valid_to where an end is stated.

    `holds` are the periods over which it is believed once the batch is whole: a projection opens one version for each.
    Either `object` (an entity) or `value` (a literal) is given.
    """

    type: ClassVar[str] = "fact.asserted"

    fact_id: str
    subject: str
    relation: str
    object: str | None = None
    value: str | None = Field(default=None, repr=False)
    sentence: str = Field(repr=False)
    confidence: float
    valid_from: int
    valid_to: int | None = None
    said_at: int
    grain: str | None = None
    time_words: str | None = Field(default=None, repr=False)
    episode_id: str
    relationship_id: str | None = None
    ref: str | None = None
    corrects: str | None = None  # the fact that this one replaces
    holds: tuple[Period, ...]


@register
class FactReinforced(Event):
    """A fact was said again: provenance, and a later moment at which it was attested."""

    type: ClassVar[str] = "fact.reinforced"

    fact_id: str
    said_at: int
    episode_id: str
    relationship_id: str | None = None


@register
class FactAttested(Event):
    """An episode that had said a fact was withdrawn: others still say it, and this is when they last did."""

    type: ClassVar[str] = "fact.attested"

    fact_id: str
    attested: int  # the latest moment at which an episode that counts said it


@register
class FactEnded(Event):
    """The world changed: from `at` on, the fact no longer holds.

    It names the fact (subject, relation, and object or value; neither means whatever holds there), not an event, so the
    order of hearing does not matter. With `fact_id` it concerns that assertion alone.
    """

    type: ClassVar[str] = "fact.ended"

    ending_id: str
    subject: str
    relation: str
    object: str | None = None
    value: str | None = Field(default=None, repr=False)
    fact_id: str | None = None
    at: int
    said_at: int
    episode_id: str
    relationship_id: str | None = None


@register
class FactRetracted(Event):
    """We were wrong: the target (an assertion, an ending or a retraction) is as if it had never been said.

    `dead` and `live` are the statements whose standing this changes, the target among them.
    """

    type: ClassVar[str] = "fact.retracted"

    retraction_id: str
    target: str
    dead: tuple[str, ...]
    live: tuple[str, ...] = ()
    episode_id: str
    reason: Literal["retracted", "corrected", "contradicted"]


@register
class ContradictionFlagged(Event):
    """Two facts of one slot contradict each other and no rule decides; a person settles it by retracting one."""

    type: ClassVar[str] = "contradiction.flagged"

    contradiction_id: str
    earlier: str
    later: str


@register
class ContradictionSettled(Event):
    """A flagged contradiction is over: one of its facts was retracted."""

    type: ClassVar[str] = "contradiction.settled"

    contradiction_id: str
    kept: str
    dropped: str


@register
class FactInvalidated(Event):
    """A fact lost validity, or our belief. `holds` are the periods that are left; `cause` names the statement."""

    type: ClassVar[str] = "fact.invalidated"

    fact_id: str
    kind: Ending
    cause: str
    holds: tuple[Period, ...]


@register
class FactRestored(Event):
    """A fact holds again over `holds`, because what had displaced it is gone."""

    type: ClassVar[str] = "fact.restored"

    fact_id: str
    cause: str
    holds: tuple[Period, ...]


SemanticEvent = (
    GenerationStarted
    | RelationDeclared
    | EntityIntroduced
    | EntityDescribed
    | EntityUndescribed
    | MentionResolved
    | EntityMerged
    | EntityUnmerged
    | EntityAttributed
    | CommunityFormed
    | CommunityJoined
    | FactAsserted
    | FactReinforced
    | FactAttested
    | FactEnded
    | FactRetracted
    | ContradictionFlagged
    | ContradictionSettled
    | FactInvalidated
    | FactRestored
)
