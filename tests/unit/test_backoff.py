"""Work that failed because of the world outside is tried again, after pauses that grow."""

from collections.abc import Callable
from itertools import islice

import pytest

from asof_streams.backoff import Backoff
from asof_streams.errors import UnavailableError


class World:
    """Fails so many times, then gives an answer."""

    def __init__(self, failures: int, error: Callable[[], Exception] = lambda: UnavailableError("away")) -> None:
        self.tries = 0
        self._failures = failures
        self._error = error

    def ask(self) -> str:
        self.tries += 1
        if self.tries <= self._failures:
            raise self._error()
        return "answer"


def test_pauses_grow_up_to_the_longest() -> None:
    assert list(islice(Backoff(0.5, longest=3.0).pauses(), 5)) == [0.5, 1.0, 2.0, 3.0, 3.0]
    assert list(Backoff(0.1, 10.0, retries=3).pauses()) == pytest.approx([0.1, 1.0, 10.0])


def test_what_succeeds_is_not_tried_again_and_waits_for_nothing() -> None:
    world, slept = World(0), list[float]()

    assert Backoff(1.0, retries=3).retry(world.ask, UnavailableError, sleep=slept.append) == "answer"
    assert (world.tries, slept) == (1, [])


def test_what_fails_is_tried_again_after_each_pause() -> None:
    world, slept = World(2), list[float]()

    assert Backoff(1.0, retries=3).retry(world.ask, UnavailableError, sleep=slept.append) == "answer"
    assert (world.tries, slept) == (3, [1.0, 2.0])


def test_the_last_failure_is_raised_without_a_pause_behind_it() -> None:
    world, slept = World(9), list[float]()

    with pytest.raises(UnavailableError, match="away"):
        Backoff(1.0, retries=2).retry(world.ask, UnavailableError, sleep=slept.append)
    assert (world.tries, slept) == (3, [1.0, 2.0])


def test_another_failure_is_raised_at_once() -> None:
    world = World(9, lambda: ValueError("a bug"))

    with pytest.raises(ValueError, match="a bug"):
        Backoff(1.0, retries=2).retry(world.ask, UnavailableError)
    assert world.tries == 1
