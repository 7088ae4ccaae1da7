"""A part of a group that is erased on Kafka: every copy follows, and on encrypted topics exactly its keys are gone."""

import os
import shutil
import signal
import subprocess
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

import asof
import asof_process
from asof.kafka.follower import ReplicaFollower
from asof.kafka.producer import Producer
from asof.runtime.inbound_message import InboundMessage
from asof.runtime.layout import DirectoryLayout
from asof.settings import Settings
from asof_streams.key_store import key_place
from asof_streams.messages import Message, RedactionRequest
from asof_streams.record_sealer import RecordSealer, is_sealed_record
from asof_streams.sqlite_log import SqliteLog
from kafka_worker import Running, World, dump, embedded, until_known
from sealed_world import Sealed

ANA, QUORL = "Zephyrine", "Quorltown"
TOLD = (
    "I live in Madrid. I work at Acme.",
    f"My sister is {ANA}. I moved to {QUORL} in February.",
    "She works at Globex.",
    "I like tea.",
)
TORN = """
import os, signal, sys
from contextlib import closing
from pathlib import Path
from asof_streams.kafka.client import Client
from kafka_worker import Partition
from asof.kafka.producer import Producer
from asof.runtime.inbound_message import InboundMessage
from asof.runtime.layout import DirectoryLayout
from asof.settings import Settings
from asof_streams.kafka.connection import Connection
from asof_streams.kafka.topics import Topics

data, bootstrap, prefix, torn, count = sys.argv[1:]
begin_send, erased = Client.begin_send, False

def tear(self, topic, partition, records):
    global erased
    if topic == torn:
        erased = erased or any(("ce_type", b"group.erased") in record.headers for record in records)
        if erased and len(records) > 1:
            if int(count):
                begin_send(self, topic, partition, records[:int(count)])()
            os.kill(os.getpid(), signal.SIGKILL)
    return begin_send(self, topic, partition, records)

Client.begin_send = tear
settings = Settings(data=data, embedder="none")
with closing(Partition(DirectoryLayout(Path(data)), settings, Connection(bootstrap), Topics(prefix), 0)) as partition:
    partition.ingest([])
"""


def tell(world: World, group: str = "g") -> None:
    """Send what Ana says, from a program of somebody else's; every second one is sent twice."""
    for number, text in enumerate(TOLD):
        if group != "g":
            text = text.replace(ANA, "Zoe").replace(QUORL, "Kiel")  # noqa: PLW2901
        value = {"group_id": group, "role": "Ana", "role_type": "user", "content": text}
        stamp = f"2024-0{number + 1}-05T00:00:00Z"
        for _ in range(1 + number % 2):
            world.send([{**value, "timestamp": stamp}], ce_source=b"other", ce_id=f"{group}-{number}".encode())


def ask(world: World, *positions: int, group: str = "g") -> None:
    value = {"group_id": group, "positions": list(positions)}
    world.send([value], ce_type=RedactionRequest.type.encode())


def work(world: World, data: Path) -> None:
    """Let a recorder and a believer take all that there is."""
    with closing(world.partition(data)) as partition:
        partition.ingest([])


def answers(memory: asof.Memory, group: str = "g") -> list[object]:
    facts = memory.facts(group_id=group, any_time=True)
    return [(f.uuid, f.fact, f.valid_at, f.invalid_at, f.created_at, f.expired_at) for f in facts]


def answered(data: Path) -> list[object]:
    with asof.open(data, embedder="none") as memory:
        assert all(check.ok for check in memory.verify())
        return [*answers(memory), *answers(memory, "other"), memory.digest()]


def holds(folder: Path, *words: str) -> set[str]:
    files = [path for path in folder.rglob("*") if path.is_file() and not path.name.endswith(".said")]
    return {path.name for path in files if any(word.encode() in path.read_bytes() for word in words)}


@pytest.fixture
def sealed(bootstrap: str, prefix: str, tmp_path: Path) -> Iterator[Sealed]:
    with Sealed(bootstrap, prefix, tmp_path) as world:
        yield world


def test_every_copy_answers_as_if_what_was_erased_had_never_been_said(world: World, tmp_path: Path) -> None:
    tell(world)
    tell(world, "other")
    work(world, tmp_path / "data")
    shutil.copytree(tmp_path / "data", tmp_path / "older", ignore=shutil.ignore_patterns("*.lock"))
    ask(world, 1, 4, 99)  # of its own; of another group; of none
    work(world, tmp_path / "data")

    found = dump(tmp_path / "data")

    assert found.unplaced() == embedded(world, tmp_path / "data", tmp_path / "embedded")
    assert world.afresh(tmp_path / "afresh") == world.afresh(tmp_path / "older") == found
    shutil.copytree(tmp_path / "data", tmp_path / "lost", ignore=shutil.ignore_patterns("messages.sqlite*", "*.lock"))
    with ReplicaFollower(DirectoryLayout(tmp_path / "lost"), world.connection, world.topics) as follower:
        follower.catch_up()
    assert dump(tmp_path / "lost") == found
    for name in ("data", "afresh", "older", "lost"):
        with asof.open(tmp_path / name, embedder="none") as memory:
            assert ANA not in str(answers(memory))
            assert "Kiel" in str(answers(memory, "other"))
            assert all(check.ok for check in memory.verify())
    assert holds(tmp_path, ANA) == set()


