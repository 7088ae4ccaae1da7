"""How far a derived log has come is on its topic, so that whoever follows it knows, and nobody has to guess."""

import shutil
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest

from asof.kafka.follower import ReplicaFollower
from asof.runtime.layout import DirectoryLayout
from asof_streams.errors import WriterBusy
from asof_streams.ids import episode_id
from asof_streams.kafka.envelope import REACHED, Outgoing, Raw
from asof_streams.sqlite_log import SqliteLog
from asof_streams.writer_lock import WriterLock
from http_server import Server, serving
from kafka_worker import Running, World, dump, fact, until_known

Start = Callable[..., Running]
SILENT: dict[str, Any] = {"group_id": "g", "content": "Hm.", "role_type": "user", "role": "Ana"}
HOME: dict[str, Any] = SILENT | {"content": "I live in Paris."}


def type_of(raw: Raw) -> str:
    return dict(raw.headers)["ce_type"].decode()


def again(raws: Sequence[Raw]) -> list[Outgoing]:
    return [Outgoing(raw.key, raw.value, [*raw.headers]) for raw in raws]


def control_records(world: World) -> list[int]:
    """How many checkpoints are on the episodic topic, and on the semantic one."""
    topics = (world.topics.episodic, world.topics.semantic("main"))
    return [[type_of(raw) for raw in world.records(topic)].count(REACHED) for topic in topics]


def derived(data: Path) -> tuple[int, int]:
    """Up to which message a directory is recorded, and up to which episodic event it is believed."""
    with (
        SqliteLog(DirectoryLayout(data).episodic) as episodic,
        SqliteLog(DirectoryLayout(data).semantic("main")) as semantic,
    ):
        return episodic.checkpoint(), semantic.checkpoint()


def followed(world: World, data: Path) -> tuple[int, int]:
    """The same of a new directory that follows the topics and knows nothing else."""
    with ReplicaFollower(DirectoryLayout(data), world.connection, world.topics) as follower:
        follower.catch_up()
    return derived(data)


@pytest.mark.parametrize(
    ("last", "added"),
    [
        pytest.param(SILENT, [0, 1], id="no fact follows"),
        pytest.param(SILENT | {"uuid": episode_id("g", 0)}, [1, 0], id="no event follows"),
        pytest.param(HOME, [0, 0], id="facts follow"),
    ],
)
def test_a_follower_knows_how_far_the_topics_are_derived(
    world: World, tmp_path: Path, last: dict[str, Any], added: list[int]
) -> None:
    partition = world.partition(tmp_path / "worker")
    world.send([SILENT, HOME])
    partition.ingest([])
    before = control_records(world)
    world.send([last])
    partition.ingest([])
    for _ in range(3):
        partition.ingest([])  # nothing is said of nothing
    partition.close()

    assert [now - then for now, then in zip(control_records(world), before, strict=True)] == added
    with SqliteLog(DirectoryLayout(tmp_path / "worker").episodic) as episodic:
        assert derived(tmp_path / "worker") == (3, episodic.end())
    assert followed(world, tmp_path / "copy") == derived(tmp_path / "worker")
    assert dump(tmp_path / "copy") == dump(tmp_path / "worker")


def test_a_topic_of_an_older_version_is_told_by_whoever_takes_it_over(
    world: World, bootstrap: str, tmp_path: Path
) -> None:
    partition = world.partition(tmp_path / "worker")
    for message in (HOME, SILENT, SILENT | {"uuid": episode_id("g", 0)}):
        world.send([message])
        partition.ingest([])
    partition.close()
    wanted = derived(tmp_path / "worker")
    with World(bootstrap, f"test-{uuid4().hex[:12]}") as old:
        old.send_raw(old.topics.messages, again(world.records(world.topics.messages)))
        for to, of in [
            (old.topics.episodic, world.topics.episodic),
            (old.topics.semantic("main"), world.topics.semantic("main")),
        ]:
            old.send_raw(to, again([raw for raw in world.records(of) if type_of(raw) != REACHED]))
        episodic, semantic = followed(old, tmp_path / "old")
        assert episodic < wanted[0]
        assert semantic < wanted[1]
        for path, checkpoint in zip(
            (DirectoryLayout(tmp_path / "old").episodic, DirectoryLayout(tmp_path / "old").semantic("main")),
            wanted,
            strict=True,
        ):
            with SqliteLog(path, writable=True) as log:  # as a worker kept it that told nobody
                log.append([], checkpoint=checkpoint)

        old.partition(tmp_path / "old").close()

        assert control_records(old) == [1, 1]
        assert followed(old, tmp_path / "copy") == wanted


