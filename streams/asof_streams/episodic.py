"""The episodic events: each message's episode and its extraction, as worded, before any entity is resolved."""

from typing import ClassVar, Literal

from pydantic import Field

from asof_streams.events import Event, register
from asof_streams.extraction_options import (
    EntityTypes,
    EpisodeIds,
    ExcludedTypes,
    RelationTypeMap,
    RelationTypes,
    absent,
    unset,
)
from asof_streams.messages import FactStatement


def _is_first(version: int) -> bool:
    """Whether a version need not be written: so episodes of the first have the bytes that they always had."""
    return version == 1


@register
class EpisodeRecorded(Event):
    """A message, document or structured fact became an episode.

    Emitted by: asof_agents.handlers.episodes. `body` is "{role}({role_type}): {content}"; its last `content_length`
    characters are the content. A fact's body is its `fact.stated` as JSON. Of suppressed content nothing is there: what
    was found in it is in the events that follow, and cannot be found again. An edited turn is another episode, which
    `corrects` the one before and stands at its time; that one is withdrawn in the same batch.
    """

    type: ClassVar[str] = "episode.recorded"
    version: ClassVar[int] = 3
    since: ClassVar[int] = 1

    episode_id: str
    name: str = Field(repr=False)
    source: Literal["message", "text", "json", "fact"]
    source_description: str = Field(repr=False)
    role: str = Field(repr=False)
    role_type: str
    body: str = Field(repr=False)
    content_length: int  # in characters
    valid_at: int  # when it was said
    ontology: str | None = None  # the id of the episode's own ontology; None: that of the memory or the generation
    entity_types: EntityTypes | None = Field(default=None, repr=False)
    excluded_entity_types: ExcludedTypes | None = Field(default=None, repr=False)
    relation_types: RelationTypes | None = Field(default=None, repr=False)
    relation_type_map: RelationTypeMap | None = Field(default=None, repr=False)
    previous_episode_ids: EpisodeIds | None = None
    suppressed: bool = Field(default=False, exclude_if=unset)  # whether its content was left out
    update_communities: bool = Field(default=False, exclude_if=unset)
    timezone: str | None = Field(default=None, exclude_if=unset)  # that its times are read by; None: UTC
    statement_version: int = Field(default=1, exclude_if=_is_first)  # version of the `fact.stated` in a fact's body
    external_id: str | None = Field(default=None, exclude_if=unset)
    reply_to: str | None = Field(default=None, exclude_if=unset)
    is_proactive: bool = Field(default=False, exclude_if=unset)
    author_id: str | None = Field(default=None, exclude_if=unset)
    corrects: str | None = Field(default=None, exclude_if=unset)  # the episode that was edited
    edited_at: int | None = Field(default=None, exclude_if=absent)  # when its last edit was made

    @property
    def content(self) -> str:
        """The content of the message, without the prefix that names the speaker."""
        return self.body[len(self.body) - self.content_length :]

    @property
    def is_of_bot(self) -> bool:
        """Whether it is what a bot said in a chat: of the conversation, and nothing that facts are read from."""
        return self.external_id is not None and self.role_type == "assistant"

    @property
    def statement(self) -> FactStatement:
        """The structured fact that this is the episode of, as it means today. DecodeError: a newer asof wrote it."""
        stated = self.__dict__.get("statement")  # as of a cached property, which takes a lock to look here
        if stated is None:
            stated = self.__dict__["statement"] = FactStatement.read(self.body.encode(), self.statement_version)
        assert isinstance(stated, FactStatement)
        return stated


@register
class MentionObserved(Event):
    """An episode mentions an entity in these words. Unique per (episode, entity type, text).

    `repeats` names the mention of the same type and text within the last four messages, if there is one: the episodic
    graph has one node for both. `speaker`: the words mean the speaker, as "I" does.
    """

    type: ClassVar[str] = "mention.observed"

    mention_id: str
    episode_id: str
    entity_type: str
    text: str = Field(repr=False)
    start: int  # offset in the episode's content
    speaker: bool = False
    repeats: str | None = None


