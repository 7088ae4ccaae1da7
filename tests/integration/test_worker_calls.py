"""Calls of the service's worker: what is asked of it is answered between two messages, whenever it comes."""

import sqlite3
from collections.abc import Callable
from contextlib import closing
from functools import partial
from pathlib import Path
from threading import Event
from typing import Any

import pytest

import asof
from asof.runtime import clock, generation_build
from asof.runtime.child_process import ChannelClosed
from asof.runtime.control_log import decide
from asof.runtime.layout import DirectoryLayout
from asof.runtime.open_logs import OpenLogs
from asof.runtime.writer import Writer
from asof.service.session import Session
from asof.service.worker_handle import Worker
from asof.service.worker_process import Processing, process
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


class Killed(BaseException):
    pass


class Quiet:
    """A channel by which nothing comes: at each look something else happens, and then it is closed."""

    def __init__(self, *looks: Callable[[], Any]) -> None:
        self._looks = iter(looks)

    def ready(self, seconds: float = 0) -> bool:
        if not seconds:
            return False
        look = next(self._looks, None)
        if look is not None:
            look()
        return look is None

    def receive(self) -> None:
        raise ChannelClosed

    def send(self, _told: object) -> None:
        pass


def test_a_generation_whose_log_is_held_is_followed_for_while_no_message_comes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = Settings(data=tmp_path, embedder="none")
    with asof.open(tmp_path, embedder="none") as memory:
        memory.add("I live in Paris.", role="Ana")
    log = tmp_path / "generations" / "work" / "semantic.work.sqlite"

    def die(*decision: Any) -> None:
        decide(*decision)
        raise Killed

    with closing(Writer(OpenLogs(DirectoryLayout(tmp_path), settings))) as writer:
        with monkeypatch.context() as patched, asof.open(tmp_path, embedder="none") as beside:
            patched.setattr(generation_build, "decide", die)
            with pytest.raises(Killed):
                beside.rebuild("work")
        with closing(sqlite3.connect(log, isolation_level=None)) as held:
            held.execute("BEGIN IMMEDIATE")
            quiet: Any = Quiet(lambda: None, partial(held.execute, "ROLLBACK"))
            session = Session(writer.logs.places, settings, clock.system, writer=writer)
            with pytest.raises(ChannelClosed):
                Processing(writer, session, quiet).run()
            session.close_reader()

        assert {"main", "work"} == set(writer.generations)
