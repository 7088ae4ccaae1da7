"""kill -9 of a recorder, a believer and a projector on machines of their own: the end is that of one memory."""

import os
import random
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import NamedTuple

import pytest

from asof.runtime.layout import DirectoryLayout
from asof_streams.sqlite_log import SqliteLog
from effort import tries
from kafka_lines import BELIEVERS, RECORDERS, bury, kept, line
from kafka_worker import PROJECTOR, Running, World, dump, embedded, until, until_known

pytestmark = [pytest.mark.crash, pytest.mark.timeout(tries(1_800, nightly=14_400))]

KILLS = tries(4, nightly=200)  # of each part
SEED = int(os.environ.get("ASOF_CRASH_SEED", "20240101"))


class Part(NamedTuple):
    """A part of the memory that runs by itself."""

    command: Sequence[str]
    groups: Sequence[str]  # of consumers
    log: str  # that it writes in its directory

    def progress(self, data: Path) -> int:
        """Return how far it has come."""
        places = DirectoryLayout(data)
        path = places.episodic if self.log == "episodic" else places.semantic("main")
        if not path.exists():
            return 0
        with SqliteLog(path) as log:
            return log.checkpoint()


PARTS = {
    "recorder": Part(("worker", "--agents", "recorder"), [RECORDERS], "episodic"),
    "believer": Part(("worker", "--agents", "believer"), [BELIEVERS], "semantic"),
    "projector": Part(PROJECTOR, [], "semantic"),
}


@pytest.mark.long
def test_kills_of_recorder_believer_and_projector_lose_double_and_reorder_nothing(
    world: World, start: Callable[..., Running], tmp_path: Path
) -> None:
    chance, sent, running = random.Random(SEED), 0, dict[str, Running]()

    def start_all() -> None:
        for name, part in PARTS.items():
            if name not in running:
                running[name] = start(world, name, part.command)

    def send(count: int) -> int:
        nonlocal sent
        sent += count
        return world.send_raw(world.topics.messages, [line(number) for number in range(sent - count, sent)])

    kills = [name for name in PARTS for _ in range(KILLS)]
    chance.shuffle(kills)
    for number, name in enumerate(kills):
        part, data = PARTS[name], tmp_path / name
        start_all()
        before = part.progress(data)
        send(chance.randint(1, 12))
        if number % 2:  # it makes progress, however busy the machine is; the others are killed wherever they are
            until(partial(_is_beyond, part, data, before), running[name])
        time.sleep(chance.uniform(0.0, 1.0))
        running.pop(name).kill()
        bury(world, part.groups)
    start_all()
    end = send(1)
    for name in ("believer", "projector"):
        until_known(running[name], end)
    for name in PARTS:
        running[name].stop()

    found = dump(tmp_path / "believer")
    assert [row[-2] for row in found.messages] == kept([*range(sent)]), f"ASOF_CRASH_SEED={SEED}"
    assert found.unplaced() == embedded(world, tmp_path / "believer", tmp_path / "embedded"), f"ASOF_CRASH_SEED={SEED}"
    assert found == dump(tmp_path / "projector") == world.afresh(tmp_path / "afresh"), f"ASOF_CRASH_SEED={SEED}"


def _is_beyond(part: Part, data: Path, position: int) -> bool:
    return part.progress(data) > position
