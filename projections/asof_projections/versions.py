"""The interval algebra of belief: which periods of which assertions hold, given the live statements of one slot.

Pure. This is design 4 exactly (temporal.md 2.4 and 2.6): an ending cuts an assertion that starts before it; in a
single-valued slot an unstated end is the next start of another value, unless that value was over when the first was
last attested; where stated periods still overlap, the latest start wins, then the later statement.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise

from asof_streams.instants import INF

Interval = tuple[int, int]  # half-open, microseconds


@dataclass(frozen=True, slots=True)
class Assertion:
    """A live assertion of a slot."""

    fact_id: str
    value: str  # the object: an entity id, or a literal with its own prefix; compared for equality alone
    start: int
    end: int  # INF: no end stated
    order: tuple[int, int]  # (cause, place): which of two equal starts was said later
    attested: int  # the last moment at which it was said


@dataclass(frozen=True, slots=True)
class Ending:
    """A live ending of a slot: of one value, of every value (None), or of one assertion alone."""

    ending_id: str
    value: str | None
    at: int
    fact_id: str | None = None

    def cuts(self, assertion: Assertion) -> bool:
        """Whether the assertion ends here: it means that fact, and it starts before."""
        if self.fact_id is not None and self.fact_id != assertion.fact_id:
            return False
        return self.at > assertion.start and (self.value is None or self.value == assertion.value)


def belief(
    assertions: Iterable[Assertion], endings: Sequence[Ending], *, single: bool
) -> dict[str, tuple[Interval, ...]]:
    """Return, for every assertion, the periods over which it is believed: disjoint, in order, maybe none."""
    ordered = sorted(assertions, key=lambda a: (a.start, a.order))
    stated = [min([a.end, *(e.at for e in endings if e.cuts(a))]) for a in ordered]
    if not single:
        return {a.fact_id: ((a.start, end),) for a, end in zip(ordered, stated, strict=True)}
    ends = [_derived_end(ordered, stated, i) for i in range(len(ordered))]
    held: dict[str, tuple[Interval, ...]] = {}
    covered: list[Interval] = []  # by what starts later; disjoint, in order
    for i in range(len(ordered) - 1, -1, -1):
        own = (ordered[i].start, ends[i])
        held[ordered[i].fact_id] = tuple(_minus(own, covered)) if own[0] < own[1] else ()
        covered = _union(covered, own)
    return held


def _derived_end(ordered: Sequence[Assertion], stated: Sequence[int], i: int) -> int:
    """Where an assertion with an unstated end is ended by the next start of another value."""
    this = ordered[i]
    if this.end != INF:
        return stated[i]
    for other, end in zip(ordered[i + 1 :], stated[i + 1 :], strict=True):
        if other.value != this.value and end > this.attested:
            return min(stated[i], other.start)
    return stated[i]


def _minus(own: Interval, covered: Sequence[Interval]) -> Iterable[Interval]:
    start, end = own
    for low, high in covered:
        if low >= end:
            break
        if high <= start:
            continue
        if start < low:
            yield start, low
        start = max(start, high)
    if start < end:
        yield start, end


def _union(covered: Sequence[Interval], own: Interval) -> list[Interval]:
    if own[0] >= own[1]:
        return list(covered)
    return coalesce([*covered, own])


def coalesce(periods: Iterable[Interval]) -> list[Interval]:
    """Return the same instants as the fewest periods, in order: what overlaps or meets becomes one."""
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


def clip(period: Interval, window: Interval) -> Interval | None:
    """Return the part of a period within a window, or None where they have no instant in common."""
    low, high = max(period[0], window[0]), min(period[1], window[1])
    return (low, high) if low < high else None
