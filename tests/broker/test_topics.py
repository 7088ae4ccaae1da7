"""On a real broker: topics are made once, whatever would lose history in them is found, and a refusal is named."""

import asyncio
import json
import os
import subprocess
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from aiokafka import AIOKafkaProducer, TopicPartition
from aiokafka.admin import AIOKafkaAdminClient, NewPartitions, NewTopic, RecordsToDelete

from asof.runtime.layout import DirectoryLayout
from asof.settings import Settings
from asof_process import run
from asof_streams.errors import InvalidInput, NotFound
from asof_streams.kafka.client import Client
from asof_streams.kafka.connection import Connection
from asof_streams.kafka.envelope import Outgoing
from asof_streams.kafka.errors import translate_errors
from asof_streams.kafka.topic_rules import RULES, TopicFinding
from asof_streams.kafka.topics import Topics, check, create, ends
from kafka_broker import SASL_PASSWORD, SASL_USER
from kafka_topics import alter_topic, make_topics
from kafka_worker import Partition
from refusal import refusing
from shared_broker import SharedBroker

WRONG = {
    "cleanup.policy": "compact",
    "retention.ms": "604800000",
    "retention.bytes": "1000000",
    "message.timestamp.type": "CreateTime",
    "max.message.bytes": "1048588",
}
PLAIN = {"ASOF_KAFKA_SASL_MECHANISM": "PLAIN", "ASOF_KAFKA_SECURITY_PROTOCOL": "SASL_PLAINTEXT"}
GOOD = PLAIN | {"ASOF_KAFKA_SASL_USERNAME": SASL_USER, "ASOF_KAFKA_SASL_PASSWORD": SASL_PASSWORD}


@pytest.fixture
def connection(bootstrap: str) -> Connection:
    return Connection(bootstrap)


@pytest.fixture
def topics(prefix: str) -> Topics:
    return Topics(prefix)


@asynccontextmanager
async def administering(bootstrap: str) -> AsyncIterator[AIOKafkaAdminClient]:
    admin = AIOKafkaAdminClient(bootstrap_servers=bootstrap)
    await admin.start()
    try:
        yield admin
    finally:
        await admin.close()


async def alter(bootstrap: str, topic: str, settings: dict[str, str]) -> None:
    async with administering(bootstrap) as admin:
        await alter_topic(admin, topic, settings)


async def errors_of(connection: Connection, topics: Topics) -> list[TopicFinding]:
    return [finding for finding in await check(connection, topics) if finding.severity == "error"]


