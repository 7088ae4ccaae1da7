"""Topics that are rewritten: what was erased is in no byte of them, and all else is as it was, at the same offsets."""

import asyncio
import re
import signal
import subprocess
from contextlib import closing
from pathlib import Path
from typing import TypeVar

import pytest
from aiokafka import AIOKafkaProducer

import asof
from asof.kafka import worker_process
from asof.kafka.producer import Producer
from asof.kafka.topic_rewrite import TopicRewrite
from asof.operations.kafka import check_topics
from asof.runtime.layout import DirectoryLayout
from asof.runtime.replica_manifest import places_of
from asof.settings import Settings
from asof_process import program
from asof_streams.errors import InvalidInput, TopicUnfit, UnavailableError
from asof_streams.kafka.envelope import Outgoing
from asof_streams.kafka.partitioning import partition_of
from asof_streams.kafka.topics import Topics
from asof_streams.messages import RedactionRequest
from kafka_worker import Dump, World, dump
from patience import wait_until
from sealed_world import Sealed

W = TypeVar("W", bound=World)
PARTITIONS = 3
GONE, PART, STAYS = "Zanzibarquo", "Quorltown", "Oslovianta"
KILLED = """
import os, signal, sys
from asof.kafka.topic_rewrite import TopicRewrite
from asof_streams.kafka.client import Client
from asof_streams.kafka.connection import Connection
from asof_streams.kafka.topics import Topics

bootstrap, prefix, target, number = sys.argv[1:]
begin_send, sends = Client.begin_send, 0

def die(self, topic, partition, records):
    global sends
    sends += 1
    if sends == int(number):
        begin_send(self, topic, partition, records[: max(1, len(records) // 2)])()
        os.kill(os.getpid(), signal.SIGKILL)
    return begin_send(self, topic, partition, records)

Client.begin_send = die
with Client(Connection(bootstrap)) as client:
    TopicRewrite(client, Topics(prefix), Topics(target)).run()
"""


def say(world: World, group: str, text: str, id_: str, *, key: bool = False, repeat: int = 1) -> None:
    value = b'{"group_id": "%s", "role": "Ana", "role_type": "user", "content": "%s"}' % (group.encode(), text.encode())
    record = Outgoing(group.encode() if key else None, value, [("ce_source", b"other"), ("ce_id", id_.encode())])
    world.send_raw(world.topics.messages, [record] * repeat)


def ask(world: World, group: str, *positions: int) -> None:
    world.send([{"group_id": group, "positions": list(positions)}], ce_type=RedactionRequest.type.encode())


def tell(world: World) -> None:
    """Send to three groups: one is erased whole, of one a part, and one stays. One record is no message."""
    say(world, "gone", f"I live in {GONE}.", "1", key=True, repeat=2)
    say(world, "part", f"I live in {PART}.", "2", repeat=2)
    say(world, "part", "I like tea.", "3")
    say(world, "stays", f"I live in {STAYS}.", "4")
    world.send_raw(world.topics.messages, [Outgoing(b"gone", b"{%s}" % GONE.encode(), [])])


def send_in_transactions(world: World) -> None:
    """Send a message, and one that is taken back. Of both a mark is left, which is no record."""

    async def send() -> None:
        producer = AIOKafkaProducer(bootstrap_servers=world.connection.bootstrap, transactional_id=world.topics.prefix)
        async with producer:
            for place, commit in (("Bern", True), (GONE, False)):
                await producer.begin_transaction()
                value = b'{"content": "I live in %s.", "role": "Cy", "role_type": "user"}' % place.encode()
                await producer.send_and_wait(world.topics.messages, value, key=b"other", partition=0)
                await (producer.commit_transaction() if commit else producer.abort_transaction())

    asyncio.run(send())


def erase(world: World, *positions: int) -> None:
    world.send([{"group_id": "gone"}], ce_type=b"erasure.requested")
    ask(world, "part", *positions)
    say(world, "gone", "I live in Rome.", "5")


def work(world: World, data: Path) -> Dump:
    """Let a recorder and a believer take all that there is; return what they come to."""
    with closing(world.partition(data)) as partition:
        partition.ingest([])
    return dump(data)


