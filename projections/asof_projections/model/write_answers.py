"""The answers about what is written: what a message did, what became of it, and what was erased or consolidated."""

from typing import Annotated, Literal

from pydantic import Field

from asof_projections.model.answers import (
    Answer,
    Belief,
    Change,
    Episode,
    Group,
    Id,
    Instant,
    Link,
    Name,
    Position,
    answer,
)


@answer
class Effect(Answer):
    """The effect of a message on belief: its facts as they were known then, each list in the order of the log."""

    began: Annotated[tuple[Belief, ...], Field(description="Facts that it said first.")]
    ended: Annotated[tuple[Belief, ...], Field(description="Facts that hold over less time since; what is left.")]
    retracted: Annotated[tuple[Belief, ...], Field(description="Facts that are no longer believed; what there was.")]
    restored: Annotated[tuple[Belief, ...], Field(description="Facts that are believed again, or over more time.")]
    refined: Annotated[tuple[Belief, ...], Field(description="Deeds that are dated more exactly since; their date.")]
    reinforced: Annotated[tuple[Id, ...], Field(description="The ids of the facts that it said again.")]
    duplicates: Annotated[tuple[Link, ...], Field(description="Entities that it merged, as they were linked then.")]
    understood: Annotated[
        bool, Field(description="False: nothing was understood, and the message is kept as an episode alone.")
    ]


@answer
class EpisodeRecord(Episode):
    """An episode with what its message did: what it invalidated has `ended` or is `retracted`."""

    effect: Effect


@answer
class IngestionTimes(Answer):
    """The time that each phase of a message took, in microseconds.

    One reading finds names and relations: `ner_us`. `relation_extraction_us` is that of weighing what the relations
    say against what is known. Vectors are made behind it, so `embedding_us` is 0.
    """

    chunking_us: int
    embedding_us: int
    ner_us: int
    relation_extraction_us: int
    entity_resolution_us: int
    contradiction_detection_us: int
    graph_update_us: int
    total_us: int


@answer
class IngestionReport(Answer):
    """What a message came to, in numbers."""

    chunks_processed: Annotated[int, Field(examples=[2], description="Its sentences.")]
    chunks_failed: Annotated[int, Field(examples=[0], description="Readings by a model that gave no answer.")]
    entities_extracted: Annotated[int, Field(examples=[3], description="Its mentions of entities.")]
    relations_extracted: Annotated[int, Field(examples=[1], description="The relations that it states.")]
    entity_nodes_created: Annotated[int, Field(examples=[1], description="Entities that were not known.")]
    entity_merges: Annotated[int, Field(examples=[2], description="Entities that were known.")]
    edges_created: Annotated[
        int, Field(examples=[4], description="Facts, links of mentions to entities, and conflicts of facts.")
    ]
    contradictions_detected: Annotated[int, Field(examples=[0], description="Facts displaced, or flagged.")]
    parts_refused: Annotated[int, Field(examples=[0], description="Parts of a model's answer that cannot stand.")]
    times: Annotated[
        IngestionTimes | None, Field(description="Null where another process took it, or another message since.")
    ] = None


@answer
class Added(Answer):
    """A message that is on the log for good."""

    position: Annotated[Position, Field(description="On Kafka its offset, in the partition of its group.")]
    episode_id: Annotated[
        Id | None,
        Field(description="Null on Kafka, where a worker processes it, and of what is no turn, or no new one."),
    ]
    effect: Annotated[
        Effect | None, Field(description="Null on Kafka, where a worker processes it, and of a parked message.")
    ] = None
    report: Annotated[
        IngestionReport | None,
        Field(description="Null on Kafka, where a worker processes it, and of a parked message."),
    ] = None


@answer
class Requested(Answer):
    """A request that is on the log for good, and its place there."""

    position: Annotated[Position, Field(description="On Kafka its offset, in the partition of its group.")]
    effect: Annotated[
        Effect | None, Field(description="Null on Kafka, where a worker processes it, and of a parked request.")
    ] = None


