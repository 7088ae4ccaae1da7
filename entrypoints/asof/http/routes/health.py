"""Health and metrics of the service, for process managers and Prometheus."""

import asyncio
from operator import methodcaller
from typing import Any, Final, Literal

from fastapi import Request, Response
from fastapi.responses import JSONResponse
from pydantic import BaseModel, Field

from asof.http.middleware.metrics import CONTENT_TYPE, Metrics
from asof.http.routes.authorization import Reading, expect_own
from asof.http.routes.parameters import Served
from asof.http.routes.routers import graphiti_router
from asof.operations.errors import AsofError
from asof.service.service import Service

_PATIENCE_SECONDS: Final = 5.0  # a log or a store that answers within this time counts as well
_STILL_SECONDS: Final = 60.0  # without a message that was processed, while some wait


class Alive(BaseModel):
    """The process lives."""

    status: Literal["alive"] = "alive"


class Ready(BaseModel):
    """Messages are accepted and processed, and questions answered."""

    status: Literal["ready"] = "ready"
    waiting: int = Field(examples=[0], description="Messages that wait to be processed.")
    refused: int = Field(
        examples=[0],
        description="Requests to a language model that were not made since the start: a group's budget was spent.",
    )


class NotReady(BaseModel):
    """Why the service is not ready."""

    status: Literal["not ready"] = "not ready"
    reason: str = Field(examples=["the worker ended"])


_NOT_READY: Final[dict[int | str, dict[str, Any]]] = {
    503: {"description": "The service is not ready; `reason` says why.", "model": NotReady}
}
_TEXT: Final[dict[int | str, dict[str, Any]]] = {200: {"content": {"text/plain": {"schema": {"type": "string"}}}}}

router = graphiti_router("health")


@router.get("/healthz")
async def healthz() -> Alive:
    """Answer while the process lives."""
    return Alive()


@router.get("/readyz", response_model=Ready, responses=_NOT_READY)
async def readyz(served: Served) -> Response:
    """Return how many messages wait; 503 while none is processed, or questions are not answered, and why."""
    if not served.worker.alive:
        return _not_ready("the worker ended")
    if not served.worker.ready:
        return _not_ready("the memory is being opened")
    try:
        async with asyncio.timeout(_PATIENCE_SECONDS):
            waiting = await _waiting(served)
            await served.ask(lambda reader: reader.end())
            if (waits := served.worker.waits) is not None:
                return _not_ready(f"message {waits.position} waits: {waits.reason}")
            if waiting and min(await _oldest(served), served.worker.still) > _STILL_SECONDS:
                return _not_ready(f"message {served.worker.next} is taking more than {_STILL_SECONDS:.0f} seconds")
    except TimeoutError:
        return _not_ready(f"the log and the store did not answer within {_PATIENCE_SECONDS:.0f} seconds")
    except AsofError as error:
        return _not_ready(str(error))
    refused = sum(used.refused for used in served.worker.usage.values())
    return JSONResponse({"status": "ready", "waiting": waiting, "refused": refused})


@router.get("/metrics", response_class=Response, responses=_TEXT)
async def metrics(request: Request, served: Served, caller: Reading) -> Response:
    """Return the metrics of the service in the text format of Prometheus."""
    expect_own(caller)
    counted: Metrics = request.app.state.metrics
    waiting = await _waiting(served)
    counted.waiting.set(waiting)
    counted.processed.set(served.worker.next)
    counted.messages.set(served.worker.next + waiting)
    counted.models.usage = served.worker.usage
    counted.consolidation.phases = served.worker.phases
    counted.ingestion.counts, counted.ingestion.seconds = served.worker.ingested
    if served.worker.ready:
        counted.oldest.set(await _oldest(served) if waiting else 0.0)
        unsettled = await served.ask(lambda reader: reader.unsettled())
        counted.parked.set(unsettled["parked"])
        counted.failed.set(unsettled["failed"])
        counted.consolidation.counts = await served.ask(lambda reader: reader.consolidations())
        counted.embeds.set(served.embeds)
        counted.vectors.set(await served.search(methodcaller("vectors")))
    return Response(counted.text(), media_type=CONTENT_TYPE)


async def _waiting(served: Service) -> int:
    """Return how many messages wait. AsofError: the log cannot be written."""
    end = (await served.take([])).start
    return max(end - served.worker.next, 0)


async def _oldest(served: Service) -> float:
    """Return the seconds since the oldest message that waits was recorded."""
    position = served.worker.next
    return await served.ask(lambda reader: reader.age(position))


def _not_ready(reason: str) -> JSONResponse:
    return JSONResponse({"status": "not ready", "reason": reason}, 503)
