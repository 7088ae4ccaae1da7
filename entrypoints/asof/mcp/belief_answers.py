"""The answers about beliefs over time: timelines, changes, comparisons, and the words behind a fact."""

from typing import Literal

from pydantic import BaseModel, Field

from asof.mcp.answers import Instant, PagedAnswer, ToolAnswer
from asof.mcp.found_answers import RecalledFact


class TimelineSegment(BaseModel):
    """A period over which a relation has one value; with a null object, a gap in which nothing is known to hold."""

    subject: str
    relation: str
    object: str | None
    valid_at: Instant | None
    invalid_at: Instant | None
    facts: tuple[str, ...]
    planned: bool


class Timeline(PagedAnswer):
    """What held of an entity and when, relation by relation, by time, with the gaps."""

    segments: tuple[TimelineSegment, ...]


class RecalledChange(BaseModel):
    """A fact that differs between two moments."""

    change: Literal["began", "ended", "learned", "retracted", "revised"]
    before: RecalledFact | None
    after: RecalledFact | None


class ChangesBetween(PagedAnswer):
    """What differs between two moments, by the start of the fact's period."""

    axis: Literal["known", "valid"]
    since: Instant
    until: Instant
    changes: tuple[RecalledChange, ...]


class BeliefsCompared(PagedAnswer):
    """What differs between two beliefs of the same moment of the world, by the start of the fact's period."""

    before: Instant
    after: Instant
    changes: tuple[RecalledChange, ...]


class Supposed(ToolAnswer):
    """The slots that facts would touch, as they are and as they would be."""

    before: tuple[TimelineSegment, ...]
    after: tuple[TimelineSegment, ...]


class Words(BaseModel):
    """The words of a message that said something."""

    quote: str
    role: str
    source_description: str
    said_at: Instant
    recorded_at: Instant
    episode: str
    position: int


class WhatBecame(BaseModel):
    """Something that became of a fact, and the words that brought it about."""

    kind: str
    recorded_at: Instant
    ends_at: Instant | None
    words: Words | None


class ExplainedFact(BaseModel):
    """A fact as first said, the words that it rests on, and what became of it."""

    fact: RecalledFact
    words: tuple[Words, ...]
    time_words: str | None = Field(description="The words that dated it.")
    became: tuple[WhatBecame, ...]


class Explanations(PagedAnswer):
    """The explanations of one fact, or of the facts of a relation."""

    facts: tuple[ExplainedFact, ...]
