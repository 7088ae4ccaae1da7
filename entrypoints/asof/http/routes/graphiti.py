"""Graphiti's routes: its bodies, status codes and answers, over a log that only grows.

Deleting a fact retracts it: it is no longer believed, and questions about its past still find it. Deleting an episode
withdraws it: facts that rest on it alone are retracted, and it is no longer listed. Deleting a group erases it.
"""

from functools import partial
from typing import Any, Final
from urllib.parse import quote

from fastapi import HTTPException, Response
from pydantic import ValidationError
from starlette.convertors import PathConvertor, register_url_convertor

from asof.http.routes.authorization import Administering, Reading, Writing, expect_own
from asof.http.routes.idempotency import Once
from asof.http.routes.outcomes import Wait
from asof.http.routes.parameters import Read, Served, parameters_in_place
from asof.http.routes.routers import KEY, graphiti_router
from asof.http.schemas import graphiti
from asof.http.schemas.graphiti_mapping import (
    entity_node,
    episodic_node,
    fact_result,
    messages_of,
    query_of,
    stated_entity,
    unprocessable,
)
from asof.operations import facts, logs
from asof.operations.answers import Fact
from asof.operations.errors import InvalidInput, NotFound
from asof.operations.graphiti import last_episodes, node, search_groups
from asof.operations.messages import (
    FactStatement,
    Message,
    WithdrawalRequest,
    check_group,
    episode_id,
)
from asof.operations.queries import DEFAULT_GROUP, MAX_QUERY, EpisodeQuery, FactQuery
from asof.operations.service_answers import outcomes, run
from asof.service.api_keys import Caller
from asof.service.service import Service

POSITION: Final = "Asof-Position"  # of the first message; the others follow without a gap
EPISODE: Final = "Asof-Episode-Id"  # that the first message becomes
_MOST: Final = 1_000  # facts at once
_MOST_EPISODES: Final = 10_000  # some clients count episodes this way
_WORDS: Final = 128  # of a query; the search ignores the rest


class TextConvertor(PathConvertor):
    """Any text in a path, slashes too, but not none: Graphiti has no group without a name."""

    regex = ".+"


register_url_convertor("text", TextConvertor())
router = graphiti_router("graphiti", KEY, parameters_in_place)

_TAKEN: Final[dict[int | str, dict[str, Any]]] = {
    202: {
        "description": "The messages are on the log.",
        "headers": {
            POSITION: {
                "description": "Position of the first message, if there is one; the others follow without a gap.",
                "schema": {"type": "string", "pattern": "^[0-9]+$", "examples": ["17"]},
            },
            EPISODE: {"description": "Id of the episode that the first message becomes.", "schema": {"type": "string"}},
        },
    }
}

_ERASING: Final[dict[int | str, dict[str, Any]]] = {
    202: {
        "description": "Nothing answers with it any more, but files still hold some of it, since a reader keeps them "
        "from being rewritten. `erasing` of `/v1/stats` counts these files until it is done.",
        "model": graphiti.Result,
    }
}


@router.get("/healthcheck")
async def healthcheck() -> graphiti.Health:
    """Answer while the service runs."""
    return graphiti.Health()


@router.post("/messages", status_code=202, responses=_TAKEN)
async def add_messages(
    given: graphiti.AddMessages,
    response: Response,
    served: Served,
    caller: Writing,
    request: Once,
    *,
    wait: Wait = False,
) -> graphiti.Taken:
    """Accept messages. They are on the log, on disk, before the answer, and processed afterwards, in order.

    The headers `Asof-Position` and `Asof-Episode-Id` name the first message; the others follow without a gap. On Kafka
    the position is the topic's offset, and the episode is known once the message is processed.
    """
    expect_own(caller, given.group_id or DEFAULT_GROUP)
    if given.schema_id not in (None, *served.ontologies):
        raise unprocessable(f"there is no such ontology; known are {', '.join(served.ontologies)}", "schema_id")
    positions = range(0)
    if messages := messages_of(given):
        positions = await served.take(messages, request)
        position = positions.start
        response.headers[POSITION] = str(position)
        if isinstance(first := messages[0], Message) and not served.on_topics:
            response.headers[EPISODE] = quote(first.uuid or episode_id(first.group_id, position))  # a uuid is any text
    became = await outcomes(served, positions) if wait else None
    return graphiti.Taken(message="Messages added to processing queue", success=True, outcomes=became)


@router.post("/entity-node", status_code=201)
async def add_entity_node(
    given: graphiti.AddEntityNode, served: Served, caller: Writing, request: Once
) -> graphiti.EntityNode:
    """State an entity under an id of the client's own. Later mentions of its name mean this entity."""
    _own(caller, "group_id", given.group_id or DEFAULT_GROUP)
    stated = stated_entity(given)
    await served.take_and_see([stated], request)
    entity = await served.ask(lambda session: node(session, stated.group_id, given.uuid))
    if entity is None:
        raise HTTPException(404, f"node {given.uuid} not found: its group was erased at the same time")
    return entity_node(stated, entity)


