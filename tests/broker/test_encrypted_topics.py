"""Topics whose content is encrypted: nobody reads it without the store of keys, and an erasure reaches every copy."""

import json
import shutil
import signal
import subprocess
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

import asof
from asof.kafka.encryption import choose_encryption
from asof.kafka.recorder import RecorderPartition
from asof.runtime.layout import DirectoryLayout
from asof.settings import Settings
from asof_process import program
from asof_streams.errors import InvalidInput, KeysUnavailable
from asof_streams.kafka.envelope import Outgoing
from asof_streams.key_store import key_place
from asof_streams.messages import Message, RecordRefused
from asof_streams.record_sealer import is_sealed_record
from asof_streams.sqlite_log import SqliteLog
from kafka_broker import JAVA, NEEDED, can_run, jars
from kafka_worker import Partition, World, dump
from sealed_world import Sealed
from unchecked import not_checked

EXAMPLE = Path(__file__).parents[2] / "examples" / "ReadTopic.java"
ANA, BEN, CLEAR = "Zanzibarquo", "Oslovianta", "Quitobertia"
KILLED = """
import os, signal, sys
from contextlib import closing
from pathlib import Path
from asof.kafka.recorder import RecorderPartition
from asof.runtime.layout import DirectoryLayout
from asof.settings import Settings
from asof_streams.kafka.connection import Connection
from asof_streams.kafka.topics import Topics
from asof_streams.key_store import KeyFolder

destroy = KeyFolder.destroy

def destroy_and_die(self, *what):
    destroy(self, *what)
    os.kill(os.getpid(), signal.SIGKILL)

KeyFolder.destroy = destroy_and_die
data, keys, bootstrap, prefix = sys.argv[1:]
settings = Settings(data=data, keys=keys, embedder="none")
given = DirectoryLayout(Path(data)), settings, Connection(bootstrap), Topics(prefix), 0
with closing(RecorderPartition(*given)) as recorder:
    recorder.ingest([])
"""


@pytest.fixture
def world(bootstrap: str, prefix: str, tmp_path: Path) -> Iterator[Sealed]:
    with Sealed(bootstrap, prefix, tmp_path) as world:
        yield world


def where(memory: asof.Memory, group: str) -> list[str]:
    return [fact.object for fact in memory.facts(group_id=group)]


def test_content_is_encrypted_on_topics_and_an_erasure_reaches_topics_and_older_copies(
    world: Sealed, tmp_path: Path
) -> None:
    world.add("ana", f"I live in {ANA}.")
    world.add("ben", f"I live in {BEN}.")
    data = world.work()
    with world.open() as memory:
        assert (where(memory, "ana"), where(memory, "ben")) == ([ANA], [BEN])
        known = memory.digest()
    assert dump(data).digest == known
    assert world.on_topics(ANA) == world.on_topics(BEN) == []
    logs = [path for path in tmp_path.rglob("*.sqlite*") if path.is_file()]
    assert not {path for path in logs if ANA.encode() in path.read_bytes()}
    assert all(is_sealed_record(raw.value) for raw in world.records(world.topics.messages))
    shutil.copytree(data, tmp_path / "older", ignore=shutil.ignore_patterns("graph.db*", "episodes.db*", "*.lock"))
    world.add("ana", "I like chess.")  # on the topic before the request, and not read yet

    with world.open() as memory:
        memory.erase("ana")
    world.add("ana", "I live in Rome.")
    world.work()

    with SqliteLog(tmp_path / "older" / "messages.sqlite") as log:
        assert [record.group for record in log.read()] == ["ben"]
    fresh = world.work("fresh")
    for name in (data.name, fresh.name, "copy", "older"):
        with world.open(name) as memory:
            assert (where(memory, "ana"), where(memory, "ben")) == (["Rome"], [BEN]), name
            assert all(check.ok for check in memory.verify())
    assert world.in_files(ANA) == set()
    for path in (DirectoryLayout(data).messages, DirectoryLayout(fresh).messages):
        with SqliteLog(path) as log:
            assert [(r.group, type(r.event).__name__) for r in log.read()] == [
                ("ben", "Message"),
                ("ana", "ErasureRequest"),
                ("ana", "Message"),
            ]
            assert log.destroyed("ana", range(3))
    assert dump(fresh) == dump(data)


