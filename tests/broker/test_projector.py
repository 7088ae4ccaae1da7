"""A projector: from the topics alone to the same directory as the worker's, whatever is on them or happens."""

import asyncio
import json
import random
import shutil
import sqlite3
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from threading import Event
from typing import Any
from uuid import uuid4

import pytest
from aiokafka.admin import RecordsToDelete
from aiokafka.structs import TopicPartition

import asof
from asking import records
from asof.cli import app, calls
from asof.kafka.follower import ReplicaFollower
from asof.kafka.topic_logs import TopicLogs, TopicPartitions
from asof.runtime import clock
from asof.runtime.layout import DirectoryLayout
from asof.runtime.replica_health import ReplicaHealth, write_health
from asof_projections.generations import GenerationInfo, load
from asof_streams.episodic import MessageParked
from asof_streams.errors import InvalidInput, StorageFailed, TopicUnfit, WriterBusy
from asof_streams.events import Draft
from asof_streams.kafka import envelope
from asof_streams.kafka.envelope import Outgoing
from asof_streams.kafka.event_topic import EventTopic
from asof_streams.kafka.messages_topic import MessagesTopic
from asof_streams.kafka.state import State
from asof_streams.kafka.topic_log import PartitionId
from asof_streams.kafka.topics import create
from asof_streams.semantic import GenerationStarted
from asof_streams.sqlite_log import SqliteLog
from asof_streams.writer_lock import WriterLock, is_held
from kafka_broker import Broker
from kafka_worker import PROJECTOR, Dump, Partition, Running, World, dump, fact, reached, until, until_known

Start = Callable[..., Running]
SECRET = "Zarquon"


def follow(world: World, data: Path) -> Dump:
    """Bring a directory up to the topics' ends; return what it holds then."""
    with ReplicaFollower(DirectoryLayout(data), world.connection, world.topics) as follower:
        follower.catch_up()
    return dump(data)


def told(world: World, data: Path) -> Dump:
    """Let a worker take what is on the topic; return what it made of it."""
    partition = world.partition(data)
    partition.ingest([])
    partition.close()
    return dump(data)


def offsets(data: Path) -> list[int]:
    """The offsets that a directory's messages had."""
    with SqliteLog(DirectoryLayout(data).messages) as log:
        return [record.cause for record in log.read()]


def everything() -> list[bytes | dict[str, Any]]:
    """Facts of two groups that contradict each other, chat, and what cannot be taken."""
    said = {"group_id": "a", "role": "Ana", "role_type": "user", "content": "I moved to Berlin in March 2024."}
    return [*(fact(number, "ab"[number % 2]) for number in range(60)), said, b"no JSON", {"group_id": "a"}]


def erase(world: World, group: str) -> int:
    return world.send([{"group_id": group}], ce_type=b"erasure.requested")


def holds(data: Path, text: str) -> list[str]:
    """The files of a directory that have a text anywhere."""
    return [f.name for f in sorted(data.rglob("*")) if f.is_file() and text.encode() in f.read_bytes()]


# The same.


def test_a_projector_beside_a_worker_comes_to_the_same_logs_and_the_same_beliefs(
    world: World, start: Start, tmp_path: Path
) -> None:
    worker, projector = start(world), start(world, "followed", PROJECTOR)
    world.send(everything())
    erase(world, "b")
    end = world.send(everything())
    until_known(worker, end)
    until_known(projector, end)

    until((tmp_path / "followed" / "worker.json").exists, projector)
    until(lambda: ReplicaHealth.read(tmp_path / "followed").lag == 0, projector)
    health = ReplicaHealth.read(tmp_path / "followed")
    assert {row.topic for row in health.partitions} == {
        world.topics.messages,
        world.topics.episodic,
        world.topics.semantic("main"),
    }
    projector.stop()
    worker.stop()

    assert dump(tmp_path / "followed") == dump(tmp_path / "data")
    assert offsets(tmp_path / "followed") == offsets(tmp_path / "data")


