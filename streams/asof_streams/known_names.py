"""The known name that is nearest to an unknown one, for refusals."""

from collections.abc import Iterable
from difflib import get_close_matches
from typing import Final

LONGEST_NAME: Final = 64  # characters of a name that an error repeats, or compares with what is known


def near_to(name: str, known: Iterable[str]) -> str | None:
    """Return the known name that is nearest to another; None where none is near."""
    if len(name) > LONGEST_NAME:  # comparing takes the square of its length
        return None
    return next(iter(get_close_matches(name, [*known], 1, 0.6)), None)


def nearest(name: str, known: Iterable[str]) -> str:
    """Return what an error says of an unknown name: the nearest known one, else all of them."""
    names = [*known]
    near = near_to(name, names)
    if near is not None:
        return f"did you mean {near}?"
    return f"known are {', '.join(names)}" if names else "there are none"
