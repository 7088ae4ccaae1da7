"""A context: what a memory knows about a question, as one text for a prompt and as the items that it is made of."""

from typing import Annotated, Literal

from pydantic import Field

from asof_projections.model.answers import (
    Answer,
    Attribute,
    Entity,
    EpisodeHit,
    Fact,
    Hit,
    Id,
    Instant,
    Position,
    answer,
)
from asof_projections.model.queries import Kind


@answer
class EntityOutline(Entity):
    """An entity in few words: its names, and what it is like."""

    names: Annotated[tuple[str, ...], Field(description="Its own first.")]
    attributes: Annotated[tuple[Attribute, ...], Field(description="The most recently said first.")]


@answer
class Line(Answer):
    """A line of a context."""

    line: Annotated[str, Field(examples=['- "Ana lives in Berlin", since 2024-03-01 [1c8e2d4a]'])]
    tokens: Annotated[int, Field(examples=[24])]


@answer
class EntityLine(Line):
    """Someone or something that the question is about."""

    kind: Literal["entity"]
    entity: EntityOutline


@answer
class FactLine(Line):
    """A fact that holds."""

    kind: Literal["fact"]
    fact: Hit
    corrects: Annotated[
        str | None, Field(examples=["Ana lives in Paris"], description="The sentence of the fact that it corrects.")
    ]


@answer
class ChangeLine(Line):
    """A fact that ended, that is still ahead, or that was retracted."""

    kind: Literal["change"]
    fact: Hit
    changed_at: Annotated[
        Instant, Field(description="When it ended, or will begin; or when its retraction was recorded.")
    ]
    other: Annotated[
        Fact | None,
        Field(description="What replaced it when it ended; of a fact that is ahead, what it will replace."),
    ]
    retracted: Annotated[bool, Field(description="Whether it was retracted, so that it never held.", examples=[False])]


@answer
class EpisodeLine(Line):
    """A turn, or a part of a long one."""

    kind: Literal["episode"]
    episode: EpisodeHit


Item = Annotated[EntityLine | FactLine | ChangeLine | EpisodeLine, Field(discriminator="kind")]


@answer
class LeftOut(Answer):
    """A line that was found, and had no place in the budget."""

    kind: Kind
    uuid: Id
    tokens: Annotated[int, Field(description="What it would have taken.", examples=[24])]


@answer
class Context(Answer):
    """The context of a question, as a text for a prompt and as the lines that it is made of."""

    text: Annotated[str, Field(description="Marked as reference data: stored text stands in double quotes alone.")]
    tokens: Annotated[int, Field(description="Of the text: never more than the budget.", examples=[640])]
    budget: Annotated[int, Field(examples=[2000])]
    items: Annotated[tuple[Item, ...], Field(description="Its lines, in their order, with what each says.")]
    left_out: Annotated[tuple[LeftOut, ...], Field(description="What had no place in the budget, the best first.")]
    valid_at: Annotated[Instant, Field(description="The moment that is asked about.")]
    known_at: Annotated[
        Instant | None,
        Field(description="As it was known then: when the last message was recorded, unless asked; null: none was."),
    ]
    position: Annotated[
        Position | None,
        Field(description="Every message before this position counts; null where `known_at` was asked for."),
    ]
    timezone: Annotated[str, Field(description="Of the times in the text.", examples=["Europe/Berlin"])]
    unavailable: Annotated[str | None, Field(description="Why it was found by words alone; null: as the settings say.")]
    vectors_behind: Annotated[
        int, Field(description="Facts and episodes searched that have no vector yet: they are found by words.")
    ]

    def __str__(self) -> str:
        """Return the text."""
        return self.text