def test_an_empty_directory_becomes_the_worker_s_and_no_topic_is_written_to(world: World, tmp_path: Path) -> None:
    world.send(everything())
    wanted = told(world, tmp_path / "data")
    before = {name: world.client.extent(name, 0) for name in world.topics.all(["main"])}

    found = follow(world, tmp_path / "followed")

    assert len(found.semantic) > 60
    assert found == wanted
    assert {name: world.client.extent(name, 0) for name in before} == before
    assert load(tmp_path / "followed") == load(tmp_path / "data")


def test_a_directory_goes_on_where_it_was_left(world: World, tmp_path: Path) -> None:
    for _ in range(3):
        world.send(everything())
        wanted = told(world, tmp_path / "data")
        assert follow(world, tmp_path / "followed") == wanted


def test_a_projector_that_is_killed_again_and_again_loses_and_doubles_nothing(
    world: World, start: Start, tmp_path: Path
) -> None:
    chance = random.Random(7)
    for number in range(6):
        end = world.send(everything())
        if number == 3:
            end = erase(world, "a")
        wanted = told(world, tmp_path / "data")
        projector = start(world, "followed", PROJECTOR)
        time.sleep(chance.uniform(0.1, 0.8))
        projector.kill()

    projector = start(world, "followed", PROJECTOR)
    until_known(projector, end)
    projector.stop()

    assert dump(tmp_path / "followed") == wanted
    assert offsets(tmp_path / "followed") == offsets(tmp_path / "data")


@pytest.mark.parametrize(
    "gone", ["messages.sqlite", "episodic.sqlite", "generations/main/semantic.main.sqlite", "kafka.db", "episodes.db"]
)
def test_a_file_that_is_gone_from_a_directory_is_made_again_and_nothing_erased_comes_back(
    world: World, tmp_path: Path, gone: str
) -> None:
    world.send([*everything(), {**fact(1, "a"), "object": SECRET}])
    erase(world, "a")
    wanted = told(world, tmp_path / "data")
    follow(world, tmp_path / "followed")
    for suffix in ("", "-wal", "-shm"):
        (tmp_path / "followed" / f"{gone}{suffix}").unlink(missing_ok=True)

    assert follow(world, tmp_path / "followed") == wanted
    assert holds(tmp_path / "followed", SECRET) == []


def test_content_that_is_not_to_be_kept_is_in_no_file_of_a_directory_that_only_follows(
    world: World, tmp_path: Path
) -> None:
    followed, keys = tmp_path / "followed", tmp_path / "followed" / "messages.keys"
    quiet = {"group_id": "a", "role": "Ana", "role_type": "user", "suppress_content": True}
    world.send(
        [{**quiet, "content": f"I moved to Berlin. Nobody should ever hear of {SECRET}."}, {**quiet, "content": SECRET}]
    )
    with ReplicaFollower(DirectoryLayout(followed), world.connection, world.topics) as follower:
        follower.catch_up()
        assert holds(followed, SECRET) == []
        assert list(keys.iterdir()) != []  # it waits for a worker, encrypted

        wanted = told(world, tmp_path / "data")
        follower.catch_up()
        assert list(keys.iterdir()) == []
    assert dump(followed) == wanted == follow(world, tmp_path / "anew")
    assert [row[-2].type for row in wanted.semantic].count("fact.asserted") == 1
    assert [holds(tmp_path / name, SECRET) for name in ("followed", "anew", "data")] == [[], [], []]


# What does not stand.


def sent(log: str, position: int, term: int, *, place: int = 0, size: int = 1, writer: str = "") -> Outgoing:
    """An event of the episodic log as some writer sends it."""
    parked = MessageParked(reason=f"made up for position {position}")
    return envelope.event(log, position, Draft("a", 1, 10_000, place, size, parked), term, None, writer)


