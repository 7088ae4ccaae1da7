"""The invalidations agent: what follows for belief from what one message said.

The rules of design 4 live here and in `asof_projections.versions`; the consequences are written as events, each with
its kind and its cause, so that projections hold no rules. Pure: it reads what is known and gives events.
"""

from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from asof_agents.ports import BeliefView
from asof_projections.rows import Statement
from asof_projections.versions import Assertion, Ending, Interval, belief
from asof_streams.events import Event
from asof_streams.ids import derive
from asof_streams.instants import INF
from asof_streams.semantic import (
    ContradictionFlagged,
    ContradictionSettled,
    FactAsserted,
    FactAttested,
    FactEnded,
    FactInvalidated,
    FactReinforced,
    FactRestored,
    FactRetracted,
    InvalidationKind,
    Period,
)

Reason = Literal["retracted", "corrected", "contradicted"]


@dataclass(slots=True)
class SlotState:
    """One slot as this message leaves it. Of a many-valued relation: the part of the slot that has one value."""

    single: bool
    assertions: dict[str, Assertion]
    endings: dict[str, Ending]
    before: Mapping[str, tuple[Interval, ...]]  # what was believed when the message came
    last: str = ""  # the latest statement of this message that touched it
    causes: dict[str, tuple[InvalidationKind, str]] = field(
        default_factory=dict
    )  # why a fact lost belief, where it is known


