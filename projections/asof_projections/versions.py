"""The interval algebra of belief: the periods over which each assertion of a slot holds, given its live statements.

Pure; docs/explanation/two-clocks.md states the rule. An ending cuts every assertion that starts before it. In a
single-valued slot an assertion without a stated end ends where the next assertion of another value starts, unless that
value was over when the first was last attested. Where stated periods still overlap, the latest start wins, then the
later statement; but of assertions of one value, the one that was said first.

An occurrence, such as a visit, is believed over one granule: the finest that its live statements give. No ending cuts
it, and it displaces nothing.
"""

from bisect import bisect_right
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import pairwise, product
from operator import itemgetter
from typing import Final, NamedTuple

from asof_projections.restatements import SlotClaim, first_said
from asof_streams.instants import INF, NEG

Interval = tuple[int, int]  # half-open, microseconds
RULE: Final = 5
"""The version of the rule.

Under the first every fact lasts, under the second a start that nobody stated stands, under the third "my dog died"
ends no dog that has a name, and under the fourth a restatement supersedes what it states again, and "I won't graduate"
calls no plan off.
"""
RESTATING: Final = 5  # the first version under which a restatement leaves what was said before it
UNKNOWN_GRAIN: Final = "unknown"  # of what began, or happened, at a time of which only is known before when it was
EndingOf = tuple[str | None, str | None]
"""What an ending is of: an assertion, by its id, and a value; None: of any."""


class Assertion(NamedTuple):
    """A live assertion of a slot."""

    fact_id: str
    value: str  # the object: an entity id, or a literal with its own prefix; compared for equality alone
    start: int
    end: int  # INF: no end stated
    order: tuple[int, int]  # (cause, place): which of two equal starts was said later
    attested: int  # the last moment at which it was said
    granules: tuple[Interval, ...] = ()  # of an occurrence, by its live statements; none: it lasts
    done: bool = True  # whether a live statement tells it as past; an occurrence that none does is planned

    @property
    def finest(self) -> Interval:
        """Return the granule over which an occurrence is believed: of those that contain no other, the earliest."""
        return min(one for one in self.granules if not any(is_within(each, one) for each in self.granules))

    def said_again(self, said_at: int, granule: Interval | None, *, planned: bool) -> "Assertion":
        """Return it as it is after one more statement; granule: of an occurrence."""
        if granule is None:
            return self._replace(attested=max(self.attested, said_at))
        granules = (*self.granules, granule)
        return self._replace(attested=max(self.attested, said_at), granules=granules, done=self.done or not planned)

    def is_told_by(self, granule: Interval, said_at: int, *, planned: bool) -> bool:
        """Whether a statement tells of this occurrence again: one granule contains the other.

        What was done by then is not what is planned.
        """
        if planned and self.done and said_at >= self.attested:
            return False
        held = self.finest
        return held == granule or is_within(held, granule) or is_within(granule, held)


def is_within(inner: Interval, outer: Interval) -> bool:
    """Whether a period is a part of another one, and not all of it."""
    return inner != outer and outer[0] <= inner[0] and inner[1] <= outer[1]


_START: Final = itemgetter(Assertion._fields.index("start"), Assertion._fields.index("order"))


_NEAR: Final = 4  # assertions that are looked at one by one: nearly always the next one ends another


class Ending(NamedTuple):
    """A live ending of a slot: of one value, of every value (None), or of one assertion alone."""

    ending_id: str
    value: str | None
    at: int
    fact_id: str | None = None

    def cuts(self, assertion: Assertion) -> bool:
        """Whether it ends the assertion: it is about that fact or its value, and later than its start."""
        if assertion.granules:
            return False
        if self.fact_id is not None and self.fact_id != assertion.fact_id:
            return False
        return self.at > assertion.start and (self.value is None or self.value == assertion.value)


def belief(
    assertions: Collection[Assertion], endings: Sequence[Ending], *, single: bool, rule: int = RULE
) -> dict[str, tuple[Interval, ...]]:
    """Return, for every assertion, the periods over which it is believed: disjoint, in order, maybe none."""
    happened = {a.fact_id: (a.finest,) for a in assertions if a.granules}
    if happened:
        return happened | belief([a for a in assertions if not a.granules], endings, single=single, rule=rule)
    if len(assertions) == 1 and not endings:  # as most slots are
        [only] = assertions
        return {only.fact_id: ((only.start, only.end),)}
    ordered = sorted(assertions, key=_START)
    stated = stated_ends(ordered, ending_times(endings)) if endings else [a.end for a in ordered]
    if not single or len(ordered) == 1:  # nothing there can displace another
        return {a.fact_id: ((a.start, end),) for a, end in zip(ordered, stated, strict=True)}
    return believe(ordered, stated, rule)[0]


def believe(
    ordered: Sequence[Assertion], stated: Sequence[int], rule: int = RULE
) -> tuple[dict[str, tuple[Interval, ...]], list[int]]:
    """Return `belief` of a single-valued slot in the order of its starts, and where each assertion ends.

    An assertion may hold less than to its end, for others may cover it. stated: the stated end of each.
    """
    held, ends, overlaps = _believe_latest(ordered, stated, attests=rule >= RESTATING)
    if overlaps and rule >= RESTATING:
        claims = [SlotClaim(a.fact_id, a.value, a.start, end, a.order) for a, end in zip(ordered, ends, strict=True)]
        held = first_said(claims)
    return held, ends


