"""kill -9 of a worker at random moments, and of the broker: the end is that of a run that nothing happened to."""

import os
import random
import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import partial
from pathlib import Path

import pytest

from asof_streams.errors import BrokerUnavailable
from asof_streams.kafka.client import Client
from effort import tries
from kafka_broker import Broker
from kafka_lines import bury, kept, line
from kafka_worker import Running, World, dump, embedded, reached, until, until_known

pytestmark = [pytest.mark.crash, pytest.mark.timeout(tries(1_800, nightly=14_400))]

KILLS = tries(6, nightly=200)  # of each part: the worker, and the process of each of its agents
BROKER_EVERY = 8  # of these kills
SEED = int(os.environ.get("ASOF_CRASH_SEED", "20240101"))
WORKER = "worker"
FOLDERS = [".", "generations/main"]  # of the recorder, and of the believer


class Producer(threading.Thread):
    """Sends line after line until it is told to stop; what was not acknowledged it sends again."""

    def __init__(self, world: World) -> None:
        super().__init__(daemon=True)
        self.sent = 0
        self.enough = threading.Event()
        self._world = world

    def run(self) -> None:
        chance = random.Random(SEED)
        client = Client(self._world.connection, timeout=5)
        while not self.enough.is_set():
            size = chance.randint(1, 12)
            records = [line(number) for number in range(self.sent, self.sent + size)]
            try:
                client.send(self._world.topics.messages, 0, records)
            except BrokerUnavailable:
                client.close()
                client = Client(self._world.connection, timeout=5)
            else:
                self.sent += size
                time.sleep(chance.uniform(0.0, 0.5))
        client.close()


def kill_agent(running: Running, folder: str) -> bool:
    """Kill the process of a worker's agent that writes to a folder of its directory, if there is one."""
    with suppress(ValueError, OSError):  # none has opened it yet, or it was killed before
        writer = int((running.data / folder / "writer.lock").read_text(encoding="ascii"))
        if is_alive_below(running.pid, writer):
            os.kill(writer, signal.SIGKILL)
            return True
    return False


def is_alive_below(ancestor: int, pid: int) -> bool:
    """Whether a process runs that another one started, or that one's children did."""
    parent = pid
    while parent > 1:
        state, above = Path(f"/proc/{parent}/stat").read_text().rsplit(")", 1)[1].split()[:2]
        if parent == pid and state == "Z":  # killed, and nobody has asked what became of it
            return False
        parent = int(above)
        if parent == ancestor:
            return True
    return False


@pytest.fixture
def producer(own_broker: Broker, prefix: str) -> Iterator[Producer]:
    with World(own_broker.bootstrap, prefix) as world:
        producer = Producer(world)
        yield producer
        producer.enough.set()
        producer.join()


@pytest.mark.long
def test_kills_of_the_worker_and_some_of_the_broker_lose_double_and_reorder_nothing(
    own_broker: Broker, producer: Producer, start: Callable[..., Running], tmp_path: Path
) -> None:
    chance = random.Random(SEED)
    world = producer._world
    producer.start()
    moved, kills, broker_kills = [0], dict.fromkeys([WORKER, *FOLDERS], 0), 0
    while min(kills.values()) < KILLS:
        running = start(world, has_children=True)
        for _ in range(chance.randint(0, 4)):  # of what writes, which the worker then starts again
            time.sleep(chance.uniform(0.3, 1.5))
            folder = min(FOLDERS, key=kills.__getitem__)
            kills[folder] += kill_agent(running, folder)
        if len(moved) % 2:  # an agent is killed, and the next one takes something, however busy the machine is
            folder = min(FOLDERS, key=kills.__getitem__)
            until(partial(kill_agent, running, folder), running)
            kills[folder] += 1
            until(partial(_goes_beyond, running, moved[-1]), running)
        time.sleep(chance.uniform(0.0, 2.0))
        if sum(kills.values()) // BROKER_EVERY > broker_kills:
            broker_kills += 1
            own_broker.kill()
            time.sleep(chance.uniform(0.0, 1.0))
            own_broker.start()
            time.sleep(chance.uniform(0.0, 2.0))
        running.kill()
        kills[WORKER] += 1
        bury(world)
        moved.append(reached(running.data)[0])
    producer.enough.set()
    producer.join()
    end = world.send_raw(world.topics.messages, [line(producer.sent)])  # something is left to do
    running = start(world, has_children=True)
    until_known(running, end)
    running.stop()

    found = dump(running.data)
    taken = [dict(raw.headers)["ce_id"] for raw in world.records(world.topics.messages)]
    numbers = [int(one) for one in dict.fromkeys(taken)]
    assert numbers[: producer.sent] == [*range(producer.sent)], f"ASOF_CRASH_SEED={SEED}"
    assert [row[-2] for row in found.messages] == kept(numbers), f"ASOF_CRASH_SEED={SEED}"
    assert found.unplaced() == embedded(world, running.data, tmp_path / "embedded"), f"ASOF_CRASH_SEED={SEED}"
    assert found == world.afresh(tmp_path / "afresh"), f"ASOF_CRASH_SEED={SEED}"
    assert moved == sorted(moved)


def _goes_beyond(running: Running, offset: int) -> bool:
    """Whether a worker has taken what is at an offset."""
    return reached(running.data)[0] > offset
