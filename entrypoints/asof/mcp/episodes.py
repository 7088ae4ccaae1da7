"""The tools that list episodes, and what they say: list_episodes, and Graphiti's get_episodes, get_episode_entities."""

from collections.abc import Iterable, Sequence
from functools import partial
from typing import Any, ClassVar, Final

from pydantic import Field

from asof.mcp.answers import Moments
from asof.mcp.arguments import Arguments, MaybeTime, Several
from asof.mcp.episode_text import said_in
from asof.mcp.found_answers import RecalledFact, RecalledNode
from asof.mcp.graphiti_answers import EpisodeEntities, EpisodePage, ListedEpisode, ListedEpisodes
from asof.mcp.identifiers import episode_of
from asof.mcp.node_search import nodes_of
from asof.mcp.pages import Pages
from asof.mcp.text import block, of_fact, of_id, when
from asof.mcp.tools import Access, Reply, shared_fields, tool
from asof.operations import facts, logs
from asof.operations.answers import Entity, Episode, EpisodeRecord, Fact
from asof.operations.errors import NotFound
from asof.operations.graphiti import last_episodes
from asof.operations.queries import EpisodesQuery, FactQuery, ask
from asof.operations.quotes import quote
from asof.operations.service_answers import Reached, reached_by, run_as_of
from asof.operations.times import from_datetime

_MOST_EPISODES: Final = 10_000
_MOST_OF_A_PAGE: Final = 100
_MOST_FACTS: Final = 1_000  # of a page


class ListEpisodesArguments(Arguments):
    """The arguments of list_episodes."""

    PAGING: ClassVar = frozenset({"cursor", "limit"})

    start: MaybeTime = Field(None, alias="from", description="Said from this time on.")
    stop: MaybeTime = Field(None, alias="to", description="Said before this time.")
    known_at: MaybeTime = None
    limit: int = Field(20, ge=1, le=_MOST_OF_A_PAGE)
    cursor: str | None = None
    group_id: str | None = None


@tool(ListEpisodesArguments, EpisodePage)
async def list_episodes(access: Access, asked: ListEpisodesArguments) -> Reply:
    """List what was said within a period, word for word, in the order in which it was recorded."""
    group = access.scope.one(asked.group_id)
    pages = Pages("list_episodes", asked, [group])
    query = ask(
        EpisodesQuery,
        {
            "from": asked.time("from"),
            "to": asked.time("to"),
            "known_at": asked.time("known_at") if pages.is_first else pages.moments[1],
            "limit": asked.limit,
            "cursor": pages.place or None,
            "group_id": group,
        },
    )
    found, reached = await run_as_of(access.served, logs.episodes, query, [group])
    listed = tuple(map(_listed, found))
    answer = EpisodePage(
        group_ids=(group,),
        as_of=Moments.of(reached._replace(valid=None)),
        next_cursor=None if found.next is None else pages.next_cursor(found.next, (None, reached.known)),
        episodes=listed,
    )
    return Reply(answer, block(answer, _episode_lines(listed)))


class GetEpisodesArguments(Arguments):
    """Graphiti's arguments of get_episodes, and the page."""

    PAGING: ClassVar = frozenset({"cursor", "max_episodes"})

    group_ids: Several = ()
    max_episodes: int = Field(10, ge=1, le=_MOST_EPISODES)
    cursor: str | None = None


@tool(GetEpisodesArguments, ListedEpisodes)
async def get_episodes(access: Access, asked: GetEpisodesArguments) -> Reply:
    """List the last episodes, as they were said; with cursor those before them."""
    groups = access.scope.several(asked.group_ids)
    pages = Pages("get_episodes", asked, groups)
    needed = pages.start + asked.max_episodes + 1
    found, reached = await access.served.ask(partial(_last, groups=groups, count=needed, known=pages.moments[1]))
    part = pages.cut(found[::-1], asked.max_episodes, (None, reached.known))
    listed = tuple(_listed(episode) for episode in part.items[::-1])
    answer = ListedEpisodes(
        group_ids=groups,
        as_of=Moments.of(reached._replace(valid=None)),
        next_cursor=part.next_cursor,
        message="Episodes retrieved successfully" if listed else "No episodes found",
        episodes=listed,
    )
    return Reply(answer, block(answer, _episode_lines(listed)))


def _last(session: Any, groups: Sequence[str], count: int, known: int | None) -> tuple[list[Episode], Reached]:
    """Return the last episodes of groups in the order in which they were said, of those that were known; None: now."""
    reached = reached_by(session, groups)
    reached = reached if known is None else reached._replace(known=known)
    said = [one for group in groups for one in _last_of(session, group, count, known)]
    return sorted(said, key=lambda one: one.valid_at)[-count:], reached


def _last_of(session: Any, group: str, count: int, known: int | None) -> list[Episode]:
    asked = count
    while True:  # what came since is not counted
        found = [episode for episode, *_ in last_episodes(session, group, asked)]
        counted = [one for one in found if known is None or from_datetime(one.created_at) <= known]
        if len(counted) >= count or len(found) < asked:
            return counted[-count:]
        asked *= 2


def _listed(episode: Episode) -> ListedEpisode:
    said = said_in(episode.source, episode.content)
    return ListedEpisode(
        uuid=episode.uuid,
        name=episode.name,
        content=f"{episode.role}: {said}" if episode.role else said,
        said_at=episode.valid_at,
        created_at=episode.created_at,
        source=episode.source,
        source_description=episode.source_description,
        group_id=episode.group_id,
    )


def _episode_lines(episodes: Sequence[ListedEpisode]) -> list[str]:
    return [f"- {when(one.said_at)}: {quote(one.content)} {of_id(one.uuid)}" for one in episodes] or ["There are none."]


class EpisodeEntitiesArguments(Arguments):
    """Graphiti's arguments of get_episode_entities, and the page."""

    episode_uuids: Several = Field(min_length=1)
    cursor: str | None = None


@tool(EpisodeEntitiesArguments, EpisodeEntities)
async def get_episode_entities(access: Access, asked: EpisodeEntitiesArguments) -> Reply:
    """List the facts that episodes say, and the entities that these are about."""
    pages = Pages("get_episode_entities", asked, [])
    found: dict[str, Fact] = {}
    groups: list[str] = []
    for uuid in asked.episode_uuids:
        episode = await episode_of(access, uuid)
        groups.append(episode.group_id)
        found |= await access.served.ask(partial(facts_of_episode, episode=episode))
    shared = await shared_fields(access, tuple(dict.fromkeys(groups)))
    part = pages.cut([*found.values()], _MOST_FACTS, (None, None))
    edges = tuple(map(RecalledFact.of, part.items))
    nodes = await ends_of(access, part.items)
    message = f"{len(nodes)} nodes and {len(edges)} edges of {len(groups)} episodes"
    answer = EpisodeEntities(**shared, next_cursor=part.next_cursor, message=message, nodes=nodes, edges=edges)
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
    return await access.served.ask(partial(nodes_of, found=tuple(ends.values()), known=None))
