"""Reading a topic through the client: all of it, or an error. Never less, in silence."""

import asyncio
import gc
import os
import signal
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import partial

import pytest
from aiokafka import AIOKafkaProducer

from asof_streams.errors import BrokerUnavailable
from asof_streams.kafka.client import Client, SentRun
from asof_streams.kafka.connection import Connection
from asof_streams.kafka.envelope import Outgoing
from asof_streams.kafka.topics import Topics, create
from kafka_broker import Broker, answers
from patience import SECONDS


def topic_of(bootstrap: str, prefix: str) -> str:
    asyncio.run(create(Connection(bootstrap), Topics(prefix), ["main"]))
    return Topics(prefix).messages


def sent(client: Client, topic: str, *values: bytes) -> list[SentRun]:
    return client.send(topic, 0, [Outgoing(b"g", value, []) for value in values])


def values(client: Client, topic: str, start: int, stop: int) -> list[bytes | None]:
    return [raw.value for found in client.read(topic, 0, start, stop) for raw in found]


@pytest.fixture(scope="module")
def kept_broker(own_kafka: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Broker]:  # noqa: ARG001
    """A broker for the tests of this file that freeze or kill one."""
    with Broker(tmp_path_factory.mktemp("kept") / "kafka") as broker:
        yield broker


@pytest.fixture
def own_broker(kept_broker: Broker) -> Broker:
    """That one, running whatever the test before did to it: to start one takes two seconds of processor time."""
    if not answers(kept_broker.bootstrap):
        kept_broker.restart()
    return kept_broker


@contextmanager
def frozen(broker: Broker) -> Iterator[None]:
    """The broker keeps its connections, and says nothing."""
    assert broker._process is not None
    os.killpg(broker._process.pid, signal.SIGSTOP)
    os.waitid(os.P_PID, broker._process.pid, os.WSTOPPED)  # until then its threads may answer once more
    try:
        yield
    finally:
        os.killpg(broker._process.pid, signal.SIGCONT)


async def in_transactions(bootstrap: str, topic: str, *steps: tuple[bytes, bool]) -> None:
    """Send each value in a transaction of its own, committed or aborted."""
    producer = AIOKafkaProducer(bootstrap_servers=bootstrap, transactional_id=f"tx-{topic}")
    async with producer:
        for value, commit in steps:
            await producer.begin_transaction()
            await producer.send_and_wait(topic, value, key=b"g", partition=0)
            await (producer.commit_transaction() if commit else producer.abort_transaction())


def test_a_broker_that_says_nothing_for_a_while_ends_no_topic(own_broker: Broker, prefix: str) -> None:
    topic = topic_of(own_broker.bootstrap, prefix)
    with Client(Connection(own_broker.bootstrap), timeout=SECONDS) as client:
        sent(client, topic, b"one", b"two", b"three")
        assert client.read_one(topic, 0, 0) is not None
        with frozen(own_broker):
            later = threading.Timer(3, lambda: os.killpg(own_broker._process.pid, signal.SIGCONT))  # type: ignore[union-attr]
            later.start()
            assert values(client, topic, 0, 3) == [b"one", b"two", b"three"]
            later.join()


@pytest.mark.filterwarnings("default::ResourceWarning")
def test_closing_ends_calls_that_wait_and_leaves_no_connection_open(
    own_broker: Broker, prefix: str, recwarn: pytest.WarningsRecorder
) -> None:
    topic = topic_of(own_broker.bootstrap, prefix)
    client = Client(Connection(own_broker.bootstrap), timeout=SECONDS)
    client.extent(topic, 0)
    sent(client, topic, b"one")
    failed: list[BaseException] = []

    def call(work: Callable[[], object]) -> None:
        try:
            work()
        except BrokerUnavailable as error:
            failed.append(error)

    with frozen(own_broker):
        large = b"x" * 7_000_000  # more than the buffers of a connection take
        calls = [partial(client.extent, topic, 0), partial(sent, client, Topics(prefix).episodic, large)]
        waiting = [threading.Thread(target=call, args=(work,), daemon=True) for work in calls]
        for thread in waiting:
            thread.start()
        time.sleep(0.5)
        client.close()
        for thread in waiting:
            thread.join(SECONDS)
        assert len(failed) == 2
        del client, calls, waiting, thread
        failed.clear()  # their frames have the client
        gc.collect()
    assert [str(each.message) for each in recwarn if each.category is ResourceWarning] == []


def test_a_broker_that_does_not_come_back_is_an_error_and_not_an_end(own_broker: Broker, prefix: str) -> None:
    topic = topic_of(own_broker.bootstrap, prefix)
    with Client(Connection(own_broker.bootstrap), timeout=8) as client:
        sent(client, topic, b"one")
        assert client.read_one(topic, 0, 0) is not None
        own_broker.kill()
        with pytest.raises(BrokerUnavailable):
            values(client, topic, 0, 1)


@pytest.mark.filterwarnings("default::ResourceWarning")
def test_concurrent_first_callers_share_one_consumer_and_one_producer(
    bootstrap: str, prefix: str, recwarn: pytest.WarningsRecorder
) -> None:
    topic = topic_of(bootstrap, prefix)
    with Client(Connection(bootstrap)) as client, ThreadPoolExecutor(8) as pool:
        ends = [pool.submit(client.end, topic, 0) for _ in range(8)]
        runs = [pool.submit(sent, client, topic, b"one") for _ in range(8)]
        assert [end.result() in range(9) for end in ends] == [True] * 8
        assert sorted(run.result()[0].offset for run in runs) == [*range(8)]
    del client, ends, runs
    gc.collect()
    assert [str(each.message) for each in recwarn if each.category is ResourceWarning] == []


def test_marks_of_transactions_are_read_past_at_once(bootstrap: str, prefix: str) -> None:
    topic = topic_of(bootstrap, prefix)
    asyncio.run(in_transactions(bootstrap, topic, (b"kept", True), (b"lost", False), (b"kept too", True)))

    with Client(Connection(bootstrap)) as client:
        first, end = client.extent(topic, 0)
        client.read_one(topic, 0, 0)
        seconds = []
        for _ in range(8):
            start = time.monotonic()
            assert values(client, topic, first, end) == [b"kept", b"kept too"]
            seconds.append(time.monotonic() - start)
    assert min(seconds) < 0.9, "it waits for what comes after a mark"


def test_a_record_larger_than_a_batch_comes_back_whole(bootstrap: str, prefix: str) -> None:
    asyncio.run(create(Connection(bootstrap), Topics(prefix), ["main"]))
    topic, large = Topics(prefix).episodic, b"x" * 7_000_000
    with Client(Connection(bootstrap)) as client:
        assert sent(client, topic, b"small", large, b"last")[-1].offset == 2
        assert values(client, topic, 0, 3) == [b"small", large, b"last"]


def test_a_new_client_is_told_where_topics_begin_and_end_without_asking_in_vain_first(
    bootstrap: str, prefix: str
) -> None:
    topic = topic_of(bootstrap, prefix)

    def seconds() -> float:
        with Client(Connection(bootstrap)) as client:
            start = time.monotonic()
            assert client.ends([(topic, 0), (Topics(prefix).episodic, 0)]) == {
                (topic, 0): 0,
                (Topics(prefix).episodic, 0): 0,
            }
            return time.monotonic() - start

    assert min(seconds() for _ in range(20)) < 0.1  # after which aiokafka asks again
