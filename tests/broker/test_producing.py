"""What is sent to the messages topic: by asof as a line at the door, by anybody in any form; and what becomes of it."""

import asyncio
import json
import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from threading import Thread

import pytest
from aiokafka.admin import AIOKafkaAdminClient, NewTopic

from asking import records
from asof.api.memory import Memory
from asof.cli import app, calls
from asof.runtime.inbound_message import MAX_RECORD_BYTES
from asof.runtime.layout import DirectoryLayout
from asof.settings import Settings
from asof_process import fork, run, wait
from asof_streams.errors import DecodeError, InvalidInput, NotFound
from asof_streams.events import Record
from asof_streams.kafka.client import Client
from asof_streams.kafka.connection import Connection
from asof_streams.kafka.envelope import Headers, Outgoing, Raw
from asof_streams.kafka.partitioning import partition_of
from asof_streams.kafka.topics import Topics, create
from asof_streams.messages import Message
from kafka_broker import Broker
from kafka_topics import make_topics
from kafka_worker import Partition

SAID = {"group_id": "g", "role": "Ana", "role_type": "user", "content": "I live in Oslo."}
FACT = {"group_id": "g", "subject": "Ana", "relation": "likes", "object": "tea"}


class Kafka:
    """The topics of one test, and what a client of one's own does with them."""

    def __init__(self, bootstrap: str, prefix: str, data: Path) -> None:
        self.bootstrap = bootstrap
        self.topics = Topics(prefix)
        self.connection = Connection(bootstrap)
        self.client = Client(self.connection)
        self.settings = Settings(data=data, embedder="none", kafka=bootstrap, kafka_prefix=prefix)

    def create(self, partitions: int = 1) -> None:
        asyncio.run(create(self.connection, self.topics, ["main"], partitions=partitions))

    def send(self, value: bytes | None, key: bytes | None = None, headers: Headers | None = None) -> int:
        return self.client.send(self.topics.messages, 0, [Outgoing(key, value, headers or [])])[0].offset

    def records(self, topic: str, partition: int = 0) -> list[Raw]:
        end = self.client.extent(topic, partition)[1]
        return [raw for found in self.client.read(topic, partition, 0, end) for raw in found]

    def sent(self, partition: int = 0) -> list[Raw]:
        return self.records(self.topics.messages, partition)

    def open(self, partition: int = 0) -> Partition:
        return Partition(DirectoryLayout(self.settings.data), self.settings, self.connection, self.topics, partition)

    def memory(self) -> Memory:
        """What writes to the topics."""
        return Memory(self.settings)

    def taken(self) -> list[Record]:
        """Let a worker take what is on the topic; return the messages of its log."""
        partition = self.open()
        try:
            partition.ingest([])
        finally:
            partition.close()
        with self.local() as memory:
            return list(records(memory, "messages"))

    def local(self) -> Memory:
        """What the worker made, read as the directory that it is."""
        return Memory(Settings(data=self.settings.data, embedder="none"))


@pytest.fixture
def kafka(bootstrap: str, prefix: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Kafka]:
    monkeypatch.setenv("ASOF_KAFKA_PREFIX", prefix)
    monkeypatch.setenv("ASOF_DATA", str(tmp_path / "data"))
    monkeypatch.setenv("ASOF_EMBEDDER", "none")
    monkeypatch.chdir(tmp_path)
    kafka = Kafka(bootstrap, prefix, tmp_path / "data")
    with kafka.client:
        yield kafka


