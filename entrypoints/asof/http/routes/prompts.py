"""The routes under /v1/prompts: the prompts by which a bot speaks, their versions, and which is used."""

from functools import partial

from fastapi.responses import Response

from asof.http.routes.authorization import Administering, Reading, expect_own
from asof.http.routes.binding import json_of
from asof.http.routes.parameters import Read, Served
from asof.http.routes.routers import v1_router
from asof.http.schemas import problems, v1
from asof.operations import prompts
from asof.operations.service_answers import run

router = v1_router("/v1/prompts", "prompts")


@router.get("", name="prompts", response_model=prompts.prompts.model)
async def list_prompts(served: Read, caller: Reading) -> Response:
    """Return the prompts by which a bot speaks, every version of each, in order of keys and versions."""
    expect_own(caller)
    query = prompts.prompts.query()
    if served.on_topics:
        return json_of(prompts.prompts, await served.administer(partial(prompts.prompts, query=query)))
    return json_of(prompts.prompts, await run(served, prompts.prompts, query))


@router.post("", response_model=prompts.register_prompt.model, responses=problems.OF_A_BODY)
async def register(given: v1.NewPrompt, served: Served, caller: Administering) -> Response:
    """Write a version of a prompt, used from the next message on unless said otherwise; return all versions.

    422: its template does not show the message, or names what nothing replaces. Sent twice, there are two versions.
    """
    expect_own(caller)
    registered = await served.administer(partial(prompts.register_prompt, query=given.query()))
    return json_of(prompts.register_prompt, registered)


@router.post("/activate", response_model=prompts.activate_prompt.model, responses=problems.OF_A_BODY)
async def activate(given: v1.PromptActivation, served: Served, caller: Administering) -> Response:
    """Let a version of a prompt be used from the next message on; return all. 404: there is no such version."""
    expect_own(caller)
    return json_of(
        prompts.activate_prompt, await served.administer(partial(prompts.activate_prompt, query=given.query()))
    )
