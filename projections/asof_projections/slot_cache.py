"""The slots that a writer has read, kept up with the events that it applies, so that a long one is read once.

A single-valued slot is read whole for every statement about it. It is kept until too many statements are, or until
statements count again that did not. One that was read while it was empty is kept from its first statement on, so that
it is never read from the store.
"""

from collections.abc import Callable
from typing import Final

from asof_projections.long_slot import LongSlot
from asof_projections.model.rows import Slot
from asof_projections.versions import Assertion, Ending, Interval
from asof_streams.events import Record
from asof_streams.instants import INF
from asof_streams.semantic import (
    FactAsserted,
    FactAttested,
    FactEnded,
    FactInvalidated,
    FactReinforced,
    FactRestored,
    FactRetracted,
    Period,
)

OF_SLOTS: Final = frozenset(
    {FactAsserted, FactInvalidated, FactRestored, FactReinforced, FactAttested, FactEnded, FactRetracted}
)
_MOST: Final = 100_000  # assertions in all, half a kilobyte each, or a kilobyte where a slot has one alone
_MOST_DISTANT: Final = 600_000  # where another process has the store: a read costs much
_LONG: Final = 2  # assertions from which on a slot has indexes
_Key = tuple[str, str, str]  # group, subject, relation


class _Kept:
    """A slot that is kept."""

    __slots__ = ("_long", "_slot", "assertions", "endings", "held")

    def __init__(self, slot: Slot) -> None:
        self.assertions = {a.fact_id: a for a in slot.assertions}
        self.endings = {e.ending_id: e for e in slot.endings}
        self.held: dict[str, tuple[Interval, ...]] = dict(slot.held)
        self._long: LongSlot | None = None
        self._slot: Slot | None = None  # of all that, until it changes

    def slot(self) -> Slot:
        """Return all that is kept; of a long slot without a copy, so that it is good until the next event."""
        if self._slot is None:
            if len(self.assertions) < _LONG or any(a.granules for a in self.assertions.values()):
                self._slot = Slot(tuple(self.assertions.values()), tuple(self.endings.values()), dict(self.held))
            else:
                known = self._long = LongSlot(Slot(self.assertions.values(), self.endings.values(), self.held))
                self.assertions, self.endings, self.held = known.assertions, known.endings, known.held
                self._slot = Slot(known.assertions.values(), known.endings.values(), known.held, known)
        return self._slot

    def put(self, assertion: Assertion) -> None:
        if self._long is not None:
            self._long.put(assertion)
        else:
            self.assertions[assertion.fact_id], self._slot = assertion, None

    def put_ending(self, ending: Ending) -> None:
        if self._long is not None:
            self._long.put_ending(ending)
        else:
            self.endings[ending.ending_id], self._slot = ending, None

    def hold(self, fact: str, holds: tuple[Period, ...]) -> None:
        self.held[fact] = intervals(holds)
        if self._long is None:
            self._slot = None

    def remove(self, statement: str) -> None:
        """Remove an assertion or an ending that is there."""
        if self._long is not None:
            (self._long.remove if statement in self.assertions else self._long.remove_ending)(statement)
        else:
            if self.assertions.pop(statement, None) is None:
                del self.endings[statement]
            self.held.pop(statement, None)
            self._slot = None


