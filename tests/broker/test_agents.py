"""The recorder and the believer apart: each writes its own topic alone, in one directory or in one of its own."""

from collections.abc import Callable
from contextlib import ExitStack, closing
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from asof.kafka.believer import BelieverPartition
from asof.kafka.recorder import RecorderPartition
from asof.runtime.layout import DirectoryLayout
from asof.settings import Settings
from asof_projections.generations import load
from asof_streams.errors import NotFound, TopicUnfit, WriterBusy
from asof_streams.ids import episode_id
from asof_streams.kafka.envelope import REACHED, Outgoing
from asof_streams.sqlite_log import SqliteLog
from asof_streams.writer_lock import AGENT, WriterLock
from kafka_topics import make_topics
from kafka_worker import Running, World, dump, embedded, fact, until, until_known

Start = Callable[..., Running]
SECRET = "the-canary-of-an-erased-group"
ERASURE: dict[str, Any] = {"group_id": "b"}


class Apart:
    """A recorder and a believer of one partition, in this process, that can be opened and closed each by itself."""

    def __init__(self, world: World, recorder: Path, believer: Path) -> None:
        self._world = world
        self._recorder = recorder
        self._believer = believer
        self._opened = ExitStack()

    def recorder(self) -> RecorderPartition:
        return RecorderPartition(*self._arguments(self._recorder))

    def believer(self, **given: Any) -> BelieverPartition:
        return BelieverPartition(*self._arguments(self._believer), **given)

    def record(self) -> None:
        with closing(self.recorder()) as recorder:
            recorder.ingest([])

    def believe(self, **given: Any) -> None:
        with closing(self.believer(**given)) as believer:
            end = self._world.client.end(self._world.topics.episodic, 0)
            while believer.offset < end:
                believer.ingest([])

    def _arguments(self, data: Path) -> tuple[Any, ...]:
        settings = Settings(data=data, embedder="none")
        return DirectoryLayout(data), settings, self._world.connection, self._world.topics, 0


@pytest.fixture(params=["one directory", "two directories"])
def apart(request: pytest.FixtureRequest, world: World, tmp_path: Path) -> Apart:
    shared = request.param == "one directory"
    return Apart(world, tmp_path / "recorder", tmp_path / ("recorder" if shared else "data"))


def facts(first: int, last: int) -> list[dict[str, Any]]:
    return [fact(number, "abc"[number % 3]) for number in range(first, last)]


def erase(world: World) -> None:
    world.send([ERASURE], ce_type=b"erasure.requested")


def holds(data: Path, text: str) -> list[str]:
    """The files of a directory that have a text in them."""
    return [path.name for path in data.rglob("*") if path.is_file() and text.encode() in path.read_bytes()]


def test_each_writes_its_own_topic_and_both_come_to_what_one_memory_comes_to(
    world: World, apart: Apart, tmp_path: Path
) -> None:
    world.send([*facts(0, 20), b"\xff no JSON", {"group_id": "a", "op": "retract", "ref": "nobody"}])
    apart.record()
    assert not world.records(world.topics.semantic("main"))
    recorded = world.records(world.topics.episodic)

    apart.believe()

    assert world.records(world.topics.episodic) == recorded
    world.send([*facts(20, 40), {**fact(1, "b"), "object": SECRET}])
    apart.record()
    apart.believe()
    erase(world)
    world.send(facts(40, 50))
    apart.record()  # it does not wait for the believer
    apart.believe()

    data = apart._believer
    found = dump(data)
    assert found.unplaced() == embedded(world, data, tmp_path / "embedded")
    assert world.afresh(tmp_path / "afresh") == found
    assert holds(data, SECRET) == holds(apart._recorder, SECRET) == []


def test_a_believer_follows_a_recorder_that_works_beside_it(world: World, apart: Apart, tmp_path: Path) -> None:
    with closing(apart.recorder()) as recorder, closing(apart.believer()) as believer:
        for start in range(0, 30, 5):
            world.send(facts(start, start + 5))
            recorder.ingest([])
            believer.ingest(world.records(world.topics.episodic)[-1:])
            assert believer.offset == world.client.end(world.topics.episodic, 0)

    assert dump(apart._believer).unplaced() == embedded(world, apart._believer, tmp_path / "embedded")


