"""The rest of Graphiti's tools, by their names and with their arguments, over a log that only grows.

Deleting a fact retracts it, and deleting an episode withdraws it: neither is believed any more, and questions about the
past still find both. Clearing a group erases it.
"""

from collections.abc import Iterable, Sequence
from functools import partial
from typing import Any, Final

from pydantic import Field

from asof.mcp.answers import (
    AddedTriplet,
    BuiltCommunities,
    BuiltCommunity,
    EntityEdge,
    EpisodeEntities,
    ListedEpisode,
    ListedEpisodes,
    Moments,
    RecalledFact,
    RecalledNode,
    SagaSummary,
    ToldAnswer,
)
from asof.mcp.arguments import Arguments, Several
from asof.mcp.searches import node_of
from asof.mcp.text import block, of_fact, of_id, when
from asof.mcp.tools import Access, Reply, tool
from asof.operations import context, entities, facts, logs
from asof.operations.answers import Entity, Fact
from asof.operations.consolidation import request_of
from asof.operations.errors import NotFound
from asof.operations.graphiti import last_episodes
from asof.operations.messages import FactStatement, WithdrawalRequest, derive, validate
from asof.operations.queries import CommunitiesQuery, ConsolidateQuery, ContextQuery, EpisodeQuery, FactQuery, ask
from asof.operations.quotes import quote
from asof.operations.service_answers import outcome, reached_by, run
from asof.service.api_keys import Permission

_MOST_EPISODES: Final = 10_000
_SUMMARY_TOKENS: Final = 1_000


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
    listed = [
        ListedEpisode(
            uuid=episode.uuid,
            name=episode.name,
            content=f"{episode.role}: {episode.content}" if episode.role else episode.content,
            created_at=episode.created_at,
            source=episode.source,
            source_description=episode.source_description,
            group_id=episode.group_id,
        )
        for episode, *_ in found
    ]
    message = "Episodes retrieved successfully" if listed else "No episodes found"
    answer = ListedEpisodes(**await _about(access, groups), message=message, episodes=tuple(listed))
    lines = [f"- {when(one.created_at)}: {quote(one.content)} {of_id(one.uuid)}" for one in listed]
    return Reply(answer, block(answer, lines or ["There are none."]))


async def _about(access: Access, groups: Sequence[str]) -> dict[str, Any]:
    """Return what every answer has: its groups, and the moments that it is of."""
    reached = await access.served.ask(partial(reached_by, groups=groups))
    return {"group_ids": tuple(groups), "as_of": Moments.of(reached._replace(valid=None))}


class EpisodeEntitiesArguments(Arguments):
    """Graphiti's arguments of get_episode_entities."""

    episode_uuids: Several = Field(min_length=1)


@tool(EpisodeEntitiesArguments, EpisodeEntities)
async def get_episode_entities(access: Access, asked: EpisodeEntitiesArguments) -> Reply:
    """List the facts that episodes say, and the entities that these are about."""
    found: dict[str, Fact] = {}
    groups: list[str] = []
    for uuid in asked.episode_uuids:
        group = await _group_of_episode(access, uuid)
        groups.append(group)
        found |= await access.served.ask(partial(_facts_of, group=group, uuid=uuid))
    edges = tuple(map(RecalledFact.of, found.values()))
    nodes = await _ends(access, found.values())
    message = f"{len(nodes)} nodes and {len(edges)} edges of {len(groups)} episodes"
    about = await _about(access, tuple(dict.fromkeys(groups)))
    answer = EpisodeEntities(**about, message=message, nodes=nodes, edges=edges)
    return Reply(answer, block(answer, [f"- {of_fact(edge)}" for edge in edges] or ["They say no facts."]))


