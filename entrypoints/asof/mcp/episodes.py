"""The tools that list episodes, and what they say: list_episodes, and Graphiti's get_episodes, get_episode_entities."""

from collections.abc import Iterable, Sequence
from datetime import UTC
from functools import partial
from typing import Any, Final

from pydantic import Field

from asof.mcp.answers import (
    EpisodeEntities,
    EpisodePage,
    ListedEpisode,
    ListedEpisodes,
    Moments,
    RecalledFact,
    RecalledNode,
)
from asof.mcp.arguments import Arguments, Several, like, read_time
from asof.mcp.identifiers import episode_of
from asof.mcp.searches import node_of
from asof.mcp.text import block, of_fact, of_id, when
from asof.mcp.tools import Access, Reply, shared_fields, tool
from asof.operations import facts, logs
from asof.operations.answers import Entity, Episode, EpisodeRecord, Fact
from asof.operations.errors import NotFound
from asof.operations.graphiti import last_episodes
from asof.operations.queries import EpisodesQuery, FactQuery, ask
from asof.operations.quotes import quote
from asof.operations.service_answers import run_as_of

_MOST_EPISODES: Final = 10_000
_MOST_OF_A_PAGE: Final = 100


class ListEpisodesArguments(Arguments):
    """The arguments of list_episodes."""

    start: str | None = Field(None, alias="from", description="Said from this time on.")
    stop: str | None = Field(None, alias="to", description="Said before this time.")
    known_at: str | None = None
    limit: int = Field(20, ge=1, le=_MOST_OF_A_PAGE)
    cursor: str | None = like(EpisodesQuery, "cursor", None)
    group_id: str | None = None


@tool(ListEpisodesArguments, EpisodePage)
async def list_episodes(access: Access, asked: ListEpisodesArguments) -> Reply:
    """List what was said within a period, word for word, in the order in which it was recorded."""
    group = access.scope.one(asked.group_id)
    query = ask(
        EpisodesQuery,
        {
            "from": read_time("from", asked.start, UTC),
            "to": read_time("to", asked.stop, UTC),
            "known_at": read_time("known_at", asked.known_at, UTC),
            "limit": asked.limit,
            "cursor": asked.cursor,
            "group_id": group,
        },
    )
    page = query.page
    if page is not None and query.known_at is None:
        query = query.model_copy(update={"known_at": page.known})
    found, reached = await run_as_of(access.served, logs.episodes, query, [group])
    listed = tuple(map(_listed, found))
    answer = EpisodePage(
        group_ids=(group,),
        as_of=Moments.of(reached._replace(valid=None)),
        next_cursor=found.next,
        episodes=listed,
    )
    return Reply(answer, block(answer, _episode_lines(listed)))


class GetEpisodesArguments(Arguments):
    """Graphiti's arguments of get_episodes."""

    group_ids: Several = ()
    max_episodes: int = Field(10, ge=1, le=_MOST_EPISODES)


@tool(GetEpisodesArguments, ListedEpisodes)
async def get_episodes(access: Access, asked: GetEpisodesArguments) -> Reply:
    """List the last episodes, as they were said."""
    groups = access.scope.several(asked.group_ids)
    found = await access.served.ask(
        lambda session: [one for group in groups for one in last_episodes(session, group, asked.max_episodes)]
    )
    found = sorted(found, key=lambda one: one[0].valid_at)[-asked.max_episodes :]
    listed = [_listed(episode) for episode, *_ in found]
    message = "Episodes retrieved successfully" if listed else "No episodes found"
    answer = ListedEpisodes(**await shared_fields(access, groups), message=message, episodes=tuple(listed))
    return Reply(answer, block(answer, _episode_lines(listed)))


def _listed(episode: Episode) -> ListedEpisode:
    return ListedEpisode(
        uuid=episode.uuid,
        name=episode.name,
        content=f"{episode.role}: {episode.content}" if episode.role else episode.content,
        said_at=episode.valid_at,
        created_at=episode.created_at,
        source=episode.source,
        source_description=episode.source_description,
        group_id=episode.group_id,
    )


def _episode_lines(episodes: Sequence[ListedEpisode]) -> list[str]:
    return [f"- {when(one.said_at)}: {quote(one.content)} {of_id(one.uuid)}" for one in episodes] or ["There are none."]


class EpisodeEntitiesArguments(Arguments):
    """Graphiti's arguments of get_episode_entities."""

    episode_uuids: Several = Field(min_length=1)


@tool(EpisodeEntitiesArguments, EpisodeEntities)
async def get_episode_entities(access: Access, asked: EpisodeEntitiesArguments) -> Reply:
    """List the facts that episodes say, and the entities that these are about."""
    found: dict[str, Fact] = {}
    groups: list[str] = []
    for uuid in asked.episode_uuids:
        episode = await episode_of(access, uuid)
        groups.append(episode.group_id)
        found |= await access.served.ask(partial(facts_of_episode, episode=episode))
    edges = tuple(map(RecalledFact.of, found.values()))
    nodes = await ends_of(access, found.values())
    message = f"{len(nodes)} nodes and {len(edges)} edges of {len(groups)} episodes"
    shared = await shared_fields(access, tuple(dict.fromkeys(groups)))
    answer = EpisodeEntities(**shared, message=message, nodes=nodes, edges=edges)
    return Reply(answer, block(answer, [f"- {of_fact(edge)}" for edge in edges] or ["They say no facts."]))


def facts_of_episode(session: Any, episode: EpisodeRecord) -> dict[str, Fact]:
    """Return the facts that are believed now and rest on an episode, by their ids."""
    effect = episode.effect
    ids = [*(belief.uuid for belief in (*effect.began, *effect.restored, *effect.refined)), *effect.reinforced]
    found = {}
    for each in dict.fromkeys(ids):
        try:
            fact = facts.fact(session, ask(FactQuery, {"id": each}))
        except NotFound:  # it was retracted since
            continue
        if fact.group_id == episode.group_id and episode.uuid in fact.episodes:
            found[each] = fact
    return found


async def ends_of(access: Access, found: Iterable[Fact]) -> tuple[RecalledNode, ...]:
    """Return the entities that facts are about, each once."""
    ends = {
        uuid: Entity(uuid, fact.group_id, name, None, fact.created_at)
        for fact in found
        for uuid, name in ((fact.subject_uuid, fact.subject), (fact.object_uuid, fact.object))
        if uuid is not None
    }
    return tuple(await access.served.ask(lambda session: [node_of(session, end, None) for end in ends.values()]))
