"""What can go wrong around a worker; and at the end every message stands once, in order, as the embedded run has it."""

import asyncio
import json
import shutil
import sqlite3
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from aiokafka import AIOKafkaConsumer, AIOKafkaProducer, TopicPartition
from aiokafka.admin import AIOKafkaAdminClient, NewTopic
from aiokafka.errors import CommitFailedError

from asof.runtime.layout import DirectoryLayout
from asof_agents import worker as worker_module
from asof_agents.worker import FaustWorker, PartitionProgress
from asof_streams.episodic import MessageParked
from asof_streams.errors import WorkerStalled, WriterBusy
from asof_streams.events import Draft, Event
from asof_streams.instants import DAY, parse_moment
from asof_streams.kafka.client import Client
from asof_streams.kafka.envelope import Outgoing, Raw, claim, event
from asof_streams.kafka.partitioning import partition_of
from asof_streams.sqlite_log import SqliteLog
from kafka_broker import SASL_USER, Broker
from kafka_topics import alter_topic, make_topics
from kafka_worker import Running, World, dump, embedded, fact, reached, until, until_known
from patience import SECONDS
from shared_broker import SharedBroker

Start = Callable[..., Running]


def said(data: Path) -> list[str]:
    """What a directory was told, in its order: the object of each fact."""
    with SqliteLog(DirectoryLayout(data).messages) as log:
        return [getattr(record.event, "object", "") or "" for record in log.read()]


def objects(*numbers: int) -> list[str]:
    return [f"O{number}" for number in numbers]


def expect_embedded(world: World, data: Path, tmp_path: Path) -> None:
    """See that a directory, and the topics as read into a new one, hold what the embedded runtime makes of them."""
    found = dump(data)
    assert found.unplaced() == embedded(world, data, tmp_path / "embedded")
    assert found == world.afresh(tmp_path / "afresh")


async def commit(world: World, offset: int) -> None:
    """Set how far the group of the workers is said to be, once it has no member."""
    group = f"{world.topics.prefix}.workers"
    consumer = AIOKafkaConsumer(bootstrap_servers=world.connection.bootstrap, group_id=group, enable_auto_commit=False)
    async with consumer:
        at = TopicPartition(world.topics.messages, 0)
        consumer.assign([at])
        while True:
            try:
                return await consumer.commit({at: offset})
            except CommitFailedError:  # a worker that was stopped is a member until its session ends
                await asyncio.sleep(0.5)


# The group's offsets, and the local state: hints and copies.


@pytest.mark.parametrize("offset", [0, 30], ids=["back to nothing", "ahead of what was not taken"])
def test_what_the_group_says_of_its_offsets_changes_nothing(
    world: World, start: Start, tmp_path: Path, offset: int
) -> None:
    until_known(running := start(world), world.send(map(fact, range(20))))
    running.stop()
    world.send(map(fact, range(20, 30)))
    asyncio.run(commit(world, offset))

    running = start(world)
    until_known(running, world.send([fact(30)]))
    running.stop()

    assert said(running.data) == objects(*range(31))
    expect_embedded(world, running.data, tmp_path)


def test_a_deleted_directory_is_made_again_by_the_worker(world: World, start: Start, tmp_path: Path) -> None:
    until_known(running := start(world), world.send(map(fact, range(20))))
    running.stop()
    before = dump(running.data)
    shutil.rmtree(running.data)

    running = start(world)
    until_known(running, 20)
    running.stop()

    assert dump(running.data) == before
    expect_embedded(world, running.data, tmp_path)


DELETED = {
    "messages": "messages.sqlite",
    "episodic": "episodic.sqlite",
    "how far the topics were read": "kafka.db",
    "episodes": "episodes.db",
    "semantic": "generations/main/semantic.main.sqlite",
    "graph": "generations/main/graph.db",
    "the generation": "generations/main/*.*",
    "both derived logs": "**/*ic*.sqlite",
    "all of them": "**/*.sqlite",
}


