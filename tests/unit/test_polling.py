"""Pauses between looks at a state: the first look is at once, the last when the seconds are over."""

import time
from itertools import islice

from asof_streams.polling import looks


def test_without_patience_there_is_one_look() -> None:
    assert list(looks(0.0)) == [0.0]


def test_pauses_grow_with_the_time_waited_within_bounds_and_end_with_the_last_look() -> None:
    pauses = []
    for pause in looks(0.1):
        pauses.append(pause)
        time.sleep(pause)

    assert pauses[-1] == 0.0
    assert all(0.0 < pause <= 0.1 for pause in pauses[:-1])


def test_whoever_looks_without_a_pause_is_told_the_least_one() -> None:
    assert all(0.002 <= pause <= 0.1 for pause in islice(looks(1_000.0), 3))
