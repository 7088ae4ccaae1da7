"""One partition of a worker: its records are taken in order whatever fails, and letting it go leaves nothing behind."""

import asyncio
import threading
from collections.abc import Callable, Coroutine, Iterator
from typing import Any

import pytest

from asof_agents import partition_task
from asof_agents.partition_task import PartitionTask
from asof_streams.backoff import Backoff
from asof_streams.errors import BrokerUnavailable, WriterBusy
from asof_streams.kafka.envelope import Raw
from patience import SECONDS


def raw(offset: int) -> Raw:
    return Raw(offset, 0, None, b"", [])


class Topic:
    """A topic, and what was taken of it: what an intake keeps for the next one. Takes `step` records at once."""

    def __init__(self, end: int, step: int = 100) -> None:
        self.end = end
        self.step = step
        self.taken: list[int] = []
        self.brought: list[int] = []  # how many records each call brought
        self.open = 0
        self.failures: Iterator[Exception | None] = iter(())

    def opened(self, _: int) -> "Taking":
        self.open += 1
        return Taking(self)


class Taking:
    def __init__(self, topic: Topic) -> None:
        self.topic = topic

    @property
    def offset(self) -> int:
        return len(self.topic.taken)

    @property
    def parked(self) -> int:
        return 0

    def ingest(self, records: list[Raw]) -> None:
        if error := next(self.topic.failures, None):
            raise error
        self.topic.brought.append(len(records))
        self.topic.end = max([self.topic.end, *(record.offset + 1 for record in records)])
        self.topic.taken += range(self.offset, min(self.topic.end, self.offset + self.topic.step))

    def close(self) -> None:
        self.topic.open -= 1


async def unsought(_: int) -> None:
    pass


def run(test: Coroutine[Any, Any, None]) -> None:
    asyncio.run(asyncio.wait_for(test, SECONDS))


async def until(true: Callable[[], object]) -> None:
    while not true():  # noqa: ASYNC110 - what is waited for is on another thread
        await asyncio.sleep(0.01)


@pytest.fixture(autouse=True)
def _no_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(partition_task, "OUTAGE", Backoff(0.0))


def test_what_is_on_the_topic_is_taken_in_steps_before_anybody_brings_it() -> None:
    async def test() -> None:
        topic = Topic(1_000, step=7)
        lane = PartitionTask(0, topic.opened, unsought)
        await until(lambda: lane.offset == 1_000)
        await lane.put(raw(1_500))
        await until(lambda: lane.offset == 1_501)
        await lane.stop()
        assert topic.taken == [*range(1_501)]
        assert topic.open == 0

    run(test())


def test_a_partition_that_is_not_open_has_no_offset() -> None:
    async def test() -> None:
        topic = Topic(3)
        lane = PartitionTask(0, topic.opened, unsought)
        assert lane.offset == -1
        await until(lambda: lane.offset == 3)
        await lane.stop()
        assert lane.offset == -1

    run(test())


