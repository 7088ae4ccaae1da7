"""The synchronous client of Kafka: whoever asks gets an answer or an error, also while another thread closes it."""

import asyncio
import threading
from collections.abc import Coroutine
from concurrent.futures import Future, ThreadPoolExecutor
from threading import Event, Thread, current_thread
from typing import Any

import pytest

from asof_streams.errors import BrokerUnavailable
from asof_streams.kafka import client as client_module
from asof_streams.kafka.client import Client
from asof_streams.kafka.connection import Connection
from patience import SECONDS


class Connections:
    """The connections of a part of aiokafka's, none of which is open."""

    def __init__(self) -> None:
        self._conns: dict[object, object] = {}

    async def close(self) -> None:
        pass


class Consumer:
    """As much of aiokafka's consumer as a client needs to open one, to ask it a question and to close it."""

    def __init__(self, **_: object) -> None:
        self._client = Connections()
        self.stopped = False

    async def start(self) -> None:
        pass

    async def stop(self) -> None:
        self.stopped = True

    async def topics(self) -> set[str]:
        return {"t"}


def test_whoever_asks_just_as_the_client_is_closed_does_not_wait_for_ever(monkeypatch: pytest.MonkeyPatch) -> None:
    client = Client(Connection("127.0.0.1:1"))
    begin, closing = asyncio.run_coroutine_threadsafe, Thread(target=client.close)

    def begin_late(work: Coroutine[Any, Any, Any], loop: asyncio.AbstractEventLoop) -> Future[Any]:
        if current_thread() is not closing:
            closing.start()
            closing.join(1.0)  # it is over by then, unless it waits for this
        return begin(work, loop)

    monkeypatch.setattr(asyncio, "run_coroutine_threadsafe", begin_late)
    with pytest.raises(BrokerUnavailable):
        client.run(asyncio.sleep(300.0))

    closing.join()


def test_a_producer_that_cannot_be_opened_now_holds_up_no_question(monkeypatch: pytest.MonkeyPatch) -> None:
    starting = Event()

    class Producer:
        def __init__(self, **_: object) -> None:
            pass

        async def start(self) -> None:
            starting.set()
            await asyncio.Event().wait()

        async def stop(self) -> None:
            pass

    monkeypatch.setattr(client_module, "AIOKafkaConsumer", Consumer)
    monkeypatch.setattr(client_module, "AIOKafkaProducer", Producer)
    with Client(Connection("127.0.0.1:1")) as client:
        sent = client.begin_send("t", 0, [])
        assert starting.wait(SECONDS)

        assert client.topics() == {"t"}

    with pytest.raises(BrokerUnavailable):
        sent()


def test_a_consumer_that_is_opened_only_while_another_is_closed_is_closed_too(monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[Consumer] = []
    starting, closing, opened = Event(), asyncio.Event(), asyncio.Event()

    class Late(Consumer):
        def __init__(self, **_: object) -> None:
            super().__init__()
            made.append(self)

        async def start(self) -> None:
            if self is not made[0]:
                starting.set()
                await closing.wait()

        async def stop(self) -> None:
            if self is made[0]:
                closing.set()
                await opened.wait()
            await super().stop()

        def assign(self, _: object) -> None:
            opened.set()

        def seek(self, *_: object) -> None:
            pass

    monkeypatch.setattr(client_module, "AIOKafkaConsumer", Late)
    client = Client(Connection("127.0.0.1:1"))
    client.topics()
    with ThreadPoolExecutor(1) as pool:
        read = pool.submit(client.read_one, "t", 0, 0)
        assert starting.wait(SECONDS)
        client.close()

        with pytest.raises(BrokerUnavailable):
            read.result()
    assert [consumer.stopped for consumer in made] == [True, True]


def test_a_client_is_closed_though_its_connections_do_not_close_in_time(monkeypatch: pytest.MonkeyPatch) -> None:
    class Open(Connections):
        closed: asyncio.Future[None] | None = None

        async def close(self) -> None:
            self.closed = self.closed or asyncio.get_running_loop().create_future()
            await self.closed  # as aiokafka does: once cut short, it is cancelled for whoever closes it again

    class Stuck(Consumer):
        def __init__(self, **_: object) -> None:
            super().__init__()
            self._client = Open()

        async def stop(self) -> None:
            if not self.stopped:
                await super().stop()
                await self._client.close()

    monkeypatch.setattr(client_module, "AIOKafkaConsumer", Stuck)
    monkeypatch.setattr(client_module, "_CLOSE_SECONDS", 0.1)
    before = set(threading.enumerate())
    client = Client(Connection("127.0.0.1:1"))
    client.topics()

    client.close()

    assert set(threading.enumerate()) <= before
