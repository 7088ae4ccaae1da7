"""A process ends though a task takes no cancellation, and those that take it are waited for."""

import asyncio
from contextlib import suppress

import pytest

from asof.runtime.bounded_run import run

left: list[asyncio.Task[None]] = []  # asyncio tells of one that is dropped before it has ended


async def refuse_to_end(begun: asyncio.Event) -> None:
    while True:
        with suppress(asyncio.CancelledError):
            begun.set()
            await asyncio.Event().wait()


async def end(begun: asyncio.Event, ended: list[str]) -> None:
    begun.set()
    try:
        await asyncio.Event().wait()
    finally:
        await asyncio.sleep(0)
        ended.append("ended")


@pytest.mark.timeout(120)
def test_a_run_ends_though_a_task_takes_no_cancellation() -> None:
    ended: list[str] = []

    async def work() -> None:
        begun, other = asyncio.Event(), asyncio.Event()
        left.append(asyncio.create_task(refuse_to_end(begun)))
        left.append(asyncio.create_task(end(other, ended)))
        await begun.wait()
        await other.wait()
        ended.append("worked")

    run(work(), seconds=0.5)

    assert ended == ["worked", "ended"]


def test_an_error_of_the_work_is_raised() -> None:
    async def work() -> None:
        raise LookupError

    with pytest.raises(LookupError):
        run(work())