@pytest.fixture(scope="session")  # between its tests a run of several processes has those of other files
def told(bootstrap: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[World, Path]]:
    """A partition that was told all kinds of messages, in two takes; the last of each adds nothing."""
    world, data = World(bootstrap, f"test-told-{time.time_ns()}"), tmp_path_factory.mktemp("told") / "data"
    partition = world.partition(data)
    world.send([{"group_id": "a", "content": "I live in Oslo.", "role": "Eva", "role_type": "user"}])
    partition.ingest([])
    with SqliteLog(DirectoryLayout(data).episodic) as log:
        episode = next(log.read(0, 1)).event.episode_id  # type: ignore[attr-defined]
    again = {"group_id": "a", "content": "Again.", "role_type": "user", "uuid": episode}
    for numbers in (range(9), range(9, 20)):
        world.send([*map(fact, numbers), b"no JSON", again])
        partition.ingest([])
    partition.close()
    yield world, data
    world.client.close()


@pytest.mark.parametrize("files", DELETED.values(), ids=DELETED.keys())
def test_each_deleted_file_is_made_again(told: tuple[World, Path], tmp_path: Path, files: str) -> None:
    world, data = told
    before = dump(data)
    copy = tmp_path / "data"
    shutil.copytree(data, copy)
    deleted = [path for name in (files, f"{files}-*") for path in copy.glob(name)]
    assert deleted
    for path in deleted:
        path.unlink(missing_ok=True)

    world.partition(copy).close()

    assert dump(copy) == before
    with closing(sqlite3.connect(copy / "kafka.db")) as db:
        assert db.execute("SELECT count(*) FROM topics").fetchone() == (3,)


def test_a_directory_that_was_read_from_other_topics_is_refused(
    told: tuple[World, Path], tmp_path: Path, prefix: str
) -> None:
    copy = tmp_path / "data"
    shutil.copytree(told[1], copy)
    (copy / "kafka.db").unlink()  # with it, the mark of the last record is known
    with World(told[0].connection.bootstrap, prefix) as other, pytest.raises(Exception, match="is not the topic"):
        other.partition(copy).close()


# More than one writer.


def test_two_workers_of_one_group_take_turns(world: World, start: Start, tmp_path: Path) -> None:
    first, second = start(world, "first"), start(world, "second")
    world.send(map(fact, range(20)))
    until(lambda: max(reached(r.data)[1] for r in (first, second)) >= 20, first)
    one, other = sorted((first, second), key=lambda r: reached(r.data)[1], reverse=True)
    one.stop()

    until_known(other, world.send(map(fact, range(20, 40))))
    other.stop()

    assert said(other.data) == objects(*range(40))
    assert "Traceback" not in first.said() + second.said()
    expect_embedded(world, other.data, tmp_path)


def test_a_worker_that_is_deposed_stops_and_says_so(world: World, start: Start, tmp_path: Path) -> None:
    until_known(running := start(world), world.send(map(fact, range(10))))
    later = world.partition(tmp_path / "later")
    world.send(map(fact, range(10, 20)))

    assert running.wait() == 1
    assert "another worker has taken over" in running.said().splitlines()[-1]
    later.ingest([])
    later.close()

    assert said(tmp_path / "later") == objects(*range(20))
    expect_embedded(world, tmp_path / "later", tmp_path)


