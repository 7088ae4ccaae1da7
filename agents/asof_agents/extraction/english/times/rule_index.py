"""An index of rules by the kinds of token that their patterns cannot do without.

A sentence has few of the kinds that rules are about, so most rules need not be tried on it. What a pattern needs
follows from its text alone: a rule that is left out would not have matched.
"""

import re
from collections.abc import Callable, Iterable, Iterator
from operator import or_
from typing import Final

Letters = frozenset[str]
_PART: Final = re.compile(r"\[([^]]+)\]|(\((?:\?<?[=!:])?)|([|])|(\))")
_NONE_NEEDED: Final = {"(?!", "(?<!"}


def needs(pattern: str) -> list[Letters]:
    """Return sets of letters; whatever the pattern matches, the code has a letter of each.

    The pattern is of classes of letters, groups, looks ahead and back, alternatives, "?" and "*".
    """
    return _alternatives(pattern, 0)[0]


def _alternatives(pattern: str, at: int) -> tuple[list[Letters], int]:
    """Return what the alternatives from a place on need, to the end of their group, and the place after it."""
    each: list[list[Letters]] = [[]]
    while (part := _PART.match(pattern, at)) is not None:
        letters, opened, bar, closed = part.groups()
        at = part.end()
        if closed:
            break
        if bar:
            each.append([])
            continue
        found = [frozenset(letters)] if letters else []
        if opened:
            found, at = _alternatives(pattern, at)
        optional = pattern[at : at + 1] in {"?", "*"}
        at += optional
        if not optional and opened not in _NONE_NEEDED:
            each[-1] += found
    if len(each) == 1:
        return each[0], at
    first = [found[0] for found in each if found]  # one of the alternatives is enough
    return ([Letters().union(*first)] if len(first) == len(each) else []), at


class RuleIndex:
    """Rules by their numbers. The rules that a letter serves are bits of an int, one for each place of a need."""

    def __init__(self) -> None:
        self._count = 0
        self._serving: list[dict[str, int]] = []  # by the place of a need
        self._free: list[int] = []  # the rules that need nothing there
        self._bits: dict[str, list[int]] = {}  # by a letter: the rules that it serves at each place

    def add(self, wanted: Iterable[Letters]) -> None:
        """Add the next rule, by what it needs."""
        self._bits.clear()
        bit, wanted = 1 << self._count, list(wanted)
        self._count += 1
        while len(self._serving) < len(wanted):
            self._serving.append({})
            self._free.append(bit - 1)
        for place, serving in enumerate(self._serving):
            if place >= len(wanted):
                self._free[place] |= bit
                continue
            for letter in wanted[place]:
                serving[letter] = serving.get(letter, 0) | bit

    def near(self, code: str) -> "NearRules":
        """Return the rules that may match a code."""
        return NearRules(self.bits, self._free, self._count, code)

    def bits(self, letter: str) -> list[int]:
        """Return the rules that a letter serves, as bits, at each place of a need."""
        if letter not in self._bits:
            self._bits[letter] = [serving.get(letter, 0) for serving in self._serving]
        return self._bits[letter]


class NearRules:
    """Iterates over the rules that may match a code, in their order; the code may get more letters meanwhile."""

    def __init__(self, bits: Callable[[str], list[int]], free: list[int], count: int, code: str) -> None:
        self._bits = bits
        self._reached = free
        self._ahead = (1 << count) - 1
        for letter in set(code):
            self.add(letter)

    def add(self, letter: str) -> None:
        """Note a letter that the code has got."""
        self._reached = list(map(or_, self._reached, self._bits(letter)))

    def __iter__(self) -> Iterator[int]:
        while near := self._next():
            self._ahead &= -near << 1  # those after it
            yield near.bit_length() - 1

    def _next(self) -> int:
        near = self._ahead
        for reached in self._reached:
            near &= reached
        return near & -near
