"""Which of several statements of one value holds, where one value does at a time: the one that was said first.

At an instant the claims that cover it stand in the order of their starts, and the value of the last is believed. Those
of that value that have none of another value between them say the same: of these the first holds. So a restatement
takes nothing from what it states again, and holds where that does not. Pure.
"""

from collections.abc import Sequence
from heapq import heappop, heappush
from itertools import groupby
from operator import itemgetter
from typing import NamedTuple


class SlotClaim(NamedTuple):
    """What one statement claims of a slot."""

    fact_id: str
    value: str
    start: int
    end: int  # not later than the start: nothing is claimed
    order: tuple[int, int]  # which of two was said later


def first_said(claims: Sequence[SlotClaim]) -> dict[str, tuple[tuple[int, int], ...]]:
    """Return the periods over which each claim is believed, disjoint and in order.

    claims: in the order of their starts, of equal starts in the order in which they were said.
    """
    held: dict[str, list[tuple[int, int]]] = {claim.fact_id: [] for claim in claims}
    some = [(n, claim) for n, claim in enumerate(claims) if claim.start < claim.end]
    changes = sorted([(c.start, True, n) for n, c in some] + [(c.end, False, n) for n, c in some])
    cover, holder, since = _Cover(claims), None, 0
    for instant, together in groupby(changes, key=itemgetter(0)):
        for _, begins, n in together:
            (cover.begin if begins else cover.end)(n)
        first = cover.first(instant)
        if first != holder:
            if holder is not None:
                held[holder].append((since, instant))
            holder, since = first, instant
    return {fact: tuple(periods) for fact, periods in held.items()}


class _Run:
    """Claims of one value that cover an instant, with none of another value between them."""

    __slots__ = ("above", "below", "claims", "count", "part_of", "value")

    def __init__(self, value: str, below: "_Run | None") -> None:
        self.value = value
        self.claims: list[tuple[tuple[int, int], int]] = []  # order and number, a heap; some of them may be over
        self.count = 0  # of those that are not
        self.below = below
        self.above: _Run | None = None
        self.part_of: _Run | None = None  # once what stood between the two is over


class _Cover:
    """The claims that cover an instant, which only goes forward, as a stack of runs."""

    def __init__(self, claims: Sequence[SlotClaim]) -> None:
        self._claims = claims
        self._runs: dict[int, _Run] = {}  # by the number of a claim
        self._top: _Run | None = None

    def begin(self, n: int) -> None:
        """Add a claim, which starts later than those that are there, or was said later."""
        claim, run = self._claims[n], self._top
        if run is None or run.value != claim.value:
            run = _Run(claim.value, run)
            if run.below is not None:
                run.below.above = run
            self._top = run
        run.count += 1
        heappush(run.claims, (claim.order, n))
        self._runs[n] = run

    def end(self, n: int) -> None:
        """Remove a claim that is over."""
        run = self._run(n)
        run.count -= 1
        if run.count:
            return
        below, above = run.below, run.above
        if below is not None:
            below.above = above
        if above is None:
            self._top = below
            return
        above.below = below
        if below is not None and below.value == above.value:
            self._join(below, above)

    def first(self, instant: int) -> str | None:
        """Return the fact that was said first, of the last run; None: no claim covers the instant."""
        if self._top is None:
            return None
        claims = self._top.claims
        while self._claims[claims[0][1]].end <= instant:
            heappop(claims)
        return self._claims[claims[0][1]].fact_id

    def _run(self, n: int) -> _Run:
        run = self._runs[n]
        while run.part_of is not None:
            run = run.part_of
        self._runs[n] = run
        return run

    def _join(self, below: _Run, above: _Run) -> None:
        """Make one of two runs of a value: the claims of the smaller go to the larger."""
        small, large = sorted((below, above), key=lambda run: len(run.claims))
        for claim in small.claims:
            heappush(large.claims, claim)
        large.count += small.count
        large.below, large.above = below.below, above.above
        small.part_of = large
        if large.below is not None:
            large.below.above = large
        if large.above is not None:
            large.above.below = large
        else:
            self._top = large
