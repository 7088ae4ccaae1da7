"""The rest of Graphiti's tools, by their names and with their arguments, over a log that only grows.

Deleting a fact retracts it, and deleting an episode withdraws it: neither is believed any more, and questions about the
past still find both. Clearing a group erases it.
"""

from collections.abc import Sequence
from functools import partial
from typing import Final

from asof.mcp.answers import Moments
from asof.mcp.arguments import Arguments, Several
from asof.mcp.episodes import ends_of
from asof.mcp.found_answers import RecalledFact
from asof.mcp.graphiti_answers import (
    AddedTriplet,
    BuiltCommunities,
    BuiltCommunity,
    EntityEdge,
    SagaSummary,
    ToldAnswer,
)
from asof.mcp.identifiers import episode_of, fact_of
from asof.mcp.pages import Pages
from asof.mcp.text import block, of_fact, of_id, with_moments
from asof.mcp.tools import Access, Reply, shared_fields, tool
from asof.operations import context, entities
from asof.operations.consolidation import request_of
from asof.operations.messages import FactStatement, WithdrawalRequest, derive, validate
from asof.operations.queries import CommunitiesQuery, ConsolidateQuery, ContextQuery, ask
from asof.operations.quotes import quote
from asof.operations.service_answers import outcome, reached_by, run
from asof.service.api_keys import Permission

_SUMMARY_TOKENS: Final = 1_000
_PAGE: Final = 100  # communities


class EntityEdgeArguments(Arguments):
    """Graphiti's arguments of get_entity_edge and delete_entity_edge."""

    uuid: str


@tool(EntityEdgeArguments, EntityEdge)
async def get_entity_edge(access: Access, asked: EntityEdgeArguments) -> Reply:
    """Return a fact that is believed now, whenever it holds."""
    fact = await fact_of(access, asked.uuid)
    shared = await shared_fields(access, [fact.group_id])
    answer = EntityEdge(**shared, **RecalledFact.of(fact).model_dump())
    return Reply(answer, block(answer, [f"- {of_fact(RecalledFact.of(fact))}"]))


@tool(EntityEdgeArguments, ToldAnswer, needs=Permission.WRITE, destructive=True)
async def delete_entity_edge(access: Access, asked: EntityEdgeArguments) -> Reply:
    """Retract a fact: it was never so. Its past can still be asked about."""
    fact = await fact_of(access, asked.uuid)
    statement = validate(FactStatement, {"group_id": fact.group_id, "op": "retract", "ref": fact.uuid})
    await access.served.take_and_see([statement])
    return await _told(access, [fact.group_id], f"Entity edge with UUID {fact.uuid} deleted successfully")


async def _told(access: Access, groups: Sequence[str], message: str) -> Reply:
    answer = ToldAnswer(**await shared_fields(access, groups), message=message)
    return Reply(answer, block(answer, [f"{quote(message)}"]))


class DeleteEpisodeArguments(Arguments):
    """Graphiti's arguments of delete_episode."""

    uuid: str


@tool(DeleteEpisodeArguments, ToldAnswer, needs=Permission.WRITE, destructive=True)
async def delete_episode(access: Access, asked: DeleteEpisodeArguments) -> Reply:
    """Withdraw an episode: facts that rest on it alone are retracted."""
    episode = await episode_of(access, asked.uuid)
    group = episode.group_id
    request = validate(WithdrawalRequest, {"group_id": group, "episode_id": episode.uuid})
    await access.served.take_and_see([request])
    return await _told(access, [group], f"Episode with UUID {episode.uuid} deleted successfully")


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
    unused = [name for name in ("source_node_uuid", "target_node_uuid") if getattr(asked, name) is not None]
    rest = f". Not used, since names decide: {', '.join(unused)}" if unused else ""
    answer = AddedTriplet(
        **await shared_fields(access, [group]),
        message=("Triplet added successfully" if found else "Nothing changed: it was known") + rest,
        nodes=await ends_of(access, found.values()),
        edges=tuple(map(RecalledFact.of, found.values())),
    )
    return Reply(answer, block(answer, [f"- {of_fact(edge)}" for edge in answer.edges] or ["Nothing changed."]))


class GroupsArguments(Arguments):
    """Graphiti's arguments of clear_graph."""

    group_ids: Several = ()


class CommunitiesArguments(GroupsArguments):
    """Graphiti's arguments of build_communities, and the page."""

    cursor: str | None = None


@tool(CommunitiesArguments, BuiltCommunities, needs=Permission.WRITE, idempotent=True)
async def build_communities(access: Access, asked: CommunitiesArguments) -> Reply:
    """Find communities of entities that facts connect."""
    groups = access.scope.several(asked.group_ids)
    pages = Pages("build_communities", asked, groups)
    if pages.is_first:
        await access.served.take_and_see([request_of(ask(ConsolidateQuery, {"group_id": group})) for group in groups])
    reached = await access.served.ask(partial(reached_by, groups=groups))
    known = reached.known if pages.is_first else pages.moments[1]
    queries = [ask(CommunitiesQuery, {"group_id": group, "known_at": known}) for group in groups]
    found = [one for query in queries for one in await run(access.served, entities.communities, query)]
    part = pages.cut(found, _PAGE, (None, known))
    answer = BuiltCommunities(
        group_ids=groups,
        as_of=Moments.of(reached._replace(valid=None, known=known)),
        next_cursor=part.next_cursor,
        message="Communities built successfully",
        community_count=len(found),
        edge_count=sum(len(one.members) for one in found),
        communities=tuple(
            BuiltCommunity(uuid=one.uuid, name=one.name, group_id=one.group_id, summary=one.summary)
            for one in part.items
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
    shared = await shared_fields(access, [group])
    answer = SagaSummary(
        **shared,
        message="Saga summarized successfully",
        uuid=derive("saga", group, asked.saga_name),
        name=asked.saga_name,
        summary=found.text,
    )
    return Reply(answer, with_moments(found.text, shared["as_of"]))