def test_what_a_deposed_writer_sends_on_does_not_stand(world: World, tmp_path: Path) -> None:
    world.send(map(fact, range(10)))
    first = world.partition(tmp_path / "first")
    first.ingest([])
    second = world.partition(tmp_path / "second")
    end = len(dump(tmp_path / "first").episodic)
    stale = Draft("g", 1, 10, 0, 1, fact_of(tmp_path / "first"))
    sent = [event("episodic", end + number, stale, 1, None) for number in range(3)]

    world.send(map(fact, range(10, 15)))
    world.send_raw(world.topics.episodic, sent)
    second.ingest([])
    world.send_raw(
        world.topics.episodic, [*sent, claim("episodic", 1, "too late", 1), claim("episodic", 2, "equal", 1)]
    )
    world.send(map(fact, range(15, 20)))
    second.ingest([])
    with pytest.raises(WriterBusy):
        first.ingest([])
    world.send_raw(world.topics.episodic, sent)
    second.ingest([])
    first.close()
    second.close()

    assert said(tmp_path / "second") == objects(*range(20))
    expect_embedded(world, tmp_path / "second", tmp_path)


def fact_of(data: Path) -> Event:
    with SqliteLog(DirectoryLayout(data).episodic) as log:
        return next(log.read(0, 1)).event


def test_a_rebalance_under_load_loses_and_doubles_nothing(
    bootstrap: str, prefix: str, start: Start, tmp_path: Path
) -> None:
    groups, count = [f"group-{n}" for n in range(8)], 40
    with World(bootstrap, prefix, partitions=3) as world:
        home = {group: partition_of(group, 3) for group in groups}
        assert set(home.values()) == {0, 1, 2}
        running = [start(world, "first")]
        for number in range(count):
            for group in groups:
                world.send([fact(number, group)], home[group])
            if number in (8, 20):
                running.append(start(world, f"at {number}"))
            if number == 30:
                running[0].stop()
            time.sleep(0.1)
        ends = [world.client.extent(world.topics.messages, p)[1] for p in range(3)]

        def all_known() -> bool:
            found = [[reached(r.data / f"partition-{p}") for r in running] for p in range(3)]
            return all(
                any(offset == ends[p] and known == ends[p] for offset, known in of) for p, of in enumerate(found)
            )

        until(all_known, running[-1])
        for one in running[1:]:
            one.stop()

        for number in range(3):
            found = world.afresh(tmp_path / f"afresh-{number}", number)
            assert len(found.messages) == ends[number]
            wanted = embedded(world, tmp_path / f"afresh-{number}", tmp_path / f"embedded-{number}", number)
            assert found.unplaced() == wanted
            for group in groups:
                of = [row[-2].object for row in found.messages if row[1] == group]
                assert of == (objects(*range(count)) if home[group] == number else [])
    assert all("Traceback" not in one.said() for one in running)


def test_repeated_records_do_not_stand_in_for_missing_ones(world: World, tmp_path: Path) -> None:
    world.send(map(fact, range(10)))
    partition = world.partition(tmp_path / "data")
    raws = world.records(world.topics.messages)

    partition.ingest([raws[number] for number in (0, 1, 0, 1, 4, 5)])
    partition.ingest([raws[number] for number in (3, 9)])
    partition.close()

    assert said(tmp_path / "data") == objects(*range(10))


def test_the_partition_of_a_worker_that_was_killed_is_soon_taken_by_another(world: World, start: Start) -> None:
    until_known(killed := start(world), world.send(map(fact, range(10))))
    killed.kill()

    until_known(start(world), world.send(map(fact, range(10, 20))))


# What producers do.


def test_what_is_produced_twice_is_taken_once_whoever_else_produces(world: World, start: Start, tmp_path: Path) -> None:
    running = start(world)

    def produce(name: str) -> None:
        with Client(world.connection) as client:
            for number in range(20):
                value = b'{"group_id":"g","subject":"S","relation":"likes","object":"%s%d"}' % (name.encode(), number)
                headers = [("ce_source", name.encode()), ("ce_id", b"%d" % number)]
                client.send(world.topics.messages, 0, [Outgoing(b"g", value, headers)] * 2)
                if number > 5:
                    client.send(world.topics.messages, 0, [Outgoing(b"g", b"late", [*headers[:1], ("ce_id", b"3")])])

    producers = [threading.Thread(target=produce, args=(name,)) for name in "ab"]
    for producer in producers:
        producer.start()
    for producer in producers:
        producer.join()
    until_known(running, world.client.extent(world.topics.messages, 0)[1])
    running.stop()

    found = said(running.data)
    for name in "ab":
        assert [one for one in found if one.startswith(name)] == [f"{name}{number}" for number in range(20)]
    assert len(found) == 40
    expect_embedded(world, running.data, tmp_path)


