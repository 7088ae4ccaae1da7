"""Topics of several partitions: workers share them, a group's order is kept, and one directory answers for all."""

import json
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from aiokafka.admin import NewPartitions

import asof
from asking import records
from asof.cli import app, calls
from asof.kafka.follower import ReplicaFollower
from asof.runtime.doctor import examine
from asof.runtime.layout import DirectoryLayout
from asof.runtime.replica_health import ReplicaHealth
from asof.runtime.replica_manifest import ReplicaManifest, copied, places_of
from asof_streams.episodic import MessageParked
from asof_streams.errors import InvalidInput, NotFound, TopicUnfit
from asof_streams.kafka.partitioning import partition_of
from asof_streams.writer_lock import WriterLock
from kafka_worker import PROJECTOR, Dump, Running, World, dump, embedded, fact, until

Start = Callable[..., Running]
PARTITIONS = 3
GROUPS = [f"group-{number}" for number in range(9)]


@pytest.fixture
def world(bootstrap: str, prefix: str, monkeypatch: pytest.MonkeyPatch) -> Any:
    """The topics of a test, of three partitions."""
    monkeypatch.setenv("ASOF_KAFKA_PREFIX", prefix)
    monkeypatch.setenv("ASOF_EMBEDDER", "none")
    with World(bootstrap, prefix, PARTITIONS) as world:
        yield world


def where(group: str) -> int:
    return partition_of(group, PARTITIONS)


def send(world: World, start: int, stop: int) -> None:
    """Send each group some facts, numbered so that their order can be seen, to the partition where it belongs."""
    for group in GROUPS:
        world.send([fact(number, group) for number in range(start, stop)], where(group))


def part(data: Path, partition: int) -> Path:
    return places_of(DirectoryLayout(data), partition, PARTITIONS).root


def follow(world: World, data: Path) -> list[Dump]:
    with ReplicaFollower(DirectoryLayout(data), world.connection, world.topics) as follower:
        follower.catch_up()
    return [dump(part(data, partition)) for partition in range(PARTITIONS)]


def answered(world: World, data: Path, count: int) -> bool:
    """Whether workers have answered so many messages in all."""
    with ReplicaFollower(DirectoryLayout(data), world.connection, world.topics) as follower:
        follower.catch_up()
    if not all(DirectoryLayout(part(data, partition)).catalog.exists() for partition in range(PARTITIONS)):
        return False
    with asof.open(data) as memory:
        stats = memory.stats()
    return bool(stats["messages"] == count and stats["waiting"] == 0 and stats["generations"]["main"]["lag"] == 0)


def shared(one: Path, other: Path) -> bool:
    """Whether two workers have all partitions between them, none twice and each at least one."""
    if not ((one / "worker.json").exists() and (other / "worker.json").exists()):
        return False
    found = [row for data in (one, other) for row in ReplicaHealth.read(data).partitions]
    of_recorders = [row.partition for row in found if row.topic.endswith(".messages")]
    of_believers = [row.partition for row in found if row.topic.endswith(".episodic")]
    return sorted(of_recorders) == sorted(of_believers) == list(range(PARTITIONS))


def told(world: World, data: Path) -> None:
    """Let all partitions be taken."""
    for number in range(PARTITIONS):
        partition = world.partition(part(data, number), number)
        partition.ingest([])
        partition.close()


@pytest.mark.long
def test_two_workers_share_the_partitions_and_one_takes_over_what_the_other_leaves(
    world: World, start: Start, tmp_path: Path
) -> None:
    send(world, 0, 20)
    one, other = start(world, "one"), start(world, "other")
    until(lambda: answered(world, tmp_path / "followed", 20 * len(GROUPS)), one)
    until(lambda: shared(tmp_path / "one", tmp_path / "other"), one)

    send(world, 20, 30)
    one.kill()
    send(world, 30, 40)
    until(lambda: answered(world, tmp_path / "followed", 40 * len(GROUPS)), other)
    assert all(part(tmp_path / "other", number).exists() for number in range(PARTITIONS))
    other.stop()

    found = follow(world, tmp_path / "followed")
    for number in range(PARTITIONS):
        assert found[number] == dump(part(tmp_path / "other", number))
        wanted = embedded(world, part(tmp_path / "followed", number), tmp_path / f"embedded-{number}", number)
        assert found[number].unplaced() == wanted
    with asof.open(tmp_path / "followed") as memory:
        for group in GROUPS:
            said = [
                json.loads(r.event.encode())["object"]
                for r in records(memory, "messages", partition=where(group))
                if r.group == group
            ]
            assert said == [f"O{number}" for number in range(40)]


