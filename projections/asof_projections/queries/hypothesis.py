"""What if: belief over the slots that some statements touch, as it would be with them. Nothing is written.

The statements are tried in order on what is believed now, by the same algebra of belief that the agents use; names are
exact, as in every structured fact.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from asof_projections.model.rows import Statement
from asof_projections.ports import BeliefStore
from asof_projections.queries.timelines import Segment, with_gaps
from asof_projections.versions import Assertion, Ending, Interval, belief, coalesce
from asof_streams.errors import InvalidInput, NotFound
from asof_streams.instants import INF
from asof_streams.messages import FactStatement


@dataclass(frozen=True, slots=True)
class WhatIf:
    """The slots that were touched, as they are and as they would be: with gaps, by subject and relation."""

    before: tuple[Segment, ...]
    after: tuple[Segment, ...]

    def to_json(self) -> dict[str, Any]:
        """Return both as every door shows them."""
        return {"before": [s.to_json() for s in self.before], "after": [s.to_json() for s in self.after]}


@dataclass(slots=True)
class _Slot:
    subject: str
    relation: str
    single: bool
    assertions: dict[str, Assertion]
    endings: dict[str, Ending]
    held: dict[str, tuple[Interval, ...]]  # before

    def believed(self) -> dict[str, tuple[Interval, ...]]:
        return belief(self.assertions.values(), tuple(self.endings.values()), single=self.single)


class Trial:
    """Some statements tried on one group's beliefs, said at `now` unless they say when."""

    def __init__(self, beliefs: BeliefStore, group: str, now: int) -> None:
        self._beliefs = beliefs
        self._group = group
        self._now = now
        self._said = 0
        self._slots: dict[tuple[str, str], _Slot] = {}
        self._new: dict[str, str] = {}  # names that the group does not know, by the id made up for them
        self._values: dict[str, str] = {}  # of the assertions met, by fact

    def run(self, statements: Iterable[FactStatement]) -> WhatIf:
        """Try statements. InvalidInput, NotFound: one of them could not stand."""
        for stated in statements:
            self._said += 1
            self._say(stated)
        slots = [self._slots[at] for at in sorted(self._slots)]
        before = [segment for slot in slots for segment in self._segments(slot, slot.held)]
        after = [segment for slot in slots for segment in self._segments(slot, slot.believed())]
        return WhatIf(tuple(with_gaps(before)), tuple(with_gaps(after)))

    # What is said.

    def _say(self, stated: FactStatement) -> None:
        target = None if stated.ref is None else self._referred(stated.ref)
        if stated.ref is not None and target is None and stated.op != "assert":
            raise NotFound("ref: no fact of this group has it")
        match stated.op:
            case "assert":
                self._assert(stated, target)
            case "end":
                self._end(stated, target)
            case "retract":
                self._retract(target, stated)
            case "correct":
                self._correct(stated, target)

    def _assert(self, stated: FactStatement, target: Statement | None) -> None:
        slot, value = self._place(stated)
        start, end = self._period(stated)
        if target is not None and not target.dead and not _same(target, slot, (value, start, end)):
            raise InvalidInput("ref: it names another fact already; use op correct (or end) to change that one")
        if stated.ref is None or target is not None:
            for uuid, held in slot.believed().items():
                this = slot.assertions[uuid]
                if this.value == value and end in (INF, this.end) and any(a <= start < b for a, b in held):
                    slot.assertions[uuid] = this._replace(attested=max(this.attested, self._said_at(stated)))
                    return
        self._hold(stated)

    def _hold(self, stated: FactStatement) -> None:
        slot, value = self._place(stated)
        start, end = self._period(stated)
        if start >= end:
            raise InvalidInput("invalid_at: it must be after valid_at (or, without one, after the time it was said)")
        uuid = f"statement {self._said}"
        slot.assertions[uuid] = Assertion(uuid, value, start, end, (INF, self._said), self._said_at(stated))

    def _end(self, stated: FactStatement, target: Statement | None) -> None:
        at = self._said_at(stated) if stated.invalid_at is None else stated.invalid_at
        if target is None:
            slot = self._slot(self._known(stated.subject), stated.relation or "")
            value = None if stated.object is None else f"e:{self._known(stated.object)}"
        elif target.assertion is not None:
            slot, value = self._slot(target.subject, target.relation), target.assertion.value
        else:
            raise InvalidInput("ref: only a fact can end")
        uuid = f"statement {self._said}"
        slot.endings[uuid] = Ending(uuid, value, at, target.uuid if target else None)

    def _retract(self, target: Statement | None, stated: FactStatement) -> None:
        if target is None:
            slot = self._slot(self._known(stated.subject), stated.relation or "")
            value = f"e:{self._known(stated.object)}"
            wrong = [uuid for uuid, a in slot.assertions.items() if a.value == value]
            if not wrong:
                raise NotFound("no such fact is held: nothing to retract")
            for uuid in wrong:
                del slot.assertions[uuid]
        elif target.target is not None:
            raise InvalidInput("ref: taking a retraction back cannot be tried")
        else:
            slot = self._slot(target.subject, target.relation)
            slot.assertions.pop(target.uuid, None)
            slot.endings.pop(target.uuid, None)

    def _correct(self, stated: FactStatement, target: Statement | None) -> None:
        if target is None:
            slot, _ = self._place(stated)
            wrong = self._replaced(slot, stated)
        elif target.assertion is None:
            raise NotFound("ref: no fact of this group has it")
        else:
            slot, wrong = self._slot(target.subject, target.relation), [target.assertion]
        for assertion in wrong:
            slot.assertions.pop(assertion.fact_id, None)
        if wrong and stated.valid_at is None and stated.invalid_at is None:
            old = wrong[0]  # no period of its own: it held when the other was thought to
            period = {"valid_at": old.start, "invalid_at": None if old.end == INF else old.end}
            stated = stated.model_copy(update=period)
        self._hold(stated)

    def _replaced(self, slot: _Slot, stated: FactStatement) -> list[Assertion]:
        """Return what a correction without a ref replaces: what is believed of the slot at the time it speaks of."""
        if not slot.single:
            raise InvalidInput("ref: a relation with many values needs it, to say which of them is corrected")
        start, end = self._period(stated)
        end = start + 1 if stated.valid_at is None else end
        held = slot.believed()
        return [a for uuid, a in slot.assertions.items() if any(low < end and start < high for low, high in held[uuid])]

    def _place(self, stated: FactStatement) -> tuple[_Slot, str]:
        """Return the slot that a statement names, and its value there."""
        return self._slot(self._entity(stated.subject), stated.relation or ""), f"e:{self._entity(stated.object)}"

    def _period(self, stated: FactStatement) -> Interval:
        start = self._said_at(stated) if stated.valid_at is None else stated.valid_at
        return start, INF if stated.invalid_at is None else stated.invalid_at

    def _said_at(self, stated: FactStatement) -> int:
        return self._now if stated.said_at is None else stated.said_at

    # What is known.

    def _slot(self, subject: str, relation: str) -> _Slot:
        at = (subject, relation)
        if at not in self._slots:
            known = self._beliefs.slot(self._group, subject, relation, None)
            assertions = {a.fact_id: a for a in known.assertions}
            endings = {e.ending_id: e for e in known.endings}
            single = self._beliefs.single(self._group, relation)
            self._slots[at] = _Slot(subject, relation, single, assertions, endings, dict(known.held))
            self._values |= {a.fact_id: a.value for a in known.assertions}
        return self._slots[at]

    def _referred(self, ref: str) -> Statement | None:
        found = self._beliefs.fact_with_ref(self._group, ref) or self._beliefs.statement(ref)
        return found if found is not None and found.group_id == self._group else None

    def _entity(self, name: str | None) -> str:
        """Return the entity of a name; an unknown one is made up."""
        found = self._beliefs.entities_named(self._group, name or "")
        if found:
            return found[0].uuid
        self._new[f"new:{name}"] = name or ""
        return f"new:{name}"

    def _known(self, name: str | None) -> str:
        found = self._beliefs.entities_named(self._group, name or "")
        if not found:
            raise NotFound("subject or object: no entity of this group has that name")
        return found[0].uuid

    # What comes of it.

    def _segments(self, slot: _Slot, held: Mapping[str, tuple[Interval, ...]]) -> list[Segment]:
        values = self._values | {uuid: a.value for uuid, a in slot.assertions.items()}
        by_value: dict[str, list[tuple[Interval, str]]] = {}
        for uuid, periods in held.items():
            for period in periods:
                by_value.setdefault(values[uuid], []).append((period, uuid))
        subject, found = self._name(slot.subject), list[Segment]()
        for value, periods_of in by_value.items():
            literal, what = value.startswith("v:"), value[2:]
            name, uuid_ = (what, None) if literal else (self._name(what), what)
            for start, end in coalesce(period for period, _ in periods_of):
                facts = tuple(dict.fromkeys(uuid for (at, _), uuid in sorted(periods_of) if start <= at < end))
                found.append(Segment(subject, slot.subject, slot.relation, name, uuid_, start, end, facts))
        return sorted(found, key=lambda s: (s.valid_at, s.object or ""))

    def _name(self, uuid: str) -> str:
        entity = self._beliefs.entity(uuid)
        return self._new[uuid] if entity is None else entity.name


def _same(target: Statement, slot: _Slot, claim: tuple[str, int, int]) -> bool:
    """Whether a fact is exactly what is stated again; what leaves the end open contradicts no end."""
    known, (value, start, end) = target.assertion, claim
    if known is None or (target.subject, target.relation) != (slot.subject, slot.relation):
        return False
    return (known.value, known.start) == (value, start) and end in (INF, known.end)
