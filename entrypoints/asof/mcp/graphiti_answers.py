"""The answers in the form of Graphiti's server: episodes, facts, communities, and what was done."""

from pydantic import BaseModel, Field

from asof.mcp.answers import Instant, PagedAnswer, ToolAnswer
from asof.mcp.found_answers import RecalledFact, RecalledNode


class ToldAnswer(ToolAnswer):
    """What was done."""

    message: str


class ListedEpisode(BaseModel):
    """An episode, as it was said."""

    uuid: str
    name: str
    content: str
    said_at: Instant
    created_at: Instant = Field(description="When it was recorded, in UTC.")
    source: str
    source_description: str
    group_id: str


class ListedEpisodes(PagedAnswer, ToldAnswer):
    """Episodes, as they were said."""

    episodes: tuple[ListedEpisode, ...]


class EpisodePage(PagedAnswer):
    """Episodes of a period, as they were said, in the order in which they were recorded."""

    episodes: tuple[ListedEpisode, ...]


class EpisodeEntities(PagedAnswer, ToldAnswer):
    """The facts that episodes say, and the entities that these are about."""

    nodes: tuple[RecalledNode, ...]
    edges: tuple[RecalledFact, ...]


class AddedTriplet(ToldAnswer):
    """A fact that was stated, and the entities that it is about."""

    nodes: tuple[RecalledNode, ...]
    edges: tuple[RecalledFact, ...]


class EntityEdge(RecalledFact, ToolAnswer):
    """A fact that is believed now."""


class BuiltCommunity(BaseModel):
    """Entities that facts connect."""

    uuid: str
    name: str
    group_id: str
    summary: str


class BuiltCommunities(PagedAnswer, ToldAnswer):
    """The communities of groups, those of the page; the counts are of all."""

    community_count: int
    edge_count: int = Field(description="The members of all.")
    communities: tuple[BuiltCommunity, ...]


class SagaSummary(ToldAnswer):
    """What is known about a name."""

    uuid: str
    name: str
    summary: str
