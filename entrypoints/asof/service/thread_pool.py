"""Threads that each own one thing, such as an open file, that no other thread may use, and do with it what is asked."""

from collections.abc import Callable
from concurrent.futures import Future
from contextlib import AbstractContextManager
from queue import SimpleQueue
from threading import Thread
from typing import Generic, TypeVar

T = TypeVar("T")
R = TypeVar("R")


class Threads(Generic[T]):
    """Some threads, each with one thing of its own, made and closed by the thread; making it may not fail."""

    def __init__(self, name: str, count: int, make: Callable[[], AbstractContextManager[T]]) -> None:
        self._make = make
        self._asked: SimpleQueue[Callable[[T], None] | None] = SimpleQueue()
        self._threads = [Thread(target=self._run, name=f"{name}-{n}") for n in range(count)]
        for thread in self._threads:
            thread.start()

    def ask(self, do: Callable[[T], R]) -> Future[R]:
        """Let one of them do something, and return what will come of it."""
        future: Future[R] = Future()

        def settle(owned: T) -> None:
            if future.set_running_or_notify_cancel():
                try:
                    future.set_result(do(owned))
                except BaseException as error:  # noqa: BLE001 - it is whoever asked that has to know
                    future.set_exception(error)

        self._asked.put(settle)
        return future

    def close(self) -> None:
        """Let them end once they have done what was asked before."""
        for _ in self._threads:
            self._asked.put(None)
        for thread in self._threads:
            thread.join()

    def _run(self) -> None:
        with self._make() as owned:
            while (settle := self._asked.get()) is not None:
                settle(owned)
