"""Runs the event loop of a process that is to end in bounded time, whatever its libraries leave running."""

import asyncio
from collections.abc import Coroutine
from typing import Any, Final

_SECONDS: Final = 5.0  # for what was cancelled


def run(work: Coroutine[Any, Any, None], seconds: float = _SECONDS) -> None:
    """Run some work as `asyncio.run` does, but wait at most so long for the tasks that it leaves.

    asyncio.run waits for ever for one that takes no cancellation, such as Faust's commit without a broker.
    """
    asyncio.run(_run(work, seconds))


async def _run(work: Coroutine[Any, Any, None], seconds: float) -> None:
    try:
        await work
    finally:
        left = asyncio.all_tasks() - {asyncio.current_task()}
        for task in left:
            task.cancel()
        stuck = (await asyncio.wait(left, timeout=seconds))[1] if left else set()
        for task in stuck:
            asyncio.tasks._unregister_task(task)  # noqa: SLF001 - as asyncio documents for its users' own tasks