@dataclass(slots=True)
class BeliefChanges:
    """Collects what one message says, in order, and works out what follows."""

    known: BeliefView
    build: str
    group: str
    cause: int
    episode_id: str
    introduced: Container[str]  # entities that this message made: nothing can have been said of them
    said: list[Event | dict[str, Any]] = field(default_factory=list)  # a dict: an assertion still without its holds
    declared: dict[str, None] = field(default_factory=dict)  # relations that this message needs as single-valued
    _slots: dict[tuple[str, str, str | None], SlotState] = field(default_factory=dict)
    _dead: dict[str, bool] = field(default_factory=dict)

    def slot(self, subject: str, relation: str, value: str | None) -> SlotState:
        """Return the working state of a slot; of a many-valued relation, the part of it that has this value."""
        found = self._slots.get((subject, relation, value)) or self._slots.get((subject, relation, None))
        if found is None:
            single = self.single(relation)
            at = (subject, relation, None if single else value)
            found = self._slots[at] = SlotState(single, {}, {}, {})
            if subject not in self.introduced:  # of a new value alone, an ending of every value may be known
                self._recall(found, *at)
        return found

    def _recall(self, working: SlotState, subject: str, relation: str, value: str | None) -> None:
        slot = self.known.slot(self.group, subject, relation, value)
        if slot.assertions:
            working.assertions = {a.fact_id: a for a in slot.assertions}
            working.before = slot.held
        if slot.endings:
            working.endings = {e.ending_id: e for e in slot.endings}

    def single(self, relation: str) -> bool:
        """Whether a relation was declared single-valued."""
        return relation in self.declared or self.known.single(self.group, relation)

    def new_id(self, kind: str) -> str:
        """Return the id of the next statement of this message."""
        return derive(kind, self.build, self.episode_id, len(self.said))

    def claim(self, fields: dict[str, Any]) -> None:
        """Say that a claim holds; `fields` are those of FactAsserted but for `holds`."""
        value = value_of(fields.get("object"), fields.get("value"))
        working = self.slot(fields["subject"], fields["relation"], value)
        end = fields.get("valid_to")
        working.assertions[fields["fact_id"]] = Assertion(
            fields["fact_id"],
            value,
            fields["valid_from"],
            INF if end is None else end,
            (self.cause, len(self.said)),
            fields["said_at"],
        )
        working.last = fields["fact_id"]
        self.said.append(fields)

    def reinforce(self, assertion: Assertion, working: SlotState, event: FactReinforced) -> None:
        """Say a known fact again."""
        if event.said_at > assertion.attested:
            working.assertions[assertion.fact_id] = assertion._replace(attested=event.said_at)
            working.last = assertion.fact_id
        self.said.append(event)

    def attest(self, statement: Statement, attested: int) -> None:
        """Say when a known fact was last said, now that one who said it counts no longer."""
        assert statement.assertion is not None, f"{statement.uuid} is no fact"
        working = self.slot(statement.subject, statement.relation, statement.assertion.value)
        if assertion := working.assertions.get(statement.uuid):
            working.assertions[statement.uuid] = assertion._replace(attested=attested)
            working.last = statement.uuid
        self.said.append(FactAttested(fact_id=statement.uuid, attested=attested))

    def end(self, event: FactEnded) -> None:
        """Say that the world changed."""
        value = None if event.object is None and event.value is None else value_of(event.object, event.value)
        ending = Ending(event.ending_id, value, event.at, event.fact_id)
        for working in self._ended_by(event.subject, event.relation, value):
            working.endings[event.ending_id] = ending
            working.last = event.ending_id
            for fact_id, assertion in working.assertions.items():
                if ending.cuts(assertion):
                    working.causes[fact_id] = ("ended", event.ending_id)
        self.said.append(event)

    def _ended_by(self, subject: str, relation: str, value: str | None) -> Iterator[SlotState]:
        if value is not None or self.single(relation):
            yield self.slot(subject, relation, value)
            return
        said = self.known.slot(self.group, subject, relation, None).assertions
        for other in dict.fromkeys(a.value for a in said):  # in the order of the log, as what follows is written
            yield self.slot(subject, relation, other)

    def retract(self, target: Statement, reason: Reason) -> list[tuple[Statement, bool]]:
        """Say that we were wrong. Returns the statements whose standing this changes, and whether they are dead now."""
        retraction = self.new_id("retraction")
        flips: dict[str, Statement] = {}
        self._flip(target, dead=True, flips=flips)
        for statement in flips.values():
            self._stand(statement, retraction, reason)
        self.said.append(
            FactRetracted(
                retraction_id=retraction,
                target=target.uuid,
                dead=tuple(uuid for uuid in flips if self._dead[uuid]),
                live=tuple(uuid for uuid in flips if not self._dead[uuid]),
                episode_id=self.episode_id,
                reason=reason,
            )
        )
        killed = [s.uuid for s in flips.values() if s.assertion and self._dead[s.uuid]]
        for contradiction, earlier, later in self._open_contradictions(killed) if killed else ():
            kept, dropped = (later, earlier) if earlier in killed else (earlier, later)
            self.said.append(ContradictionSettled(contradiction_id=contradiction, kept=kept, dropped=dropped))
        return [(s, self._dead[s.uuid]) for s in flips.values()]

    def _open_contradictions(self, facts: Sequence[str]) -> list[tuple[str, str, str]]:
        """Return those that name one of these facts, this message's own among them."""
        settled = {s.contradiction_id for s in self.said if isinstance(s, ContradictionSettled)}
        own = [(s.contradiction_id, s.earlier, s.later) for s in self.said if isinstance(s, ContradictionFlagged)]
        own = [c for c in own if c[1] in facts or c[2] in facts]
        return [c for c in [*self.known.open_contradictions(facts), *own] if c[0] not in settled]

    def _flip(self, statement: Statement, *, dead: bool, flips: dict[str, Statement]) -> None:
        """Note that a statement dies or lives, and what that does to the statement it had retracted."""
        if self._dead.get(statement.uuid, statement.dead) == dead:
            return
        self._dead[statement.uuid] = dead
        flips[statement.uuid] = statement
        if statement.target is None:
            return
        inner = self.known.statement(statement.target)
        assert inner is not None, f"retraction {statement.uuid} has no target"
        others = [r for r in self.known.retractions_of(inner.uuid) if not self._dead.get(r.uuid, r.dead)]
        self._flip(inner, dead=bool(others) if dead else True, flips=flips)

    def _stand(self, statement: Statement, retraction: str, reason: Reason) -> None:
        """Take a statement out of its slot, or put it back, as its standing now is."""
        dead = self._dead[statement.uuid]
        if (assertion := statement.assertion) is not None:
            working = self.slot(statement.subject, statement.relation, assertion.value)
            working.last = retraction
            if dead:
                working.assertions.pop(assertion.fact_id, None)
                working.causes[assertion.fact_id] = (reason, retraction)
            else:
                working.assertions[assertion.fact_id] = assertion
        elif (ending := statement.ending) is not None:
            for working in self._ended_by(statement.subject, statement.relation, ending.value):
                working.last = retraction
                if dead:
                    working.endings.pop(ending.ending_id, None)
                else:
                    working.endings[ending.ending_id] = ending

    def events(self) -> list[Event]:
        """Return what was said, each assertion with what it holds, and then the consequences for older facts."""
        after = [
            (w, belief(w.assertions.values(), tuple(w.endings.values()), single=w.single)) for w in self._slots.values()
        ]
        holds = {fact: periods for _, held in after for fact, periods in held.items()}
        events: list[Event] = []
        new = set()
        for said in self.said:
            if not isinstance(said, dict):
                events.append(said)
                continue
            fact = said["fact_id"]
            events.append(FactAsserted(**said, holds=_open(holds.get(fact, ()))))
            new.add(fact)
        for working, held in after:
            if older := (working.before.keys() | held.keys()) - new:
                events.extend(_consequences(working, sorted(older), held))
        return events


def _consequences(
    working: SlotState, older: Sequence[str], held: Mapping[str, tuple[Interval, ...]]
) -> Iterator[Event]:
    """Yield what follows for facts that were known before."""
    for fact_id in older:
        before, now = working.before.get(fact_id, ()), held.get(fact_id, ())
        if before == now:
            continue
        if _within(before, now):
            yield FactRestored(fact_id=fact_id, cause=working.last, holds=_open(now))
        else:
            kind, cause = working.causes.get(fact_id, ("superseded", working.last))
            if cause == fact_id and now:  # attested less long, it is displaced by what was said before
                end = now[-1][1]
                cause = next((a.fact_id for a in working.assertions.values() if a.start == end), cause)
            yield FactInvalidated(fact_id=fact_id, kind=kind, cause=cause, holds=_open(now))


def value_of(entity: str | None, literal: str | None) -> str:
    """Return an object as slots compare it."""
    return f"e:{entity}" if entity is not None else f"v:{literal}"


def _open(periods: tuple[Interval, ...]) -> tuple[Period, ...]:
    return tuple((start, None if end == INF else end) for start, end in periods)


def _within(inner: tuple[Interval, ...], outer: tuple[Interval, ...]) -> bool:
    return all(any(low <= start and end <= high for low, high in outer) for start, end in inner)