async def _group_of_episode(access: Access, uuid: str) -> str:
    """Return the group of an episode. NotFound: there is none, or it is another client's."""
    unknown = NotFound("no episode of this address has this uuid: get_episodes shows them")
    try:
        episode = await run(access.served, logs.episode, ask(EpisodeQuery, {"id": uuid}))
    except NotFound:
        raise unknown from None
    if not access.scope.owns(episode.group_id):
        raise unknown
    return episode.group_id


def _facts_of(session: Any, group: str, uuid: str) -> dict[str, Fact]:
    """Return the facts that are believed now and rest on an episode, by their ids."""
    effect = logs.episode(session, ask(EpisodeQuery, {"id": uuid})).effect
    ids = [*(belief.uuid for belief in (*effect.began, *effect.restored, *effect.refined)), *effect.reinforced]
    found = {}
    for each in dict.fromkeys(ids):
        try:
            fact = facts.fact(session, ask(FactQuery, {"id": each}))
        except NotFound:  # it was retracted since
            continue
        if fact.group_id == group and uuid in fact.episodes:
            found[each] = fact
    return found


async def _ends(access: Access, found: Iterable[Fact]) -> tuple[RecalledNode, ...]:
    """Return the entities that facts are about, each once."""
    ends = {
        uuid: Entity(uuid, fact.group_id, name, None, fact.created_at)
        for fact in found
        for uuid, name in ((fact.subject_uuid, fact.subject), (fact.object_uuid, fact.object))
        if uuid is not None
    }
    return tuple(await access.served.ask(lambda session: [node_of(session, end, None) for end in ends.values()]))


class EntityEdgeArguments(Arguments):
    """Graphiti's arguments of get_entity_edge and delete_entity_edge."""

    uuid: str


@tool(EntityEdgeArguments, EntityEdge)
async def get_entity_edge(access: Access, asked: EntityEdgeArguments) -> Reply:
    """Return a fact that is believed now, whenever it holds."""
    fact = await _fact(access, asked.uuid)
    about = await _about(access, [fact.group_id])
    answer = EntityEdge(**about, **RecalledFact.of(fact).model_dump())
    return Reply(answer, block(answer, [f"- {of_fact(RecalledFact.of(fact))}"]))


async def _fact(access: Access, uuid: str) -> Fact:
    """Return a fact. NotFound: there is none, or it is another client's."""
    unknown = NotFound("no fact of this address has this uuid: search_memory_facts shows them")
    try:
        fact = await run(access.served, facts.fact, ask(FactQuery, {"id": uuid}))
    except NotFound:
        raise unknown from None
    if not access.scope.owns(fact.group_id):
        raise unknown
    return fact


@tool(EntityEdgeArguments, ToldAnswer, needs=Permission.WRITE, destructive=True)
async def delete_entity_edge(access: Access, asked: EntityEdgeArguments) -> Reply:
    """Retract a fact: it was never so. Its past can still be asked about."""
    fact = await _fact(access, asked.uuid)
    statement = validate(FactStatement, {"group_id": fact.group_id, "op": "retract", "ref": fact.uuid})
    await access.served.take_and_see([statement])
    return await _told(access, [fact.group_id], f"Entity edge with UUID {fact.uuid} deleted successfully")


async def _told(access: Access, groups: Sequence[str], message: str) -> Reply:
    answer = ToldAnswer(**await _about(access, groups), message=message)
    return Reply(answer, block(answer, [f"{quote(message)}"]))


class DeleteEpisodeArguments(Arguments):
    """Graphiti's arguments of delete_episode."""

    uuid: str


@tool(DeleteEpisodeArguments, ToldAnswer, needs=Permission.WRITE, destructive=True)
async def delete_episode(access: Access, asked: DeleteEpisodeArguments) -> Reply:
    """Withdraw an episode: facts that rest on it alone are retracted."""
    group = await _group_of_episode(access, asked.uuid)
    request = validate(WithdrawalRequest, {"group_id": group, "episode_id": asked.uuid})
    await access.served.take_and_see([request])
    return await _told(access, [group], f"Episode with UUID {asked.uuid} deleted successfully")


