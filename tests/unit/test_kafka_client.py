"""The synchronous client of Kafka: whoever asks gets an answer or an error, also while another thread closes it."""

import asyncio
from collections.abc import Coroutine
from concurrent.futures import Future
from threading import Thread, current_thread
from typing import Any

import pytest

from asof_streams.errors import BrokerUnavailable
from asof_streams.kafka.client import Client
from asof_streams.kafka.connection import Connection


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