def test_what_a_deposed_writer_or_a_stranger_sent_is_passed_over(world: World, tmp_path: Path) -> None:
    episodic = world.topics.episodic
    world.send(everything())
    first = told(world, tmp_path / "data")
    end = len(first.episodic)
    world.send_raw(episodic, [sent("episodic", end, 1, size=2, writer=world.holder(world.topics.episodic).writer)])
    world.send_raw(episodic, [Outgoing(b"a", b"{}", []), Outgoing(None, b"\xff", [("ce_type", b"\xff")])])
    with ReplicaFollower(DirectoryLayout(tmp_path / "followed"), world.connection, world.topics) as follower:
        follower.catch_up()
        follower.catch_up()  # a batch that is not whole is looked at again
        assert dump(tmp_path / "followed") == first

        world.send(everything())
        second = told(world, tmp_path / "data")
        assert len(second.episodic) > end
        follower.catch_up()
        assert dump(tmp_path / "followed") == second

        world.send_raw(episodic, [sent("episodic", len(second.episodic), 1), sent("episodic", 3, 0)])
        follower.catch_up()
    assert dump(tmp_path / "followed") == second
    assert follow(world, tmp_path / "anew") == second
    assert told(world, tmp_path / "data") == second


def test_a_worker_can_take_over_behind_a_batch_that_was_never_whole(world: World, tmp_path: Path) -> None:
    world.send(everything())
    end = len(told(world, tmp_path / "data").episodic)
    world.send_raw(
        world.topics.episodic, [sent("episodic", end, 1, size=2, writer=world.holder(world.topics.episodic).writer)]
    )
    world.send(everything())

    wanted = told(world, tmp_path / "data")

    assert follow(world, tmp_path / "followed") == wanted


def test_an_event_that_a_newer_version_wrote_stops_it_and_is_named(world: World, start: Start, tmp_path: Path) -> None:
    world.send(everything())
    end = len(told(world, tmp_path / "data").episodic)
    key, value, headers = sent("episodic", end, 1, writer=world.holder(world.topics.episodic).writer)
    newer = [(name, b"99" if name == "ce_eventversion" else given) for name, given in headers]
    world.send_raw(world.topics.episodic, [Outgoing(key, value, newer)])

    projector = start(world, "followed", PROJECTOR)

    assert projector.wait() == 2
    assert f"{world.topics.episodic}[0], event {end}: message.parked version 99 is newer" in projector.said()


@pytest.mark.parametrize("kind", ["messages", "episodic", "semantic.main"])
def test_a_topic_that_was_made_anew_is_refused_and_named(world: World, start: Start, tmp_path: Path, kind: str) -> None:
    world.send(everything())
    wanted = told(world, tmp_path / "data")
    follow(world, tmp_path / "followed")
    topic = f"{world.topics.prefix}.{kind}"
    world.administer(lambda admin: admin.delete_topics([topic]))
    until(lambda: topic not in world.client.topics())
    asyncio.run(create(world.connection, world.topics, ["main"]))

    projector = start(world, "followed", PROJECTOR)

    assert projector.wait() == 2
    assert f"{topic}[0] is not the topic that was read up to offset" in projector.said()
    assert len(projector.said().splitlines()) == 1
    assert dump(tmp_path / "followed") == wanted
    world.send_raw(topic, [Outgoing(b"a", b"{}", [])] * (len(wanted.semantic) + 50))
    with pytest.raises(TopicUnfit, match="holds another record"):
        follow(world, tmp_path / "followed")


def test_a_topic_whose_first_records_were_deleted_is_refused_and_named(
    world: World, start: Start, tmp_path: Path
) -> None:
    world.send(everything())
    told(world, tmp_path / "data")
    follow(world, tmp_path / "followed")
    gone = {TopicPartition(world.topics.episodic, 0): RecordsToDelete(before_offset=5)}
    world.administer(lambda admin: admin.delete_records(gone))

    projector = start(world, "followed", PROJECTOR)

    assert projector.wait() == 2
    assert world.topics.episodic in projector.said()
    with pytest.raises(TopicUnfit, match="begins at offset 5"):
        follow(world, tmp_path / "anew")


# Erasure.


