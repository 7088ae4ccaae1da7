"""The routes under /v1: the questions of every door, under the same names and with the same parameters."""

import os
import tempfile
from pathlib import Path
from typing import Any, Final

from fastapi import APIRouter
from fastapi.responses import FileResponse, Response
from pydantic import TypeAdapter
from starlette.background import BackgroundTask

from asof.http.routes.authorization import Reading, Writing, expect_own, may_read
from asof.http.routes.binding import bind, expect_group, json_of, query_route, run
from asof.http.routes.idempotency import Once
from asof.http.routes.parameters import Read, Served
from asof.http.schemas import v1
from asof.operations import entities, facts, generations, history, logs, upkeep
from asof.operations.errors import NotFound
from asof.operations.operation import Operation
from asof.service.api_keys import Caller
from asof.service.service import Service
from asof_projections.model.answers import Page, Queued, WhatIf
from asof_projections.model.queries import ExportQuery, GroupsQuery, HistoryQuery, MessageQuery

router = APIRouter(prefix="/v1", tags=["v1"], dependencies=[may_read])

_OF_A_GROUP: Final[dict[str, Operation[Any, Any]]] = {
    "/facts": facts.facts,
    "/overlapping": facts.overlapping,
    "/throughout": facts.throughout,
    "/search": facts.search,
    "/entities": entities.entities,
    "/entity": entities.entity,
    "/communities": entities.communities,
    "/neighbourhood": entities.neighbourhood,
    "/timeline": history.timeline,
    "/diff": history.diff,
    "/changes": history.changes,
    "/episodes": logs.episodes,
}
for _path, _operation in _OF_A_GROUP.items():
    bind(router, _path, _operation)
bind(router, "/fact", facts.fact, lambda fact: str(fact.group_id))
bind(router, "/why", facts.why, lambda why: str(why.fact.group_id))
bind(router, "/known-history", history.known_history, lambda periods: str(periods[0].group_id) if periods else "")
bind(router, "/episode", logs.episode, lambda episode: str(episode.group_id))


@router.get("/messages/{position}", response_model=logs.message.model)
async def message(position: int, served: Read, caller: Reading) -> Response:
    """Say what became of a message: it is queued; done, with what it changed; parked, and why; or erased."""
    await served.seen(position)
    group = await served.ask(lambda session: logs.message_at(session, position)[0])
    if not caller.owns(group):
        raise NotFound(f"there is no message {position}")
    if served.worker.next <= position < await served.ask(lambda reader: reader.end()):
        return json_of(logs.message, Queued(position, "queued", max(position - served.worker.next, 0)))
    return json_of(logs.message, await run(served, logs.message, MessageQuery(position=position)))


@query_route(router, "/history", HistoryQuery, response_model=history.history.model)
async def fact_history(served: Service, caller: Caller, query: HistoryQuery) -> Response:
    """Return every version of a fact (by id) or of an entity's facts (by name), with what made each."""
    expect_group(caller, query)
    versions = await run(served, history.history, query)
    mine = all(caller.owns(version.group_id) for version in versions)  # an id may be of any group
    return json_of(history.history, versions if mine else Page())


@query_route(router, "/groups", GroupsQuery, response_model=logs.groups.model)
async def groups(served: Service, caller: Caller, query: GroupsQuery) -> Response:
    """Return the groups, in the order of their ids, with how many episodes each holds: those of the key alone."""
    if not query.prefix.startswith(caller.groups):
        if not caller.groups.startswith(query.prefix):
            return json_of(logs.groups, Page())
        query = query.model_copy(update={"prefix": caller.groups})
    return json_of(logs.groups, await run(served, logs.groups, query))


@router.get("/stats")
async def stats(served: Read, caller: Reading) -> dict[str, Any]:
    """Return how much there is, how far each log and store has come, and what was parked and why."""
    expect_own(caller)
    return await run(served, upkeep.stats, upkeep.StatsQuery())


@router.get("/generations", response_model=generations.generations.model)
async def list_generations(served: Read, caller: Reading) -> Response:
    """Return the generations, oldest first, and the one that answers."""
    del caller
    return json_of(generations.generations, await run(served, generations.generations, generations.GenerationsQuery()))


@query_route(router, "/export", ExportQuery, response_class=FileResponse)
async def export(served: Service, caller: Caller, query: ExportQuery) -> Response:
    """Return the graph as a document: what is believed as of a moment, or what was recorded by then."""
    expect_group(caller, query)
    handle, name = tempfile.mkstemp(prefix="asof-export-")  # it is read as it is written: no document is in memory
    path = Path(name)
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            await served.ask(lambda session: file.writelines(upkeep.export(session, query)))
    except BaseException:
        os.unlink(path)  # noqa: PTH108 - of the loop's thread: it takes no time
        raise
    media_type = "application/xml" if query.format == "graphml" else "application/json"
    return FileResponse(path, media_type=media_type, background=BackgroundTask(os.unlink, path))


@router.post("/facts", status_code=202)
async def state_facts(given: v1.Statements, served: Served, caller: Writing, request: Once) -> v1.Stated:
    """State, end, correct or retract structured facts. They are on the log, for good; each is processed behind it."""
    expect_own(caller, given.group_id)
    return v1.Stated(positions=list(await served.take(given.messages(), request)))


@router.post("/what-if", response_model=WhatIf)
async def what_if(given: v1.Statements, served: Read, caller: Reading) -> Response:
    """Return the slots that structured facts would touch if they were stated now; nothing is written."""
    expect_own(caller, given.group_id)
    statements = given.statements
    answer = await served.ask(lambda session: facts.what_if(session, statements, given.group_id))
    return Response(TypeAdapter(WhatIf).dump_json(answer), media_type="application/json")
