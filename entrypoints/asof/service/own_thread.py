"""A call in a thread of its own, for what may wait as long as a stranger likes: nobody else waits for a free thread."""

import asyncio
from collections.abc import Callable
from contextlib import suppress
from threading import Thread
from typing import TypeVar

R = TypeVar("R")


async def in_own_thread(call: Callable[[], R]) -> R:
    """Return what a call returns, or raise what it raises.

    The thread is a daemon: cancelled, nobody waits for the call, nor does the process when it ends.
    """
    loop = asyncio.get_running_loop()
    result: asyncio.Future[R] = loop.create_future()

    def end(value: R | None, error: BaseException | None) -> None:
        if result.done():
            return
        if error is None:
            result.set_result(value)  # type: ignore[arg-type]
        else:
            result.set_exception(error)

    def run() -> None:
        value, failure = None, None
        try:
            value = call()
        except BaseException as error:  # noqa: BLE001 - whoever called has to know
            failure = error
        with suppress(RuntimeError):  # the loop is closed: nobody waits any more
            loop.call_soon_threadsafe(end, value, failure)

    Thread(target=run, name="asof-call", daemon=True).start()
    return await result
