"""The question and the answer of a comparison of two generations."""

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, ClassVar, Generic, Literal, TypeVar

from pydantic import Field

from asof_projections.model.answers import Answer, Explanation, Page, Relation, answer
from asof_projections.model.queries import KnownQuery, Name, Paged

T = TypeVar("T")

Label = Literal["gained", "lost", "redated", "merged"]


class ComparisonQuery(KnownQuery, Paged):
    """Ask in which facts any two generations differ."""

    limit: int = Field(100, ge=1, le=1_000, description="At most this many.")


class GenerationsDiffQuery(ComparisonQuery):
    """Ask in which facts two generations differ, whenever they hold."""

    base: Name = Field(description="A generation, such as the one that answers.", examples=["main"])
    other: Name = Field(description="The generation that is compared with it.", examples=["second"])


@answer
class GenerationDifference(Answer):
    """A fact in which two generations differ, with the words that it rests on in each of them."""

    change: Annotated[
        Label,
        Field(
            description="gained: the other alone believes it. lost: the base alone does. redated: both do, over other "
            "periods. merged: both do, of other entities, or of entities that are merged with others."
        ),
    ]
    base: Annotated[
        Explanation | None,
        Field(description="Of the base. Of a gained fact: what became of it there; null: it was never asserted."),
    ]
    other: Annotated[
        Explanation | None,
        Field(description="Of the other. Of a lost fact: what became of it there; null: it was never asserted."),
    ]


@answer
class RelationDifferences(Answer):
    """How the facts of a relation compare in two generations. A period of a fact counts as one."""

    relation: Relation
    same: Annotated[int, Field(examples=[120], description="Believed alike in both.")]
    gained: Annotated[int, Field(examples=[7])]
    lost: Annotated[int, Field(examples=[2])]
    redated: Annotated[int, Field(examples=[1])]
    merged: Annotated[int, Field(examples=[0])]


class ComparisonPage(Page[T], Generic[T]):
    """A page of differences, and a summary of all of them.

    `summary` has the numbers of each relation, by its name; a later page than the first has none.
    """

    BESIDE: ClassVar[Mapping[str, Any]] = {**Page.BESIDE, "summary": list[RelationDifferences]}  # of the list in JSON

    summary: Sequence[RelationDifferences] = ()
