"""The routes under /v1: the operations, under the names and with the parameters that they have at every door."""

import os
import tempfile
from pathlib import Path
from typing import Any, Final

from fastapi.concurrency import run_in_threadpool
from fastapi.responses import FileResponse, Response
from pydantic import TypeAdapter
from starlette.background import BackgroundTask

from asof.http.routes.authorization import Administering, Reading, Writing, expect_own
from asof.http.routes.binding import ask_by_id, bind, bind_id, expect_found, expect_group, json_of, query_route
from asof.http.routes.idempotency import Once
from asof.http.routes.outcomes import Wait
from asof.http.routes.parameters import Read, Served
from asof.http.routes.routers import v1_router
from asof.http.schemas import problems, v1
from asof.operations import (
    consolidation,
    context,
    curation,
    entities,
    erasures,
    facts,
    history,
    logs,
    posts,
    upkeep,
    usage,
)
from asof.operations.answers import Consolidated, Erasure, Page, Retried, WhatIf
from asof.operations.errors import NotFound
from asof.operations.ids import has_short_ref, with_whole_refs
from asof.operations.operation import Operation
from asof.operations.queries import ErasureQuery, ExportQuery, GroupsQuery, HistoryQuery, KnownHistoryQuery, RetryQuery
from asof.operations.service_answers import outcome, outcomes, run
from asof.service.api_keys import Caller
from asof.service.service import Service

router = v1_router("/v1", "v1")

_OF_A_GROUP: Final[dict[str, Operation[Any, Any]]] = {
    "/facts": facts.facts,
    "/overlapping": facts.overlapping,
    "/throughout": facts.throughout,
    "/search": facts.search,
    "/context": context.context,
    "/entities": entities.entities,
    "/entity": entities.entity,
    "/communities": entities.communities,
    "/neighbourhood": entities.neighbourhood,
    "/timeline": history.timeline,
    "/diff": history.diff,
    "/changes": history.changes,
    "/episodes": logs.episodes,
    "/contradictions": curation.contradictions,
    "/parked": curation.parked,
    "/objectives": posts.objectives,
    "/feedback": posts.feedback,
    "/usage": usage.usage,
}
for _path, _operation in _OF_A_GROUP.items():
    bind(router, _path, _operation)
bind_id(router, "/fact", facts.fact, "fact", lambda fact: str(fact.group_id))
bind_id(router, "/why", facts.why, "fact", lambda why: str(why.fact.group_id))
bind_id(router, "/episode", logs.episode, "episode", lambda episode: str(episode.group_id))


@query_route(router, "/known-history", history.known_history.query, response_model=history.known_history.model)
async def known_history(served: Service, caller: Caller, query: KnownHistoryQuery) -> Response:
    """Return when a fact was believed to hold at a moment, or at any."""
    at_any_time = query.model_copy(update={"valid_at": None})  # of which the answer is never empty
    periods = await ask_by_id(served, history.known_history, at_any_time, "fact")
    expect_found(caller, periods[0].group_id, "fact", query.id)
    return json_of(history.known_history, await run(served, history.known_history, query))


@router.get("/messages/{position}", response_model=logs.message.model)
async def message(position: int, served: Read, caller: Reading) -> Response:
    """Return the state of a message: queued, done with its changes, parked with the reason, or erased."""
    await served.seen(position)
    group = await served.ask(lambda session: logs.message_at(session, position)[0])
    if not caller.owns(group):
        raise NotFound(f"there is no message {position}")
    return json_of(logs.message, await outcome(served, position))


@query_route(router, "/history", HistoryQuery, response_model=history.history.model)
async def fact_history(served: Service, caller: Caller, query: HistoryQuery) -> Response:
    """Return every version of a fact (by id) or of an entity's facts (by name), with what made each."""
    expect_group(caller, query)
    versions = await run(served, history.history, query)
    mine = all(caller.owns(version.group_id) for version in versions)  # an id may be of any group
    return json_of(history.history, versions if mine else Page())


@query_route(router, "/groups", GroupsQuery, response_model=logs.groups.model)
async def groups(served: Service, caller: Caller, query: GroupsQuery) -> Response:
    """Return the groups of the key by their ids, with the number of episodes of each."""
    if not query.prefix.startswith(caller.groups):
        if not caller.groups.startswith(query.prefix):
            return json_of(logs.groups, Page())
        query = query.model_copy(update={"prefix": caller.groups})
    return json_of(logs.groups, await run(served, logs.groups, query))


