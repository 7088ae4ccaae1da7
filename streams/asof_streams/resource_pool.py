"""A pool of resources that are confined to threads: each is opened, used and closed by the one thread that owns it."""

from collections.abc import Callable
from concurrent.futures import Future
from contextlib import AbstractContextManager, ExitStack
from contextvars import copy_context
from queue import SimpleQueue
from threading import Lock, Thread
from typing import Generic, TypeVar

from asof_streams.errors import ContractError

T = TypeVar("T")
R = TypeVar("R")


class ResourcePool(Generic[T]):
    """Some threads, each with a resource of its own, such as an open file; what is submitted first is begun first.

    Where a resource cannot be opened, its thread raises that error for whatever it is asked. The threads are daemons:
    a call that hangs does not keep the process from ending.
    """

    def __init__(self, name: str, open_resource: Callable[[], AbstractContextManager[T]], size: int = 1) -> None:
        self._name = name
        self._open = open_resource
        self._finished = False
        self._order = Lock()  # nothing may be queued behind the end: no thread would ever take it
        self._tasks: SimpleQueue[Callable[[Future[T]], None] | None] = SimpleQueue()
        self._closed: list[Future[None]] = [Future() for _ in range(size)]
        for number, closed in enumerate(self._closed):
            Thread(target=self._run, args=(closed,), name=f"{name}-{number}", daemon=True).start()

    def submit(self, work: Callable[[T], R]) -> "Future[R]":
        """Let one of the threads do something with its resource. Cancelled before it is begun, it is not done.

        It runs in the context of the caller, so that a trace goes on.

        ContractError: the pool is closed, or about to be.
        """
        result: Future[R] = Future()
        context = copy_context()

        def task(resource: "Future[T]") -> None:
            if result.set_running_or_notify_cancel():
                try:
                    result.set_result(context.run(work, resource.result()))
                except BaseException as error:  # noqa: BLE001 - whoever submitted it has to know
                    result.set_exception(error)

        with self._order:
            if self._finished:
                raise ContractError(f"{self._name} is closed")
            self._tasks.put(task)
        return result

    def finish(self) -> "list[Future[None]]":
        """Accept nothing more; return a future for each thread, done once it has closed its resource."""
        with self._order:
            if not self._finished:
                self._finished = True
                for _ in self._closed:
                    self._tasks.put(None)
        return self._closed

    def close(self) -> None:
        """Wait until everything that was submitted is done, and the resources are closed."""
        for closed in self.finish():
            closed.result()

    def _run(self, closed: "Future[None]") -> None:
        resource: Future[T] = Future()
        try:
            with ExitStack() as opened:
                try:
                    resource.set_result(opened.enter_context(self._open()))
                except BaseException as error:  # noqa: BLE001 - whoever submits something has to know
                    resource.set_exception(error)
                while (task := self._tasks.get()) is not None:
                    task(resource)
        finally:
            closed.set_result(None)
