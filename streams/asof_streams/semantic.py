"""The semantic events of one generation: entities, facts, and the changes of belief that follow from them."""

from typing import ClassVar, Literal

from pydantic import Field

from asof_streams.consolidation_config import ConsolidationConfig
from asof_streams.events import Event, register
from asof_streams.extraction_options import absent, unset
from asof_streams.ingestion_config import IngestionConfig
from asof_streams.literals import Qualifiers

Period = tuple[int, int | None]  # [from, to); None: no end is stated
Granule = tuple[int, int]  # [from, to): the day, month or year in which something happened
InvalidationKind = Literal["superseded", "ended", "retracted", "corrected", "contradicted", "merged", "refined"]


def _is_first(rule: int) -> bool:
    """Whether a rule need not be written, since no earlier version had another."""
    return rule == 1


@register
class GenerationStarted(Event):
    """A build of the semantic layer began. `build` is the digest of everything that decides its content.

    `rule` is the version of the rule of belief. Under the first, every fact lasts; since the second, a deed is an
    occurrence, unless its outcome stays.
    """

    type: ClassVar[str] = "generation.started"
    version: ClassVar[int] = 2
    since: ClassVar[int] = 1

    build: str
    ontology: str
    ontology_digest: str
    extractor: str
    policy: Literal["recency", "graded"]
    source: Literal["mentions", "episodes"]
    rule: int = Field(default=1, exclude_if=_is_first)


@register
class ConsolidationConfigured(Event):
    """What consolidation does in this generation. One without this event has the defaults."""

    type: ClassVar[str] = "consolidation.configured"

    config: ConsolidationConfig


@register
class IngestionConfigured(Event):
    """What ingestion does in this generation. One without this event has the defaults."""

    type: ClassVar[str] = "ingestion.configured"
    version: ClassVar[int] = 2
    since: ClassVar[int] = 1

    config: IngestionConfig


@register
class RelationDeclared(Event):
    """A relation is single-valued or many-valued from here on: in the envelope's group, or in all if that is empty.

    A relation that was never declared is many-valued.
    """

    type: ClassVar[str] = "relation.declared"

    relation: str
    cardinality: Literal["one", "many"]


@register
class EntityIntroduced(Event):
    """A mention or a structured fact named an entity that was not known in its group."""

    type: ClassVar[str] = "entity.introduced"

    entity_id: str
    name: str = Field(repr=False)
    entity_type: str | None = None
    episode_id: str


