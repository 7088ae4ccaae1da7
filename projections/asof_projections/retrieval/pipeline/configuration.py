"""The configuration of the retrieval pipeline: the steps that it takes, the weights, and what a question narrows."""

from typing import Annotated, Final, Literal, Self

from pydantic import BaseModel, ConfigDict, Field

from asof_projections.model.queries import FactSearchQuery, Mindset
from asof_streams.instants import INF, NEG

Kind = Literal["fact", "turn", "entity"]
_KINDS: Final[dict[str, Kind | None]] = {"facts": "fact", "episodes": "turn", "both": None}
_Weight = Annotated[float, Field(ge=0.0, le=1.0)]


class PipelineConfig(BaseModel):
    """The configuration of the pipeline; a question may override it."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    vector_top_k: int = Field(default=50, ge=1, le=1_000, description="Nodes nearest in meaning to begin with.")
    min_similarity: float = Field(default=0.0, ge=-1.0, le=1.0, description="Nodes below this cosine are no beginning.")
    graph_expansion_hops: int = Field(default=1, ge=0, le=5, description="Steps from a node that the graph is walked.")
    enable_entity_extraction: bool = Field(default=True, description="Find the entities that a question names.")
    ner_labels: tuple[str, ...] = Field(default=(), description="Only entities of these types; all, if left out.")
    enable_community_expansion: bool = Field(default=True, description="Add what the communities of entities hold.")
    max_community_members: int = Field(
        default=20, ge=0, le=1_000, description="New nodes of communities for each seed."
    )
    vector_sim_weight: _Weight = Field(default=0.5, description="Of the similarity.")
    graph_centrality_weight: _Weight = Field(default=0.3, description="Of the neighbours, as a share of the most.")
    recency_weight: _Weight = Field(default=0.2, description="Of the age.")
    temporal_decay_half_life_secs: int = Field(
        default=2_592_000, ge=1, description="The age at which recency is a half."
    )
    namespace: tuple[str, ...] | None = Field(default=None, description="The groups; None: all.")
    time_range: tuple[int, int] | None = Field(
        default=None, description="Said from the first to the last of two instants."
    )
    entity_type_filter: Kind | None = Field(default=None, description="Only nodes of this kind are answered.")
    query_mindset: Mindset | None = Field(default=None, description="How the question thinks; None: as its words say.")
    final_top_k: int = Field(default=10, ge=1, le=1_000, description="At most this many of each kind are answered.")

    def of(self, query: FactSearchQuery) -> Self:
        """Return the configuration for a question, with what the question says."""
        said = (query.start, query.stop)
        first, stop = (NEG if query.start is None else query.start), (INF if query.stop is None else query.stop)
        return self.model_copy(
            update={
                "namespace": query.groups,
                "time_range": self.time_range if said == (None, None) else (first, stop - 1),
                "entity_type_filter": _KINDS[query.over] or self.entity_type_filter,
                "query_mindset": query.mindset or self.query_mindset,
                "final_top_k": query.limit,
            }
        )