def test_what_a_deposed_writer_says_of_its_checkpoint_counts_nothing(world: World, tmp_path: Path) -> None:
    world.send([HOME])
    first = world.partition(tmp_path / "first")
    first.ingest([])
    second = world.partition(tmp_path / "second")
    world.send([SILENT | {"uuid": episode_id("g", 0)}])

    with pytest.raises(WriterBusy, match="another worker has taken over"):
        first.ingest([])
    assert followed(world, tmp_path / "copy")[0] == 1

    second.ingest([])
    assert followed(world, tmp_path / "copy")[0] == 2
    first.close()
    second.close()


def test_killed_at_any_record_a_worker_leaves_topics_that_say_how_far_they_are(
    world: World, start: Start, tmp_path: Path
) -> None:
    for number in range(6):
        running = start(world, f"worker-{number % 2}")
        end = world.send([SILENT, fact(number), SILENT, SILENT | {"uuid": episode_id("g", 0)}])
        if number % 3 == 2:
            until_known(running, end)
        running.kill()
    until_known(running := start(world, "last"), end)
    running.stop()

    assert followed(world, tmp_path / "copy") == derived(tmp_path / "last")
    assert dump(tmp_path / "copy") == dump(tmp_path / "last")


def facts_at(server: Server, position: int) -> list[str]:
    answer = server.client.get("/v1/facts", params={"group_id": "g", "min_position": position})
    assert answer.status_code == 200, answer.text
    return [found["object"] for found in answer.json()["facts"]]


@pytest.mark.parametrize("held_up", ["fact.asserted", REACHED])
def test_a_read_waits_for_the_belief_however_long_it_takes(
    world: World, bootstrap: str, tmp_path: Path, held_up: str
) -> None:
    partition = world.partition(tmp_path / "worker")
    for message in (SILENT | {"content": "I like chess."}, HOME, SILENT):
        world.send([message])
        partition.ingest([])
    partition.close()
    with World(bootstrap, f"test-{uuid4().hex[:12]}") as slow:
        for to, of in [(slow.topics.messages, world.topics.messages), (slow.topics.episodic, world.topics.episodic)]:
            slow.send_raw(to, again(world.records(of)))
        beliefs = world.records(world.topics.semantic("main"))
        missing = max(raw.offset for raw in beliefs if type_of(raw) == held_up)
        position = 2 if held_up == REACHED else 1
        slow.send_raw(slow.topics.semantic("main"), again(beliefs[:missing]))
        settings = {f"ASOF_{name.upper()}": value for name, value in slow.settings().items()}
        with serving(tmp_path / "served", **settings) as server, ThreadPoolExecutor() as threads:
            assert facts_at(server, position - 1)[0] == "chess"
            answer = threads.submit(facts_at, server, position)
            with pytest.raises(TimeoutError):
                answer.result(2)

            slow.send_raw(slow.topics.semantic("main"), again(beliefs[missing:]))

            assert answer.result(30) == ["chess", "Paris"]


def test_a_read_waits_for_the_graph_of_a_directory_that_another_process_keeps_up(world: World, tmp_path: Path) -> None:
    graph, kept = DirectoryLayout(tmp_path / "data").graph("main"), []
    for number, content in enumerate(("I like chess.", "I live in Paris.")):
        world.send([SILENT | {"content": content}])
        partition = world.partition(tmp_path / "data")
        partition.ingest([])
        partition.close()
        kept.append(shutil.copy(graph, tmp_path / f"graph-{number}"))
    Path(kept[0]).replace(graph)  # as it was before the second message
    settings = {f"ASOF_{name.upper()}": value for name, value in world.settings().items()}
    with (
        WriterLock(tmp_path / "data"),
        WriterLock(graph.parent),
        serving(tmp_path / "data", **settings) as server,
        ThreadPoolExecutor() as threads,
    ):
        answer = threads.submit(facts_at, server, 1)
        with pytest.raises(TimeoutError):
            answer.result(2)

        Path(kept[1]).replace(graph)

        assert answer.result(30) == ["chess", "Paris"]