@register
class EntityDescribed(Event):
    """An entity has one more name.

    If the episode that gave the name is withdrawn, the first other episode that uses the name gives it from there on.
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
    """A mention was resolved to an entity, for this reason."""

    type: ClassVar[str] = "mention.resolved"

    mention_id: str
    episode_id: str
    entity_id: str
    reason: str  # new | name | alias | speaker | first name | similar name | same words | repeated | model
    score: float


@register
class EntityMerged(Event):
    """Two entities are one, known from here on: a duplicate_of link. Facts keep the ids of their entities.

    One that a pass of consolidation found falls with the episode that introduced either of the two.
    """

    type: ClassVar[str] = "entity.merged"

    merge_id: str
    duplicate: str
    into: str
    reason: str  # also known as | same name | model | stated | consolidated


@register
class EntityUnmerged(Event):
    """A merge was wrong, known from here on."""

    type: ClassVar[str] = "entity.unmerged"

    merge_id: str


@register
class EntityAttributed(Event):
    """A value was stated for an attribute of an entity; `holds` says whether it is believed from here on.

    If so, it replaces any other value. If not, it has less support than the value that is believed. After a withdrawal
    the values that its episode stated are weighed again, and so is the value that is believed instead. A value that no
    other episode states has a support of 0; if that one holds, no value is believed.
    """

    type: ClassVar[str] = "entity.attributed"

    entity_id: str
    name: str
    value: str = Field(repr=False)
    confidence: float
    support: float  # confidence in the value, 0 to 1, from all statements of it so far
    attested: int  # the latest time at which it was said so far
    holds: bool
    said_at: int
    episode_id: str
    attribute_id: str


@register
class CommunityFormed(Event):
    """Entities that facts connect form one community from here on. An entity is a member of at most one.

    Its name lists the first members; the first of all is the entity for which it was formed.
    """

    type: ClassVar[str] = "community.formed"

    community_id: str
    name: str = Field(repr=False)
    members: tuple[str, ...]
    episode_id: str


@register
class CommunityJoined(Event):
    """An entity is a member of this community from here on, and of no other."""

    type: ClassVar[str] = "community.joined"

    community_id: str
    entity_id: str
    episode_id: str


@register
class CommunityLeft(Event):
    """An entity is a member of no community from here on: no fact connects it to one, or a pass was undone."""

    type: ClassVar[str] = "community.left"
    version: ClassVar[int] = 2
    since: ClassVar[int] = 1

    entity_id: str
    episode_id: str | None = Field(default=None, exclude_if=unset)


@register
class MemoryDecayed(Event):
    """So many entities have faded: their factor, 0.5 ^ (age / half-life), is below 0.99. No factor is stored."""

    type: ClassVar[str] = "memory.decayed"
    version: ClassVar[int] = 2
    since: ClassVar[int] = 1

    half_life_secs: int
    nodes: int
    consolidation_id: str | None = Field(default=None, exclude_if=unset)


@register
class MemoryConsolidated(Event):
    """A pass of consolidation: the part of the log that it looked at, and the counts of its results.

    It looked at everything that was recorded from `begin`, where the pass before ended, to `until`: its results rest
    on that. They are the events after it in its batch. A phase that failed has none.
    """

    type: ClassVar[str] = "memory.consolidated"
    version: ClassVar[int] = 2
    since: ClassVar[int] = 1

    consolidation_id: str
    until: int
    complete: bool  # False: the budget was used up, and the next pass goes on
    communities_detected: int
    communities_changed_nodes: int
    entity_duplicates_found: int
    entity_merges_performed: int
    nodes_decayed: int
    failed: tuple[str, ...] = ()
    begin: int | None = Field(default=None, exclude_if=absent)  # None: there was no pass before


@register
class MemoryUnconsolidated(Event):
    """A pass of consolidation is undone. The events after it in its batch take back what stood of its results.

    The next pass looks again at everything that was recorded since `until`.
    """

    type: ClassVar[str] = "memory.unconsolidated"

    consolidation_id: str
    until: int | None = None  # None: there was no pass before it


@register
class FactAsserted(Event):
    """A fact was asserted: it holds in the world from valid_from to valid_to, if an end is stated.

    `holds` are the periods over which it is believed after the whole batch: a projection opens one version for each.
    Either `object` (an entity) or `value` (a literal) is set; `number`: the literal was stated as a number. An
    `occurrence` happened within that time, its granule: no ending cuts it, and nothing displaces it. It is `planned` if
    it was still ahead when it was said. `qualifiers` are those of this statement.
    """

    type: ClassVar[str] = "fact.asserted"
    version: ClassVar[int] = 3
    since: ClassVar[int] = 1

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
    occurrence: bool = Field(default=False, exclude_if=unset)
    planned: bool = Field(default=False, exclude_if=unset)
    number: bool = Field(default=False, exclude_if=unset)
    qualifiers: Qualifiers = Field(default_factory=dict, repr=False, exclude_if=unset)
    holds: tuple[Period, ...]


@register
class FactReinforced(Event):
    """A fact was said again: one more source, and perhaps a later time at which it was attested.

    Of an occurrence it has the granule that it was given this time, and whether it was still ahead. `qualifiers` are
    those of this statement, and `number` says whether it gave the literal as a number.
    """

    type: ClassVar[str] = "fact.reinforced"
    version: ClassVar[int] = 3
    since: ClassVar[int] = 1

    fact_id: str
    said_at: int
    episode_id: str
    relationship_id: str | None = None
    granule: Granule | None = Field(default=None, exclude_if=unset)
    planned: bool = Field(default=False, exclude_if=unset)
    number: bool = Field(default=False, exclude_if=unset)
    qualifiers: Qualifiers = Field(default_factory=dict, repr=False, exclude_if=unset)


@register
class FactAttested(Event):
    """An episode that had said a fact was withdrawn; other episodes still say it, and this is when they last did."""

    type: ClassVar[str] = "fact.attested"

    fact_id: str
    attested: int  # the latest time at which an episode said it that was not withdrawn


@register
class FactEnded(Event):
    """The world changed: from `at` on, the fact no longer holds.

    It names the fact by subject, relation, and object or value (neither: every value), not by an event, so the order of
    arrival does not matter. With `fact_id` it applies to that assertion alone.
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
    """The target (an assertion, an ending or a retraction) was wrong: it counts as if it had never been said.

    `dead` and `live` are the statements that count no longer, or again, from here on; the target is among them.
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
    """A flagged contradiction is settled: one of its facts was retracted."""

    type: ClassVar[str] = "contradiction.settled"

    contradiction_id: str
    kept: str
    dropped: str


@register
class FactInvalidated(Event):
    """A fact is believed over less time. `holds` are the periods that are left; `cause` is the statement behind it.

    An occurrence is `refined` where a finer granule is stated of it: `holds` has that one.
    """

    type: ClassVar[str] = "fact.invalidated"
    version: ClassVar[int] = 2
    since: ClassVar[int] = 1

    fact_id: str
    kind: InvalidationKind
    cause: str
    holds: tuple[Period, ...]


@register
class FactRestored(Event):
    """A fact is believed over `holds` again, because the statement that had displaced it is gone."""

    type: ClassVar[str] = "fact.restored"

    fact_id: str
    cause: str
    holds: tuple[Period, ...]


@register
class ObjectiveRaised(Event):
    """An objective is believed from here on, with this saliency and status, since a goal was declared or implied.

    Goals in the same words, whatever their case, spaces and articles, are one objective. `saliency` is the greatest of
    the goals that stand; `stated` is that of the goal in `goal_id`, None where only another was withdrawn.
    """

    type: ClassVar[str] = "objective.raised"

    objective_id: str
    description: str = Field(repr=False)
    saliency: float
    status: Literal["pending"]
    said_at: int
    goal_id: str
    stated: float | None = None


@register
class ObjectiveWithdrawn(Event):
    """No goal stands any longer for which an objective was believed: it is not believed from here on."""

    type: ClassVar[str] = "objective.withdrawn"

    objective_id: str
    goal_id: str  # the last, which was withdrawn


SemanticEvent = (
    GenerationStarted
    | ConsolidationConfigured
    | IngestionConfigured
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
    | CommunityLeft
    | MemoryConsolidated
    | MemoryUnconsolidated
    | MemoryDecayed
    | FactAsserted
    | FactReinforced
    | FactAttested
    | FactEnded
    | FactRetracted
    | ContradictionFlagged
    | ContradictionSettled
    | FactInvalidated
    | FactRestored
    | ObjectiveRaised
    | ObjectiveWithdrawn
)
