"""The order of the tests: the long ones first, in every process of a run; and where each begins to read the files."""

from collections.abc import Callable, Iterable, Sequence
from itertools import chain, groupby, islice
from pathlib import Path
from typing import TypeVar

Item = TypeVar("Item")


def order(long: Iterable[Sequence[Item]], others: Iterable[Item], processes: int) -> list[Item]:
    """Return all items so that each process begins with its share of the long ones, of which some stay together.

    With `--dist worksteal` the processes begin with equal parts of the list, one after the other, and who has done
    its part takes from the end of another's: a long test there would be left to run alone.
    """
    long, rest = list(long), list(others)
    count, left = sum(map(len, long)) + len(rest), iter(rest)
    ordered: list[Item] = []
    for number in range(processes):
        share = [*chain.from_iterable(long[number::processes])]
        part = (count - len(ordered)) // (processes - number)
        ordered += [*share, *islice(left, max(0, part - len(share)))]
    return [*ordered, *left]


def mix(waiting: Sequence[Item], others: Iterable[Item], file: Callable[[Item], object]) -> list[Item]:
    """Return all items with those that wait spread evenly among the others, whose files stay whole.

    Where only tests that wait for a broker are left to a run, half of the machine has nothing to do.
    """
    files = [[*items] for _, items in groupby(others, file)]
    count = sum(map(len, files))
    mixed: list[Item] = []
    done = placed = 0
    for items in files:
        done += len(items)
        upto = len(waiting) * done // count
        mixed += chain(items, waiting[placed:upto])
        placed = upto
    return [*mixed, *waiting[placed:]]


def rotate(folders: Iterable[str], process: str, processes: int) -> list[str]:
    """Return the files of tests in some folders, as one process (`gw0`, `gw1` and so on) of several reads them.

    Each begins at another file. To compile a file takes longer than to import it, and nobody does it again: on a clean
    clone each process so compiles a part, where all would compile the whole.
    """
    files = sorted(str(file) for folder in folders for file in Path(folder).rglob("test_*.py"))
    first = len(files) * int(process.removeprefix("gw")) // processes
    return [*files[first:], *files[:first]]
