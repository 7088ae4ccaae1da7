"""The broker that these tests run on is a real one: it keeps what it was given, and leaves nothing running."""

import asyncio
import subprocess
import sys
from pathlib import Path

import pytest
from aiokafka import AIOKafkaConsumer, AIOKafkaProducer, TopicPartition
from aiokafka.admin import AIOKafkaAdminClient, NewTopic
from aiokafka.errors import KafkaConnectionError

import kafka_broker
from kafka_broker import JAVA, SASL_PASSWORD, SASL_USER, Broker, BrokerError, answers, classes, jars
from kafka_topics import make_topics
from patience import SECONDS, wait_until
from shared_broker import SharedBroker

STARTS_ONE = """
import sys, time
from pathlib import Path
import kafka_broker
from kafka_broker import Broker

broker = Broker(Path(sys.argv[1]))
broker.start()
print(broker.bootstrap, flush=True)
time.sleep(600)
"""


async def create(bootstrap: str, topic: str) -> None:
    admin = AIOKafkaAdminClient(bootstrap_servers=bootstrap)
    await admin.start()
    try:
        await make_topics(admin, [NewTopic(topic, num_partitions=1, replication_factor=1)])
    finally:
        await admin.close()


async def produce(bootstrap: str, topic: str, value: bytes) -> None:
    async with AIOKafkaProducer(bootstrap_servers=bootstrap, acks="all", enable_idempotence=True) as producer:
        await producer.send_and_wait(topic, value, partition=0)


async def consume(bootstrap: str, topic: str, count: int) -> list[bytes | None]:
    async with AIOKafkaConsumer(bootstrap_servers=bootstrap) as consumer:
        partition = TopicPartition(topic, 0)
        consumer.assign([partition])
        await consumer.seek_to_beginning(partition)
        return [(await asyncio.wait_for(consumer.getone(), SECONDS)).value for _ in range(count)]


async def sign_in(bootstrap: str, password: str) -> None:
    producer = AIOKafkaProducer(
        bootstrap_servers=bootstrap,
        security_protocol="SASL_PLAINTEXT",
        sasl_mechanism="PLAIN",
        sasl_plain_username=SASL_USER,
        sasl_plain_password=password,
    )
    try:
        await producer.start()
    finally:
        await producer.stop()


def test_what_is_produced_is_consumed(bootstrap: str, prefix: str) -> None:
    async def there_and_back() -> list[bytes | None]:
        await create(bootstrap, prefix)
        await produce(bootstrap, prefix, b"one")
        return await consume(bootstrap, prefix, 1)

    assert asyncio.run(there_and_back()) == [b"one"]


def test_what_was_acknowledged_is_there_after_the_broker_was_killed_and_started_again(
    own_broker: Broker, prefix: str
) -> None:
    address = own_broker.bootstrap
    asyncio.run(create(address, prefix))
    asyncio.run(produce(address, prefix, b"before"))

    own_broker.kill()
    assert not answers(address)
    own_broker.restart()

    assert own_broker.bootstrap == address
    asyncio.run(produce(address, prefix, b"after"))
    assert asyncio.run(consume(address, prefix, 2)) == [b"before", b"after"]


def test_the_second_listener_lets_in_who_knows_the_password_and_nobody_else(started_broker: SharedBroker) -> None:
    asyncio.run(sign_in(started_broker.sasl_bootstrap, SASL_PASSWORD))

    with pytest.raises(KafkaConnectionError):
        asyncio.run(sign_in(started_broker.sasl_bootstrap, "wrong"))


def test_where_no_broker_can_be_run_make_kafka_names_the_one_that_answers(bootstrap: str) -> None:
    module = kafka_broker.__file__
    without_java = {"PATH": "", "ASOF_KAFKA": bootstrap}
    done = subprocess.run([sys.executable, module], env=without_java, capture_output=True, text=True, check=True)

    assert done.stdout == f"Nothing was started: a broker answers at {bootstrap} (ASOF_KAFKA).\n"


def test_a_taken_port_is_refused_at_once_and_named(started_broker: SharedBroker, tmp_path: Path) -> None:
    with pytest.raises(BrokerError, match=str(started_broker.port)):
        Broker(tmp_path / "second", port=started_broker.port).start()


@pytest.mark.usefixtures("started_broker")
def test_java_takes_the_classes_of_kafka_from_what_it_wrote_down_at_first() -> None:
    options = [*JAVA, "-Xshare:on", f"-XX:SharedArchiveFile={classes()}", "-cp", f"{jars()}/*"]

    assert subprocess.run([*options, "-version"], capture_output=True, check=False).returncode == 0


@pytest.mark.usefixtures("own_kafka")
def test_no_broker_outlives_the_process_that_started_it(tmp_path: Path) -> None:
    command = [sys.executable, "-c", STARTS_ONE, str(tmp_path)]
    with subprocess.Popen(
        command, cwd=Path(kafka_broker.__file__).parent, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        address = process.stdout.readline().strip()
        assert answers(address)
        process.kill()

    wait_until(lambda: not answers(address))