def test_a_directory_of_all_partitions_answers_for_each_group_as_if_there_were_but_one(
    world: World, tmp_path: Path
) -> None:
    send(world, 0, 20)
    told(world, tmp_path / "data")

    with asof.open(tmp_path / "new", kafka=world.connection.bootstrap) as memory:
        for group in GROUPS:
            with asof.open(part(tmp_path / "data", where(group))) as one:
                assert memory.facts(group_id=group) == one.facts(group_id=group) != []
                assert memory.search("lives in", group_id=group) == one.search("lives in", group_id=group) != []
                assert memory.timeline("S1", group_id=group) == one.timeline("S1", group_id=group) != []
                uuid = memory.facts(group_id=group)[0].uuid
                assert memory.why(uuid) == one.why(uuid)
                assert memory.history(uuid) == one.history(uuid) != []
                assert memory.known_history(uuid) == one.known_history(uuid) != []
        with pytest.raises(NotFound, match="no fact"):
            memory.why("00000000-0000-0000-0000-000000000000")
        assert len(memory.history("S1", all_groups=True)) == sum(
            len(memory.history("S1", group_id=group)) for group in GROUPS
        )
        assert memory.active() == "main"


def test_the_doctor_looks_at_the_directory_of_each_partition(world: World, tmp_path: Path) -> None:
    told(world, tmp_path / "data")
    follow(world, tmp_path / "followed")

    found = {finding.what: finding for finding in examine(tmp_path / "followed", None)}

    assert [found[f"partition-{number}: directory"].state for number in range(PARTITIONS)] == ["ok"] * PARTITIONS
    assert "main (answers)" in found["partition-1: directory"].found
    assert found["partition-1: writer"].found == "nobody is writing"
    assert "directory" not in found