def on_topics(world: World, *words: str, partition: int = 0) -> set[str]:
    names = [name for name in world.client.topics() if name.startswith(f"{world.topics.prefix}.")]
    assert world.topics.dead_letters in names
    return {
        name
        for name in names
        for raw in world.records(name, partition)
        for part in (raw.key, raw.value, *(value for _, value in raw.headers))
        if any(word.encode() in (part or b"") for word in words)
    }


def holds(folder: Path, *words: str) -> set[str]:
    files = [path for path in folder.rglob("*") if path.is_file()]
    return {path.name for path in files if any(word.encode() in path.read_bytes() for word in words)}


@pytest.fixture
def target(world: World) -> World:
    """The topics that those of the test are rewritten to, which are not there yet."""
    return beside(world)


def beside(world: W) -> W:
    other = object.__new__(type(world))
    other.__dict__ |= world.__dict__ | {"topics": Topics(f"{world.topics.prefix}-2")}
    return other


def rewrite(world: World, target: World) -> dict[str, int]:
    """Rewrite topics; return how many records are empty, by the end of the topic's name."""
    done = TopicRewrite(world.client, world.topics, target.topics).run()
    return {one.topic.removeprefix(f"{target.topics.prefix}."): one.emptied for one in done}


def test_what_was_erased_is_in_no_byte_of_the_topics_and_workers_go_on_as_if_nothing_had_happened(
    world: World, target: World, tmp_path: Path
) -> None:
    send_in_transactions(world)
    tell(world)
    work(world, tmp_path / "data")
    erase(world, 2)
    send_in_transactions(world)
    found = work(world, tmp_path / "data")
    assert on_topics(world, GONE, PART)

    emptied = rewrite(world, target)

    assert (emptied["messages"], emptied["dead-letters"]) == (5, 1)
    assert on_topics(target, GONE, PART) == set()
    assert on_topics(target, STAYS) == {
        f"{target.topics.prefix}.{name}" for name in ("messages", "episodic", "semantic.main")
    }
    assert work(target, tmp_path / "new") == found
    assert holds(tmp_path / "new", GONE, PART) == set()
    for each in (world, target):
        say(each, "stays", "I live in Kiel now.", "6")
        say(each, "part", f"I live in {PART}.", "2")  # sent again, late
    with closing(target.partition(tmp_path / "new")) as new, closing(world.partition(tmp_path / "data")) as data:
        new.ingest([])
        data.ingest([])
        assert new.offset == data.offset
    with asof.open(tmp_path / "new", embedder="none") as memory:
        assert [fact.object for fact in memory.facts(group_id="stays")] == ["Kiel"]
        assert [fact.object for fact in memory.facts(group_id="part")] == ["tea"]
        assert [fact.object for fact in memory.facts(group_id="gone")] == ["Rome"]
        assert {fact.object for fact in memory.facts(group_id="other")} == {"Bern"}
        assert all(check.ok for check in memory.verify())
    assert holds(tmp_path / "new", GONE, PART) == set()
    with pytest.raises(InvalidInput, match="rewritten already"):
        rewrite(world, target)


def test_what_others_sent_to_encrypted_topics_in_the_clear_is_removed(
    bootstrap: str, prefix: str, tmp_path: Path
) -> None:
    with Sealed(bootstrap, prefix, tmp_path) as world:
        target = beside(world)
        tell(world)
        world.add("gone", f"I work at {GONE}.")
        world.work()
        erase(world, 1)
        found = dump(world.work())

        rewrite(world, target)

        assert on_topics(target, GONE, PART) == set()
        assert dump(target.work("new")) == found
        assert holds(tmp_path, GONE, PART) == set()