@register
class RelationshipStated(Event):
    """An episode states a relation between two mentions, dated by its turn; a time in its words stands beside that.

    `source` and `target` are mention ids, of this episode or of an earlier one (a resolved pronoun). Of a deed the
    words may give the granule in which it happened, and they tell whether it is still ahead. What `ended` is `former`
    if the words say that it held before, as "I used to" does and a mere "not" does not. What is `shared` is another's
    as well, though the relation is one that a target has with one source at a time.
    """

    type: ClassVar[str] = "relationship.stated"
    version: ClassVar[int] = 3
    since: ClassVar[int] = 1

    relationship_id: str
    episode_id: str
    relation: str
    source: str
    target: str
    stance: Literal["holds", "ended", "denied"]
    valid_from: int | None = None
    valid_to: int | None = None
    grain: str | None = None
    time_words: str | None = Field(default=None, repr=False)
    granule: tuple[int, int] | None = Field(default=None, exclude_if=unset)  # of a deed
    planned: bool = Field(default=False, exclude_if=unset)
    former: bool = Field(default=False, exclude_if=unset)  # `ended`: it held before
    shared: bool = Field(default=False, exclude_if=unset)  # it ends no other source's
    confidence: float
    start: int  # of the sentence that says it, in the episode's content
    end: int


@register
class AttributeStated(Event):
    """An episode states an attribute of a mention: a quality of it, not a relation. As worded, not yet weighed.

    Emitted by: asof_agents.handlers.mentions. The mention is of this episode or of an earlier one, as in
    relationship.stated.
    """

    type: ClassVar[str] = "attribute.stated"

    attribute_id: str
    episode_id: str
    mention_id: str
    name: str
    value: str = Field(repr=False)
    confidence: float
    start: int  # of the words that say it, in the episode's content
    end: int


@register
class ExtractionAnswered(Event):
    """A language model answered a request about an episode. A later identical request uses this answer.

    Emitted by: asof_agents.handlers.mentions, for an extraction; asof_agents.resolution, for the entities that names
    mean. It stands before the events that are derived from the answer.
    """

    type: ClassVar[str] = "extraction.answered"

    episode_id: str
    request: str
    prompt: str
    prompt_version: int
    model: str
    answer: str = Field(repr=False)  # the model's answer, unchanged
    calls: int
    prompt_tokens: int
    completion_tokens: int
    latency_ms: int  # milliseconds, of all calls together; a rebuild that reuses the answer keeps this


@register
class ExtractionFailed(Event):
    """A model gave no usable answer about an episode, after several tries; the rules decided alone.

    Of an extraction by a language model, of the entities that names mean, or (prompt `names`) of the embedder that says
    which names are near. A rebuild keeps this; `retry.requested` asks again.
    """

    type: ClassVar[str] = "extraction.failed"
    version: ClassVar[int] = 2
    since: ClassVar[int] = 1

    episode_id: str
    request: str
    prompt: str
    prompt_version: int
    model: str
    reason: str  # of the last failure, never content
    calls: int
    prompt_tokens: int
    completion_tokens: int
    position: int | None = None  # of the message, where a retry failed; None: the cause


@register
class ExtractionRefused(Event):
    """Parts of a model's answer were rejected; the rest of the answer was used."""

    type: ClassVar[str] = "extraction.refused"

    episode_id: str
    request: str
    part: str  # `entity`, `fact`, `attribute` (with the name, if declared), `objective`, `time`, `text` and so on
    reason: str  # why: `schema`, `id`, `type`, `span`, `number` and so on
    count: int


@register
class MessageParked(Event):
    """Nothing could be made of a message. `reason` names fields and ids, never content."""

    type: ClassVar[str] = "message.parked"
    version: ClassVar[int] = 2
    since: ClassVar[int] = 1

    reason: str
    position: int | None = None  # of the message, where a retry was parked; None: the cause


@register
class MessageRetried(Event):
    """A message that was parked, or about which a model had failed, is processed again: its events follow here.

    It is neither parked nor failed any longer, unless this batch says so again. A generation in which it was neither
    has no such event.
    """

    type: ClassVar[str] = "message.retried"

    position: int  # of the message that is retried: the cause of its first events


@register
class EntityRecorded(Event):
    """A producer stated an entity, under an id of its own."""

    type: ClassVar[str] = "entity.recorded"

    entity_id: str
    name: str = Field(repr=False)
    summary: str = Field(default="", repr=False)


