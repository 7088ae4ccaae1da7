"""The answers about what was written: what became of a message, and how far the memory is."""

from typing import Literal

from pydantic import BaseModel, Field

from asof.mcp.answers import Instant, ToolAnswer


class ChangedFact(BaseModel):
    """A fact that a message changed."""

    uuid: str
    fact: str
    valid_at: Instant | None
    invalid_at: Instant | None


class LinkedEntities(BaseModel):
    """Two entities that a message merged: they are the same."""

    uuid: str = Field(description="Of the link.")
    duplicate: str
    into: str


class Learned(ToolAnswer):
    """What became of a message: what was learned of it, what it ended, and which entities were merged."""

    message: str
    job: int = Field(description="Its position on the log: get_status asks about it.")
    uuid: str | None = Field(description="Of its episode; null until it is known.")
    state: Literal["queued", "done", "parked", "erased"]
    reason: str | None = Field(description="Why nothing could be made of it; null where it is not parked.")
    said_at: Instant | None = Field(description="When it counts as said; null: when it was recorded.")
    learned: tuple[ChangedFact, ...]
    ended: tuple[ChangedFact, ...]
    retracted: tuple[ChangedFact, ...]
    linked: tuple[LinkedEntities, ...] = ()
    not_shown: int = Field(description="What is beyond the first hundred of each list.")
    kept_as_note: bool | None = Field(
        description="Whether nothing was understood, so that it is kept as words alone; null until it is processed."
    )


class ModelBudgetState(BaseModel):
    """What language models may cost a group, and what they did."""

    tokens: int | None
    tokens_used: int
    cost: float | None
    cost_used: float | None


class Status(ToolAnswer):
    """How far the memory is, or what became of one message."""

    status: Literal["ok", "error"]
    message: str
    parked: int = Field(description="Messages of the group of which nothing could be made.")
    budget: ModelBudgetState
    settings_not_used: tuple[str, ...] = Field(
        description="Settings of this agent that are others in the process that serves it: another agent started that."
    )
    job: Learned | None = Field(description="What became of the message that was asked about.")