def test_what_a_worker_erased_is_gone_from_every_file_of_a_projector_and_so_are_its_vectors(
    world: World, tmp_path: Path
) -> None:
    world.send([{**fact(1, "a"), "object": SECRET}, fact(2, "b"), {"group_id": "a", "content": f"I met {SECRET}."}])
    told(world, tmp_path / "data")
    follow(world, tmp_path / "followed")
    with asof.open(tmp_path / "followed", embedder="hash") as memory:
        assert len(memory.search("who", limit=50, all_groups=True)) == 2
    assert len(holds(tmp_path / "followed", SECRET)) >= 3
    assert DirectoryLayout(tmp_path / "followed").vectors.exists()

    erase(world, "a")
    wanted = told(world, tmp_path / "data")

    assert follow(world, tmp_path / "followed") == wanted
    assert holds(tmp_path / "followed", SECRET) == []
    with asof.open(tmp_path / "followed", embedder="hash") as memory:
        assert [hit.group_id for hit in memory.search("who", limit=50, all_groups=True)] == ["b"]
    assert follow(world, tmp_path / "anew") == wanted
    assert holds(tmp_path / "anew", SECRET) == []


def test_vectors_of_an_erased_group_go_even_where_no_graph_says_whose_they_are(world: World, tmp_path: Path) -> None:
    world.send([fact(1, "a")])
    told(world, tmp_path / "data")
    places = DirectoryLayout(tmp_path / "followed")
    follow(world, places.root)
    with asof.open(places.root, embedder="hash") as memory:
        memory.search("who", all_groups=True)
    places.graph("main").write_bytes(b"not a database")
    erase(world, "a")
    told(world, tmp_path / "data")

    follow(world, places.root)

    with closing(sqlite3.connect(places.vectors)) as kept:
        assert kept.execute("SELECT count(*) FROM vectors").fetchone() == (0,)
    assert not places.index("main").exists()


def test_an_erasure_that_could_not_be_carried_out_is_not_kept_and_done_the_next_time(
    world: World, tmp_path: Path
) -> None:
    world.send([{**fact(1, "a"), "object": SECRET}])
    told(world, tmp_path / "data")
    erase(world, "a")
    wanted = told(world, tmp_path / "data")
    (tmp_path / "copy").mkdir()

    def disk_full(group: str, cause: int) -> None:
        assert (group, cause) == ("a", 1)
        raise StorageFailed("the disk is full")

    with State(tmp_path / "copy" / "kafka.db") as state:
        messages = MessagesTopic(
            tmp_path / "copy" / "messages.sqlite", PartitionId(world.topics.messages, 0), world.client, state
        )
        episodic = EventTopic(
            tmp_path / "copy" / "episodic.sqlite",
            PartitionId(world.topics.episodic, 0),
            world.client,
            state,
            messages,
            lambda _: None,
            disk_full,
            1,
        )
        with messages, episodic, pytest.raises(StorageFailed):
            episodic.catch_up()
    with SqliteLog(tmp_path / "copy" / "episodic.sqlite") as log:
        assert log.end() == 1  # the fact, but not that it is gone

    follow(world, tmp_path / "copy")

    assert dump(tmp_path / "copy") == wanted
    assert holds(tmp_path / "copy", SECRET) == []


def test_a_worker_that_was_down_forgets_what_another_one_erased(world: World, tmp_path: Path) -> None:
    end = world.send([{**fact(1, "a"), "object": SECRET}])
    (tmp_path / "down").mkdir()
    at = TopicPartitions(DirectoryLayout(tmp_path / "down"), world.client, world.topics, 0)
    logs = TopicLogs(at, writer=None)
    logs.begin()
    end = erase(world, "a")
    logs.messages.read_up_to(end)  # taken, and then it died
    logs.close()
    assert holds(tmp_path / "down", SECRET) != []
    wanted = told(world, tmp_path / "data")

    assert told(world, tmp_path / "down") == wanted
    assert holds(tmp_path / "down", SECRET) == []


# Whose directory.