def test_a_question_that_names_no_group_is_refused_where_it_would_be_asked_of_one_partition_only(
    world: World, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    send(world, 0, 3)
    told(world, tmp_path / "data")
    follow(world, tmp_path / "followed")

    for command in (
        ["facts"],
        ["search", "who"],
        ["entities"],
        ["entity", "S1"],
        ["timeline", "S1"],
        ["changes"],
        ["export"],
    ):
        assert calls.run(app, [*command, "--data", str(tmp_path / "followed"), "--all-groups"]) == 2
        assert "--group" in capsys.readouterr().err
        assert calls.run(app, [*command, "--data", str(tmp_path / "followed"), "--group", GROUPS[0]]) == 0
        capsys.readouterr()
    assert calls.run(app, ["events", "--data", str(tmp_path / "followed")]) == 2
    assert "--partition" in capsys.readouterr().err
    assert calls.run(app, ["events", "--data", str(tmp_path / "followed"), "--partition", "3"]) == 2
    assert "no partition 3" in capsys.readouterr().err


def test_stats_and_verify_look_at_all_partitions(
    world: World, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    send(world, 0, 5)
    world.send([b"no JSON"], 1)
    told(world, tmp_path / "data")
    follow(world, tmp_path / "followed")

    assert calls.run(app, ["stats", "--data", str(tmp_path / "followed"), "--json"]) == 0
    stats = json.loads(capsys.readouterr().out)
    assert (stats["partitions"], stats["messages"], stats["parked"]) == (3, 5 * len(GROUPS) + 1, 1)
    assert stats["parked_messages"][0]["partition"] == "partition-1"
    with asof.open(part(tmp_path / "followed", 0)) as memory:
        assert 0 < memory.stats()["messages"] < stats["messages"]
        first = memory.digest()
    assert calls.run(app, ["verify", "--data", str(tmp_path / "followed"), "--json"]) == 0
    checks = json.loads(capsys.readouterr().out)
    assert sum(check["what"] == "partition-2: log semantic.main" for check in checks) == 1
    assert len(checks) == 3 * 5
    with (
        asof.open(tmp_path / "followed") as one,
        asof.open(tmp_path / "data2", kafka=world.connection.bootstrap) as two,
    ):
        assert one.digest() == two.digest() != first


def test_a_record_in_a_partition_that_is_not_its_group_s_is_parked(world: World, tmp_path: Path) -> None:
    wrong = (where("a") + 1) % PARTITIONS
    world.send([fact(1, "a")], wrong)
    told(world, tmp_path / "data")

    with asof.open(part(tmp_path / "data", wrong)) as memory:
        events = [record.event for record in records(memory, "episodic")]
    assert len(events) == 1
    assert isinstance(events[0], MessageParked)
    assert f"belongs to partition {where('a')}" in events[0].reason


def add_partition(world: World) -> None:
    """Give all topics one more partition, and wait until the broker tells of each."""
    topics = world.topics.all(["main"])
    world.administer(lambda admin: admin.create_partitions(dict.fromkeys(topics, NewPartitions(PARTITIONS + 1))))
    until(lambda: {world.client.partitions(topic) for topic in topics} == {PARTITIONS + 1})


def test_a_directory_knows_its_partitions_and_refuses_topics_that_were_given_more(
    world: World, start: Start, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    send(world, 0, 3)
    told(world, tmp_path / "data")
    follow(world, tmp_path / "followed")
    assert copied(tmp_path / "followed") == ReplicaManifest(world.topics.prefix, PARTITIONS)
    add_partition(world)

    with pytest.raises(InvalidInput, match=r"in 3 partitions, .* in 4"):
        ReplicaFollower(DirectoryLayout(tmp_path / "followed"), world.connection, world.topics)
    for command in (("worker",), PROJECTOR, ("stats",)):
        running = start(world, "followed", command)
        assert running.wait() == 2
        assert "in 3 partitions" in running.said()
    assert calls.run(app, ["stats", "--data", str(tmp_path / "followed")]) == 0
    capsys.readouterr()


def test_topics_that_were_given_more_partitions_are_refused_by_new_directories_too(
    world: World, start: Start, tmp_path: Path
) -> None:
    send(world, 0, 3)
    told(world, tmp_path / "data")
    add_partition(world)
    ends = world.client.ends((world.topics.episodic, number) for number in range(PARTITIONS + 1))

    for command in (("worker",), PROJECTOR):
        running = start(world, "-".join(command), command)
        assert running.wait() == 2
        assert f"there were {PARTITIONS} partitions, and now there are {PARTITIONS + 1}" in running.said()
        assert "take new topics" in running.said()
    for partition in (0, PARTITIONS):  # the last one is new, and holds nothing
        with pytest.raises(TopicUnfit, match=f"there were {PARTITIONS} partitions"):
            world.partition(tmp_path / f"anew-{partition}", partition)
    assert world.client.ends(ends) == ends


def test_what_topics_of_another_number_held_is_replayed_into_new_ones_as_the_fault_says(
    world: World, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    send(world, 0, 3)
    said = json.dumps({"group_id": GROUPS[0], "content": "I moved to Oslo in March.", "role": "A", "role_type": "user"})
    world.send([said.encode()], where(GROUPS[0]))
    told(world, tmp_path / "data")
    follow(world, tmp_path / "followed")
    with asof.open(tmp_path / "followed") as memory:
        before = {group: believed(memory, group) for group in GROUPS}
    new, bootstrap = f"{world.topics.prefix}2", world.connection.bootstrap
    kafka = ["--kafka", bootstrap, "--prefix", new]
    assert calls.run(app, ["topics", "create", *kafka, "--partitions", str(PARTITIONS + 1)]) == 0

    for number in range(PARTITIONS):
        source = ["--log", "messages", "--data", str(tmp_path / "followed"), "--partition", str(number)]
        for _ in range(2):  # it goes on where it stopped
            assert calls.run(app, ["replay", f"kafka://{bootstrap}/{new}.messages", *source]) == 0
    capsys.readouterr()

    with World(bootstrap, new, PARTITIONS + 1) as anew:
        for number in range(PARTITIONS + 1):
            partition = anew.partition(
                places_of(DirectoryLayout(tmp_path / "new"), number, PARTITIONS + 1).root, number
            )
            partition.ingest([])
            partition.close()
        with ReplicaFollower(DirectoryLayout(tmp_path / "new-copy"), anew.connection, anew.topics) as follower:
            follower.catch_up()
    with asof.open(tmp_path / "new-copy") as memory:
        assert {group: believed(memory, group) for group in GROUPS} == before
        assert memory.stats()["parked"] == 0


def believed(memory: asof.Memory, group: str) -> list[Any]:
    facts = memory.facts(group_id=group, any_time=True)
    return [(fact.fact, fact.valid_at, fact.invalid_at) for fact in facts]


def test_a_partition_that_another_process_keeps_up_is_left_to_it(world: World, tmp_path: Path) -> None:
    send(world, 0, 3)
    told(world, tmp_path / "data")
    follow(world, tmp_path / "followed")
    send(world, 3, 6)
    told(world, tmp_path / "data")

    with (
        WriterLock(part(tmp_path / "followed", 1)),
        asof.open(tmp_path / "followed", kafka=world.connection.bootstrap) as memory,
    ):
        for group in GROUPS:
            count = sum(r.group == group for r in records(memory, "messages", partition=where(group)))
            assert count == (3 if where(group) == 1 else 6)


def test_a_projector_keeps_up_all_partitions(world: World, start: Start, tmp_path: Path) -> None:
    projector = start(world, "followed", PROJECTOR)
    send(world, 0, 5)
    told(world, tmp_path / "data")
    wanted = [dump(part(tmp_path / "data", number)) for number in range(PARTITIONS)]

    def done() -> bool:
        root = tmp_path / "followed"
        if not all(DirectoryLayout(part(root, number)).catalog.exists() for number in range(PARTITIONS)):
            return False
        return [dump(part(root, number)) for number in range(PARTITIONS)] == wanted

    until(done, projector)
    projector.signal(signal.SIGINT)
    assert projector.wait() == 0