@register
class IdentityRecorded(Event):
    """Somebody stated who is whom: two entities are one or are two, or an entity has another name or has it not."""

    type: ClassVar[str] = "identity.recorded"

    op: Literal["merge", "split", "alias", "unalias"]
    entity: str | None = Field(default=None, repr=False)
    into: str | None = Field(default=None, repr=False)
    merge_id: str | None = None
    name: str | None = Field(default=None, repr=False)


@register
class TimezoneRecorded(Event):
    """Somebody stated the time zone of the envelope's group. Episodes from here on say it."""

    type: ClassVar[str] = "timezone.recorded"

    timezone: str


@register
class EpisodeWithdrawn(Event):
    """An episode was withdrawn: from here on its statements are retracted, and it is no longer listed.

    It no longer counts as another source of a fact, and an alias that it alone gave names no entity.
    """

    type: ClassVar[str] = "episode.withdrawn"

    episode_id: str


@register
class FeedbackReceived(Event):
    """Somebody said something about a message of the bot. It is no episode: no fact is made of it.

    Edited feedback is received anew, and `corrects` the one before, which is withdrawn in the same batch. Of suppressed
    content nothing is there.
    """

    type: ClassVar[str] = "feedback.received"

    feedback_id: str
    external_id: str | None = None
    reply_to: str | None = None
    role: str = Field(default="", repr=False)
    role_type: str
    author_id: str | None = None
    content: str = Field(repr=False)
    valid_at: int  # when it was said
    suppressed: bool = Field(default=False, exclude_if=unset)  # whether its content was left out
    corrects: str | None = None  # the feedback that was edited
    edited_at: int | None = None  # when its last edit was made


@register
class FeedbackWithdrawn(Event):
    """Feedback was taken back, by its author or by an edit. It is no longer listed, and its past still shows it."""

    type: ClassVar[str] = "feedback.withdrawn"

    feedback_id: str


@register
class GoalDeclared(Event):
    """Somebody declared a goal, in words that say so. It is no episode: objectives are believed because of it.

    `description` is the goal in the words of the message. Of suppressed content it alone is kept. An edited declaration
    is declared anew, and `corrects` the one before, which is withdrawn in the same batch.
    """

    type: ClassVar[str] = "goal.declared"

    goal_id: str
    external_id: str | None = None
    reply_to: str | None = None
    role: str = Field(default="", repr=False)
    role_type: str
    author_id: str | None = None
    content: str = Field(repr=False)
    description: str = Field(repr=False)
    saliency: float
    valid_at: int  # when it was said
    suppressed: bool = Field(default=False, exclude_if=unset)  # whether its content was left out
    corrects: str | None = None  # the declaration that was edited
    edited_at: int | None = None  # when its last edit was made


@register
class GoalImplied(Event):
    """An episode reveals a goal of who speaks, without declaring it: a language model words it.

    It stands as long as its episode.
    """

    type: ClassVar[str] = "goal.implied"

    goal_id: str
    episode_id: str
    description: str = Field(repr=False)
    saliency: float
    start: int  # of the words that reveal it
    end: int


@register
class GoalWithdrawn(Event):
    """A declaration of a goal was taken back, by its author or by an edit."""

    type: ClassVar[str] = "goal.withdrawn"

    goal_id: str


@register
class ConsolidationRecorded(Event):
    """Somebody asked that the envelope's group be consolidated, with what is known of it here, or a pass undone."""

    type: ClassVar[str] = "consolidation.recorded"
    version: ClassVar[int] = 2
    since: ClassVar[int] = 1

    undo: bool = Field(default=False, exclude_if=unset)


@register
class GroupErased(Event):
    """The group of the envelope is erased, at every valid and known time."""

    type: ClassVar[str] = "group.erased"


EpisodicEvent = (
    EpisodeRecorded
    | MentionObserved
    | RelationshipStated
    | AttributeStated
    | ExtractionAnswered
    | ExtractionFailed
    | ExtractionRefused
    | MessageParked
    | MessageRetried
    | EntityRecorded
    | IdentityRecorded
    | TimezoneRecorded
    | EpisodeWithdrawn
    | FeedbackReceived
    | FeedbackWithdrawn
    | GoalDeclared
    | GoalImplied
    | GoalWithdrawn
    | ConsolidationRecorded
    | GroupErased
)
