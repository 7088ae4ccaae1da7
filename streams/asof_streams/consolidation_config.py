"""The configuration of consolidation: what a pass over a group does, and when one is due. A generation names it."""

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field


class CommunityConfig(BaseModel):
    """How communities are detected; all but `algorithm` and `iterations` are for Leiden alone."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    algorithm: Literal["label_propagation", "leiden"] = Field(
        default="label_propagation", description="leiden needs the extra `leiden`."
    )
    resolution: float = Field(default=1.0, gt=0.0, le=100.0, description="More of it makes smaller communities.")
    randomness: float = Field(default=0.001, gt=0.0, le=1.0, description="How far it explores.")
    iterations: int = Field(default=10, ge=1, le=100, description="Sweeps over the entities, at most.")
    seed: int = Field(default=0, ge=0, le=2**32, description="Of its chance: the same seed, the same communities.")


class ConsolidationConfig(BaseModel):
    """What consolidation does. The defaults are those of every generation that names none, so they stay as they are."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    enable_community_detection: bool = Field(default=True, description="Detect communities.")
    enable_entity_merge: bool = Field(default=True, description="Link entities of one name and type.")
    enable_decay: bool = Field(default=True, description="Count what has faded.")
    decay_halflife_secs: int = Field(
        default=2_592_000, ge=1, le=10_000_000_000, description="The age at which an entity has faded by half."
    )
    entity_merge_threshold: float = Field(
        default=0.8, gt=0.0, le=1.0, description="The cosine of two names from which on they are alike."
    )
    community_config: CommunityConfig = Field(default=CommunityConfig(), description="How communities are detected.")
    trigger_interval: int = Field(
        default=0, ge=0, le=10_000_000, description="Messages of a group between two passes; 0: only where asked for."
    )
    budget: int = Field(
        default=100_000, ge=1, le=10_000_000, description="Changes of facts that one pass looks at; the next goes on."
    )