def asof(*arguments: str, folder: Path, code: int = 0, **settings: str) -> subprocess.CompletedProcess[str]:
    """Run a command as an operator does, without the settings of whoever runs the tests."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("ASOF_")} | settings
    done = run(*arguments, folder=folder, environment=environment)
    assert done.returncode == code, done
    return done


def test_topics_are_made_once_and_are_as_they_must_be(connection: Connection, topics: Topics) -> None:
    async def twice() -> None:
        made = await create(connection, topics, ["main"], partitions=3)
        assert made == [topics.messages, topics.episodic, topics.semantic("main"), topics.dead_letters]
        assert await errors_of(connection, topics) == []
        assert await ends(connection, topics) == {name: [0, 0, 0] for name in made}

        assert await create(connection, topics, ["main"]) == []
        assert await create(connection, topics, ["main", "b2"]) == [topics.semantic("b2")]
        assert (await ends(connection, topics))[topics.semantic("b2")] == [0, 0, 0]

    asyncio.run(twice())


def test_the_number_of_partitions_is_not_changed(connection: Connection, topics: Topics) -> None:
    async def with_others() -> None:
        await create(connection, topics, ["main"], partitions=2)
        with pytest.raises(InvalidInput, match=f"{topics.messages} has 2 partitions, not 3"):
            await create(connection, topics, ["b2"], partitions=3)
        assert topics.semantic("b2") not in await ends(connection, topics)

    asyncio.run(with_others())


def test_more_copies_than_there_are_brokers_are_refused_in_the_brokers_words(
    connection: Connection, topics: Topics
) -> None:
    with pytest.raises(InvalidInput, match=rf"does not make {topics.prefix}\..*[Rr]eplication factor"):
        asyncio.run(create(connection, topics, ["main"], replication=99))


def test_every_wrong_setting_of_a_real_topic_is_found_and_mended_by_what_is_wanted(
    connection: Connection, topics: Topics
) -> None:
    right = {rule.setting: rule.wanted for rule in RULES["derived"]}
    assert WRONG.keys() == right.keys()

    async def one_after_the_other() -> None:
        await create(connection, topics, ["main"])
        for setting, value in WRONG.items():
            await alter(connection.bootstrap, topics.episodic, right | {setting: value})
            [finding] = await errors_of(connection, topics)
            assert (finding.topic, finding.setting, finding.found) == (topics.episodic, setting, value)
            assert finding.fix.endswith(f"--entity-name {topics.episodic} --add-config {setting}={right[setting]}")

            await alter(connection.bootstrap, topics.episodic, right | {finding.setting: finding.wanted})
            assert await errors_of(connection, topics) == []

    asyncio.run(one_after_the_other())


def test_a_topic_that_the_broker_made_by_its_own_defaults_is_found_unfit(
    connection: Connection, topics: Topics
) -> None:
    async def by_default() -> list[TopicFinding]:
        async with administering(connection.bootstrap) as admin:
            await make_topics(admin, [NewTopic(topics.messages, num_partitions=1, replication_factor=1)])
        await create(connection, topics, ["main"])
        return await errors_of(connection, topics)

    found = asyncio.run(by_default())
    assert {finding.topic for finding in found} == {topics.messages}
    assert {"retention.ms", "message.timestamp.type"} <= {finding.setting for finding in found}


def test_an_absent_topic_and_an_uneven_one_are_found(connection: Connection, topics: Topics) -> None:
    settings = {rule.setting: rule.wanted for rule in RULES["derived"]}

    async def uneven() -> list[TopicFinding]:
        async with administering(connection.bootstrap) as admin:
            counts = {topics.messages: 2, topics.episodic: 1}
            await make_topics(admin, [NewTopic(name, n, 1, topic_configs=settings) for name, n in counts.items()])
        await create(connection, topics, ["main"], partitions=2)
        return [found for found in await check(connection, topics, ["main", "b2"]) if found.severity == "error"]

    assert [(f.topic, f.setting, f.found, f.wanted) for f in asyncio.run(uneven())] == [
        (topics.episodic, "partitions", "1", "2"),
        (topics.semantic("b2"), "topic", "absent", "present"),
    ]


def test_looking_makes_no_topic(connection: Connection, topics: Topics) -> None:
    async def look() -> list[TopicFinding]:
        await check(connection, topics, ["main"])
        assert await ends(connection, topics) == {}
        return await errors_of(connection, topics)

    assert {finding.found for finding in asyncio.run(look())} == {"absent"}


def test_records_that_were_deleted_are_missed(connection: Connection, topics: Topics) -> None:
    async def truncate() -> list[TopicFinding]:
        await create(connection, topics, ["main"], partitions=2)
        async with AIOKafkaProducer(bootstrap_servers=connection.bootstrap) as producer:
            for number in range(5):
                await producer.send_and_wait(topics.messages, b"%d" % number, partition=1)
        assert await errors_of(connection, topics) == []
        async with administering(connection.bootstrap) as admin:
            await admin.delete_records({TopicPartition(topics.messages, 1): RecordsToDelete(3)})
        return await errors_of(connection, topics)

    [finding] = asyncio.run(truncate())
    assert (finding.topic, finding.setting, finding.found) == (topics.messages, "first offset of partition 1", "3")
    assert "backup" in finding.fix


def test_a_topic_that_is_asked_for_and_is_not_there_is_named(connection: Connection, topics: Topics) -> None:
    async def ask() -> None:
        async with translate_errors(connection, topics.messages), administering(connection.bootstrap) as admin:
            await admin.create_partitions({topics.messages: NewPartitions(2)})

    with pytest.raises(NotFound, match=f"{topics.messages}.*asof topics create"):
        asyncio.run(ask())


def test_the_command_makes_topics_checks_them_and_fails_where_one_is_unfit(
    bootstrap: str, topics: Topics, tmp_path: Path
) -> None:
    address = {"ASOF_KAFKA": bootstrap, "ASOF_KAFKA_PREFIX": topics.prefix}
    made = asof("topics", "create", "--kafka", bootstrap, "--prefix", topics.prefix, folder=tmp_path)
    assert f"created {topics.semantic('main')}\n" in made.stdout
    assert made.stderr == ""
    again = json.loads(asof("topics", "create", "--json", folder=tmp_path, **address).stdout)
    assert (again["created"], {finding["severity"] for finding in again["findings"]}) == ([], {"warning"})
    assert "the topics keep what they must\n" in asof("topics", folder=tmp_path, **address).stdout

    asyncio.run(alter(bootstrap, topics.messages, {"retention.ms": "1000"}))
    checked = asof("topics", "check", folder=tmp_path, code=1, **address).stdout
    assert f"error: {topics.messages}: retention.ms is 1000, not -1: " in checked
    assert f"--entity-name {topics.messages} --add-config retention.ms=-1\n" in checked
    assert "keep what they must" not in checked


def test_the_doctor_asks_the_broker_and_names_each_fault_of_a_topic(
    bootstrap: str, topics: Topics, tmp_path: Path
) -> None:
    address = {"ASOF_KAFKA": bootstrap, "ASOF_KAFKA_PREFIX": topics.prefix}

    def found(code: int) -> dict[str, dict[str, str]]:
        rows = json.loads(asof("doctor", "--json", folder=tmp_path, code=code, **address).stdout)
        return {row["what"]: row for row in rows}

    assert "asof topics create" in found(1)[f"{topics.messages} topic"]["remedy"]

    asof("topics", "create", folder=tmp_path, **address)
    whole = found(0)
    assert bootstrap in whole["kafka"]["found"]
    assert not any(row["state"] == "broken" for row in whole.values())

    asyncio.run(alter(bootstrap, topics.messages, {"retention.ms": "1000"}))
    assert "retention.ms is 1000" in found(1)[f"{topics.messages} retention.ms"]["found"]


def test_lag_says_how_far_a_directory_has_read_the_topics(bootstrap: str, topics: Topics, tmp_path: Path) -> None:
    address = {"ASOF_KAFKA": bootstrap, "ASOF_KAFKA_PREFIX": topics.prefix, "ASOF_DATA": "kept"}
    said = Outgoing(b"g", b'{"group_id": "g", "role_type": "user", "role": "Ana", "content": "I live in Berlin."}', [])

    def lag() -> dict[str, tuple[int, int | None, int | None]]:
        rows = json.loads(asof("topics", "lag", "--json", folder=tmp_path, **address).stdout)
        return {row["topic"]: (row["end"], row["read"], row["behind"]) for row in rows}

    asof("topics", "create", folder=tmp_path, **address)
    with Client(Connection(bootstrap)) as client:
        client.send(topics.messages, 0, [said, said])
        assert set(lag().values()) == {(2, None, None), (0, None, None)}

        kept = Partition(
            DirectoryLayout(tmp_path / "kept"), Settings(embedder="hash"), Connection(bootstrap), topics, 0
        )
        kept.ingest([])
        kept.close()
        client.send(topics.messages, 0, [said])

    found = lag()
    assert found[topics.messages] == (3, 2, 1)
    assert found[topics.dead_letters] == (0, None, None)
    for topic in (topics.episodic, topics.semantic("main")):
        end, read, behind = found[topic]
        assert (end > 2, read, behind) == (True, end, 0)


def test_no_broker_is_told_in_one_line_and_at_once(tmp_path: Path) -> None:
    def seconds(address: str) -> float:
        began = time.monotonic()
        done = asof("topics", "check", "--kafka", address, folder=tmp_path, code=2)
        assert done.stdout == ""
        assert done.stderr == f"asof: no broker at {address}, where ASOF_KAFKA says that one is: Connection refused\n"
        return time.monotonic() - began

    with refusing() as address:
        assert any(seconds(address) < 20 for _ in range(3))


def test_credentials_that_the_broker_refuses_are_told_in_one_line(
    started_broker: SharedBroker, prefix: str, tmp_path: Path
) -> None:
    address = {"ASOF_KAFKA": started_broker.sasl_bootstrap, "ASOF_KAFKA_PREFIX": prefix}
    assert f"created {prefix}.messages\n" in asof("topics", "create", folder=tmp_path, **address, **GOOD).stdout

    refused = asof("doctor", folder=tmp_path, code=1, **address | GOOD | {"ASOF_KAFKA_SASL_PASSWORD": "wrong"}).stdout
    assert "ASOF_KAFKA_SASL_PASSWORD" in refused.replace("\n", "")

    for settings, remedy in (
        (
            GOOD | {"ASOF_KAFKA_SASL_PASSWORD": "wrong"},
            "refuses ASOF_KAFKA_SASL_USERNAME with ASOF_KAFKA_SASL_PASSWORD",
        ),
        (GOOD | {"ASOF_KAFKA_SASL_MECHANISM": "SCRAM-SHA-256"}, "set ASOF_KAFKA_SASL_MECHANISM"),
        ({}, "set ASOF_KAFKA_SECURITY_PROTOCOL to SASL_PLAINTEXT"),
        ({"ASOF_KAFKA_SECURITY_PROTOCOL": "SSL"}, "set ASOF_KAFKA_SECURITY_PROTOCOL to PLAINTEXT"),
        (GOOD | {"ASOF_KAFKA": started_broker.bootstrap}, "set ASOF_KAFKA_SECURITY_PROTOCOL to PLAINTEXT"),
        (PLAIN, "needs ASOF_KAFKA_SASL_USERNAME"),
    ):
        done = asof("topics", folder=tmp_path, code=2, **address | settings)
        assert remedy in done.stderr
        assert done.stderr.count("\n") == 1
        assert (done.stdout, SASL_PASSWORD in done.stderr) == ("", False)
