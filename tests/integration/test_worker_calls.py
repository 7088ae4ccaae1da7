"""Calls of the service's worker: what is asked of it is answered between two messages, whenever it comes."""

from functools import partial
from pathlib import Path
from threading import Event

import pytest

from asof.service.worker_handle import Worker
from asof.service.worker_process import process
from asof.settings import Settings
from asof_streams.errors import UnavailableError
from child_work import answer_once, answer_unreadably
from patience import SECONDS


def test_a_call_that_comes_while_another_is_answered_is_answered_too(tmp_path: Path) -> None:
    sent = tmp_path / "sent"
    worker = Worker(process, Settings(data=tmp_path / "data", embedder="none"), lambda _: None, lambda: None)
    try:
        first, second = (worker.call(partial(answer_once, file=sent)) for _ in range(2))
        sent.touch()

        assert [call.result(SECONDS) for call in (first, second)] == ["data", "data"]
    finally:
        worker.stop()


def test_an_answer_that_cannot_be_received_ends_the_worker_and_nobody_waits_for_it(tmp_path: Path) -> None:
    failed = Event()
    worker = Worker(process, Settings(data=tmp_path / "data", embedder="none"), lambda _: None, failed.set)
    try:
        with pytest.raises(UnavailableError):
            worker.call(answer_unreadably).result(SECONDS)

        assert failed.wait(SECONDS)
    finally:
        worker.stop()
