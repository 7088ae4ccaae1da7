"""The questions and the answer of the registry of prompts by which a bot speaks."""

from typing import Annotated, Final

from pydantic import Field

from asof_projections.model.answers import Answer, Instant, answer
from asof_projections.model.queries import Query

MAX_TEMPLATE: Final = 32_768  # characters
PromptKey = Annotated[str, Field(pattern=r"^[A-Z][A-Z0-9_]{0,63}$", examples=["MAIN_CONVERSATION"])]


class PromptsQuery(Query):
    """List the prompts by which a bot speaks, with every version of each."""


class PromptRegistration(Query):
    """Write a version of a prompt."""

    prompt: PromptKey = Field(description="Its key.")
    template: str = Field(
        min_length=1,
        max_length=MAX_TEMPLATE,
        description="Its words. {episodic_context}, {semantic_facts}, {relationship_graph} and {context} are replaced; "
        "so is {current_message}, which a reply needs and a check-in has not.",
        examples=["You are a pirate. What you remember:\n{context}\nAnswer this: {current_message}"],
    )
    temperature: float | None = Field(
        None, ge=0.0, le=2.0, description="How freely the model chooses its words; as in the version used now."
    )
    max_tokens: int | None = Field(
        None, ge=1, le=32_768, description="That a reply may have; as in the version used now."
    )
    active: bool = Field(True, description="Whether it is used from here on.")


class PromptChoice(Query):
    """Name a version of a prompt."""

    prompt: PromptKey = Field(description="Its key.")
    version: int = Field(ge=1, description="Its version; 1 is asof's own.")


@answer
class RegisteredPrompt(Answer):
    """A version of a prompt by which a bot speaks."""

    prompt: PromptKey
    version: Annotated[int, Field(ge=1, examples=[2], description="1 is asof's own.")]
    active: Annotated[bool, Field(description="Whether it is used.")]
    temperature: Annotated[float, Field(examples=[0.7])]
    max_tokens: Annotated[int, Field(examples=[512])]
    template: str
    registered_at: Annotated[Instant | None, Field(description="When it was registered; null: it comes with asof.")]
