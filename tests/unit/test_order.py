"""Each process of a run begins with its share of the long tests, and no test is left out."""

from pathlib import Path

import pytest

from order import mix, order, rotate


@pytest.mark.parametrize("processes", [1, 2, 3, 4, 6])
@pytest.mark.parametrize("others", [0, 1, 5, 100, 101])
def test_each_process_begins_with_its_share_of_the_long_tests(processes: int, others: int) -> None:
    long, short = ["A", "B", "CD", "E", "F", "GHI", "J", "K"], list(range(others))

    ordered = order(long, short, processes)

    assert sorted(map(str, ordered)) == sorted(map(str, [*"".join(long), *short]))
    if others >= 100:
        start = 0
        for number in range(processes):
            part = (len(ordered) - start) // (processes - number)  # as xdist deals them out
            share = [*"".join(long[number::processes])]
            assert ordered[start : start + len(share)] == share
            assert not set("".join(long)) & set(ordered[start + len(share) : start + part])
            start += part


@pytest.mark.parametrize("waiting", [0, 1, 3, 12, 40])
def test_tests_that_wait_stand_evenly_among_files_that_stay_whole(waiting: int) -> None:
    others = [f"{file}{number}" for file in "abcdefghijkl" for number in range(10)]
    wait = [f"-{number}" for number in range(waiting)]

    mixed = mix(wait, others, file=lambda item: item[0])

    assert [item for item in mixed if item in others] == others
    assert [item for item in mixed if item in wait] == wait
    for place in range(0, 120, 10):
        assert "".join(item[0] for item in mixed).count(others[place][0] * 10) == 1, "a file was cut"
    for half in (mixed[: len(mixed) // 2], mixed[len(mixed) // 2 :]):
        assert abs(sum(item in wait for item in half) - waiting / 2) <= 1 + waiting / 12
    assert mix(wait, [], file=len) == wait


def test_each_process_reads_all_files_of_tests_and_begins_with_another(tmp_path: Path) -> None:
    names = [str(tmp_path / f"test_{letter}.py") for letter in "abcdef"]
    for name in (*names, str(tmp_path / "help.py")):
        Path(name).touch()

    read = [rotate([str(tmp_path)], f"gw{number}", 3) for number in range(3)]

    assert [files[0] for files in read] == names[::2]
    assert all(sorted(files) == names for files in read)
