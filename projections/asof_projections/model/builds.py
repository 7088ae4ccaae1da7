"""A build of a generation that is not complete, as every door shows it."""

from typing import Annotated, Literal

from pydantic import Field

from asof_projections.model.answers import Answer, answer

BuildState = Literal["running", "paused", "stopped"]


@answer
class UnfinishedBuild(Answer):
    """A build of a generation that is not complete yet; how far it is was written down at its last step."""

    name: Annotated[str, Field(examples=["work"], description="Of the generation.")]
    state: Annotated[
        BuildState,
        Field(description="paused: by request. stopped: its process ended. Both are resumed where they stopped."),
    ]
    ontology: Annotated[str, Field(examples=["agent_memory_v1"])]
    source: Annotated[str, Field(examples=["episodes"], description="mentions or episodes.")]
    done: Annotated[int, Field(examples=[40_000], description="Episodic events that were read.")]
    total: Annotated[int, Field(examples=[100_000], description="Episodic events, as its process knew them.")]
    per_second: Annotated[float | None, Field(examples=[2_000.0], description="Events; null: it has not run yet.")]
    seconds_left: Annotated[float | None, Field(examples=[30.0], description="At that rate; null: none is known.")]
