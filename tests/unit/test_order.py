"""Each process of a run begins with its share of the long tests, and no test is left out."""

import pytest

from order import order


@pytest.mark.parametrize("processes", [1, 2, 3, 4, 6])
@pytest.mark.parametrize("others", [0, 1, 5, 100, 101])
def test_each_process_begins_with_its_share_of_the_long_tests(processes: int, others: int) -> None:
    long, short = list("ABCDEFGH"), list(range(others))

    ordered = order(long, short, processes)

    assert sorted(map(str, ordered)) == sorted(map(str, [*long, *short]))
    if others >= 100:
        start = 0
        for number in range(processes):
            part = (len(ordered) - start) // (processes - number)  # as xdist deals them out
            share = long[number::processes]
            assert ordered[start : start + len(share)] == share
            assert not set(long) & set(ordered[start + len(share) : start + part])
            start += part