def test_a_worker_takes_over_the_directory_of_a_projector_and_a_projector_that_of_a_worker(
    world: World, tmp_path: Path
) -> None:
    for _ in range(2):
        world.send(everything())
        wanted = told(world, tmp_path / "data")
        assert follow(world, tmp_path / "shared") == wanted
        world.send(everything())
        wanted = told(world, tmp_path / "shared")
        assert follow(world, tmp_path / "data") == wanted


def test_a_worker_with_another_ontology_than_the_topics_is_refused(world: World, tmp_path: Path, start: Start) -> None:
    world.send(everything())
    wanted = told(world, tmp_path / "data")
    follow(world, tmp_path / "followed")

    worker = start(world, "followed", ontology="agent_memory_v1")

    assert worker.wait() == 2
    assert "ASOF_ONTOLOGY" in worker.said()
    assert follow(world, tmp_path / "followed") == wanted


def test_a_second_projector_of_a_directory_is_refused(world: World, start: Start, tmp_path: Path) -> None:
    with ReplicaFollower(DirectoryLayout(tmp_path / "data"), world.connection, world.topics):
        assert is_held(tmp_path / "data")
        with pytest.raises(WriterBusy):
            ReplicaFollower(DirectoryLayout(tmp_path / "data"), world.connection, world.topics)
        second = start(world, "data", PROJECTOR)
        assert second.wait() == 1
        assert "is writing here" in second.said()


def test_a_directory_that_is_no_copy_or_one_of_other_topics_is_refused(
    world: World, prefix: str, bootstrap: str, tmp_path: Path
) -> None:
    with asof.open(tmp_path / "own", embedder="none") as memory:
        memory.add("I live in Oslo.", role="Ana")
    with pytest.raises(InvalidInput, match="no copy of topics"):
        ReplicaFollower(DirectoryLayout(tmp_path / "own"), world.connection, world.topics)
    with pytest.raises(InvalidInput, match="no copy of topics"):
        world.partition(tmp_path / "own")

    follow(world, tmp_path / "data") if world.send(everything()) and told(world, tmp_path / "t") else None
    with World(bootstrap, f"{prefix}-other") as other, pytest.raises(InvalidInput, match=f"{prefix}-other"):
        ReplicaFollower(DirectoryLayout(tmp_path / "data"), other.connection, other.topics)


def test_nothing_is_written_to_a_copy_but_through_its_topics(world: World, tmp_path: Path) -> None:
    world.send(everything())
    wanted = told(world, tmp_path / "data")
    follow(world, tmp_path / "followed")

    for data in ("data", "followed"):
        with asof.open(tmp_path / data, embedder="none") as memory, pytest.raises(InvalidInput, match="--kafka"):
            memory.add("I live in Oslo.", role="Ana")
        assert dump(tmp_path / data) == wanted


def test_reading_a_copy_makes_nothing_of_messages_that_no_worker_has_taken(world: World, tmp_path: Path) -> None:
    world.send(everything())
    wanted = told(world, tmp_path / "data")
    world.send(everything())
    follow(world, tmp_path / "followed")

    with asof.open(tmp_path / "followed", embedder="none") as memory:
        assert memory.stats()["waiting"] == len(everything())
        assert len(list(records(memory, "episodic"))) == len(wanted.episodic)
        assert all(check.ok for check in memory.verify())


# Generations.


def test_a_generation_whose_topic_comes_later_is_followed_too(world: World, tmp_path: Path) -> None:
    world.send(everything())
    told(world, tmp_path / "data")
    with ReplicaFollower(DirectoryLayout(tmp_path / "followed"), world.connection, world.topics) as follower:
        follower.catch_up()
        asyncio.run(create(world.connection, world.topics, ["main", "second"]))
        started = GenerationStarted(
            build="b", ontology="o", ontology_digest="d", extractor="e", policy="graded", source="episodes"
        )
        topic = world.topics.semantic("second")
        world.send_raw(topic, [envelope.claim("semantic.second", 1, "someone", 1)])
        world.send_raw(topic, [envelope.event("semantic.second", 0, Draft("", 0, -1, 0, 1, started), 1, 0, "someone")])
    follow(world, tmp_path / "followed")

    catalog = load(tmp_path / "followed")
    assert catalog is not None
    assert catalog.active == "main"
    assert catalog["second"] == GenerationInfo("second", "o", "d", "e", "graded", "episodes", "b")
    with asof.open(tmp_path / "followed", embedder="none") as memory:
        assert [record.event for record in records(memory, generation="second")] == [started]


