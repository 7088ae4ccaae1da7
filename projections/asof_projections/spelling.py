"""How alike two spellings are: the similarity of Jaro and Winkler, and whether one slip lies between them.

Resolution rests on that similarity, so a change of it needs a new generation. The results are those of the
package rapidfuzz to the last bit.
"""

from itertools import compress
from operator import ne
from typing import Final

_BOOSTED: Final = 0.7  # Winkler: spellings that are more alike than that
_BOOST: Final = 0.1  # of what is missing, for each character that both begin with
_PREFIX: Final = 4  # characters that count so


def jaro_winkler(one: str, other: str) -> float:
    """Return the similarity of two texts, from 0 to 1; upper case is another spelling, two empty texts are equal.

    Names take a few microseconds; the time grows with the lengths alone.
    """
    if not one or not other:
        return float(one == other)
    prefix = _first_difference(one, other)
    similarity = _jaro(one, other, prefix)
    if similarity > _BOOSTED:
        similarity = min(similarity + min(prefix, _PREFIX) * _BOOST * (1.0 - similarity), 1.0)
    return similarity


def is_one_slip_away(one: str, other: str) -> bool:
    """Return whether two texts are equal, or one edit apart.

    An edit is a character inserted, deleted or replaced, or two neighbours swapped.
    """
    shorter, longer = sorted((one, other), key=len)
    missing = len(longer) - len(shorter)
    if missing > 1:
        return False
    place = _first_difference(shorter, longer)
    if shorter[place + 1 - missing :] == longer[place + 1 :]:
        return True
    is_swapped = shorter[place : place + 2] == longer[place : place + 2][::-1]
    return is_swapped and shorter[place + 2 :] == longer[place + 2 :]


def _first_difference(one: str, other: str) -> int:
    for place, (mine, its) in enumerate(zip(one, other, strict=False)):
        if mine != its:
            return place
    return min(len(one), len(other))


def _jaro(one: str, other: str, prefix: int) -> float:
    """Return the mean of the shares of both texts that are in common, and of the share of those in one order.

    In common are equal characters at near places, each counted once: for each of `one` the first of `other` that is
    left. Those of the prefix are so without a search.
    """
    mine, theirs = one[prefix:], other[prefix:]
    near = max(max(len(one), len(other)) // 2 - 1, 0)
    left: dict[str, list[int]] = {}  # by character, its places that may still be counted, the first one last
    for place in range(len(theirs) - 1, -1, -1):
        left.setdefault(theirs[place], []).append(place)
    is_counted = bytearray(len(theirs))
    found: list[str] = []
    for place, character in enumerate(mine):
        places = left.get(character)
        while places and places[-1] < place - near:
            places.pop()
        if places and places[-1] <= place + near:
            is_counted[places.pop()] = True
            found.append(character)
    common = prefix + len(found)
    if not common:
        return 0.0
    swapped: int = sum(map(ne, found, compress(theirs, is_counted))) // 2
    return (common / len(one) + common / len(other) + (common - swapped) / common) / 3.0
