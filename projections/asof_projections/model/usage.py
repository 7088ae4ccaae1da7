"""The question and the answer of a ledger of calls to language models."""

from typing import Annotated

from pydantic import Field

from asof_projections.model.answers import Answer, Group, answer
from asof_projections.model.queries import GroupQuery


class UsageQuery(GroupQuery):
    """Ask what calls to language models have cost, by group, prompt and model."""


@answer
class ModelUsage(Answer):
    """The calls about one group's messages by one prompt and one model, over all generations, each call once."""

    group_id: Group
    prompt: Annotated[str, Field(examples=["extraction"], description="Its name.")]
    prompt_version: Annotated[int, Field(examples=[1])]
    model: Annotated[str, Field(examples=["gpt-4o-mini@api.openai.com/v1"])]
    answers: Annotated[int, Field(examples=[120], description="Requests that were answered.")]
    failures: Annotated[int, Field(examples=[2], description="Requests that no try answered.")]
    calls: Annotated[int, Field(examples=[125], description="Calls, with those that were tried again.")]
    prompt_tokens: Annotated[int, Field(examples=[96_000])]
    completion_tokens: Annotated[int, Field(examples=[9_000])]
    cost: Annotated[float | None, Field(examples=[0.0528], description="By ASOF_MODEL_PRICES; null: none is set.")]