_STATS: Final[dict[int | str, dict[str, Any]]] = {
    200: {"content": {"application/json": {"example": {"messages": 42, "parked": []}}}}
}
_MEDIA_TYPES: Final = {
    "json": "application/json",
    "graphml": "application/xml",
    "csv": "text/csv",
    "jsonld": "application/ld+json",
    "mermaid": "text/vnd.mermaid",
    "parquet": "application/vnd.apache.parquet",
}
_DOCUMENT: Final[dict[int | str, dict[str, Any]]] = {
    200: {
        "description": "The document.",
        "content": {
            "application/json": {"schema": {"type": "object"}, "example": {"entities": [], "facts": []}},
            "application/xml": {"schema": {"type": "string"}, "example": "<graphml/>"},
            "text/csv": {"schema": {"type": "string"}, "example": "id,uuid,group_id,subject,relation,object"},
            "application/ld+json": {"schema": {"type": "object"}, "example": {"@context": {}, "@graph": []}},
            "text/vnd.mermaid": {"schema": {"type": "string"}, "example": "flowchart LR"},
            "application/vnd.apache.parquet": {"schema": {"type": "string", "format": "binary"}, "example": "PAR1..."},
        },
    }
}


@router.get("/stats", responses=_STATS)
async def stats(served: Read, caller: Reading) -> dict[str, Any]:
    """Return the sizes of logs and stores, the position of each, and the parked messages with their reasons."""
    expect_own(caller)
    return await run(served, upkeep.stats, upkeep.StatsQuery())


@query_route(router, "/export", ExportQuery, response_class=FileResponse, responses=_DOCUMENT)
async def export(served: Service, caller: Caller, query: ExportQuery) -> Response:
    """Return the graph as of a moment as a document: what is believed, or with `episodic` what was recorded."""
    expect_group(caller, query)
    handle, name = tempfile.mkstemp(prefix="asof-export-")  # a document may be larger than memory
    path = Path(name)
    try:
        with os.fdopen(handle, "wb") as file:
            await served.ask(lambda session: file.writelines(upkeep.export_file(session, query)))
    except BaseException:
        os.unlink(path)  # noqa: PTH108 - does not block
        raise
    return FileResponse(path, media_type=_MEDIA_TYPES[query.format], background=BackgroundTask(os.unlink, path))


async def _stated(served: Service, positions: range, *, wait: bool) -> v1.Stated:
    return v1.Stated(positions=list(positions), outcomes=await outcomes(served, positions) if wait else None)


@router.post("/facts", status_code=202, responses=problems.OF_A_BODY)
async def state_facts(
    given: v1.Statements, served: Served, caller: Writing, request: Once, *, wait: Wait = False
) -> v1.Stated:
    """State, end, correct or retract structured facts. They are on the log when this returns, and processed later."""
    expect_own(caller, given.group_id)
    # first: times in words and short refs may mean something else by now
    if (before := await served.earlier_positions(request)) is not None:
        return await _stated(served, before, wait=wait)
    stated = await run_in_threadpool(given.messages)  # a thousand times in words take a second
    named_in_short = any(map(has_short_ref, stated))
    messages = await served.ask(lambda session: with_whole_refs(session, stated)) if named_in_short else stated
    return await _stated(served, await served.take(messages, request), wait=wait)


@router.post("/identities", status_code=202, responses=problems.OF_A_BODY)
async def state_identity(
    given: v1.Identity, served: Served, caller: Writing, request: Once, *, wait: Wait = False
) -> v1.Stated:
    """Merge or split two entities, or give or take an alias. It is on the log when this returns, and processed later.

    A merge is known from then on, and a split takes it back; past known moments stay as they were.
    """
    expect_own(caller, given.group_id)
    return await _stated(served, await served.take([given.message()], request), wait=wait)


@router.post("/timezone", status_code=202, responses=problems.OF_A_BODY)
async def state_timezone(
    given: v1.Timezone, served: Served, caller: Writing, request: Once, *, wait: Wait = False
) -> v1.Stated:
    """State the time zone of a group's speakers. It is on the log when this returns, and processed later.

    Times in the words of later messages, such as "yesterday", are read by its days; without one by those of UTC.
    """
    expect_own(caller, given.group_id)
    return await _stated(served, await served.take([given.message()], request), wait=wait)


@router.post("/settle", status_code=202, responses=problems.OF_A_BODY)
async def settle(
    given: v1.Settlement, served: Served, caller: Writing, request: Once, *, wait: Wait = False
) -> v1.Stated:
    """Keep one fact of the contradictions that are open: the facts that it contradicts are retracted.

    The retractions are on the log when this returns, and processed later. 404: no contradiction of the fact is open.
    """
    expect_own(caller, given.group_id)
    if await served.made(request):
        return await _stated(served, await served.take([], request), wait=wait)
    statements = await served.ask(lambda session: curation.settling(session, given.request()))
    return await _stated(served, await served.take(statements, request), wait=wait)


