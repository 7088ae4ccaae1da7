"""Plateaus hold those moments with which comparing the columns gives what it gave with the first ones."""

from itertools import product
from random import Random

import numpy as np
import pytest

from asof_projections.graph.sqlite_store.plateaus import Plateaus
from asof_streams.instants import INF, NEG

MOMENTS = (NEG, *range(9), INF)


def drawn(chance: Random) -> np.ndarray:
    return np.array([chance.choice([*range(1, 8), NEG, INF]) for _ in range(chance.randrange(6))], np.int64)


@pytest.mark.parametrize("seed", range(20))
def test_a_moment_is_held_where_comparing_gives_the_same_also_with_values_that_came_later(seed: int) -> None:
    chance = Random(seed)
    first = (chance.choice(MOMENTS), chance.choice(MOMENTS))
    columns, more = [drawn(chance), drawn(chance)], [drawn(chance), drawn(chance)]
    plateaus = Plateaus.around(*zip(columns, first, strict=True))
    since = chance.choice([asked for asked in product(MOMENTS, MOMENTS) if plateaus.hold(*asked)])
    narrowed = plateaus.narrowed(*zip(more, since, strict=True))

    for asked in product(MOMENTS, MOMENTS):
        assert plateaus.hold(*asked) == same(columns, first, asked)
        assert narrowed.hold(*asked) == (same(columns, first, asked) and same(more, since, asked))


def same(columns: list[np.ndarray], first: tuple[int, int], asked: tuple[int, int]) -> bool:
    compared = zip(columns, first, asked, strict=True)
    return all(bool(((column <= a) == (column <= b)).all()) for column, a, b in compared)
