"""A single-valued slot with many statements: a change costs what it touches, not what the slot has.

Assertions stand in the order of their starts. A *cut* is one at whose start all those before it are over: what changes
behind it leaves what is believed before it alone. So belief is worked out anew from the last cut before the changes to
the first start by which all that was worked out is over. How far that is depends on what overlaps; more than a message
may touch is refused.
"""

from bisect import bisect_left, insort
from collections import ChainMap
from collections.abc import Iterator, Mapping, Sequence
from itertools import accumulate
from operator import attrgetter
from typing import Final

from asof_projections.model.rows import Slot
from asof_projections.versions import (
    RESTATING,
    RULE,
    Assertion,
    Ending,
    EndingOf,
    Interval,
    believe,
    ending_times,
    stated_ends,
)
from asof_streams.errors import InvalidInput
from asof_streams.instants import INF, NEG

MOST: Final = 100_000  # assertions that the statements of one message may touch: half a second
_AHEAD: Final = 4  # assertions behind the changes that are looked at first: mostly the next one ends the last
_Key = tuple[int, tuple[int, int], str]  # start, order, fact
_Before = tuple[int, set[str]]  # of what changes may touch: until when it was believed, and its values


class LongSlot:
    """The live statements of one slot, in order, as of the last change."""

    def __init__(self, slot: Slot) -> None:
        self.assertions = {a.fact_id: a for a in slot.assertions}
        self.endings = {e.ending_id: e for e in slot.endings}
        self.held: dict[str, tuple[Interval, ...]] = dict(slot.held)
        self._by_value: dict[str, dict[str, None]] = {}
        for assertion in slot.assertions:
            self._by_value.setdefault(assertion.value, {})[assertion.fact_id] = None
        self._keys = sorted(_key(a) for a in slot.assertions)
        self._times = ending_times(slot.endings)
        self._cuts: list[_Key] = []
        self._changed: Interval | None = (NEG, INF)  # the starts between which cuts are to be found anew

    def of(self, value: str) -> Mapping[str, None]:
        """Return the facts of a value."""
        return self._by_value.get(value, {})

    def put(self, assertion: Assertion) -> None:
        """Add an assertion, or replace what it said before."""
        before = self.assertions.get(assertion.fact_id)
        if before is not None:
            self._remove_key(before)
        self.assertions[assertion.fact_id] = assertion
        self._by_value.setdefault(assertion.value, {})[assertion.fact_id] = None
        insort(self._keys, _key(assertion))
        self._touch(assertion.start, assertion.start)

    def remove(self, fact_id: str) -> None:
        """Remove an assertion that is there."""
        assertion = self.assertions.pop(fact_id)
        del self.held[fact_id], self._by_value[assertion.value][fact_id]
        self._remove_key(assertion)
        self._touch(assertion.start, assertion.start)

    def put_ending(self, ending: Ending) -> None:
        """Add an ending."""
        self.endings[ending.ending_id] = ending
        insort(self._times.setdefault((ending.fact_id, ending.value), []), ending.at)
        self._touch(*self._cut_by(ending))

    def remove_ending(self, ending_id: str) -> None:
        """Remove an ending that is there."""
        ending = self.endings.pop(ending_id)
        self._times[ending.fact_id, ending.value].remove(ending.at)
        self._touch(*self._cut_by(ending))

    def belief(
        self, assertions: Mapping[str, Assertion | None], endings: Mapping[str, Ending | None], rule: int = RULE
    ) -> dict[str, tuple[Interval, ...]]:
        """Return what would be believed of every assertion that changes may touch; None: a statement is removed.

        Nothing is changed. rule: the version of the rule of belief. InvalidInput: they touch too much.
        """
        if not assertions and not endings:
            return {}
        self._know_cuts()
        times = ChainMap(self._changed_times(endings), self._times)
        starts = [a.start for fact in assertions for a in (self.assertions.get(fact), assertions[fact]) if a]
        for ending in (e for key in endings for e in (self.endings.get(key), endings[key]) if e):
            starts += self._cut_by(ending)
        if not starts:
            return {}
        first, high = self._last_cut(min(starts)), max(starts)
        added = [_key(a) for a in assertions.values() if a]
        before = self._held_before(first, high) if rule >= RESTATING else None
        for stop in self._stops(first, high):
            if stop - first > MOST:
                raise InvalidInput(f"it overlaps with more than {MOST} other statements of this subject and relation")
            keys = sorted([*(key for key in self._keys[first:stop] if key[2] not in assertions), *added])
            ordered = [assertions.get(fact) or self.assertions[fact] for *_, fact in keys]
            held, ends = self._believe(ordered, times, rule)
            touched = _starting_by(high, keys)
            restating = [] if before is None else _restating(ordered, ends, touched, before)
            if self._is_over([*ends[:touched], *(ends[n] for n in restating), *(before or ())[:1]], stop):
                break
        return {ordered[n].fact_id: held[ordered[n].fact_id] for n in (*range(touched), *restating)}

    def believed(self, low: int, high: int) -> list[Assertion]:
        """Return the assertions that are believed of some instant of a period, in the order of the log."""
        self._know_cuts()
        near = self._keys[self._last_cut(low) : bisect_left(self._keys, (high,))]
        facts = (fact for *_, fact in near if any(start < high and low < end for start, end in self.held[fact]))
        return sorted((self.assertions[fact] for fact in facts), key=lambda a: a.order)

    def begun(self, low: int, high: int, limit: int) -> list[str]:
        """Return the facts that start within a period, in that order; none, where more than a limit do."""
        first, stop = (bisect_left(self._keys, (at,)) for at in (low, high))
        return [fact for *_, fact in self._keys[first:stop]] if stop - first <= limit else []

    def _know_cuts(self) -> None:
        if self._changed is not None:
            self._find_cuts(*self._changed)
            self._changed = None

    def _find_cuts(self, low: int, high: int) -> None:
        """Find the cuts anew around the starts between which something changed."""
        first = self._last_cut(low)
        for stop in self._stops(first, high):
            keys = self._keys[first:stop]
            _, ends = self._believe([self.assertions[fact] for *_, fact in keys], self._times, RULE)
            if self._is_over(ends[: _starting_by(high, keys)], stop):
                break
        latest = accumulate(ends, max, initial=NEG)  # end of those before each
        begin = bisect_left(self._cuts, keys[0]) if keys else 0
        end = bisect_left(self._cuts, self._keys[stop]) if stop < len(self._keys) else len(self._cuts)
        self._cuts[begin:end] = [key for key, end in zip(keys, latest, strict=False) if end <= key[0]]

    def _believe(
        self, ordered: Sequence[Assertion], times: Mapping[EndingOf, Sequence[int]], rule: int
    ) -> tuple[dict[str, tuple[Interval, ...]], list[int]]:
        return believe(ordered, stated_ends(ordered, times) if times else [a.end for a in ordered], rule)

    def _is_over(self, ends: Sequence[int], stop: int) -> bool:
        """Whether nothing from an index on can bear upon assertions with these ends.

        Those between them and the index may seem to last longer than they do, but not where these have not ended.
        """
        return stop == len(self._keys) or max(ends, default=NEG) <= self._keys[stop][0]

    def _stops(self, first: int, high: int) -> Iterator[int]:
        """Yield indexes up to which to look, ever further, at last to the end: the first is behind starts up to `high`.

        The caller stops once it has looked to the end, where everything is over.
        """
        stop = _starting_by(high, self._keys) + _AHEAD
        while True:
            yield min(stop, len(self._keys))
            stop += stop - first

    def _held_before(self, first: int, high: int) -> _Before:
        facts = [fact for *_, fact in self._keys[first : _starting_by(high, self._keys)]]
        ends = (end for fact in facts for _, end in self.held[fact])
        return max(ends, default=NEG), {self.assertions[fact].value for fact in facts}

    def _last_cut(self, low: int) -> int:
        """Return the index of the last cut that starts before an instant."""
        cut = bisect_left(self._cuts, (low,))
        return bisect_left(self._keys, self._cuts[cut - 1]) if cut else 0

    def _remove_key(self, assertion: Assertion) -> None:
        for keys in (self._keys, self._cuts):
            at = bisect_left(keys, _key(assertion))
            if keys[at : at + 1] == [_key(assertion)]:
                del keys[at]

    def _touch(self, *starts: int) -> None:
        if starts:
            near = *starts, *(self._changed or starts)
            self._changed = min(near), max(near)

    def _cut_by(self, ending: Ending) -> tuple[int, ...]:
        """Return the starts between which an ending may be the first that cuts; none, where it cuts nothing here."""
        if ending.fact_id is not None:
            assertion = self.assertions.get(ending.fact_id)
            return () if assertion is None else (assertion.start, assertion.start)
        before = NEG
        for value in {None, ending.value}:
            times = self._times.get((None, value), ())
            if at := bisect_left(times, ending.at):
                before = max(before, times[at - 1])
        if ending.value is None:
            return before, ending.at
        starts = [
            start for fact in self.of(ending.value) if before <= (start := self.assertions[fact].start) < ending.at
        ]
        return (min(starts), max(starts)) if starts else ()

    def _changed_times(self, endings: Mapping[str, Ending | None]) -> dict[EndingOf, list[int]]:
        """Return the instants of endings that changes are among."""
        changed: dict[EndingOf, list[int]] = {}
        for key, after in endings.items():
            for ending in (self.endings.get(key), after):
                if ending is not None:
                    of = ending.fact_id, ending.value
                    times = changed.setdefault(of, list(self._times.get(of, ())))
                    insort(times, ending.at) if ending is after else times.remove(ending.at)
        return changed


def _restating(ordered: Sequence[Assertion], ends: Sequence[int], touched: int, before: _Before) -> list[int]:
    """Return the indexes of those that start behind what changes touch, and may say it again."""
    end = max([before[0], *ends[:touched]])
    values = before[1] | {assertion.value for assertion in ordered[:touched]}
    stop = bisect_left(ordered, end, key=attrgetter("start"))
    return [n for n in range(touched, stop) if ordered[n].value in values]


def _key(assertion: Assertion) -> _Key:
    return assertion.start, assertion.order, assertion.fact_id


def _starting_by(high: int, keys: Sequence[_Key]) -> int:
    """Return how many start at an instant or before it."""
    return bisect_left(keys, (high + 1,))