def test_what_is_not_ours_is_parked_on_the_messages_topic_and_passed_over_on_the_others(
    world: World, start: Start, tmp_path: Path
) -> None:
    strange: list[Outgoing] = [
        Outgoing(b"key", None, []),
        Outgoing(None, b"", [("ce_type", b"")]),
        Outgoing(b"\xff", b"\xff", [("\u00e9", b"\xff")]),
        Outgoing(b"g", b"[1]", [("ce_type", None), ("ce_id", None), ("ce_source", None)]),  # type: ignore[list-item]
        Outgoing(b"g", b"{}", [("ce_type", b"message.sent"), ("ce_eventversion", b"9" * 5_000)]),
        Outgoing(b"g", b"{}", [("ce_type", b"message.sent"), ("ce_eventversion", None)]),  # type: ignore[list-item]
        Outgoing(b"g", b"[" * 100_000, []),
        Outgoing(b"g", b'{"group_id": "g", "content": ' + b"9" * 5_000 + b"}", []),
        Outgoing(b"g", b"{}", [("ce_type", b"writer.claimed"), ("ce_term", b"nine"), ("ce_id", b"x")]),
    ]
    topics = world.topics
    running = start(world)
    for _ in range(2):
        for topic in (topics.messages, topics.episodic, topics.semantic("main"), topics.dead_letters):
            world.send_raw(topic, strange)
        until_known(running, world.send([fact(1), fact(2)]))
    world.send([fact(3)])
    until_known(running, world.client.extent(topics.messages, 0)[1])
    running.stop()

    parked = [row for row in dump(running.data).episodic if type(row[-2]).__name__ == "MessageParked"]
    assert 2 * len(strange) - 4 <= len(parked) <= 2 * len(strange)
    letters = [dict(raw.headers) for raw in world.records(topics.dead_letters) if "dlq_reason" in dict(raw.headers)]
    assert [letter["dlq_reason"].decode() for letter in letters] == [row[-2].reason for row in parked]
    assert [one for one in said(running.data) if one] == objects(1, 2, 1, 2, 3)
    expect_embedded(world, running.data, tmp_path)


def test_what_transactions_took_back_was_never_said_and_their_marks_hold_nothing_up(
    world: World, start: Start, tmp_path: Path
) -> None:
    running = start(world, worker_patience="20")
    values = [b'{"group_id":"g","subject":"S","relation":"likes","object":"O%d"}' % number for number in range(12)]

    async def send() -> None:
        producer = AIOKafkaProducer(bootstrap_servers=world.connection.bootstrap, transactional_id=world.topics.prefix)
        async with producer:
            for number, value in enumerate(values):
                await producer.begin_transaction()
                await producer.send_and_wait(world.topics.messages, value, key=b"g", partition=0)
                await (producer.abort_transaction() if number % 3 == 1 else producer.commit_transaction())

    asyncio.run(send())
    until_known(running, end := world.client.extent(world.topics.messages, 0)[1])
    time.sleep(7)
    running.stop()

    assert end == 24
    assert said(running.data) == objects(*(number for number in range(12) if number % 3 != 1))
    expect_embedded(world, running.data, tmp_path)


def test_recorded_time_rises_within_a_group_though_the_broker_gives_a_batch_one_time(
    world: World, tmp_path: Path
) -> None:
    world.send([fact(number, "ab"[number % 2]) for number in range(50)])
    partition = world.partition(tmp_path / "data")
    partition.ingest([])
    partition.close()

    broker = [raw.timestamp for raw in world.records(world.topics.messages)]
    assert len(set(broker)) < 10
    rows = dump(tmp_path / "data").messages
    for group in "ab":
        times = [row[2] for row in rows if row[1] == group]
        assert all(later == earlier + 1 for earlier, later in pairwise(times) if earlier % 1_000 or later % 1_000)
        assert len(set(times)) == 25


