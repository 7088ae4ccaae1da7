"""The order of the tests: the long ones first, in every process of a run."""

from collections.abc import Iterable
from itertools import islice
from typing import TypeVar

Item = TypeVar("Item")


def order(long: Iterable[Item], others: Iterable[Item], processes: int) -> list[Item]:
    """Return all items so that each process begins with its share of the long ones.

    With `--dist worksteal` the processes begin with equal parts of the list, one after the other, and who has done
    its part takes from the end of another's: a long test there would be left to run alone.
    """
    long, rest = list(long), list(others)
    count, left = len(long) + len(rest), iter(rest)
    ordered: list[Item] = []
    for number in range(processes):
        share = long[number::processes]
        part = (count - len(ordered)) // (processes - number)
        ordered += [*share, *islice(left, max(0, part - len(share)))]
    return [*ordered, *left]
