"""The interval algebra of belief: the periods over which each assertion of a slot holds, given its live statements.

Pure; docs/explanation/two-clocks.md states the rule. An ending cuts every assertion that starts before it. In a
single-valued slot an assertion without a stated end ends where the next assertion of another value starts, unless that
value was over when the first was last attested. Where stated periods still overlap, the latest start wins, then the
later statement.
"""

from bisect import bisect_right
from collections.abc import Collection, Iterable, Iterator, Sequence
from itertools import pairwise, product
from operator import itemgetter
from typing import Final, NamedTuple

from asof_streams.instants import INF, NEG

Interval = tuple[int, int]  # half-open, microseconds


class Assertion(NamedTuple):
    """A live assertion of a slot."""

    fact_id: str
    value: str  # the object: an entity id, or a literal with its own prefix; compared for equality alone
    start: int
    end: int  # INF: no end stated
    order: tuple[int, int]  # (cause, place): which of two equal starts was said later
    attested: int  # the last moment at which it was said


_START: Final = itemgetter(Assertion._fields.index("start"), Assertion._fields.index("order"))


class Ending(NamedTuple):
    """A live ending of a slot: of one value, of every value (None), or of one assertion alone."""

    ending_id: str
    value: str | None
    at: int
    fact_id: str | None = None

    def cuts(self, assertion: Assertion) -> bool:
        """Whether it ends the assertion: it is about that fact or its value, and later than its start."""
        if self.fact_id is not None and self.fact_id != assertion.fact_id:
            return False
        return self.at > assertion.start and (self.value is None or self.value == assertion.value)


def belief(
    assertions: Collection[Assertion], endings: Sequence[Ending], *, single: bool
) -> dict[str, tuple[Interval, ...]]:
    """Return, for every assertion, the periods over which it is believed: disjoint, in order, maybe none."""
    if len(assertions) == 1 and not endings:  # as most slots are
        [only] = assertions
        return {only.fact_id: ((only.start, only.end),)}
    ordered = sorted(assertions, key=_START)
    stated = _stated_ends(ordered, endings) if endings else [a.end for a in ordered]
    if not single or len(ordered) == 1:  # nothing there can displace another
        return {a.fact_id: ((a.start, end),) for a, end in zip(ordered, stated, strict=True)}
    held: dict[str, tuple[Interval, ...]] = {}
    covered: list[Interval] = []  # by what starts later; disjoint, the earliest last
    next_start, next_end, next_value = INF, NEG, ""
    for i in range(len(ordered) - 1, -1, -1):
        fact, value, start, end, _, attested = ordered[i]
        if end == INF and next_end > attested and next_value != value:  # as of nearly every assertion of a long slot
            end = min(stated[i], next_start)
        else:
            end = _derived_end(ordered, stated, i)
        next_start, next_end, next_value = start, stated[i], value
        if start >= end:
            held[fact] = ()
            continue
        if not covered or covered[-1][0] >= end:
            held[fact] = ((start, end),)
        else:
            held[fact] = tuple(_minus((start, end), reversed(covered)))
        while covered and covered[-1][0] <= end:
            end = max(end, covered.pop()[1])
        covered.append((start, end))
    return held


def _stated_ends(ordered: Iterable[Assertion], endings: Iterable[Ending]) -> list[int]:
    """Return the stated end of each assertion: its own, or the first ending that cuts it."""
    at: dict[tuple[str | None, str | None], list[int]] = {}  # by what an ending is of: an assertion, a value, or any
    for ending in sorted(endings, key=lambda e: e.at):
        at.setdefault((ending.fact_id, ending.value), []).append(ending.at)
    stated = []
    for a in ordered:
        cutting = [at[of] for of in product((None, a.fact_id), (None, a.value)) if of in at]
        after = (times[n] for times in cutting if (n := bisect_right(times, a.start)) < len(times))
        stated.append(min([a.end, *after]))
    return stated


def _derived_end(ordered: Sequence[Assertion], stated: Sequence[int], i: int) -> int:
    """Return where an assertion ends: without a stated end, at the next start of another value."""
    this = ordered[i]
    if this.end != INF:
        return stated[i]
    for j in range(i + 1, len(ordered)):
        if stated[j] > this.attested and (other := ordered[j]).value != this.value:
            return min(stated[i], other.start)
    return stated[i]


def _minus(own: Interval, covered: Iterable[Interval]) -> Iterator[Interval]:
    """Yield the parts of a period that later-starting periods leave uncovered, in order."""
    start, end = own
    for low, high in covered:
        if low >= end:
            break
        if start < low:
            yield start, low
        start = max(start, high)
    if start < end:
        yield start, end


def coalesce(periods: Iterable[Interval]) -> list[Interval]:
    """Merge periods that overlap or meet; return the fewest periods, in order."""
    merged: list[Interval] = []
    for low, high in sorted(periods):
        if merged and low <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(high, merged[-1][1]))
        else:
            merged.append((low, high))
    return merged


def gaps(periods: Iterable[Interval]) -> list[Interval]:
    """Return the instants between periods that nothing covers."""
    return [(a[1], b[0]) for a, b in pairwise(coalesce(periods))]
