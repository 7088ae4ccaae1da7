"""The routes under /v1/generations: which there are, how two differ, digests, builds and their cost, which answers."""

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any, Final

from fastapi.responses import Response

from asof.http.routes.authorization import Administering, Reading, expect_own
from asof.http.routes.binding import bind, json_of, query_route
from asof.http.routes.parameters import Read, Served
from asof.http.routes.routers import v1_router
from asof.http.schemas import problems, v1
from asof.operations import generations
from asof.operations.answers import UnfinishedBuild
from asof.operations.service_answers import run
from asof.service.api_keys import Caller
from asof.service.service import Service

router = v1_router("/v1/generations", "generations")

_EXAMPLE: Final = {"active": "main", "generations": [{"name": "main"}]}
_CATALOG: Final[dict[int | str, dict[str, Any]]] = {200: {"content": {"application/json": {"example": _EXAMPLE}}}}
_DIGEST: Final[dict[int | str, dict[str, Any]]] = {
    200: {"content": {"application/json": {"example": "8fbbdbb1eab2f38b" * 4}}}
}
_CHANGED: Final[dict[int | str, dict[str, Any]]] = {**_CATALOG, **problems.OF_A_BODY}

bind(router, "/diff", generations.generations_diff)


@router.get("", name="generations", response_model=generations.generations.model, responses=_CATALOG)
async def list_generations(served: Read, caller: Reading) -> Response:
    """Return the generations, oldest first, and the one that answers."""
    del caller
    return json_of(generations.generations, await run(served, generations.generations, generations.GenerationsQuery()))


@router.get("/builds", response_model=generations.builds.model)
async def builds(served: Read, caller: Reading) -> Response:
    """Return the builds of generations that are not complete, by name: how far each is, and how much is left."""
    expect_own(caller)
    return json_of(generations.builds, await run(served, generations.builds, generations.BuildsQuery()))


@query_route(router, "/digest", generations.DigestQuery, response_model=generations.digest.model, responses=_DIGEST)
async def digest(served: Service, caller: Caller, query: Any) -> Response:
    """Return the SHA-256 of all that a generation believes. It reads the generation whole."""
    expect_own(caller)
    return json_of(generations.digest, await run(served, generations.digest, query))


@router.post("", status_code=202, response_model=generations.pause_build.model, responses=problems.OF_A_BODY)
async def build(given: v1.NewGeneration, served: Served, caller: Administering) -> Response:
    """Build a generation beside the others, while messages come and are answered; `builds` shows how far it is.

    Once it is complete it is listed, and follows new messages; on Kafka it is listed while it is built, and workers
    follow for it then. 422: the name is taken.
    """
    query = given.query()
    return await _built(served, caller, partial(generations.begin_build, query=query), query)


@router.post("/estimate", response_model=generations.estimate_rebuild.model, responses=problems.OF_A_BODY)
async def estimate(given: v1.GenerationPlan, served: Read, caller: Administering) -> Response:
    """Return what such a build would ask a language model, and what it costs in tokens, money and seconds.

    Nothing is built, and no model is asked: the build is rehearsed with the recorded answers, in a process of its own.
    That may take as long as the build would if every answer were recorded; several wait for each other. 503: the
    service ended meanwhile.
    """
    expect_own(caller)
    question = partial(generations.estimate_rebuild, query=given.query())
    return json_of(generations.estimate_rebuild, await served.ask_long(question))


@router.post("/resume", status_code=202, response_model=generations.pause_build.model, responses=problems.OF_A_BODY)
async def resume(given: v1.StoppedBuild, served: Served, caller: Administering) -> Response:
    """Go on with a build that was paused, or whose process ended. 404: there is none of the name.

    One that runs goes on as it does, within the budget that it was given.
    """
    query = given.query()
    return await _built(served, caller, partial(generations.expect_build, query=query), query)


async def _built(
    served: Service, caller: Caller, expected: Callable[[Any], UnfinishedBuild], query: generations.BuildBudget
) -> Response:
    expect_own(caller)
    begun = await served.ask(expected)
    if begun.state != "running":
        served.build(begun.name, query.budget)
    body = generations.pause_build.dump(replace(begun, state="running", reason=None))
    return Response(body, 202, media_type="application/json")


@router.post("/pause", response_model=generations.pause_build.model, responses=problems.OF_A_BODY)
async def pause(given: v1.GenerationName, served: Served, caller: Administering) -> Response:
    """Stop a build after the message that it is at, and return how far it is. 404: none of the name is under way."""
    expect_own(caller)
    return json_of(generations.pause_build, await run(served, generations.pause_build, given.query()))


@router.post("/cancel", response_model=generations.cancel_build.model, responses=problems.OF_A_BODY)
async def cancel(given: v1.GenerationName, served: Served, caller: Administering) -> Response:
    """Stop a build and remove all of it; return the builds that are left. 404: none of the name is under way.

    On Kafka its topic goes too, and the name is not used again.
    """
    expect_own(caller)
    work = partial(generations.cancel_build, query=given.query())
    left = await (served.administer(work) if served.on_topics else served.ask(work))
    return json_of(generations.cancel_build, left)


@router.post("/switch", response_model=generations.switch.model, responses=_CHANGED)
async def switch(given: v1.GenerationName, served: Served, caller: Administering) -> Response:
    """Let another generation answer, in one step for every reader; return the generations.

    What was recorded before is believed by it already. To switch to the one that answers changes nothing.
    """
    expect_own(caller)
    catalog = await served.administer(partial(generations.switch, query=given.query()))
    return json_of(generations.switch, catalog)


@router.post("/drop", response_model=generations.drop.model, responses=_CHANGED)
async def drop(given: v1.GenerationName, served: Served, caller: Administering) -> Response:
    """Remove a generation for ever; return those that are left. 422: it is the one that answers."""
    expect_own(caller)
    return json_of(generations.drop, await served.administer(partial(generations.drop, query=given.query())))