def test_topics_of_several_partitions_are_rewritten_partition_by_partition(
    bootstrap: str, prefix: str, tmp_path: Path
) -> None:
    def work_on_all(world: World, name: str) -> list[Dump]:
        roots = [places_of(DirectoryLayout(tmp_path / name), number, PARTITIONS).root for number in range(PARTITIONS)]
        for number, root in enumerate(roots):
            with closing(world.partition(root, number)) as partition:
                partition.ingest([])
        return [dump(root) for root in roots]

    groups = [f"group-{number}" for number in range(9)]
    own = {group: partition_of(group, PARTITIONS) for group in groups}
    gone, part = groups[0], next(group for group in groups if own[group] != own[groups[0]])
    assert set(own.values()) == set(range(PARTITIONS))
    with World(bootstrap, prefix, PARTITIONS) as world:
        target = beside(world)
        for group in groups:
            lives_in = {gone: GONE, part: PART}.get(group, STAYS)
            told = [
                {"group_id": group, "content": f"I live in {where}.", "role": "Ana", "role_type": "user"}
                for where in ("Bern", lives_in)
            ]
            world.send(told, own[group])
        world.send([{"group_id": gone, "content": f"I like {GONE}.", "role_type": "user"}], own[part])  # strayed
        work_on_all(world, "data")
        world.send([{"group_id": gone}], own[gone], ce_type=b"erasure.requested")
        before = [raw for raw in world.records(world.topics.messages, own[part]) if PART.encode() in (raw.value or b"")]
        world.send(
            [{"group_id": part, "positions": [before[0].offset]}], own[part], ce_type=RedactionRequest.type.encode()
        )
        found = work_on_all(world, "data")

        rewrite(world, target)

        for number in range(PARTITIONS):
            assert on_topics(target, GONE, PART, partition=number) == set()
            for name in (world.topics.messages, world.topics.episodic, world.topics.semantic("main")):
                copied = target.topics.prefix + name.removeprefix(world.topics.prefix)
                assert world.client.end(copied, number) == world.client.end(name, number)
        assert work_on_all(target, "new") == found
        assert holds(tmp_path / "new", GONE, PART) == set()


@pytest.mark.parametrize("number", [1, 4, 7])
def test_a_rewrite_that_is_killed_is_gone_on_with_and_nobody_works_on_its_topics_before(
    world: World, target: World, tmp_path: Path, number: int
) -> None:
    tell(world)
    work(world, tmp_path / "data")
    erase(world, 1)
    found = work(world, tmp_path / "data")
    arguments = [world.connection.bootstrap, world.topics.prefix, target.topics.prefix, number]
    assert subprocess.run(program(KILLED, *arguments), check=False).returncode == -signal.SIGKILL
    if number > 1:
        with pytest.raises(TopicUnfit, match="asof topics rewrite"):
            target.partition(tmp_path / "early")
        with pytest.raises(TopicUnfit), asof.open(tmp_path / "early", embedder="none", **target.settings()) as memory:
            memory.add("Hello.")
        wrong = check_topics(Settings(**target.settings()), [])
        assert [one.severity for one in wrong if one.setting == "rewrite"] == ["error"]

    rewrite(world, target)

    assert [one for one in check_topics(Settings(**target.settings()), []) if one.setting == "rewrite"] == []
    assert on_topics(target, GONE, PART) == set()
    assert work(target, tmp_path / "new") == found


def test_whoever_would_send_to_or_work_on_topics_that_were_rewritten_is_told_where_work_goes_on(
    world: World, target: World, tmp_path: Path
) -> None:
    def send(to: World) -> None:
        with closing(Producer(Settings(data=tmp_path / "sent", **to.settings()))):
            pass

    def begin_worker() -> None:
        asyncio.run(worker_process.work(Settings(data=tmp_path / "worker", embedder="none", **world.settings())))

    tell(world)
    found = work(world, tmp_path / "data")
    rewrite(world, target)

    for one in (lambda: send(world), begin_worker):
        with pytest.raises(TopicUnfit, match=re.escape(f"set ASOF_KAFKA_PREFIX to {target.topics.prefix}.")):
            one()
    assert work(world, tmp_path / "again") == found, "they can be read"
    send(target)
    further = beside(target)
    rewrite(world, further)
    with pytest.raises(TopicUnfit, match=re.escape(f"set ASOF_KAFKA_PREFIX to {further.topics.prefix}.")):
        send(world)
    send(further)

    names = [name for name in world.client.topics() if name.startswith(f"{further.topics.prefix}.")]
    world.administer(lambda admin: admin.delete_topics(names))
    wait_until(lambda: not world.client.partitions(further.topics.control))

    send(world)


def test_nothing_is_rewritten_before_all_is_answered_or_where_something_changes_meanwhile(
    world: World, target: World, tmp_path: Path
) -> None:
    tell(world)
    with pytest.raises(UnavailableError, match="let a worker"):
        rewrite(world, target)
    work(world, tmp_path / "data")
    with pytest.raises(UnavailableError, match="are not as they were"):
        rewrite(world, target)
    with pytest.raises(InvalidInput, match="name another"):
        rewrite(world, world)
