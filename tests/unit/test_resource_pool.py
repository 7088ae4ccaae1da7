"""A resource is opened, used and closed by one thread, and whoever submits work hears what came of it."""

from collections.abc import Iterator
from concurrent.futures import CancelledError
from contextlib import contextmanager
from functools import partial
from threading import Barrier, Event, get_ident

import pytest

from asof_streams.errors import ContractError, NotFound
from asof_streams.resource_pool import ResourcePool


class Resource:
    """Knows which thread opened it, and when it was closed."""

    def __init__(self) -> None:
        self.thread = get_ident()
        self.closed_by = 0

    @contextmanager
    def opened(self) -> Iterator["Resource"]:
        yield self
        self.closed_by = get_ident()


def test_a_resource_is_opened_used_and_closed_by_one_thread() -> None:
    pool = ResourcePool("one", lambda: Resource().opened())

    resource, used_by = pool.submit(lambda resource: (resource, get_ident())).result()
    pool.close()

    assert resource.thread == used_by == resource.closed_by != get_ident()


def test_as_many_work_at_the_same_time_as_there_are_threads() -> None:
    pool = ResourcePool("three", lambda: Resource().opened(), 3)
    together = Barrier(3, timeout=20)

    met = [pool.submit(lambda resource: (together.wait(), resource)) for _ in range(3)]

    assert len({id(future.result()[1]) for future in met}) == 3
    pool.close()


def test_whoever_submits_work_hears_of_its_failure_and_the_next_is_done() -> None:
    pool = ResourcePool("one", lambda: Resource().opened())

    failed, done = pool.submit(lambda _: 1 // 0), pool.submit(lambda _: "done")

    with pytest.raises(ZeroDivisionError):
        failed.result()
    assert done.result() == "done"
    pool.close()


def test_where_a_resource_cannot_be_opened_whatever_is_submitted_fails_with_that() -> None:
    def fail() -> None:
        raise NotFound("there is none")

    pool = ResourcePool("none", fail)

    for _ in range(2):
        with pytest.raises(NotFound, match="there is none"):
            pool.submit(lambda _: None).result()
    pool.close()


def test_work_that_is_cancelled_before_it_begins_is_not_done() -> None:
    pool, begin, done = ResourcePool("one", lambda: Resource().opened()), Event(), []
    busy = pool.submit(lambda _: begin.wait(20))

    cancelled = pool.submit(lambda _: done.append(1))
    cancelled.cancel()
    begin.set()

    assert busy.result()
    with pytest.raises(CancelledError):
        cancelled.result()
    pool.close()
    assert done == []


def test_what_was_submitted_before_the_end_is_done() -> None:
    pool, done = ResourcePool("one", lambda: Resource().opened()), []

    for number in range(100):
        pool.submit(partial(lambda n, _: done.append(n), number))
    pool.close()

    assert done == list(range(100))


def test_work_for_a_closed_pool_is_refused_at_once() -> None:
    pool = ResourcePool("one", lambda: Resource().opened())
    pool.close()

    with pytest.raises(ContractError, match="one is closed"):
        pool.submit(lambda _: "done")
    pool.close()  # closing it again does no harm