def test_what_waits_is_taken_in_steps_so_that_what_follows_from_each_is_known_before_the_next(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(partition_task, "STEP", 3)

    async def test() -> None:
        topic, go_on = Topic(0), threading.Event()

        def slowly(partition: int) -> Taking:
            go_on.wait(SECONDS)
            return topic.opened(partition)

        lane = PartitionTask(0, slowly, unsought)
        for offset in range(8):
            await lane.put(raw(offset))
        go_on.set()
        await until(lambda: lane.offset == 8)
        await lane.stop()
        assert [size for size in topic.brought if size] == [3, 3, 2]

    run(test())


def test_after_the_world_outside_failed_it_opens_again_and_goes_on(caplog: pytest.LogCaptureFixture) -> None:
    async def test() -> None:
        topic = Topic(3)
        topic.failures = iter([None, BrokerUnavailable("away"), BrokerUnavailable("still"), None])
        lane = PartitionTask(0, topic.opened, unsought)
        await until(lambda: lane.offset == 3)
        for offset in range(3, 10):
            await lane.put(raw(offset))
        await until(lambda: lane.offset == 10)
        assert topic.open == 1
        assert lane.restarts == 2
        await lane.stop()
        assert topic.taken == [*range(10)]

    run(test())
    assert [
        record.getMessage().split(";")[0] for record in caplog.records if record.name == "asof_agents.partition_task"
    ] == [
        "partition 0: away",
        "partition 0: still",
    ]


def test_who_brings_records_is_told_where_to_go_on() -> None:
    sought: list[int] = []

    async def seek(offset: int) -> None:
        sought.append(offset)

    async def test() -> None:
        lane = PartitionTask(0, Topic(3).opened, seek)
        await until(lambda: sought)
        await lane.stop()

    run(test())
    assert sought == [3]


def test_between_its_tries_it_pauses_longer_each_time_and_anew_after_one_that_succeeds(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    pauses: list[float] = []
    sleep = asyncio.sleep

    async def noted(seconds: float) -> None:
        pauses.append(seconds)
        await sleep(0)

    monkeypatch.setattr(partition_task, "OUTAGE", Backoff(100.0))

    async def test() -> None:
        topic, away = Topic(3), BrokerUnavailable("away")
        topic.failures = iter([away, away])
        lane = PartitionTask(0, topic.opened, unsought)
        await until(lambda: lane.restarts == 2 and lane.offset == 3)
        await lane.put(raw(3))
        await until(lambda: lane.offset == 4)
        topic.end, topic.failures = 5, iter([away])
        await lane.put(raw(4))
        await until(lambda: lane.restarts == 3 and lane.offset == 5)
        await lane.stop()

    monkeypatch.setattr(asyncio, "sleep", noted)
    run(test())

    assert [pause for pause in pauses if pause >= 100] == [100.0, 200.0, 100.0]


def test_a_seek_that_is_refused_does_not_matter() -> None:
    async def refused(_: int) -> None:
        raise ValueError("not assigned")

    async def test() -> None:
        topic = Topic(3)
        lane = PartitionTask(0, topic.opened, refused)
        await lane.put(raw(3))
        await until(lambda: lane.offset == 4)
        await lane.stop()

    run(test())


@pytest.mark.parametrize("error", [WriterBusy("another"), ValueError("a bug")])
def test_what_does_not_mend_ends_it_and_is_told(error: Exception) -> None:
    async def test() -> None:
        topic, told = Topic(3), []
        topic.failures = iter([error])
        lane = PartitionTask(0, topic.opened, unsought)
        lane.on_failure(told.append)
        await until(lambda: told)
        assert told == [error]
        assert topic.open == 0
        await lane.stop()

    run(test())


def test_let_go_while_it_opens_it_closes_what_was_opened() -> None:
    async def test() -> None:
        topic, go_on = Topic(3), threading.Event()

        def slowly(partition: int) -> Taking:
            go_on.wait(SECONDS)
            return topic.opened(partition)

        lane = PartitionTask(0, slowly, unsought)
        await asyncio.sleep(0.05)
        stopping = asyncio.create_task(lane.stop())
        await asyncio.sleep(0.05)
        go_on.set()
        await stopping
        assert topic.open == 0

    run(test())


def test_let_go_it_holds_up_nobody_who_brings_it_records(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(partition_task, "AHEAD", 2)

    async def test() -> None:
        topic, go_on = Topic(0), threading.Event()

        def slowly(partition: int) -> Taking:
            go_on.wait(SECONDS)
            return topic.opened(partition)

        async def bring() -> None:
            for offset in range(50):
                await lane.put(raw(offset))

        lane = PartitionTask(0, slowly, unsought)
        bringing = asyncio.create_task(bring())
        await asyncio.sleep(0.05)
        assert not bringing.done()
        stopping = asyncio.create_task(lane.stop())
        await asyncio.sleep(0.05)
        go_on.set()
        await asyncio.gather(stopping, bringing)

    run(test())