class AddTripletArguments(Arguments):
    """Graphiti's arguments of add_triplet."""

    source_node_name: str
    edge_name: str
    fact: str
    target_node_name: str
    group_id: str | None = None
    source_node_uuid: str | None = None
    target_node_uuid: str | None = None


@tool(AddTripletArguments, AddedTriplet, needs=Permission.WRITE)
async def add_triplet(access: Access, asked: AddTripletArguments) -> Reply:
    """State a fact by exact names, without reading a text."""
    group = access.scope.one(asked.group_id)
    claim = {"subject": asked.source_node_name, "relation": asked.edge_name, "object": asked.target_node_name}
    statement = validate(FactStatement, {"group_id": group, **claim, "fact": asked.fact})
    positions = await access.served.take_and_see([statement])
    became = await outcome(access.served, positions[0])
    changes = became.changes if became.state == "done" else ()
    found = {change.fact.uuid: change.fact for change in changes if change.change == "opened"}
    answer = AddedTriplet(
        **await _about(access, [group]),
        message="Triplet added successfully" if found else "Nothing changed: it was known",
        nodes=await _ends(access, found.values()),
        edges=tuple(map(RecalledFact.of, found.values())),
    )
    return Reply(answer, block(answer, [f"- {of_fact(edge)}" for edge in answer.edges] or ["Nothing changed."]))


class GroupsArguments(Arguments):
    """Graphiti's arguments of build_communities and clear_graph."""

    group_ids: Several = ()


@tool(GroupsArguments, BuiltCommunities, needs=Permission.WRITE, idempotent=True)
async def build_communities(access: Access, asked: GroupsArguments) -> Reply:
    """Find communities of entities that facts connect."""
    groups = access.scope.several(asked.group_ids)
    await access.served.take_and_see([request_of(ask(ConsolidateQuery, {"group_id": group})) for group in groups])
    found = [
        one
        for group in groups
        for one in await run(access.served, entities.communities, ask(CommunitiesQuery, {"group_id": group}))
    ]
    answer = BuiltCommunities(
        **await _about(access, groups),
        message="Communities built successfully",
        community_count=len(found),
        edge_count=sum(len(one.members) for one in found),
        communities=tuple(
            BuiltCommunity(uuid=one.uuid, name=one.name, group_id=one.group_id, summary=one.summary) for one in found
        ),
    )
    lines = [f"- {quote(one.name)}: {quote(one.summary)} {of_id(one.uuid)}" for one in answer.communities]
    return Reply(answer, block(answer, lines or ["There are none."]))


@tool(GroupsArguments, ToldAnswer, needs=Permission.ADMIN, destructive=True)
async def clear_graph(access: Access, asked: GroupsArguments) -> Reply:
    """Erase groups for ever, at every moment. Ask the user first."""
    groups = access.scope.several(asked.group_ids)
    done = await access.served.erase(groups)
    rest = "" if done else "; files still hold some of it, until their readers end"
    return await _told(access, groups, f"Graph data cleared successfully for group IDs: {', '.join(groups)}{rest}")


class SummarizeSagaArguments(Arguments):
    """Graphiti's arguments of summarize_saga."""

    saga_name: str
    group_id: str | None = None


@tool(SummarizeSagaArguments, SagaSummary)
async def summarize_saga(access: Access, asked: SummarizeSagaArguments) -> Reply:
    """Tell what is known about a name, as facts and what was said. There are no sagas here."""
    group = access.scope.one(asked.group_id)
    query = ask(ContextQuery, {"query": asked.saga_name, "budget": _SUMMARY_TOKENS, "group_id": group})
    found = await run(access.served, context.context, query)
    answer = SagaSummary(
        **await _about(access, [group]),
        message="Saga summarized successfully",
        uuid=derive("saga", group, asked.saga_name),
        name=asked.saga_name,
        summary=found.text,
    )
    return Reply(answer, found.text)