@router.get("/entity-edge/{uuid}")
async def get_entity_edge(uuid: str, served: Read, caller: Reading) -> graphiti.FactResult:
    """Return a fact that is believed now, whenever it holds."""
    return fact_result(await _fact(served, caller, uuid))


@router.delete("/entity-edge/{uuid}")
async def delete_entity_edge(uuid: str, served: Served, caller: Writing, request: Once) -> graphiti.Result:
    """Retract a fact. What it had superseded holds again, and questions about the past still find it."""
    if not await served.made(request):
        fact = await _fact(served, caller, uuid)
        await served.take_and_see([FactStatement(group_id=fact.group_id, op="retract", ref=uuid)], request)
    return graphiti.Result(message="Entity Edge deleted", success=True)


@router.delete("/group/{group_id:text}", responses=_ERASING)
async def delete_group(
    group_id: str, response: Response, served: Served, caller: Administering, request: Once
) -> graphiti.Result:
    """Erase a group for ever, at every moment of both clocks."""
    [group] = _own(caller, "group_id", group_id, of="path")
    return _erased(response, "Group deleted", done=await served.erase([group], request))


@router.delete("/episode/{uuid}")
async def delete_episode(uuid: str, served: Served, caller: Writing, request: Once) -> graphiti.Result:
    """Withdraw an episode: facts that rest on it alone are retracted, and it is no longer listed."""
    if not await served.made(request):
        try:
            episode = await run(served, logs.episode, EpisodeQuery(id=uuid))
        except (NotFound, ValidationError):
            episode = None
        if episode is None or not caller.owns(episode.group_id):
            raise HTTPException(404, f"node {uuid} not found")
        await served.take_and_see([WithdrawalRequest(group_id=episode.group_id, episode_id=uuid)], request)
    return graphiti.Result(message="Episode deleted", success=True)


@router.post("/clear", responses=_ERASING)
async def clear(response: Response, served: Served, caller: Administering, request: Once) -> graphiti.Result:
    """Erase all groups for ever."""
    expect_own(caller)
    done = True
    if not await served.made(request) and (groups := await served.ask(logs.group_names)):
        done = await served.erase(groups, request)
    return _erased(response, "Graph cleared", done=done)


@router.post("/search")
async def search(given: graphiti.SearchQuery, served: Read, caller: Reading) -> graphiti.SearchResults:
    """Return the facts that match a query best, ended ones too, as Graphiti does; their `invalid_at` says when."""
    groups = _own(caller, "group_ids", *filter(None, given.group_ids or []))
    return await _search(served, given.query, groups or None, given.max_facts)


@router.post("/get-memory")
async def get_memory(given: graphiti.GetMemory, served: Read, caller: Reading) -> graphiti.SearchResults:
    """Return the facts of a group that match a conversation best; of these, those near a centre node first."""
    groups = _own(caller, "group_id", given.group_id or DEFAULT_GROUP)
    return await _search(served, query_of(given.messages), groups, given.max_facts, given.center_node_uuid)


@router.get("/episodes/{group_id:text}")
async def get_episodes(group_id: str, last_n: int, served: Read, caller: Reading) -> list[graphiti.EpisodicNode]:
    """Return the last episodes of a group that were said by now, the earliest first; at most 10,000."""
    [group] = _own(caller, "group_id", group_id, of="path")
    count = min(last_n, _MOST_EPISODES)
    return [episodic_node(*found) for found in await served.ask(lambda session: last_episodes(session, group, count))]


def _erased(response: Response, message: str, *, done: bool) -> graphiti.Result:
    if not done:
        response.status_code = 202
        message += "; files still hold some of it, until their readers end"
    return graphiti.Result(message=message, success=True)


async def _search(
    served: Service, query: str, groups: list[str] | None, limit: int, center: str | None = None
) -> graphiti.SearchResults:
    words = " ".join(query.split()[:_WORDS])
    if not words or limit <= 0:
        return graphiti.SearchResults(facts=[])
    question = partial(
        search_groups, query=words[:MAX_QUERY], groups=groups, limit=min(limit, _MOST), center=center or None
    )
    return graphiti.SearchResults(facts=[fact_result(fact) for fact in await served.search(question)])


async def _fact(served: Service, caller: Caller, uuid: str) -> Fact:
    try:
        fact = await run(served, facts.fact, FactQuery(id=uuid))
    except (NotFound, ValidationError):
        fact = None
    if fact is None or not caller.owns(fact.group_id):
        raise HTTPException(404, f"edge {uuid} not found")
    return fact


def _own(caller: Caller, where: str, *groups: str, of: str = "body") -> list[str]:
    """Return groups after a check that they are the caller's and that their ids are valid; none named means all."""
    expect_own(caller, *groups)
    try:
        return [check_group(group) for group in groups]
    except InvalidInput as error:
        raise unprocessable(error.reason, where, of=of) from None