def test_a_time_decades_ahead_dates_its_own_group_alone_and_the_same_in_every_copy(
    bootstrap: str, prefix: str, tmp_path: Path
) -> None:
    ahead, end = parse_moment("2060-01-01"), parse_moment("9999-12-31T23:59:59Z")
    asyncio.run(make_undated(bootstrap, f"{prefix}.messages"))
    with World(bootstrap, prefix) as world:
        for number, (group, time) in enumerate({"a": ahead, "b": end}.items()):
            asyncio.run(send_at(world, time // 1_000, fact(number, group)))
        world.send([fact(1, "a"), fact(2, "b"), fact(3, "c")])
        partition = world.partition(tmp_path / "data")
        partition.ingest([])
        partition.close()

        first, last, *later = [row[2] for row in dump(tmp_path / "data").messages]
        assert (first, later[0]) == (ahead, ahead + 1)
        assert end - 2 * DAY < last == later[1] - 1
        assert later[2] < ahead
        expect_embedded(world, tmp_path / "data", tmp_path)


def test_a_record_that_is_dated_after_the_year_9999_is_parked_and_the_next_ones_have_their_times(
    bootstrap: str, prefix: str, start: Start, tmp_path: Path
) -> None:
    beyond = parse_moment("9999-12-31T23:59:59Z") // 1_000 + 1_000
    asyncio.run(make_undated(bootstrap, f"{prefix}.messages"))
    with World(bootstrap, prefix) as world:
        world.send([fact(1, "a")])
        for number, (group, time) in enumerate({"a": beyond, "b": 2**60 + 1}.items()):
            asyncio.run(send_at(world, time, fact(number, group)))
        dated = {"message.timestamp.type": "LogAppendTime", "retention.ms": "-1"}
        world.administer(lambda admin: alter_topic(admin, world.topics.messages, dated))
        running = start(world)
        until_known(running, 3)
        running.stop()
        running = start(world)
        until_known(running, world.send([fact(2, "a"), fact(3, "b")]))
        running.stop()

        rows = dump(running.data).episodic
        parked = [(row[1], row[-2].reason) for row in rows if isinstance(row[-2], MessageParked)]
        reason = "the broker dated it after the year 9999: set its clock right, and send it again"
        assert parked == [("a", reason), ("b", reason)]
        assert len(world.records(world.topics.dead_letters)) == 2
        first, behind, alone, *later = [row[2] for row in dump(running.data).messages]
        assert (behind, alone) == (first + 1, 0)
        assert all(0 <= time - first < DAY for time in later)
        expect_embedded(world, running.data, tmp_path)


async def make_undated(bootstrap: str, topic: str) -> None:
    """Make a topic on which a producer may say what time it is, as if it were the broker's clock."""
    admin = AIOKafkaAdminClient(bootstrap_servers=bootstrap)
    await admin.start()
    try:
        given = {"message.timestamp.type": "CreateTime", "message.timestamp.after.max.ms": str(2**62)}
        await make_topics(admin, [NewTopic(topic, 1, 1, topic_configs={**given, "retention.ms": "-1"})])
    finally:
        await admin.close()


async def send_at(world: World, time_ms: int, value: dict[str, Any]) -> None:
    async with AIOKafkaProducer(bootstrap_servers=world.connection.bootstrap) as producer:
        topic = world.topics.messages
        await producer.send_and_wait(topic, json.dumps(value).encode(), partition=0, timestamp_ms=time_ms)


# Its end.


@pytest.mark.long
def test_a_worker_that_is_asked_to_stop_under_load_stops_at_once_and_loses_nothing(
    world: World, start: Start, tmp_path: Path
) -> None:
    sent = world.send(fact(number) | {"subject": f"S{number % 900}"} for number in range(7_000))
    running = start(world)
    until(lambda: reached(running.data)[0] > 0, running)
    running.stop()
    before, _ = reached(running.data)

    until_known(running := start(world), sent)
    running.stop()

    assert 0 < before < sent
    assert said(running.data) == objects(*range(7_000))
    expect_embedded(world, running.data, tmp_path)


def test_a_worker_stops_when_asked_though_the_broker_is_gone(own_broker: Broker, prefix: str, start: Start) -> None:
    with World(own_broker.bootstrap, prefix) as world:
        until_known(running := start(world), world.send(map(fact, range(10))))
    own_broker.kill()
    time.sleep(3)
    running.stop()

    assert "Exception in thread" not in running.said(), "Faust would wait for a thread that never says its end"


class Blocked:
    """An intake that is open, and never comes back from taking."""

    offset = parked = 0

    def __init__(self) -> None:
        self.begun, self.let_go = threading.Event(), threading.Event()

    def ingest(self, _: list[Raw]) -> None:
        self.begun.set()
        self.let_go.wait()

    def close(self) -> None:
        pass


def test_an_intake_that_stands_still_while_its_topic_goes_on_fails_the_worker(world: World, tmp_path: Path) -> None:
    world.send([fact(1)])
    blocked = Blocked()
    reports: list[list[PartitionProgress]] = []
    worker = FaustWorker(
        world.connection,
        world.topics.messages,
        f"{world.topics.prefix}.blocked",
        lambda _: blocked,
        end_of=lambda partition: world.client.extent(world.topics.messages, partition)[1],
        report=reports.append,
        patience=3.0,
        folder=tmp_path,
        member="a",
    )
    try:
        with pytest.raises(WorkerStalled, match=r"partition 0 of .* stands at 0 of 1"):
            asyncio.run(worker.run())
    finally:
        blocked.let_go.set()
    assert (0, 0, 1) in [progress[:3] for report in reports for progress in report]
    assert not list(Path.cwd().glob("*-data")), "Faust left a folder where the worker was started"


class Told:
    """An intake that notes of which records it is told, and is as far as the last of them."""

    parked = 0

    def __init__(self) -> None:
        self.offsets: list[int] = []
        self.times: list[int | None] = []

    @property
    def offset(self) -> int:
        return self.offsets[-1] + 1 if self.offsets else 0

    def ingest(self, records: list[Raw]) -> None:
        self.offsets += [raw.offset for raw in records]
        self.times += [raw.timestamp for raw in records]

    def close(self) -> None:
        pass


async def tell(world: World, told: Told, folder: Path, *, skims: bool) -> Any:
    """Run a worker until its intake was told of three more records, and the offset of its group says so.

    Return its application of Faust.
    """
    at, group = TopicPartition(world.topics.messages, 0), f"{world.topics.prefix}.told"
    end = partial(world.client.end, *at)
    worker = FaustWorker(
        *(world.connection, at.topic, group, lambda _: told),
        end_of=lambda _: end(),
        report=lambda _: None,
        patience=600.0,
        folder=folder,
        member="a",
        skims=skims,
    )

    async def committed() -> int:
        async with AIOKafkaConsumer(bootstrap_servers=world.connection.bootstrap, group_id=group) as consumer:
            return await consumer.committed(at) or 0

    running = asyncio.create_task(worker.run())
    await asyncio.to_thread(until, lambda: told.offset == end())
    last = world.send(map(fact, range(3)))
    await asyncio.to_thread(until, lambda: told.offset == last)
    await asyncio.to_thread(until, lambda: asyncio.run(committed()) >= last)
    consumer: Any = worker._app.consumer
    assert not any(consumer._gap.values()), "Faust sorts what it holds at each fetch"
    worker.stop()
    await running
    return worker._app


@pytest.mark.parametrize("skims", [True, False])
def test_few_records_go_through_a_stream_of_faust_and_an_intake_that_reads_its_topic_itself_is_told_of_few(
    world: World, tmp_path: Path, skims: bool
) -> None:
    told, count = Told(), 2_000
    world.send(map(fact, range(count)))

    app = asyncio.run(tell(world, told, tmp_path, skims=skims))

    assert app.monitor.messages_received_total < count / 10
    if skims:
        assert len(told.offsets) < count / 10
        assert told.times[0] == world.records(world.topics.messages)[0].timestamp, "the age of all that it stands for"
    else:
        assert told.offsets == [*range(count + 3)]


def test_a_stop_in_a_rebalance_that_waits_for_a_partition_being_opened_stops_faust_too(
    world: World, start: Start, tmp_path: Path
) -> None:
    blocked = Blocked()
    reports: list[list[PartitionProgress]] = []

    def open_partition(_: int) -> Blocked:
        blocked.let_go.wait()
        return blocked

    worker = FaustWorker(
        world.connection,
        world.topics.messages,
        f"{world.topics.prefix}.workers",
        open_partition,
        end_of=lambda partition: world.client.extent(world.topics.messages, partition)[1],
        report=reports.append,
        patience=600.0,
        folder=tmp_path,
        member="a",
    )

    async def stop_in_a_rebalance() -> list[str]:
        running = asyncio.create_task(worker.run())
        await asyncio.to_thread(until, lambda: reports and reports[-1])
        start(world)
        await asyncio.to_thread(until, lambda: not reports[-1])  # revoked
        worker.stop()
        await running
        return [repr(task) for task in asyncio.all_tasks() if "site-packages/" in repr(task)]

    try:
        left = asyncio.run(stop_in_a_rebalance())
    finally:
        blocked.let_go.set()
    assert left == []


def test_a_worker_that_is_to_finish_stays_in_its_group_until_the_call_under_way_has_ended(
    world: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Else the topic of a dropped generation was deleted while its believer still wrote there."""
    monkeypatch.setattr(worker_module, "_STOP_SECONDS", 0.0)
    blocked, reports = Blocked(), list[list[PartitionProgress]]()
    worker = FaustWorker(
        world.connection,
        world.topics.messages,
        f"{world.topics.prefix}.workers",
        lambda _: blocked,
        end_of=lambda partition: world.client.extent(world.topics.messages, partition)[1],
        report=reports.append,
        patience=600.0,
        folder=tmp_path,
        member="a",
    )

    async def finish() -> None:
        running = asyncio.create_task(worker.run())
        await asyncio.to_thread(blocked.begun.wait)
        worker.finish()
        for _ in range(1_000):  # rounds of the loop: all that can be done is
            await asyncio.sleep(0)
        assert not worker._app.should_stop
        assert not running.done()
        monkeypatch.setattr(worker_module, "_STOP_SECONDS", SECONDS)
        blocked.let_go.set()
        await running
        assert worker._app.should_stop

    try:
        asyncio.run(finish())
    finally:
        blocked.let_go.set()


def test_a_worker_whose_consumer_needs_it_once_more_as_it_ends_ends(
    world: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Faust's thread ends its tasks last; the worker's loop stood for good where one of them waited for it."""
    monkeypatch.setattr(worker_module, "_STOP_SECONDS", SECONDS)
    reports: list[list[PartitionProgress]] = []
    asked, free = threading.Event(), Blocked()
    free.let_go.set()
    worker = FaustWorker(
        world.connection,
        world.topics.messages,
        f"{world.topics.prefix}.workers",
        lambda _: free,
        end_of=lambda partition: world.client.extent(world.topics.messages, partition)[1],
        report=reports.append,
        patience=600.0,
        folder=tmp_path,
        member="a",
    )

    async def asks_at_its_end(of: asyncio.AbstractEventLoop) -> None:
        asked.set()
        try:
            await asyncio.sleep(600.0)
        finally:
            await asyncio.wrap_future(asyncio.run_coroutine_threadsafe(asyncio.sleep(0), of))

    async def stop() -> None:
        running = asyncio.create_task(worker.run())
        await asyncio.to_thread(until, lambda: reports)
        consumer: Any = worker._app.consumer
        loop = consumer._thread.thread_loop
        asyncio.run_coroutine_threadsafe(asks_at_its_end(asyncio.get_running_loop()), loop)
        await asyncio.to_thread(until, asked.is_set)
        worker.stop()
        await running
        assert not [task for task in asyncio.all_tasks() if "site-packages/" in repr(task)]

    asyncio.run(stop())


# What it cannot do, it says in one line.


def newer() -> Outgoing:
    headers = [("ce_type", b"message.sent"), ("ce_eventversion", b"99")]
    return Outgoing(b"g", b"in a form that nobody here knows", headers)


def last_line(running: Running) -> str:
    lines = [line for line in running.said().splitlines() if line.startswith("asof: ")]
    assert len(lines) == 1, running.said()
    assert "Traceback" not in running.said()
    return lines[0]


def test_a_message_of_a_newer_version_stops_the_worker_before_it(world: World, start: Start) -> None:
    until_known(running := start(world), world.send(map(fact, range(5))))
    world.send_raw(world.topics.messages, [newer()])
    for _ in range(2):
        assert running.wait() == 2
        assert "offset 5" in last_line(running)
        assert "upgrade asof" in last_line(running)
        assert reached(running.data) == (5, 5)
        running.file.unlink()
        running = start(world)


def test_an_event_of_a_newer_version_stops_the_worker(world: World, start: Start, tmp_path: Path) -> None:
    partition = world.partition(tmp_path / "first")
    world.send(map(fact, range(5)))
    partition.ingest([])
    partition.close()
    rows = dump(tmp_path / "first").episodic
    writer = world.holder(world.topics.episodic).writer
    (key, value, headers) = event("episodic", len(rows), Draft("g", 1, 5, 0, 1, rows[0][-2]), 1, 6, writer)
    newer = [(name, b"99" if name == "ce_eventversion" else found) for name, found in headers]
    world.send_raw(world.topics.episodic, [Outgoing(key, value, newer)])

    running = start(world)
    assert running.wait() == 2
    assert "upgrade asof" in last_line(running)


@pytest.mark.parametrize(
    ("settings", "told"),
    [
        ({"kafka": "127.0.0.1:1"}, "no broker at 127.0.0.1:1"),
        ({"kafka_prefix": "nothing-here"}, "topics create"),
        ({"kafka_security_protocol": "SSL"}, "ASOF_KAFKA_SECURITY_PROTOCOL"),
    ],
)
def test_what_is_set_wrong_ends_a_worker_with_2_and_one_line(
    world: World, start: Start, settings: dict[str, str], told: str
) -> None:
    running = start(world, **settings)
    assert running.wait() == 2
    assert told in last_line(running)


def test_a_topic_that_would_lose_history_ends_a_worker_with_2_and_one_line(world: World, start: Start) -> None:
    world.administer(lambda admin: alter_topic(admin, world.topics.episodic, {"retention.ms": "1000"}))
    running = start(world)
    assert running.wait() == 2
    assert "retention.ms" in last_line(running)


def test_a_wrong_password_ends_a_worker_with_2_and_one_line(
    started_broker: SharedBroker, world: World, start: Start
) -> None:
    given = {
        "kafka": started_broker.sasl_bootstrap,
        "kafka_security_protocol": "SASL_PLAINTEXT",
        "kafka_sasl_mechanism": "PLAIN",
        "kafka_sasl_username": SASL_USER,
    }
    running = start(world, **given, kafka_sasl_password="not-the-one")
    assert running.wait() == 2
    assert "refuses ASOF_KAFKA_SASL_USERNAME" in last_line(running)
    assert "not-the-one" not in running.said()