@answer
class GroupRecords(Answer):
    """The records of a group in one log."""

    log: str
    held: Annotated[int, Field(ge=0, description="Those whose content is there.")]
    erased: Annotated[int, Field(ge=0, description="Those whose content is gone; position, type and time are left.")]
    head: Annotated[
        str | None,
        Field(description="The hash over all records of the log, which an erasure does not change. Null in a preview."),
    ]


@answer
class ErasedMessage(Answer):
    """A message that an erasure names."""

    position: Position
    type: Annotated[str, Field(examples=["message.sent"])]
    episode: Annotated[Id | None, Field(description="The id of its episode, where it has one.")]
    role: Annotated[str, Field(examples=["Ana"])]
    content: Annotated[str, Field(examples=["I moved to Berlin in March."])]
    valid_at: Annotated[Instant, Field(description="When it was said.")]


@answer
class ErasurePreview(Answer):
    """What an erasure would erase; nothing is written."""

    messages: Annotated[
        tuple[ErasedMessage, ...] | None,
        Field(description="The messages, in their order, and requests about them; null: all of the group."),
    ]
    logs: Annotated[tuple[GroupRecords, ...], Field(description="What each log has of the whole group.")]


@answer
class Erasure(Answer):
    """An erasure that is on the log for good: what is certain of it."""

    position: Annotated[Position, Field(description="On Kafka its offset, in the partition of its group.")]
    done: Annotated[
        bool | None,
        Field(
            description="Whether no file holds anything of the group. False: copies are left in files until these are "
            "rewritten, which a reader or an erasure shortly before has put off. On Kafka: no file of this directory; "
            "null: workers have not carried it out yet."
        ),
    ]
    recorded_at: Annotated[
        Instant | None, Field(description="When it was asked for. Null until it is carried out.")
    ] = None
    keys_destroyed: Annotated[
        bool | None,
        Field(
            description="Whether no log and no backup of it can be read, wherever it is: the logs are encrypted, and "
            "no key is left in the store. Graphs of copies are not erased by this. On Kafka also no record of a topic, "
            "but for messages that others sent in the clear; null until it is carried out."
        ),
    ] = None
    messages: Annotated[
        tuple[int, ...] | None, Field(description="The positions of the erased messages; null: all of the group.")
    ] = None
    logs: Annotated[
        tuple[GroupRecords, ...], Field(description="What each log has of the group; none until it is carried out.")
    ] = ()


@answer
class Settled(Answer):
    """Contradictions that were settled for one fact: the messages that retract the others follow one another."""

    position: Annotated[Position, Field(description="On Kafka its offset, in the partition of its group.")]
    kept: Id
    retracted: Annotated[tuple[Id, ...], Field(description="A message for each, from the position on.")]


@answer
class Refused(Answer):
    """A line that was not accepted, and why; never its content."""

    SHOWN = ("line", "reason")

    line: Annotated[int, Field(ge=1, description="Its number, from 1.")]
    reason: Annotated[str, Field(description="A sentence, which names the field first.")]
    field: Annotated[
        str | None, Field(description="The dotted path of what is wrong; null where it is the whole line.")
    ]


@answer
class Produced(Answer):
    """The outcome of many lines."""

    SHOWN = ("accepted", "refused", "parked")

    accepted: int
    refused: tuple[Refused, ...]
    first_position: Annotated[int | None, Field(description="Of the first accepted message; on Kafka its offset.")]
    parked: Annotated[
        int | None, Field(description="Accepted, yet nothing could be made of them; null on Kafka: not known yet.")
    ]


@answer
class Imported(Answer):
    """The outcome of the import of another memory's export, or of a dry run of it."""

    SHOWN = ("entities", "facts", "messages", "known", "left_out", "accepted", "refused", "parked")

    entities: Annotated[int, Field(description="Statements of entities that are new here.")]
    facts: Annotated[int, Field(description="Statements of facts that are new here, corrections and ends included.")]
    messages: Annotated[int, Field(description="Memories that are new here, each a message.")]
    known: Annotated[int, Field(description="Statements that an earlier import made.")]
    left_out: Annotated[int, Field(description="Items that state nothing here, such as episodes and communities.")]
    accepted: Annotated[int, Field(description="The new ones that were taken; 0 in a dry run.")]
    refused: tuple[Refused, ...]
    parked: Annotated[int | None, Field(description="Accepted, yet nothing could be made of them; null: not known.")]