def _believe_latest(
    ordered: Sequence[Assertion], stated: Sequence[int], *, attests: bool
) -> tuple[dict[str, tuple[Interval, ...]], list[int], bool]:
    """Return what `believe` does where the latest start wins, and whether two assertions of one value overlap.

    attests: whether an open assertion attests those of its value with the same start that were said before it.
    """
    held: dict[str, tuple[Interval, ...]] = {}
    ends = list(stated)
    covered: list[Interval] = []  # by what starts later; disjoint, the earliest last
    next_start, next_end, next_value = INF, NEG, ""
    later = _StatedEnds(ordered, stated)
    overlaps = False
    starts: dict[str, int] = {}  # of each value, the next
    again: dict[str, int] = {}  # when each value was last attested by those with one start, `again_at`
    again_at: int | None = None
    next_attested = NEG
    for i in range(len(ordered) - 1, -1, -1):
        fact, value, start, end, _, attested = ordered[i][:6]
        if start == next_start and attests:
            if again_at != start:
                again, again_at = {next_value: next_attested} if next_end == INF else {}, start
            attested = max(attested, again.get(value, NEG))
            if stated[i] == INF:
                again[value] = attested
        if end == INF and next_end > attested and next_value != value:  # as of nearly every assertion of a long slot
            end = min(stated[i], next_start)
        else:
            end = _derived_end(ordered, stated, i, attested, later)
        ends[i] = end
        next_start, next_end, next_value, next_attested = start, stated[i], value, attested
        if start >= end:
            held[fact] = ()
            continue
        overlaps = overlaps or starts.get(value, INF) < end
        starts[value] = start
        if not covered or covered[-1][0] >= end:
            held[fact] = ((start, end),)
        else:
            held[fact] = tuple(_minus((start, end), reversed(covered)))
        while covered and covered[-1][0] <= end:
            end = max(end, covered.pop()[1])
        covered.append((start, end))
    return held, ends, overlaps


def ending_times(endings: Iterable[Ending]) -> dict[EndingOf, list[int]]:
    """Return the instants of endings in order, by what they are of."""
    at: dict[EndingOf, list[int]] = {}
    for ending in sorted(endings, key=lambda e: e.at):
        at.setdefault((ending.fact_id, ending.value), []).append(ending.at)
    return at


def stated_ends(ordered: Iterable[Assertion], at: Mapping[EndingOf, Sequence[int]]) -> list[int]:
    """Return the stated end of each assertion: its own, or the first ending that cuts it, of `ending_times`."""
    stated = []
    for a in ordered:
        cutting = [at[of] for of in product((None, a.fact_id), (None, a.value)) if of in at]
        after = (times[n] for times in cutting if (n := bisect_right(times, a.start)) < len(times))
        stated.append(min([a.end, *after]))
    return stated


def _derived_end(
    ordered: Sequence[Assertion], stated: Sequence[int], i: int, attested: int, later: "_StatedEnds"
) -> int:
    """Return where an assertion ends: without a stated end, at the next start of another value.

    The very next assertion does not end it: `believe` has looked at that. attested: when it last was, or its like.
    """
    this = ordered[i]
    if this.end != INF:
        return stated[i]
    for j in range(i + 2, min(i + _NEAR, len(ordered))):
        if stated[j] > attested and (other := ordered[j]).value != this.value:
            return min(stated[i], other.start)
    found = later.find(i + _NEAR, this.value, attested)
    return stated[i] if found is None else min(stated[i], ordered[found].start)


class _StatedEnds:
    """The stated ends of assertions in their order, as a tree that is made once it is asked."""

    def __init__(self, ordered: Sequence[Assertion], stated: Sequence[int]) -> None:
        self._ordered = ordered
        self._stated = stated
        self._width = 1 << (len(ordered) - 1).bit_length()
        self._latest: list[tuple[int, str, int]] = []  # of each node: the latest end, its value, the latest of another

    def find(self, start: int, value: str, instant: int) -> int | None:
        """Return the first assertion from an index on that is of another value and ends after an instant."""
        if start >= len(self._ordered):
            return None
        if not self._latest:
            self._make()
        node = self._width + start
        while not self._has(node, value, instant):  # a node, or the next one to its right, as high as there is one
            while node & 1:
                node >>= 1
            if not node:
                return None
            node += 1
        while node < self._width:
            node = 2 * node if self._has(2 * node, value, instant) else 2 * node + 1
        return node - self._width

    def _has(self, node: int, value: str, instant: int) -> bool:
        end, own, other = self._latest[node]
        return (other if own == value else end) > instant

    def _make(self) -> None:
        nothing = (NEG, "", NEG)
        leaves = [(end, a.value, NEG) for a, end in zip(self._ordered, self._stated, strict=True)]
        self._latest = [nothing] * self._width + leaves + [nothing] * (self._width - len(leaves))
        for node in range(self._width - 1, 0, -1):
            more, less = sorted(self._latest[2 * node : 2 * node + 2], key=itemgetter(0), reverse=True)
            self._latest[node] = (more[0], more[1], max(more[2], less[2] if less[1] == more[1] else less[0]))


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
