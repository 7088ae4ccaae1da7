"""The answers about facts and entities that fit a question, in Graphiti's words where it has them."""

from collections.abc import Iterable
from typing import Literal, Self

from pydantic import BaseModel, Field

from asof.mcp.answers import Instant, PagedAnswer, Searched, ToolAnswer
from asof.operations.answers import Entity, EntityProfile, Fact, Hit
from asof.operations.ids import object_node


class RecalledFact(BaseModel):
    """A fact: when it holds in the world, and when it was believed as first said. A null time is an open end."""

    uuid: str
    group_id: str
    name: str = Field(description="The relation.")
    fact: str = Field(description="Its sentence.")
    subject: str
    object: str
    source_node_uuid: str
    target_node_uuid: str
    valid_at: Instant | None
    invalid_at: Instant | None
    created_at: Instant
    expired_at: Instant | None
    reference_time: Instant | None = None
    episodes: tuple[str, ...]
    attributes: dict[str, str | int | float]
    planned: bool = Field(description="Whether it is a plan that nobody has told as done.")
    probability: float | None = Field(None, description="That it answers the question; null: nothing was asked.")

    @classmethod
    def of(cls, fact: Fact) -> Self:
        """Return a fact."""
        return cls(
            uuid=fact.uuid,
            group_id=fact.group_id,
            name=fact.relation,
            fact=fact.fact,
            subject=fact.subject,
            object=fact.object,
            source_node_uuid=fact.subject_uuid,
            target_node_uuid=object_node(fact),
            valid_at=fact.valid_at,
            invalid_at=fact.invalid_at,
            created_at=fact.created_at,
            expired_at=fact.expired_at,
            episodes=fact.episodes,
            attributes=fact.qualifiers,
            planned=fact.planned,
            probability=fact.probability if isinstance(fact, Hit) else None,
        )


class RecalledNode(BaseModel):
    """A person, place or thing."""

    uuid: str
    name: str
    labels: tuple[str, ...]
    created_at: Instant
    summary: str
    group_id: str
    attributes: dict[str, str]

    @classmethod
    def of(cls, entity: Entity, profiles: Iterable[EntityProfile]) -> Self:
        """Return an entity, with what its profile says."""
        profile = next((one for one in profiles if one.group_id == entity.group_id), None)
        kind = profile.type if entity.type is None and profile is not None else entity.type
        return cls(
            uuid=entity.uuid,
            name=entity.name,
            labels=("Entity",) if kind is None else ("Entity", kind),
            created_at=entity.created_at,
            summary="" if profile is None else profile.summary,
            group_id=entity.group_id,
            attributes={} if profile is None else {each.name: each.value for each in profile.attributes},
        )


class RecalledItem(BaseModel):
    """A line of a recalled text."""

    kind: Literal["entity", "fact", "change", "episode"]
    uuid: str


class Recalled(Searched, ToolAnswer):
    """What is known about a question, as one text."""

    text: str = Field(description="Marked as reference data: stored text stands in double quotes alone.")
    tokens: int
    items: tuple[RecalledItem, ...] = Field(description="Its lines, in their order.")
    left_out: int = Field(description="Lines that had no place in the budget.")


class RecalledFacts(Searched, PagedAnswer):
    """Facts that fit a question, best first."""

    message: str
    facts: tuple[RecalledFact, ...]


class RecalledNodes(Searched, PagedAnswer):
    """Entities with names that fit a question, best first."""

    message: str
    nodes: tuple[RecalledNode, ...]
