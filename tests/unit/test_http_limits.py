"""The limit of requests a second, by a clock that the test holds."""

from asof.http.middleware.limits import TokenBucket


class Clock:
    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


def test_as_many_requests_pass_as_a_second_has_and_then_as_many_as_time_gives() -> None:
    clock = Clock()
    rate = TokenBucket(4.0, clock)

    assert [rate.wait("a") for _ in range(6)] == [0, 0, 0, 0, 1, 1]
    clock.now += 0.5
    assert [rate.wait("a") for _ in range(3)] == [0, 0, 1]
    clock.now += 3_600
    assert [rate.wait("a") for _ in range(5)] == [0, 0, 0, 0, 1]


def test_each_caller_has_a_rate_of_its_own() -> None:
    rate = TokenBucket(1.0, Clock())

    assert [rate.wait(caller) for caller in "aabb"] == [0, 1, 0, 1]


def test_a_rate_below_one_a_second_says_how_long_to_wait_and_holds_to_it() -> None:
    clock = Clock()
    rate = TokenBucket(0.1, clock)

    assert [rate.wait("a"), rate.wait("a")] == [0, 10]
    clock.now += 9
    assert rate.wait("a") == 1
    clock.now += 1
    assert rate.wait("a") == 0
