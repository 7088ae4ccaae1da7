"""What no worker wrote on a derived topic is passed over, and said; the memory goes on, and every reader agrees."""

from collections.abc import Callable
from pathlib import Path

import pytest

from asof.kafka.follower import ReplicaFollower
from asof.runtime.layout import DirectoryLayout
from asof_streams.episodic import MessageParked
from asof_streams.events import Draft
from asof_streams.kafka.envelope import Outgoing, checkpoint_reached, claim, event
from asof_streams.kafka.state import FILE, State
from kafka_worker import Running, World, dump, embedded, fact, until_known


def forged(world: World, term: int, position: int) -> list[Outgoing]:
    draft = Draft("g", 1, 10_000, 0, 1, MessageParked(reason="forged"))
    copied = world.records(world.topics.episodic)[1]
    return [
        claim("episodic", 2**63 - 1, "forged", 1),
        claim("episodic", 10**30, "forged", 1),
        *(event("episodic", at, draft, term, None) for at in (position, position + 7)),
        event("episodic", position, draft, term + 1, 10**6, "forged"),
        checkpoint_reached("episodic", position, term, 10**6),
        Outgoing(copied.key, copied.value, [*copied.headers]),
    ]


def test_a_worker_goes_on_behind_forged_records_and_says_so(
    world: World, start: Callable[..., Running], tmp_path: Path
) -> None:
    running = start(world)
    until_known(running, world.send(map(fact, range(5))))
    episodic = world.topics.episodic
    rows = dump(running.data).episodic
    term = world.holder(episodic).term
    world.send_raw(episodic, forged(world, term, len(rows)))
    until_known(running, world.send(map(fact, range(5, 10))))
    running.stop()
    world.send_raw(episodic, forged(world, term, len(dump(running.data).episodic)))

    again = start(world)
    until_known(again, world.send(map(fact, range(10, 15))))
    again.stop()

    found = dump(running.data)
    assert f"{episodic}[0]: " in again.said()
    assert "7 records that no worker wrote are passed over" in again.said()
    assert found.unplaced() == embedded(world, running.data, tmp_path / "embedded")
    assert found == world.afresh(tmp_path / "afresh")
    with ReplicaFollower(DirectoryLayout(tmp_path / "followed"), world.connection, world.topics) as follower:
        follower.catch_up()
    assert dump(tmp_path / "followed") == found


@pytest.mark.parametrize("term", [2**63 - 1, 2**62 + 1])
def test_a_copy_that_an_earlier_version_left_at_a_forged_term_goes_on(world: World, tmp_path: Path, term: int) -> None:
    data, episodic = tmp_path / "data", f"{world.topics.episodic}[0]"
    world.send(map(fact, range(5)))
    world.partition(data).close()
    with State(data / FILE) as state:
        place = state.progress(episodic)
        state.put(episodic, place._replace(term=term, writer="forged", named=False))

    world.send(map(fact, range(5, 10)))
    partition = world.partition(data)
    partition.ingest([])
    partition.close()

    assert dump(data) == world.afresh(tmp_path / "afresh")