# Reading.


@pytest.fixture
def at_topics(world: World, monkeypatch: pytest.MonkeyPatch) -> World:
    """Commands that know where the topics are."""
    find_topics(monkeypatch, world)
    return world


def find_topics(monkeypatch: pytest.MonkeyPatch, world: World) -> None:
    """Let commands know where the topics are."""
    monkeypatch.setenv("ASOF_KAFKA_PREFIX", world.topics.prefix)
    monkeypatch.setenv("ASOF_EMBEDDER", "none")


READ = [
    ("facts", "--group", "a", "--about", "S1"),
    ("search", "lives in", "--limit", "3", "--all-groups"),
    ("entities", "--all-groups"),
    ("entity", "S1", "--all-groups"),
    ("history", "S1", "--all-groups"),
    ("timeline", "S1", "--all-groups"),
    ("diff", "--from", "2015", "--to", "2022", "--all-groups"),
    ("changes", "--all-groups"),
    ("events", "--log", "messages"),
    ("events",),
    ("verify",),
    ("export", "--all-groups"),
]


def run(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    code = calls.run(app, list(arguments))
    return code, *capsys.readouterr()


@pytest.fixture(scope="session")  # between its tests a run of several processes has those of other files
def told_once(bootstrap: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[World, Path]]:
    """Topics that nothing is added to any more, and the directory of the worker that was told all of them."""
    with World(bootstrap, f"test-told-{uuid4().hex[:12]}") as world:
        data = tmp_path_factory.mktemp("told") / "data"
        world.send(everything())
        told(world, data)
        yield world, data


@pytest.mark.parametrize("command", READ, ids=" ".join)
def test_a_question_is_answered_from_nothing_but_the_topics(
    told_once: tuple[World, Path],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    command: tuple[str, ...],
) -> None:
    world, data = told_once
    find_topics(monkeypatch, world)
    shutil.copytree(data, tmp_path / "data")
    wanted = run(capsys, *command, "--data", str(tmp_path / "data"), "--json")

    found = run(capsys, *command, "--kafka", world.connection.bootstrap, "--data", str(tmp_path / "new"), "--json")

    assert wanted[0] == 0
    assert len(wanted[1]) > 100
    if command[0] == "events":  # terms and causes are each directory's own
        assert found[1].count("\n") == wanted[1].count("\n")
    elif command[0] == "verify":  # a worker's directory has an ontology
        checks = [check for check in json.loads(wanted[1]) if not check["what"].startswith("ontology ")]
        assert (found[0], json.loads(found[1])) == (0, checks)
    else:
        assert found == wanted


def test_each_question_sees_what_was_on_the_topics_when_it_was_asked(at_topics: World, tmp_path: Path) -> None:
    world = at_topics
    with asof.open(tmp_path / "new", kafka=world.connection.bootstrap) as memory:
        for number in range(1, 4):
            world.send([{**fact(1), "subject": f"N{number}"}])
            told(world, tmp_path / "data")
            assert len(memory.entities(all_groups=True)) == number + 1
            assert len(memory.entities(all_groups=True)) == number + 1
            why = memory.why(memory.facts(about=f"N{number}", any_time=True, all_groups=True)[0].uuid)
            assert why.fact.subject == f"N{number}"
            assert not is_held(tmp_path / "new")
        assert memory.stats()["messages"] == 3


def test_before_any_worker_there_is_nothing_to_answer_from_and_it_is_said(
    at_topics: World, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    at_topics.send(everything())

    code, _, said = run(capsys, "facts", "--kafka", at_topics.connection.bootstrap, "--data", str(tmp_path / "new"))

    assert code == 1
    assert "no worker has made anything of the messages yet" in said
    with asof.open(tmp_path / "new", kafka=at_topics.connection.bootstrap) as memory:
        assert len(list(records(memory, "messages"))) == len(everything())


def test_a_directory_that_another_process_keeps_up_is_read_as_it_is(at_topics: World, tmp_path: Path) -> None:
    world = at_topics
    world.send([fact(1)])
    told(world, tmp_path / "data")
    with ReplicaFollower(DirectoryLayout(tmp_path / "followed"), world.connection, world.topics) as follower:
        follower.catch_up()
        world.send([fact(2)])
        told(world, tmp_path / "data")
        write_health(tmp_path / "followed", [])
        with asof.open(tmp_path / "followed", kafka=world.connection.bootstrap) as memory:
            assert memory.stats()["messages"] == 1
            follower.close()
            assert memory.stats()["messages"] == 2


def test_a_question_waits_for_another_one_that_is_making_the_directory(
    at_topics: World, start: Start, tmp_path: Path
) -> None:
    world = at_topics
    world.send([fact(1)])
    told(world, tmp_path / "data")
    lock = WriterLock(tmp_path / "followed")
    asked = start(world, "followed", ("facts", "--all-groups"))
    worker = start(world, "followed")
    time.sleep(0.5)
    lock.release()

    assert asked.wait() == 0
    assert "O1" in asked.said()
    until(lambda: reached(tmp_path / "followed")[1], worker)
    worker.stop()


def test_events_go_on_with_what_comes_to_the_topics(at_topics: World, start: Start, tmp_path: Path) -> None:
    world = at_topics
    world.send([fact(1)])
    told(world, tmp_path / "data")
    following = start(world, "new", ("events", "--log", "episodic", "--follow"))
    until(lambda: following.said().count("\n") == 1, following)

    world.send([fact(2)])
    told(world, tmp_path / "data")
    until(lambda: following.said().count("\n") == 2, following)


# When the broker is away.


def test_a_projector_outlives_its_broker_and_says_so(
    own_broker: Broker, prefix: str, start: Start, tmp_path: Path
) -> None:
    with World(own_broker.bootstrap, prefix) as world:
        world.send(everything())
        told(world, tmp_path / "data")
        projector = start(world, "followed", PROJECTOR)
        until((tmp_path / "followed" / "worker.json").exists, projector)

        own_broker.kill()
        until(lambda: not ReplicaHealth.read(tmp_path / "followed").well(clock.system()), projector)
        own_broker.restart()
    with World(own_broker.bootstrap, prefix) as world:
        end = world.send(everything())
        wanted = told(world, tmp_path / "data")
        until_known(projector, end)
        projector.stop()
    assert dump(tmp_path / "followed") == wanted


def test_a_follower_ends_when_it_is_told_to(world: World, tmp_path: Path) -> None:
    stop, rounds = Event(), []

    def report(found: Any) -> None:
        rounds.append(found)
        if len(rounds) == 3:
            stop.set()

    with ReplicaFollower(DirectoryLayout(tmp_path / "data"), world.connection, world.topics) as follower:
        follower.follow(stop, report)

    assert len(rounds) == 3
    assert not is_held(tmp_path / "data")


def test_a_directory_whose_ontology_is_not_the_one_of_its_topics_says_which_one_is_wanted(
    world: World, tmp_path: Path
) -> None:
    from asof.settings import Settings

    world.send(everything())
    told(world, tmp_path / "data")
    follow(world, tmp_path / "followed")
    other = Settings(data=tmp_path / "followed", embedder="none", ontology="agent_memory_v1")

    with pytest.raises(InvalidInput, match="ASOF_ONTOLOGY"):
        Partition(DirectoryLayout(tmp_path / "followed"), other, world.connection, world.topics, 0)