@router.post("/retry", status_code=202, response_model=curation.retry.model, responses=problems.OF_A_BODY)
async def retry(given: v1.Retry, served: Served, caller: Writing, request: Once) -> Response:
    """Process messages again that were parked or failed. The requests are on the log when this returns.

    What follows from a message is known from the retry on, and valid as of the message. /v1/parked lists what is left.
    """
    expect_own(caller, given.group_id)
    query = RetryQuery(group_id=given.group_id, all_groups=False, positions=tuple(given.positions))
    if await served.made(request):
        before = await served.take([], request)
        retried = await served.ask(lambda session: curation.retries_at(session, before))
    else:
        messages = await served.ask(lambda session: curation.retry_requests(session, query))
        positions = await served.take(messages, request)
        taken = zip(messages, positions, strict=False)  # at the same moment, the same request may have taken others
        retried = [Retried(message.position, at) for message, at in taken]
    return Response(curation.retry.dump(retried), 202, media_type="application/json")


_CONSOLIDATED: Final[dict[int | str, dict[str, Any]]] = {
    200: {"model": Consolidated, "description": "The results of a dry run."},
    **problems.OF_A_BODY,
}


_ERASED: Final[dict[int | str, dict[str, Any]]] = {
    202: {
        "model": Erasure,
        "description": "Nothing answers with it any more, but files still hold some of it, since a reader keeps them "
        "from being rewritten. `erasing` of `/v1/stats` counts these files until it is done.",
    },
    **problems.OF_A_BODY,
}


@query_route(router, "/erasure-preview", erasures.erasure_preview.query, response_model=erasures.erasure_preview.model)
async def erasure_preview(served: Service, caller: Caller, query: ErasureQuery) -> Response:
    """Return what an erasure would erase, by the messages that are processed now; nothing is written."""
    expect_own(caller, query.group_id)
    return json_of(erasures.erasure_preview, await run(served, erasures.erasure_preview, query))


@router.post("/erase", response_model=Erasure, responses=_ERASED)
async def erase(given: v1.Erase, served: Served, caller: Administering, request: Once) -> Response:
    """Erase a group, or a part of it, for ever, at every moment of both clocks; return what is certain of it.

    What another message says stays. /v1/erasure-preview tells before what would go. 404: no message fits.
    """
    expect_own(caller, given.group_id)
    query = given.query()
    if await served.made(request):
        positions = await served.take([], request)
    else:
        asked = await served.ask(lambda session: erasures.request_of(session, query))
        positions = await served.take_and_see([asked], request)
    status = 200 if await served.erased() else 202
    erasure = await served.ask(lambda session: erasures.erasure_at(session, given.group_id, positions.start))
    return Response(erasures.erase.dump(erasure), status, media_type="application/json")


@router.post("/consolidate", status_code=202, response_model=Consolidated, responses=_CONSOLIDATED)
async def consolidate(
    given: v1.Consolidate, served: Served, caller: Writing, request: Once, *, wait: Wait = False
) -> Response:
    """Detect the communities of a group, link its duplicates and count what faded, where facts changed.

    No fact changes. The request is on the log when this returns, and processed later. `undo`: the last pass that still
    stands is undone instead. `dry_run`: the results that it would have, with 200; nothing is written.
    """
    expect_own(caller, given.group_id)
    query = given.query()
    if query.dry_run:
        found = await served.ask(lambda session: consolidation.consolidate(session, query))
        return Response(consolidation.consolidate.dump(found), media_type="application/json")
    [position] = await served.take([consolidation.request_of(query)], request)
    answer = Consolidated(position, None)
    if wait and (await outcomes(served, [position]))[0].state == "done":
        answer = await served.ask(lambda session: consolidation.consolidated_at(session, query.group_id, position))
    return Response(consolidation.consolidate.dump(answer), 202, media_type="application/json")


@router.post("/what-if", response_model=WhatIf, responses=problems.OF_A_BODY)
async def what_if(given: v1.Statements, served: Read, caller: Reading) -> Response:
    """Return the slots that structured facts would change if they were stated now, before and after. Writes nothing."""
    expect_own(caller, given.group_id)
    answer = await served.ask(
        lambda session: facts.what_if(session, with_whole_refs(session, given.messages()), given.group_id)
    )
    return Response(TypeAdapter(WhatIf).dump_json(answer), media_type="application/json")