def asof(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    """Run a command; return its exit code and what it printed."""
    code = calls.run(app, list(arguments))
    return code, *capsys.readouterr()


def file_of(path: Path, lines: Sequence[bytes]) -> str:
    path.write_bytes(b"".join(line + b"\n" for line in lines))
    return str(path)


# What asof sends.


def test_a_line_arrives_byte_for_byte_under_its_group_with_the_headers_of_a_cloud_event(
    kafka: Kafka, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    kafka.create(partitions=3)
    lines = [
        b'{"group_id": "a", "role_type":"user",  "content": "Caf\\u00e9", "timestamp": "2024-05-01T09:30:00+02:00"}',
        '{"content":"Żółć 🐸","role_type":"user","group_id":"b","uuid":null}'.encode(),
        b'{"group_id": "a", "role_type":"user", "content": "more"}',
    ]

    ended = asof(capsys, "produce", file_of(tmp_path / "lines", lines), "--kafka", kafka.bootstrap)

    assert ended == (0, "accepted 3, refused 0\n", "")
    of_a, of_b = (kafka.sent(partition_of(group, 3)) for group in ("a", "b"))
    assert [(raw.key, raw.value) for raw in of_a] == [(b"a", lines[0]), (b"a", lines[2])]
    assert [(raw.key, raw.value) for raw in of_b] == [(b"b", lines[1])]
    headers = [dict(raw.headers) for raw in (*of_a, *of_b)]
    assert len({of.pop("ce_id") for of in headers}) == 3
    assert headers == 3 * [
        {
            "content-type": b"application/json",
            "ce_specversion": b"1.0",
            "ce_source": b"/asof/messages",
            "ce_type": b"message.sent",
            "ce_eventversion": str(Message.version).encode(),
        }
    ]
    assert not kafka.settings.data.exists(), "who sends needs no directory"


def test_what_the_python_api_writes_goes_to_the_topic_and_is_known_once_it_is_taken(kafka: Kafka) -> None:
    kafka.create()
    with kafka.memory() as memory:
        added = memory.add("I live in Oslo.", role="Ana", group_id="g", timestamp="2024-05-01T11:30:00+02:00")
        done = memory.import_facts([json.dumps({**FACT, "group_id": "h"}), "\n", "no"])
        erased = memory.erase("h")

    assert (added.position, added.episode_id) == (0, None)
    assert (done.accepted, done.first_position, done.parked) == (1, 1, None)
    assert [refused.line for refused in done.refused] == [3]
    assert erased.position == 2
    assert [dict(raw.headers)["ce_type"] for raw in kafka.sent()] == [
        b"message.sent",
        b"fact.stated",
        b"erasure.requested",
    ]
    assert kafka.taken()
    with kafka.local() as memory:
        assert [(fact.subject, fact.object) for fact in memory.facts(all_groups=True)] == [("Ana", "Oslo")]


@pytest.mark.parametrize("command", [("produce",), ("import",), ("import", "--ontology", "agent_memory_v1")])
@pytest.mark.parametrize("strict", [(), ("--strict",)])
def test_the_same_lines_are_refused_as_without_kafka(
    kafka: Kafka,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    command: Sequence[str],
    strict: Sequence[str],
) -> None:
    kafka.create()
    lines = [
        *(json.dumps(line).encode() for line in (SAID, FACT, {**FACT, "relation": "lives_in", "valid_at": "x"})),
        *(json.dumps({**line, "group_id": "two words"}).encode() for line in (SAID, FACT)),
        *(json.dumps({**line, "valid_at": 5, "timestamp": 5}).encode() for line in (SAID, FACT)),
        json.dumps({**SAID, "content": "x" * (512 * 1024 + 1)}).encode(),
        b'{"content": "\xff"}',
        b"[]",
        b"   ",
        b"[" * 100_000,
    ]
    call = (*command, file_of(tmp_path / "lines", lines), *strict, "--json")

    code, out, err = asof(capsys, *call)
    on_kafka = asof(capsys, *call, "--kafka", kafka.bootstrap)

    told = json.loads(out)
    assert told["refused"]
    unknown = {} if strict else {"parked": None}
    assert on_kafka[0] == code
    assert (json.loads(on_kafka[1]), on_kafka[2]) == ({**told, **unknown}, err)
    assert len(kafka.sent()) == told["accepted"]


def test_a_recorded_time_of_ones_own_is_refused_since_the_broker_gives_it(
    kafka: Kafka, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    kafka.create()
    file = file_of(tmp_path / "lines", [json.dumps({**FACT, "recorded_at": "2024-01-01T00:00:00Z"}).encode()])

    code, _, err = asof(capsys, "import", file, "--recorded", "--kafka", kafka.bootstrap)

    assert (code, err) == (
        2,
        "asof: recorded: on Kafka the broker's clock says when a fact was recorded, so leave this out\n",
    )
    assert kafka.sent() == []


def test_the_largest_line_that_is_accepted_fits_the_topic(kafka: Kafka) -> None:
    kafka.create()
    group = "g" * 128
    line = json.dumps({**SAID, "group_id": group}).encode()
    largest = line + b" " * (MAX_RECORD_BYTES - len(line))

    with kafka.memory() as memory:
        done = memory.produce([largest, largest + b" "])
        with pytest.raises(InvalidInput, match="the limit is"):
            memory.add('"' * 512 * 1024, group_id=group)

    assert [(refused.line, "the limit is" in refused.reason) for refused in done.refused] == [(2, True)]
    assert [raw.value for raw in kafka.sent()] == [largest]


def test_without_a_topic_nothing_is_sent_and_the_command_that_makes_it_is_named(
    kafka: Kafka, capsys: pytest.CaptureFixture[str]
) -> None:
    code, out, err = asof(capsys, "add", "I live in Oslo.", "--role", "Ana", "--kafka", kafka.bootstrap)

    assert (code, out) == (2, "")
    assert err.startswith(f"asof: {kafka.topics.messages}: ")
    assert err.endswith("Run: asof topics create\n")
    assert kafka.topics.messages not in kafka.client.topics()


def test_to_a_topic_that_would_forget_nothing_is_sent(kafka: Kafka, capsys: pytest.CaptureFixture[str]) -> None:
    async def make() -> None:
        admin = AIOKafkaAdminClient(bootstrap_servers=kafka.bootstrap)
        await admin.start()
        try:
            await make_topics(admin, [NewTopic(kafka.topics.messages, 1, 1)])
        finally:
            await admin.close()

    asyncio.run(make())

    code, out, err = asof(capsys, "erase", "g", "--yes", "--kafka", kafka.bootstrap)

    assert (code, out) == (2, "")
    assert err.startswith(f"asof: {kafka.topics.messages}: retention.ms is ")
    assert err.count("\n") == 1
    assert kafka.sent() == []


def test_where_no_worker_was_there_is_no_generation_to_build_from_to_switch_to_or_to_drop(kafka: Kafka) -> None:
    kafka.create()

    with kafka.memory() as memory:
        for change in (memory.rebuild, memory.switch, memory.drop):
            with pytest.raises(NotFound):
                change("other")


def test_two_producers_at_once_lose_nothing_and_double_nothing(kafka: Kafka, tmp_path: Path) -> None:
    kafka.create()
    count, producers, output = 2_500, [], tmp_path / "output"
    for name in ("one", "two"):
        lines = [json.dumps({**FACT, "subject": name, "object": f"thing {i}"}).encode() for i in range(count)]
        command = ["import", file_of(tmp_path / name, lines), "--kafka", kafka.bootstrap]
        producers.append(fork(command, os.environ, output, tmp_path / "log"))

    assert [wait(producer) for producer in producers] == [0, 0]
    assert output.read_text() == 2 * "accepted 2500, refused 0\n"

    stated = [record.event.model_dump() for record in kafka.taken()]
    for name in ("one", "two"):
        assert [fact["object"] for fact in stated if fact["subject"] == name] == [f"thing {i}" for i in range(count)]
    assert len(stated) == 2 * count


# What anybody sends.


def test_what_was_sent_twice_under_one_source_and_id_is_one_message(kafka: Kafka) -> None:
    kafka.create()
    value = json.dumps(SAID).encode()
    first: Headers = [("ce_source", b"/chat"), ("ce_id", b"1")]

    kafka.send(value, b"g", first)
    kafka.send(value, b"g", first)
    assert len(kafka.taken()) == 1
    kafka.send(value, b"g", first)  # seen by a worker that was opened anew
    kafka.send(value, b"g", [("ce_source", b"/mail"), ("ce_id", b"1")])
    kafka.send(value, b"g", [("ce_source", b"/chat"), ("ce_id", b"2")])
    kafka.send(value, b"g")
    kafka.send(value, b"g")

    assert [record.cause for record in kafka.taken()] == [0, 3, 4, 5, 6]


FOREIGN: dict[str, tuple[bytes | None, bytes | None, Headers, str]] = {
    "no JSON": (b"good morning", b"g", [], "the value must be one JSON object in UTF-8"),
    "no text": (b"\xff\xfe\xfd", b"g", [], "the value must be one JSON object in UTF-8"),
    "null": (None, b"g", [("from", b"\xff")], "the value must be one JSON object in UTF-8"),
    "a list": (b"[]", None, [], "the value must be one JSON object in UTF-8"),
    "a group that cannot be": (
        json.dumps({**SAID, "group_id": "two\nlines"}).encode(),
        None,
        [],
        "group_id: a group id has 1 to 200 characters, and no control character",
    ),
    "a key that is another group": (
        json.dumps(SAID).encode(),
        b"other",
        [],
        "group_id: it is not the record's key, which decides where a group's messages go",
    ),
    "a type of its own": (
        json.dumps(SAID).encode(),
        b"g",
        [("ce_type", b"order.placed")],
        (
            "ce_type: it is none of message.sent, fact.stated, entity.stated, identity.stated, timezone.stated,"
            " withdrawal.requested, retry.requested, consolidation.requested, erasure.requested,"
            " redaction.requested"
        ),
    ),
    "too large": (
        json.dumps({**SAID, "content": "x" * (512 * 1024 + 1)}).encode(),
        b"g",
        [("ce_id", b"large")],
        "content: it has 524289 bytes, the limit is 524288: split it into several messages",
    ),
}


@pytest.mark.parametrize(("value", "key", "headers", "reason"), FOREIGN.values(), ids=FOREIGN)
def test_what_cannot_be_taken_is_parked_and_copied_unchanged_and_the_next_message_is_taken(
    kafka: Kafka, value: bytes | None, key: bytes | None, headers: Headers, reason: str
) -> None:
    kafka.create()
    kafka.send(json.dumps(SAID).encode(), b"g")
    kafka.send(value, key, headers)
    kafka.send(json.dumps(FACT).encode(), b"g")

    taken = kafka.taken()

    original = kafka.sent()[1]
    (copy,) = kafka.records(kafka.topics.dead_letters)
    assert (copy.key, copy.value) == (key, value)
    assert list(copy.headers) == [
        *headers,
        ("dlq_original_topic", kafka.topics.messages.encode()),
        ("dlq_original_partition", b"0"),
        ("dlq_original_offset", b"1"),
        ("dlq_original_timestamp", b"%d" % original.timestamp),
        ("dlq_reason", reason.encode()),
    ]
    assert [record.event.type for record in taken] == ["message.sent", "record.refused", "fact.stated"]
    with kafka.local() as memory:
        parked = [record for record in records(memory, "episodic") if record.event.type == "message.parked"]
        assert [(record.cause, record.event.model_dump()["reason"]) for record in parked] == [(1, reason)]
        assert {fact.relation for fact in memory.facts(all_groups=True)} == {"lives_in", "likes"}
        assert memory.stats()["parked"] == 1


def test_a_message_in_a_partition_that_is_not_that_of_its_group_is_parked(kafka: Kafka) -> None:
    kafka.create(partitions=4)
    there, elsewhere = "ben", "ana"  # in partitions 1 and 0 of four, as kcat puts them with murmur2_random
    for group in (elsewhere, there):
        value = json.dumps({**SAID, "group_id": group}).encode()
        kafka.client.send(kafka.topics.messages, 1, [Outgoing(None, value, [])])

    partition = kafka.open(1)
    try:
        partition.ingest([])
    finally:
        partition.close()

    (copy,) = kafka.records(kafka.topics.dead_letters, 1)
    assert dict(copy.headers)["dlq_reason"] == b"the group belongs to partition 0: produce it with its key"
    with kafka.local() as memory:
        assert [(fact.group_id, fact.object) for fact in memory.facts(all_groups=True)] == [(there, "Oslo")]


NEWER = Message.version + 1
OF_THE_FUTURE: Headers = [("ce_type", b"message.sent"), ("ce_eventversion", str(NEWER).encode())]


def test_a_record_of_a_newer_version_stops_the_worker_where_it_stands(kafka: Kafka) -> None:
    kafka.create()
    kafka.send(json.dumps(SAID).encode(), b"g")
    assert len(kafka.taken()) == 1
    kafka.send(b'{"a shape": "of the future"}', b"g", OF_THE_FUTURE)
    kafka.send(json.dumps(FACT).encode(), b"g")

    refused = f"message.sent version {NEWER}, newer than {Message.version}: upgrade asof"
    partition = kafka.open()
    try:
        with pytest.raises(DecodeError, match=f"offset 1: .*{refused}"):
            partition.ingest([])
        assert partition.offset == 1
    finally:
        partition.close()
    done = run("worker", "--kafka", kafka.bootstrap)

    assert done.returncode == 2
    assert refused in done.stderr.splitlines()[-1]
    assert kafka.records(kafka.topics.dead_letters) == []
    with kafka.local() as memory:
        assert len(list(records(memory, "messages"))) == 1


def test_a_broker_that_is_killed_and_started_again_in_the_middle_loses_nothing_and_doubles_nothing(
    own_broker: Broker, prefix: str, tmp_path: Path
) -> None:
    kafka = Kafka(own_broker.bootstrap, prefix, tmp_path / "data")
    kafka.create()
    lines = [json.dumps({**FACT, "object": f"thing {i}"}) for i in range(10_000)]

    def restart() -> None:
        own_broker.kill()
        own_broker.restart()

    def given() -> Iterator[str]:
        yield from lines[:1_500]
        restarting = Thread(target=restart)
        restarting.start()  # while lines are being sent
        yield from lines[1_500:]
        restarting.join()

    with kafka.client, kafka.memory() as memory:
        assert memory.import_facts(given()).accepted == len(lines)
        assert [raw.value for raw in kafka.sent()] == [line.encode() for line in lines]
