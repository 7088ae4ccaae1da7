"""Graphiti's routes, as they are: its bodies, status codes and answers, over a log that nothing is taken from.

What deletes there is said here: a fact that is deleted is retracted, so that it is no longer believed and its past can
still be asked about; a group that is deleted is erased for ever. Two routes are refused with what to do instead: a
single episode cannot be taken from the log, and an entity is made by what is said of it.
"""

from typing import Annotated, Any, Final

from fastapi import APIRouter, Depends, HTTPException, Request, Response

from asof.http import bodies
from asof.http.access import Administering, Reading, Writing, expect_own, may_administer, may_write
from asof.http.keys import Caller
from asof.http.service import Service
from asof.http.translation import (
    DEFAULT_GROUP,
    episodic_node,
    fact_result,
    messages_of,
    query_of,
    unprocessable,
)
from asof_agents.episodes import episode_id
from asof_projections.rows import Fact
from asof_streams.errors import InvalidInput
from asof_streams.messages import ErasureRequest, FactStatement, Message, check_group

POSITION: Final = "Asof-Position"  # of the first message; the others follow it without a gap
EPISODE: Final = "Asof-Episode-Id"  # what the first message becomes
_MOST: Final = 1_000  # facts or episodes at once
_WORDS: Final = 128  # of a query; what follows is not looked for

router = APIRouter(tags=["graphiti"])


async def service(request: Request) -> Service:
    """Return the service that a request is answered by."""
    found: Service = request.app.state.service
    return found


Served = Annotated[Service, Depends(service)]
_UNKNOWN: Final[dict[int | str, dict[str, Any]]] = {404: {"description": "There is none."}}
_REFUSED: Final[dict[int | str, dict[str, Any]]] = {
    501: {"description": "Not done here; the answer says what to do instead."}
}


@router.get("/healthcheck")
async def healthcheck() -> bodies.Health:
    """Say that the service answers."""
    return bodies.Health()


@router.post("/messages", status_code=202)
async def add_messages(given: bodies.AddMessages, response: Response, served: Served, caller: Writing) -> bodies.Result:
    """Take messages. Each is on the log, on disk, before the answer, and processed behind it, in order.

    The headers `Asof-Position` and `Asof-Episode-Id` name the first message; the others follow without a gap.
    """
    expect_own(caller, given.group_id or DEFAULT_GROUP)
    if given.schema_id not in (None, served.ontology):
        raise unprocessable(f"this memory is read with the ontology {served.ontology}, and no other", "schema_id")
    if messages := messages_of(given):
        position = (await served.take(messages)).start
        response.headers[POSITION] = str(position)
        if isinstance(first := messages[0], Message):
            response.headers[EPISODE] = first.uuid or episode_id(first.group_id, position)
    return bodies.Result(message="Messages added to processing queue", success=True)


@router.post("/entity-node", responses=_REFUSED, status_code=501, dependencies=[may_write])
async def add_entity_node() -> None:
    """Refuse to make an entity of nothing."""
    raise HTTPException(501, "an entity is made by what is said of it: send a message, or import a structured fact")


@router.get("/entity-edge/{uuid}", responses=_UNKNOWN)
async def get_entity_edge(uuid: str, served: Served, caller: Reading) -> bodies.FactResult:
    """Return a fact that is believed, whenever it holds."""
    return fact_result(await _fact(served, caller, uuid))


@router.delete("/entity-edge/{uuid}", responses=_UNKNOWN)
async def delete_entity_edge(uuid: str, served: Served, caller: Writing) -> bodies.Result:
    """Retract a fact: it was wrong to say so. What it had displaced holds again; its past can still be asked about."""
    fact = await _fact(served, caller, uuid)
    await served.take_and_see([FactStatement(group_id=fact.group_id, op="retract", ref=uuid)])
    return bodies.Result(message="Entity Edge deleted", success=True)


@router.delete("/group/{group_id}")
async def delete_group(group_id: str, served: Served, caller: Administering) -> bodies.Result:
    """Erase a group for ever, at every moment of both clocks."""
    [group] = _own(caller, "path", group_id)
    await served.take_and_see([ErasureRequest(group_id=group)])
    return bodies.Result(message="Group deleted", success=True)


@router.delete("/episode/{uuid}", responses=_REFUSED, status_code=501, dependencies=[may_administer])
async def delete_episode(uuid: str) -> None:
    """Refuse to take one episode out of the log."""
    del uuid
    raise HTTPException(501, "one episode cannot be taken from the log: delete the facts that rest on it, or the group")


@router.post("/clear")
async def clear(served: Served, caller: Administering) -> bodies.Result:
    """Erase all groups for ever."""
    expect_own(caller)
    if groups := await served.ask(lambda reader: reader.groups()):
        await served.take_and_see([ErasureRequest(group_id=group) for group in groups])
    return bodies.Result(message="Graph cleared", success=True)


@router.post("/search")
async def search(given: bodies.SearchQuery, served: Served, caller: Reading) -> bodies.SearchResults:
    """Return the facts that fit a query best: also those that have ended, which say so, as in Graphiti."""
    groups = _own(caller, "group_ids", *filter(None, given.group_ids or []))
    return await _search(served, given.query, groups or None, given.max_facts)


@router.post("/get-memory")
async def get_memory(given: bodies.GetMemory, served: Served, caller: Reading) -> bodies.SearchResults:
    """Return the facts of a group that fit a conversation best."""
    groups = _own(caller, "group_id", given.group_id or DEFAULT_GROUP)
    return await _search(served, query_of(given.messages), groups, given.max_facts)


@router.get("/episodes/{group_id}")
async def get_episodes(group_id: str, last_n: int, served: Served, caller: Reading) -> list[bodies.EpisodicNode]:
    """Return the last episodes of a group that were said by now, the earliest first; at most 1,000."""
    [group] = _own(caller, "path", group_id)
    told = await served.ask(lambda reader: reader.latest(group, min(last_n, _MOST)))
    return [episodic_node(one) for one in told]


async def _search(served: Service, query: str, groups: list[str] | None, limit: int) -> bodies.SearchResults:
    words = " ".join(query.split()[:_WORDS])
    if not words or limit <= 0:
        return bodies.SearchResults(facts=[])
    found = await served.search(lambda reader: reader.found(words, groups, min(limit, _MOST)))
    return bodies.SearchResults(facts=[fact_result(fact) for fact in found])


async def _fact(served: Service, caller: Caller, uuid: str) -> Fact:
    fact = await served.ask(lambda reader: reader.fact(uuid))
    if fact is None or not caller.owns(fact.group_id):
        raise HTTPException(404, f"edge {uuid} not found")
    return fact


def _own(caller: Caller, where: str, *groups: str) -> list[str]:
    """Return groups that are the caller's, each with an id that a group can have; none named means all."""
    expect_own(caller, *groups)
    try:
        return [check_group(group) for group in groups]
    except InvalidInput as error:
        raise unprocessable(str(error), where) from None