def test_what_others_send_in_the_clear_is_read_and_only_its_record_stays_readable(world: Sealed) -> None:
    world.send([{"group_id": "ana", "content": f"I live in {CLEAR}.", "role": "Ana", "role_type": "user"}])
    data = world.work()

    assert world.on_topics(CLEAR) == [world.topics.messages]
    with world.open() as memory:
        assert where(memory, "ana") == [CLEAR]
        memory.erase("ana")
    world.work()
    with world.open() as memory:
        assert where(memory, "ana") == []
    assert world.in_files(CLEAR) == set()
    assert dump(world.work("fresh")) == dump(data)
    assert world.on_topics(CLEAR) == [world.topics.messages]


def test_records_that_nobody_with_the_keys_sent_are_parked_and_copies_under_another_id_too(world: Sealed) -> None:
    world.add("ana", f"I live in {ANA}.")
    [sent] = world.records(world.topics.messages)
    value, headers = sent.value or b"", [*sent.headers]
    tree, number, rest = value[1:5], value[5:13], value[13:]
    elsewhere = [*(dict(headers) | {"ce_id": b"other"}).items()]
    as_fact = [*(dict(headers) | {"ce_type": b"fact.stated", "ce_id": b"fact"}).items()]
    forged = [
        Outgoing(b"ana", value, elsewhere),
        Outgoing(b"ana", value, as_fact),
        Outgoing(b"ben", value, headers),
        Outgoing(None, value, headers),
        Outgoing(b"ana", value[:-1], headers),
        Outgoing(b"ana", value[:9], headers),
        Outgoing(b"ana", b"\x02" + b"\0\0\t\t" + number + rest, headers),
        Outgoing(b"ana", b"\x02" + tree + b"\xff" * 8 + rest, headers),
    ]
    sources = [
        record._replace(headers=[(n, b"/%d" % at if n == "ce_source" else h) for n, h in record.headers])
        for at, record in enumerate(forged)
    ]
    world.send_raw(world.topics.messages, [*forged[:1], *sources[1:], Outgoing(b"ana", value, headers)])

    data = world.work()

    with SqliteLog(data / "messages.sqlite") as log:
        assert [type(record.event) for record in log.read()] == [Message, *[RecordRefused] * 8]
    with world.open() as memory:
        assert where(memory, "ana") == [ANA]


def test_who_lacks_the_keys_sends_and_reads_nothing_and_is_told_what_to_set(world: Sealed, tmp_path: Path) -> None:
    world.add("ana", f"I live in {ANA}.")
    with (
        pytest.raises(InvalidInput, match=r"keys: .* is encrypted: say with ASOF_KEYS"),
        world.open("elsewhere", keys=None) as memory,
    ):
        memory.add("I live in Rome.")
    with pytest.raises(InvalidInput, match="ASOF_KEYS"), world.open("elsewhere", keys=None) as memory:
        memory.facts()
    with pytest.raises(KeysUnavailable, match="has no keys of"), world.open("elsewhere", keys=tmp_path) as memory:
        memory.add("I live in Rome.")
    settings = Settings(data=tmp_path / "elsewhere", embedder="none")
    with pytest.raises(InvalidInput, match="ASOF_KEYS"):
        Partition(DirectoryLayout(settings.data), settings, world.connection, world.topics, 0)

    assert len(world.records(world.topics.messages)) == 1
    data = world.work()
    with asof.open(data, embedder="none", **world.settings()) as memory:  # the directory knows where they are
        assert where(memory, "ana") == [ANA]


def test_topics_that_were_used_in_the_clear_stay_so(bootstrap: str, prefix: str, tmp_path: Path) -> None:
    with World(bootstrap, prefix) as world:
        world.send([{"group_id": "ana", "content": "I live in Rome."}])
        with pytest.raises(InvalidInput, match="used already, and not encrypted"):
            choose_encryption(world.connection, world.topics, tmp_path / "keys")
        with pytest.raises(InvalidInput, match=r"keys: .* is not encrypted: leave it out"):
            asof.open(tmp_path / "data", embedder="none", keys=tmp_path / "keys", **world.settings()).add("Hello.")
        assert not (tmp_path / "keys").exists()