def test_a_believer_leaves_the_episodes_to_a_recorder_that_comes_to_its_directory(world: World, tmp_path: Path) -> None:
    apart = Apart(world, tmp_path / "data", tmp_path / "data")
    world.send(facts(0, 5))
    apart.record()
    with closing(apart.believer()) as believer:
        believer.ingest([])
        with pytest.raises(WriterBusy), WriterLock(tmp_path / "data"):
            pytest.fail("a believer alone keeps the episodes up itself")
        with WriterLock(tmp_path / "data", name=AGENT):
            believer.ingest([])
            with WriterLock(tmp_path / "data"):
                believer.ingest([])
        with closing(apart.recorder()) as recorder:
            world.send(facts(5, 10))
            recorder.ingest([])
            believer.ingest([])

    assert dump(tmp_path / "data").unplaced() == embedded(world, tmp_path / "data", tmp_path / "embedded")


def test_checkpoints_say_the_offset_of_the_input_by_which_a_believer_misses_records(
    world: World, bootstrap: str, tmp_path: Path
) -> None:
    apart = Apart(world, tmp_path / "recorder", tmp_path / "data")
    silent = {"group_id": "a", "content": "Hm.", "role": "Ana", "role_type": "user", "uuid": episode_id("a", 0)}
    for sent in (facts(0, 3), [silent], facts(3, 5)):
        world.send(sent)
        apart.record()
    apart.believe()

    topics = [getattr(world.topics, name) for name in ("messages", "episodic")]
    topics.append(world.topics.semantic("main"))
    for input_, topic in pairwise(topics):
        told = [
            headers["ce_checkpointoffset"]
            for raw in world.records(topic)
            if "ce_checkpointoffset" in (headers := dict(raw.headers))
        ]
        assert int(told[-1]) == world.client.end(input_, 0)

    world.send(facts(5, 8))
    apart.record()
    with World(bootstrap, f"{world.topics.prefix}-cut") as cut:
        for of, to in zip(topics, (cut.topics.messages, cut.topics.episodic, cut.topics.semantic("main")), strict=True):
            kept = [
                raw
                for raw in world.records(of)
                if (of, dict(raw.headers).get("ce_type")) != (topics[1], REACHED.encode())
            ]
            cut.send_raw(to, [Outgoing(raw.key, raw.value, [*raw.headers]) for raw in kept])
        with pytest.raises(TopicUnfit, match="Restore the topic"):
            Apart(cut, tmp_path / "recorder", tmp_path / "cut").believe()


def test_a_generation_of_another_name_is_begun_as_described(world: World, apart: Apart) -> None:
    world.administer(_create(world.topics.semantic("next")))
    world.send(facts(0, 10))
    apart.record()
    apart.believe()
    main = load(apart._believer)
    assert main is not None
    info = replace(main["main"], name="next", policy="graded")
    info = replace(info, build=info.digest())

    with pytest.raises(NotFound, match="no generation 'next' was begun"):
        apart.believe(generation="next")
    apart.believe(generation="next", info=info)
    world.send(facts(10, 20))
    apart.record()
    apart.believe(generation="next")
    apart.believe()

    catalog = load(apart._believer)
    assert catalog is not None
    assert (catalog.active, catalog["next"]) == ("main", info)
    places = DirectoryLayout(apart._believer)
    with SqliteLog(places.semantic("main")) as one, SqliteLog(places.semantic("next")) as other:
        assert one.checkpoint() == other.checkpoint() > 0
        assert [r.cause for r in other.read()][-1] == [r.cause for r in one.read()][-1] == 19


def _create(topic: str) -> Callable[[Any], Any]:
    from aiokafka.admin import NewTopic

    async def create(admin: Any) -> None:
        await make_topics(admin, [NewTopic(topic, 1, 1)])

    return create


def test_on_two_machines_each_goes_on_while_the_other_is_dead(world: World, start: Start, tmp_path: Path) -> None:
    def agents(kind: str) -> Running:
        return start(world, kind, ("worker", "--agents", kind))

    recorder = agents("recorder")
    world.send(facts(0, 10))
    until(lambda: _recorded(tmp_path / "recorder") == 10, recorder)
    believer = agents("believer")
    until_known(believer, 10)
    believer.kill()
    world.send(facts(10, 20))
    until(lambda: _recorded(tmp_path / "recorder") == 20, recorder)
    recorder.kill()
    believer = agents("believer")
    until_known(believer, 20)
    world.send(facts(20, 30))
    recorder = agents("recorder")
    until_known(believer, 30)
    recorder.stop()
    believer.stop()

    found = dump(believer.data)
    assert found.unplaced() == embedded(world, believer.data, tmp_path / "embedded")
    assert not DirectoryLayout(recorder.data).semantic("main").exists()


def _recorded(data: Path) -> int:
    path = DirectoryLayout(data).episodic
    if not path.exists():
        return 0
    with SqliteLog(path) as episodic:
        return episodic.checkpoint()