class SlotCache:
    """Whole slots by group, subject and relation, as of the last event that was applied."""

    def __init__(self) -> None:
        self._most = _MOST
        self._slots: dict[_Key, _Kept] = {}
        self._empty: _Key | None = None  # the slot that was read last, where it was empty
        self._of: dict[str, _Kept] = {}  # the slot of each assertion and ending in them

    def read(self, group: str, subject: str, relation: str, load: Callable[[], Slot]) -> Slot:
        """Return a slot, loaded unless it is kept. It is good until the next event is applied."""
        kept = self._slots.get((group, subject, relation))
        if kept is None:
            slot = load()
            if not slot.assertions:
                self._empty = None if slot.endings else (group, subject, relation)
                return slot
            kept = self._keep((group, subject, relation), slot)
        return kept.slot()

    def keeps(self, group: str, subject: str, relation: str) -> bool:
        """Whether a statement of a slot that is applied next will be kept."""
        at = (group, subject, relation)
        return at == self._empty or at in self._slots

    def _keep(self, key: _Key, slot: Slot) -> _Kept:
        if len(self._of) + len(slot.assertions) > self._most:
            self.clear()
        kept = self._slots[key] = _Kept(slot)
        self._of.update(dict.fromkeys([*kept.assertions, *kept.endings], kept))
        return kept

    def apply(self, record: Record) -> None:
        """Keep the slots up with an event; one that is not OF_SLOTS changes none."""
        if not self._slots and self._empty is None:
            return  # as of a load that no handler asks
        match record.event:
            case FactAsserted(fact_id=fact) as event:
                at = (record.group, event.subject, event.relation)
                kept, was_empty = self._slots.get(at), at == self._empty
                if was_empty:
                    self._empty = None
                if kept is not None and event.occurrence:  # where ontologies disagree whether there is one value
                    self.clear()
                elif kept is not None:
                    kept.put(assertion_of(record, event))
                    kept.hold(fact, event.holds)
                    self._of[fact] = kept
                elif was_empty and not event.occurrence:
                    self._keep(at, Slot((assertion_of(record, event),), (), {fact: intervals(event.holds)}))
            case FactInvalidated(fact_id=fact, holds=holds) | FactRestored(fact_id=fact, holds=holds):
                if (kept := self._of.get(fact)) is not None:
                    kept.hold(fact, holds)
            case FactReinforced(fact_id=fact) as event:
                if (kept := self._of.get(fact)) is not None:
                    known = kept.assertions[fact]
                    kept.put(known.said_again(event.said_at, event.granule, planned=event.planned))
            case FactAttested(fact_id=fact, attested=attested):
                if (kept := self._of.get(fact)) is not None:
                    kept.put(kept.assertions[fact]._replace(attested=attested))
            case FactEnded(ending_id=ending) as event:
                self._empty = None
                if (kept := self._slots.get((record.group, event.subject, event.relation))) is not None:
                    kept.put_ending(ending_of(event))
                    self._of[ending] = kept
            case FactRetracted(dead=dead, live=live):
                for statement in dead:
                    if (kept := self._of.pop(statement, None)) is not None:
                        kept.remove(statement)
                if live:
                    self.clear()

    def keep_more(self) -> None:
        """Keep six times as many from now on: for who soon ends, and to whom a read costs much."""
        self._most = _MOST_DISTANT

    def clear(self) -> None:
        """Drop all slots."""
        self._slots.clear()
        self._of.clear()
        self._empty = None


def ending_of(event: FactEnded) -> Ending:
    """Return an ending as a slot has it."""
    value = f"e:{event.object}" if event.object is not None else f"v:{event.value}" if event.value is not None else None
    return Ending(event.ending_id, value, event.at, event.fact_id)


def assertion_of(record: Record, event: FactAsserted) -> Assertion:
    """Return an assertion as a slot has it."""
    value = value_of(event)
    end = INF if event.valid_to is None else event.valid_to
    granules = ((event.valid_from, end),) if event.occurrence else ()
    order = (record.cause, record.place)
    said = (event.fact_id, value, event.valid_from, end, order, event.said_at)
    return Assertion(*said, granules, not event.planned)


def value_of(event: FactAsserted) -> str:
    """Return the object of an assertion, as slots compare it."""
    return f"e:{event.object}" if event.object is not None else f"v:{event.value}"


def intervals(holds: tuple[Period, ...]) -> tuple[Interval, ...]:
    """Return the periods of an event as intervals."""
    return tuple((start, INF if end is None else end) for start, end in holds)