@answer
class CommunityChange(Answer):
    """An entity whose community is another one since a consolidation."""

    entity: Name
    entity_uuid: Id
    community_uuid: Annotated[Id | None, Field(description="Null: it is of none.")]


@answer
class NameMerge(Answer):
    """Two entities that a consolidation links; `asof split` takes it back."""

    merge_id: Id
    duplicate: Name
    duplicate_uuid: Id
    into: Name
    into_uuid: Id


@answer
class Consolidation(Answer):
    """What a pass of consolidation came to."""

    consolidation_id: Id
    complete: Annotated[bool, Field(description="False: the budget was used up, and the next pass goes on.")]
    communities_detected: Annotated[int, Field(examples=[2], description="Of the entities that were looked at.")]
    communities_changed_nodes: Annotated[int, Field(examples=[6], description="Entities whose community is another.")]
    entity_duplicates_found: Annotated[int, Field(examples=[1], description="Pairs of entities of one name.")]
    entity_merges_performed: Annotated[int, Field(examples=[1], description="Those that it linked.")]
    nodes_decayed: Annotated[int, Field(examples=[0], description="Entities that have faded.")]
    failed: Annotated[tuple[str, ...], Field(examples=[[]], description="Phases that failed; the others ran.")]
    changes: Annotated[tuple[CommunityChange, ...], Field(description="Of communities: the first 1000.")]
    merges: Annotated[tuple[NameMerge, ...], Field(description="The first 1000.")]


@answer
class UndoneConsolidation(Answer):
    """A pass of consolidation that is undone, and what of its results is taken back."""

    consolidation_id: Id
    changes: Annotated[tuple[CommunityChange, ...], Field(description="Of communities: the first 1000.")]
    merges: Annotated[tuple[NameMerge, ...], Field(description="Those that are taken back: the first 1000.")]


@answer
class Consolidated(Answer):
    """A consolidation: the request for it, which is on the log for good, and what it came to."""

    position: Annotated[Position | None, Field(description="On Kafka its offset; null of a dry run.")]
    consolidation: Annotated[
        Consolidation | None, Field(description="Null where it was not made yet, and of a parked request.")
    ]
    undone: Annotated[
        UndoneConsolidation | None, Field(description="Of a request to undo a pass, which makes none.")
    ] = None


@answer
class Retried(Answer):
    """A message that is processed again, and the request for that, which is on the log for good."""

    position: Position
    request: Annotated[int, Field(examples=[42], description="The position of the request; on Kafka its offset.")]


@answer
class Queued(Answer):
    """A message that waits to be processed."""

    position: Position
    state: Literal["queued"]
    ahead: Annotated[int, Field(examples=[3], description="Messages that are processed before it.")]


@answer
class Done(Answer):
    """A message that was processed, and what it made."""

    position: Position
    state: Literal["done"]
    group_id: Group
    episode_id: Annotated[
        Id | None, Field(description="Null where it became none, such as one that names an older episode.")
    ]
    mentions: Annotated[int, Field(examples=[2])]
    changes: tuple[Change, ...]
    failed: Annotated[
        str | None,
        Field(examples=["timeout"], description="Why a model gave no answer, so that rules decided alone; null: none."),
    ]
    effect: Effect
    report: IngestionReport


@answer
class Parked(Answer):
    """A message of which nothing could be made."""

    position: Position
    state: Literal["parked"]
    group_id: Group
    reason: str


@answer
class Erased(Answer):
    """A message that was erased with its group."""

    position: Position
    state: Literal["erased"]


Outcome = Annotated[Queued | Done | Parked | Erased, Field(discriminator="state")]
