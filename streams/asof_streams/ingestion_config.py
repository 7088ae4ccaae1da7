"""The configuration of ingestion: what a generation takes up of an extraction, and how. A generation names it."""

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

from asof_streams.extraction_options import unset

Share = Annotated[float, Field(ge=0.0, le=1.0)]


class ConflictConfig(BaseModel):
    """How two facts of a single-valued relation are weighed under the policy `graded`."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    temporal_threshold_secs: int = Field(
        default=31_557_600, ge=0, le=10_000_000_000, description="Starts that are further apart: the newer fact wins."
    )
    confidence_threshold: Share = Field(default=0.3, description="Confidences further apart: the surer fact wins.")


class IngestionConfig(BaseModel):
    """What ingestion does. The defaults are those of every generation that names none, so they stay as they are."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    ner_labels: tuple[str, ...] = Field(default=(), description="Only entities of these types; all, if left out.")
    enable_relations: bool = Field(default=True, description="Believe relations between entities.")
    enable_entity_resolution: bool = Field(default=True, description="Look for entities that other messages named.")
    enable_structural_similarity: bool = Field(
        default=False, description="Take a name for the entity that is like it in name and neighbours."
    )
    enable_contradiction_detection: bool = Field(default=True, description="Let a new value end the old one.")
    entity_resolution_threshold: Share = Field(
        default=0.5, description="The cosine of two names, and their structural similarity, from which on they are one."
    )
    conflict_config: ConflictConfig = Field(default=ConflictConfig(), description="How contradictions are weighed.")
    enable_ending_questions: bool = Field(
        default=False,
        exclude_if=unset,
        description="Ask the language model that reads messages which facts one ends, where the rules leave it open.",
    )
    min_confidence: Share = Field(default=0.0, description="No entity and no fact is believed below this confidence.")
