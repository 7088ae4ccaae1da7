"""The phase of decay: counts the entities that have faded, and records by which half-life. Pure.

No factor is stored. That of an age is 0.5 ^ (age / half-life), computed for the moment of each question.
"""

from math import log2
from typing import Final

from asof_streams.instants import FIRST, SECOND

_FRESH: Final = 0.99  # from this factor on an entity has not faded


def faded_before(now: int, half_life_seconds: int) -> int:
    """Return the instant before which an entity was introduced whose factor is below 0.99 now."""
    age = half_life_seconds * log2(1 / _FRESH)
    return max(now - round(age * SECOND), FIRST)
