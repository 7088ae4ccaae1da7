"""A build of a generation that is not complete, as every door shows it."""

from typing import Annotated, Literal

from pydantic import Field

from asof_projections.model.answers import Answer, answer

BuildState = Literal["running", "paused", "stopped"]
PauseReason = Literal["request", "budget"]


@answer
class UnfinishedBuild(Answer):
    """A build of a generation that is not complete yet; how far it is was written down at its last step."""

    name: Annotated[str, Field(examples=["work"], description="Of the generation.")]
    state: Annotated[
        BuildState,
        Field(description="paused: for `reason`. stopped: its process ended. Both are resumed where they stopped."),
    ]
    ontology: Annotated[str, Field(examples=["agent_memory_v1"])]
    input: Annotated[str, Field(examples=["episodes"], description="mentions or episodes.")]
    done: Annotated[int, Field(examples=[40_000], description="Episodic events that were read.")]
    total: Annotated[int, Field(examples=[100_000], description="Episodic events, as its process knew them.")]
    per_second: Annotated[float | None, Field(examples=[2_000.0], description="Events; null: it has not run yet.")]
    seconds_left: Annotated[float | None, Field(examples=[30.0], description="At that rate; null: none is known.")]
    reason: Annotated[
        PauseReason | None,
        Field(
            description="Why it is paused: by request, or its budget, or that of a group, is spent. Null: it is not."
        ),
    ]


@answer
class PromptEstimate(Answer):
    """What a rebuild would ask by one prompt."""

    prompt: Annotated[str, Field(examples=["extract"], description="Its name.")]
    prompt_version: Annotated[int, Field(examples=[1])]
    model: Annotated[str, Field(examples=["gpt-4o-mini@api.openai.com/v1"])]
    held: Annotated[int, Field(examples=[880], description="Requests whose answers are recorded: they cost nothing.")]
    calls: Annotated[int, Field(examples=[120], description="Requests that would be made.")]
    prompt_tokens: Annotated[int, Field(examples=[96_000], description="Of these, counted in the prompts themselves.")]
    completion_tokens: Annotated[
        int, Field(examples=[9_000], description="Of these, as earlier answers had on average.")
    ]
    cost: Annotated[float | None, Field(examples=[0.0528], description="By ASOF_MODEL_PRICES; null: none is set.")]
    estimated: Annotated[
        bool,
        Field(description="Whether `calls` is an estimate: what it asks depends on answers that are not there yet."),
    ]


@answer
class RebuildEstimate(Answer):
    """What a rebuild would cost. Tokens, money and time are estimates wherever anything would be asked."""

    name: Annotated[str, Field(examples=["work"], description="Of the generation.")]
    ontology: Annotated[str, Field(examples=["agent_memory_v1"])]
    input: Annotated[str, Field(examples=["episodes"], description="mentions or episodes.")]
    events: Annotated[int, Field(examples=[100_000], description="Episodic events that it would read.")]
    calls: Annotated[int, Field(examples=[120], description="Of all prompts; 0: it asks nothing.")]
    prompt_tokens: Annotated[int, Field(examples=[96_000])]
    completion_tokens: Annotated[int, Field(examples=[9_000])]
    cost: Annotated[float | None, Field(examples=[0.0528], description="Null: a model that it asks has no price.")]
    seconds: Annotated[float, Field(examples=[180.0], description="An estimate of how long it would take here.")]
    prompts: Annotated[tuple[PromptEstimate, ...], Field(description="By name; empty: no model is set.")]