def test_a_memory_replayed_into_the_topics_is_encrypted_there(world: Sealed, tmp_path: Path) -> None:
    with asof.open(tmp_path / "clear", embedder="none", keys=None) as memory:
        memory.add(f"I live in {ANA}.", role="Ana", group_id="ana", timestamp="2024-01-01")
        target = f"kafka://{world.connection.bootstrap}/{world.topics.messages}"
        with pytest.raises(InvalidInput, match="ASOF_KEYS"):
            memory.replay(target, log="messages")
    with asof.open(tmp_path / "clear", embedder="none") as memory:
        memory._session.settings = memory._session.settings.model_copy(update={"keys": tmp_path / "keys"})
        memory.replay(target, log="messages")

    world.work()
    assert world.on_topics(ANA) == []
    with world.open() as memory:
        assert where(memory, "ana") == [ANA]


def test_a_recorder_that_dies_between_the_keys_and_the_rows_leaves_nothing_to_read_and_any_other_goes_on(
    world: Sealed, tmp_path: Path
) -> None:
    world.add("ana", f"I live in {ANA}.")
    world.add("ben", f"I live in {BEN}.")
    data = world.work()
    with world.open() as memory:
        memory.erase("ana")
    world.add("ana", "I live in Rome.")
    arguments: list[str | Path] = [data, tmp_path / "keys", world.connection.bootstrap, world.topics.prefix]
    killed = subprocess.run(program(KILLED, *arguments), check=False)
    assert killed.returncode == -signal.SIGKILL
    with SqliteLog(data / "messages.sqlite") as log:
        assert ANA not in str([*log.read()])

    elsewhere = world.work("elsewhere")  # another machine takes over first
    world.work()

    for name in (data.name, elsewhere.name):
        with world.open(name) as memory:
            assert (where(memory, "ana"), where(memory, "ben")) == (["Rome"], [BEN])
    assert dump(data) == dump(elsewhere)
    assert world.in_files(ANA) == set()


def test_a_believer_that_comes_after_an_erasure_believes_nothing_of_what_was_said_before(
    world: Sealed, tmp_path: Path
) -> None:
    world.add("ana", f"I live in {ANA}.")
    world.add("ben", f"I live in {BEN}.")
    settings = Settings(data=tmp_path / "recorder", embedder="none", keys=tmp_path / "keys")
    given = DirectoryLayout(settings.data), settings, world.connection, world.topics, 0
    with closing(RecorderPartition(*given)) as recorder:
        recorder.ingest([])
        with world.open() as memory:
            memory.erase("ana")
        world.add("ana", "I live in Rome.")
        recorder.ingest([])

    data = world.work()

    with world.open(data.name) as memory:
        assert (where(memory, "ana"), where(memory, "ben")) == (["Rome"], [BEN])
    assert dump(world.work("fresh")) == dump(data)
    assert world.in_files(ANA) == set()


def test_a_program_in_another_language_reads_what_was_not_erased(world: Sealed) -> None:
    if not can_run():
        not_checked(f"an example in Java: install {NEEDED}")
    world.add("ana", f"I live in {ANA}.")
    world.add("ben", f"I live in {BEN}." + " It is lovely." * 30)
    with world.open() as memory:
        memory.erase("ana")
    data = world.work()
    place = key_place(data / "keys.json")
    assert place is not None

    def read(topic: str) -> list[tuple[str, str]]:
        store = place.folder / place.memory
        command = [*JAVA, "-cp", f"{jars()}/*", EXAMPLE, world.connection.bootstrap, topic, store]
        done = subprocess.run([*map(str, command)], capture_output=True, text=True, check=True)
        return [(type_, value) for _, type_, value in (line.split("\t") for line in done.stdout.splitlines())]

    [one, two, request] = read(world.topics.messages)
    assert (one, request) == (("message.sent", "erased"), ("erasure.requested", '{"group_id": "ana"}'))
    assert json.loads(two[1])["content"].startswith(f"I live in {BEN}.")
    episodes = [value for type_, value in read(world.topics.episodic) if type_ == "episode.recorded"]
    assert [value == "erased" for value in episodes] == [True, False]
    assert f"I live in {BEN}." in episodes[1]
