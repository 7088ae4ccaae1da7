"""The worker that Faust delivers to: it ends when it is told to, also before it has begun."""

import asyncio
from pathlib import Path

from asof_agents.worker import FaustWorker
from asof_streams.kafka.connection import Connection


def nothing_opens(partition: int) -> object:
    raise AssertionError(partition)


def test_a_worker_that_is_told_to_stop_before_it_runs_ends_at_once(tmp_path: Path) -> None:
    worker = FaustWorker(
        Connection("127.0.0.1:1"),
        "messages",
        "workers",
        nothing_opens,
        end_of=lambda _: 0,
        report=lambda _: None,
        patience=60.0,
        folder=tmp_path,
        member="a",
    )

    async def stopped_first() -> None:
        running = asyncio.create_task(worker.run())
        worker.stop()
        await running

    asyncio.run(stopped_first())