@pytest.mark.parametrize(
    ("log", "count"), [("episodic", 1), ("episodic", 12), ("semantic.main", 0), ("semantic.main", 8)]
)
def test_a_telling_that_is_torn_is_begun_anew_by_whoever_comes_next(
    world: World, tmp_path: Path, log: str, count: int
) -> None:
    tell(world)
    tell(world, "other")
    work(world, tmp_path / "data")
    ask(world, 1)
    topic = f"{world.topics.prefix}.{log}"
    arguments = [tmp_path / "data", world.connection.bootstrap, world.topics.prefix, topic, count]
    died = subprocess.run(asof_process.program(TORN, *arguments), check=False)
    assert died.returncode == -signal.SIGKILL
    tell(world, "third")

    for name in ("elsewhere", "data"):  # another machine takes over, then this one
        work(world, tmp_path / name)
    work(world, tmp_path / "elsewhere")

    embedded(world, tmp_path / "data", tmp_path / "embedded")
    assert answered(tmp_path / "elsewhere") == answered(tmp_path / "data") == answered(tmp_path / "embedded")
    assert holds(tmp_path / "data", ANA) == holds(tmp_path / "elsewhere", ANA) == set()


def test_the_keys_of_exactly_what_was_erased_are_destroyed_with_those_of_its_repetitions(
    sealed: Sealed, tmp_path: Path
) -> None:
    for text in TOLD:
        sealed.add("g", text)
    [_, erased, *_] = sealed.records(sealed.topics.messages)
    data = sealed.work()
    said = Message(group_id="g", content=TOLD[1], role="G", role_type="user")
    settings = Settings(keys=tmp_path / "keys", **sealed.settings())
    with closing(Producer(settings)) as producer:  # it sends again what nobody has acknowledged
        producer.send([InboundMessage(said)], [dict(erased.headers)["ce_id"].decode()])
    sealed.work()
    ask(sealed, 1)
    sealed.work()

    place = key_place(data / "keys.json")
    assert place is not None
    sealer = RecordSealer(place.open())
    messages = [raw for raw in sealed.records(sealed.topics.messages) if is_sealed_record(raw.value)]
    assert [sealer.can_open("g", raw.value or b"") for raw in messages] == [True, False, True, True, False]
    events = [raw for raw in sealed.records(sealed.topics.episodic) if is_sealed_record(raw.value)]
    left = {int(dict(raw.headers)["ce_cause"]): sealer.can_open("g", raw.value or b"") for raw in events}
    assert left == {0: True, 1: False, 2: True, 3: True}
    with SqliteLog(DirectoryLayout(data).messages) as log:
        assert [record.position for record in log.read()] == [0, 2, 3, 4]
        assert log.destroyed("g", range(1, 2))
    assert dump(sealed.work("fresh")) == dump(data)
    assert holds(tmp_path, ANA) == set()


def test_a_worker_carries_it_out_and_the_certificate_says_what_was_done(
    world: World, start: Callable[..., Running], tmp_path: Path
) -> None:
    tell(world)
    worker = start(world, "worker")
    until_known(worker, 6)
    settings: dict[str, Any] = {"embedder": "none", **world.settings()}
    with asof.open(tmp_path / "copy", **settings) as memory:
        preview = memory.erasure_preview("g", phrase=ANA.lower())
        assert [message.position for message in preview.messages or ()] == [1]

        erasure = memory.erase("g", phrase=ANA.lower())

        assert (erasure.position, erasure.messages, erasure.keys_destroyed) == (6, (1,), False)
        assert [(one.log, one.erased > 0) for one in erasure.logs] == [
            ("messages", True),
            ("episodic", True),
            ("semantic.main", True),
        ]
        assert erasure.recorded_at is not None
        assert ANA not in str(answers(memory))
        assert "tea" in str(answers(memory))
        whole = memory.erase("g")
        assert (whole.position, whole.messages) == (7, None)
        assert {one.held for one in whole.logs} == {0}
        assert {one.held for one in memory.erasure_preview("g").logs} == {0}
    given = {**settings, "data": str(tmp_path / "copy")}
    environment = {**os.environ} | {f"ASOF_{name.upper()}": value for name, value in given.items()}
    told = asof_process.run("erase", "g", "--yes", folder=tmp_path, environment=environment)
    assert told.stdout == "erased; the request is at offset 8\n"
    assert "asof topics rewrite" in told.stderr  # which nobody encrypted
    worker.stop()
    assert holds(tmp_path, ANA, QUORL) == set()


def test_without_a_worker_nothing_is_certain_but_that_it_was_asked_for(sealed: Sealed) -> None:
    sealed.add("g", TOLD[0])
    with sealed.open() as memory:
        erasure = memory.erase("g")
    assert (erasure.position, erasure.done, erasure.logs) == (1, None, ())
    data = sealed.work()
    with sealed.open(data.name) as memory:
        assert answers(memory) == []
