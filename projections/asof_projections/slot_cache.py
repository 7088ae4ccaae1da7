"""The slots that a writer has read, kept up with the events that it applies, so that a long one is read once.

A single-valued slot is read whole for every statement about it. It is kept until too many statements are, or until
something other than an assertion changes what counts in it.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

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

_MOST: Final = 100_000  # assertions in all, some half a kilobyte each
_Key = tuple[str, str, str]  # group, subject, relation


@dataclass(slots=True)
class _Kept:
    assertions: dict[str, Assertion]
    endings: tuple[Ending, ...]
    held: dict[str, tuple[Interval, ...]]
    slot: Slot | None  # of all that, until it changes


class SlotCache:
    """Whole slots by group, subject and relation, as of the last event that was applied."""

    def __init__(self) -> None:
        self._slots: dict[_Key, _Kept] = {}
        self._of: dict[str, _Kept] = {}  # the slot of each fact in them

    def read(self, group: str, subject: str, relation: str, load: Callable[[], Slot]) -> Slot:
        """Return a slot, loaded unless it is kept."""
        kept = self._slots.get((group, subject, relation))
        if kept is None:
            slot = load()
            if slot.assertions:
                self._keep((group, subject, relation), slot)
            return slot
        if kept.slot is None:
            kept.slot = Slot(tuple(kept.assertions.values()), kept.endings, dict(kept.held))
        return kept.slot

    def _keep(self, key: _Key, slot: Slot) -> None:
        if len(self._of) + len(slot.assertions) > _MOST:
            self.clear()
        kept = _Kept({a.fact_id: a for a in slot.assertions}, slot.endings, dict(slot.held), slot)
        self._slots[key] = kept
        self._of.update(dict.fromkeys(kept.assertions, kept))

    def apply(self, record: Record) -> None:
        """Keep the slots up with an event."""
        match record.event:
            case FactAsserted() as event:
                self._assert(record, event)
            case FactInvalidated(fact_id=fact, holds=holds) | FactRestored(fact_id=fact, holds=holds):
                if (kept := self._of.get(fact)) is not None:
                    kept.held[fact], kept.slot = intervals(holds), None
            case FactReinforced(fact_id=fact, said_at=said_at):
                if (kept := self._of.get(fact)) is not None:
                    known = kept.assertions[fact]
                    kept.assertions[fact] = known._replace(attested=max(known.attested, said_at))
                    kept.slot = None
            case FactEnded() | FactRetracted() | FactAttested():
                self.clear()

    def _assert(self, record: Record, event: FactAsserted) -> None:
        kept = self._slots.get((record.group, event.subject, event.relation))
        if kept is not None:
            kept.assertions[event.fact_id] = assertion_of(record, event)
            kept.held[event.fact_id], kept.slot = intervals(event.holds), None
            self._of[event.fact_id] = kept

    def clear(self) -> None:
        """Drop all slots."""
        self._slots.clear()
        self._of.clear()


def assertion_of(record: Record, event: FactAsserted) -> Assertion:
    """Return an assertion as a slot has it."""
    value = f"e:{event.object}" if event.object is not None else f"v:{event.value}"
    end = INF if event.valid_to is None else event.valid_to
    return Assertion(event.fact_id, value, event.valid_from, end, (record.cause, record.place), event.said_at)


def intervals(holds: tuple[Period, ...]) -> tuple[Interval, ...]:
    """Return the periods of an event as intervals."""
    return tuple((start, INF if end is None else end) for start, end in holds)
