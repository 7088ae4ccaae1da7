"""A worker that died is back at once where it is started again, and another one takes over within its session."""

import json
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from asof.kafka.membership import Membership
from asof.runtime.layout import DirectoryLayout
from asof.runtime.replica_health import FILE
from asof_streams.kafka.client import Client
from asof_streams.kafka.envelope import Outgoing
from asof_streams.sqlite_log import SqliteLog
from kafka_worker import Running, World, dump, embedded, fact, reached, until, until_known

Start = Callable[..., Running]
SESSION_SECONDS = 6.0  # after which the broker takes a worker for dead
READY_SECONDS = 5.0  # of an idle machine
TAKEN_SECONDS = 3.0  # of an idle machine, after the session of the dead one
TRIES = 3  # at the most, where the machine holds one up


@contextmanager
def load(world: World) -> Iterator[None]:
    """Send a fact to a world some fifty times a second, as a client of its own."""
    enough = threading.Event()

    def produce() -> None:
        with Client(world.connection) as client:
            number = 0
            while not enough.wait(0.02):
                client.send(world.topics.messages, 0, [Outgoing(None, json.dumps(fact(number)).encode(), [])])
                number += 1

    producer = threading.Thread(target=produce)
    producer.start()
    try:
        yield
    finally:
        enough.set()
        producer.join()


def slowness() -> float:
    """Return how many seconds pass here in one of processor time: one on an idle machine."""
    begun, own = time.monotonic(), time.thread_time()
    while time.thread_time() - own < 0.1:
        pass
    return max((time.monotonic() - begun) / 0.1, 1.0)


def believed(data: Path) -> int:
    """Return how many episodic events of a directory are answered by beliefs."""
    with SqliteLog(DirectoryLayout(data).semantic("main")) as semantic:
        return semantic.checkpoint()


@pytest.mark.long
def test_a_worker_that_is_killed_again_and_again_under_load_is_ready_in_five_seconds_each_time(
    world: World, start: Start, tmp_path: Path
) -> None:
    running = start(world)
    until_known(running, world.send([fact(0)]))
    seconds = []
    with load(world):
        for number in range(1, 4):
            running.kill()
            end = world.send([fact(number)])
            slow, begun = slowness(), time.monotonic()
            running = start(world)
            until(lambda end=end: reached(tmp_path / "data")[0] >= end, running)  # type: ignore[misc]
            passed = time.monotonic() - begun
            seconds.append(passed / max(slow, slowness()))
    until_known(running, world.client.end(world.topics.messages, 0))
    running.stop()

    assert min(seconds) < READY_SECONDS  # it waited for no session of a dead one to end
    assert dump(running.data) == world.afresh(tmp_path / "afresh")


def test_a_worker_that_dies_each_time_after_a_few_records_comes_to_the_end(
    world: World, start: Start, tmp_path: Path
) -> None:
    running = start(world)
    until_known(running, world.send([fact(0)]))
    positions = [believed(running.data)]
    for number in range(1, 4):
        running.kill()
        world.send([fact(40 * number + each) for each in range(40)])
        running = start(world)
        until(lambda: believed(tmp_path / "data") >= positions[-1] + 10, running)
        running.kill()
        positions.append(believed(running.data))
    end = world.send([fact(1)])
    running = start(world)
    until_known(running, end)
    running.stop()

    assert positions == sorted(set(positions))
    assert dump(running.data).unplaced() == embedded(world, running.data, tmp_path / "embedded")
    assert dump(running.data) == world.afresh(tmp_path / "afresh")


def test_another_worker_takes_over_what_a_dead_one_leaves_soon_after_its_session(
    world: World, start: Start, tmp_path: Path
) -> None:
    one = start(world, "0")
    until_known(one, world.send([fact(0)]))
    after = []
    while len(after) < TRIES and min(after, default=TAKEN_SECONDS) >= TAKEN_SECONDS:
        other = start(world, str(len(after) + 1))
        until((other.data / FILE).exists, other)
        one.kill()
        end = world.send([fact(len(after) + 1)])
        slow, begun = slowness(), time.monotonic()
        until_known(other, end)
        passed = time.monotonic() - begun
        after.append((passed - SESSION_SECONDS) / max(slow, slowness()))
        one = other
    one.stop()

    assert min(after) < TAKEN_SECONDS
    assert dump(one.data) == world.afresh(tmp_path / "afresh")


def test_each_of_several_workers_in_a_directory_has_a_name_of_its_own_and_the_next_ones_have_the_same(
    tmp_path: Path,
) -> None:
    first, second = Membership(tmp_path), Membership(tmp_path)
    names = [first.name, second.name]
    assert len({*names, Membership(tmp_path / "other").name}) == 3
    first.release()
    second.release()

    assert [Membership(tmp_path).name, Membership(tmp_path).name] == names
