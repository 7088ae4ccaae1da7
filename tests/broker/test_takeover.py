"""A worker that died is back at once where it is started again, and another one takes over within its session."""

import time
from collections.abc import Callable
from pathlib import Path

from asof.kafka.membership import Membership
from asof.runtime.replica_health import FILE
from kafka_worker import Running, World, dump, fact, until, until_known

Start = Callable[..., Running]
SESSION_SECONDS = 6.0


def test_a_worker_that_is_killed_again_and_again_is_back_at_once_each_time(
    world: World, start: Start, tmp_path: Path
) -> None:
    running = start(world)
    until_known(running, world.send([fact(0)]))
    seconds = []
    for number in range(1, 4):
        running.kill()
        end = world.send([fact(number)])
        begun = time.monotonic()
        running = start(world)
        until_known(running, end)
        seconds.append(time.monotonic() - begun)
    running.stop()

    assert min(seconds) < SESSION_SECONDS  # it waited for no session of a dead one to end
    assert dump(running.data) == world.afresh(tmp_path / "afresh")


def test_another_worker_takes_over_what_a_dead_one_leaves(world: World, start: Start, tmp_path: Path) -> None:
    one = start(world, "one")
    until_known(one, world.send([fact(0)]))
    other = start(world, "other")
    until((tmp_path / "other" / FILE).exists, other)

    one.kill()
    until_known(other, world.send([fact(1)]))
    other.stop()

    assert dump(other.data) == world.afresh(tmp_path / "afresh")


def test_each_of_several_workers_in_a_directory_has_a_name_of_its_own_and_the_next_ones_have_the_same(
    tmp_path: Path,
) -> None:
    first, second = Membership(tmp_path), Membership(tmp_path)
    names = [first.name, second.name]
    assert len({*names, Membership(tmp_path / "other").name}) == 3
    first.release()
    second.release()

    assert [Membership(tmp_path).name, Membership(tmp_path).name] == names
