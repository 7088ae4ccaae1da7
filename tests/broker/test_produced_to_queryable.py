"""What stands between a message and its beliefs: counted, and weighed against a bare agent, without wall-clock time."""

import asyncio
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from statistics import median

import pytest
from bench.material import child

from asof.kafka.believer import BelieverPartition
from asof.kafka.recorder import RecorderPartition
from asof.runtime.layout import DirectoryLayout
from asof.runtime.visible_offset import visible_offset
from asof.settings import Settings
from asof_agents.partition_task import PartitionIntake
from asof_agents.worker import FaustWorker
from asof_streams.kafka.envelope import Raw
from effort import tries
from kafka_worker import Running, World, fact, until, until_known

Start = Callable[..., Running]

# For facts a worker takes three tenths of a bare agent's time: it handles a fetch at once, the agent each record.
MOST_OF_A_BARE_AGENT = 0.6


class Counted:
    """An intake that notes how many records it is told of each time; none: it looks for them itself."""

    def __init__(self, intake: PartitionIntake, told: list[int]) -> None:
        self._intake = intake
        self._told = told

    @property
    def offset(self) -> int:
        return self._intake.offset

    @property
    def parked(self) -> int:
        return self._intake.parked

    def ingest(self, records: list[Raw]) -> None:
        self._told.append(len(records))
        self._intake.ingest(records)

    def close(self) -> None:
        self._intake.close()


def test_nothing_but_a_fetch_of_each_agent_stands_between_a_message_and_its_beliefs(
    world: World, tmp_path: Path
) -> None:
    """An agent that is not told of a record finds it by a look, two seconds later: that is the other way."""
    places, settings = DirectoryLayout(tmp_path), Settings(data=tmp_path, embedder="none")
    given = places, settings, world.connection, world.topics
    told: dict[str, list[int]] = {"recorder": [], "believer": []}
    opening = {"recorder": RecorderPartition, "believer": BelieverPartition}
    topics = {"recorder": world.topics.messages, "believer": world.topics.episodic}

    def agent(name: str) -> FaustWorker:
        end = partial(world.client.end, topics[name])
        return FaustWorker(
            *(world.connection, topics[name], f"{world.topics.prefix}.{name}"),
            lambda partition: Counted(opening[name](*given, partition), told[name]),
            end_of=end,
            report=lambda _: None,
            patience=600.0,
            folder=tmp_path,
            member=name,
            skims=name == "believer",
        )

    def ways(number: int) -> set[str]:
        """Send a message; return the agents that were told of it before it can be asked about."""
        before = {name: len(counts) for name, counts in told.items()}
        end = world.send([fact(number)])
        until(lambda: visible_offset(places, settings) >= end)
        return {name for name, counts in told.items() if any(counts[before[name] :])}

    async def run() -> list[set[str]]:
        agents = [agent(name) for name in told]
        running = [asyncio.create_task(each.run()) for each in agents]
        found = [await asyncio.to_thread(ways, number) for number in range(21)]
        for each in agents:
            each.stop()
        await asyncio.gather(*running)
        return found[1:]  # the first one waits until the agents have joined their groups

    found = asyncio.run(run())

    assert found.count({*told}) > len(found) / 2


# In processor time, whatever else the machine does.


def descendants(process: int) -> Iterator[int]:
    """Yield a process and all that it has started, by their ids."""
    yield process
    for children in Path("/proc", str(process), "task").glob("*/children"):
        for child_id in map(int, children.read_text().split()):
            yield from descendants(child_id)


def processor_seconds(process: int) -> float:
    """Return the seconds of processor time of a process and of all that it has started."""
    return sum(time.clock_gettime((~each << 3) | 2) for each in descendants(process))  # as Linux numbers their clocks


def worker_seconds(world: World, running: Running, count: int) -> float:
    """Return the processor time that a worker takes for so many facts, all at once."""
    before = processor_seconds(running.pid)
    until_known(running, world.send(map(fact, range(count))))
    return processor_seconds(running.pid) - before


def bare_agent_seconds(world: World, folder: Path, count: int) -> float:
    """Return the processor time that a bare agent of Faust takes to send on the first messages of a topic."""
    folder.mkdir()
    topics = world.topics
    said = child("bare_faust", world.connection.bootstrap, topics.messages, topics.dead_letters, count, folder)
    seconds: float = said["work_seconds"]
    return seconds


@pytest.mark.long
def test_a_worker_takes_less_processor_time_for_facts_than_a_bare_agent_that_sends_them_on(
    world: World, start: Start, tmp_path: Path
) -> None:
    count = tries(1_000, nightly=20_000)
    running = start(world)
    until_known(running, world.send(map(fact, range(count))))

    shares = [
        worker_seconds(world, running, count) / bare_agent_seconds(world, tmp_path / f"bare-{n}", count)
        for n in range(tries(1, nightly=5))
    ]
    running.stop()

    assert median(shares) < MOST_OF_A_BARE_AGENT
