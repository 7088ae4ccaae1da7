"""Each process of a run begins with its share of the long tests, and no test is left out."""

from pathlib import Path

import pytest

from order import order, rotate


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


def test_each_process_reads_all_files_of_tests_and_begins_with_another(tmp_path: Path) -> None:
    names = [str(tmp_path / f"test_{letter}.py") for letter in "abcdef"]
    for name in (*names, str(tmp_path / "help.py")):
        Path(name).touch()

    read = [rotate([str(tmp_path)], f"gw{number}", 3) for number in range(3)]

    assert [files[0] for files in read] == names[::2]
    assert all(sorted(files) == names for files in read)
