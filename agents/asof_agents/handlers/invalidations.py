"""The invalidations handler: derives the changes of belief that follow from the statements of one message. Pure.

The rules of belief are in `asof_projections.versions`; docs/conformance.md lists their tests. Their consequences are
written as events, each with its kind and its cause, so that projections and other readers of the log need no rules.
"""

from collections.abc import Container, Iterator, Mapping, MutableMapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Literal

from asof_agents.handlers.long_changes import LongChanges
from asof_agents.ports import FactView
from asof_projections.model.rows import Statement
from asof_projections.versions import Assertion, Ending, Interval, belief
from asof_streams.events import Event, event_of
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
_ASSERTED: Final = {name: field.default for name, field in FactAsserted.model_fields.items()}  # in their order


@dataclass(slots=True)
class SlotState:
    """A slot as this message leaves it. Of a many-valued relation it has the facts of one value only."""

    single: bool
    rule: int  # the version of the rule of belief
    assertions: MutableMapping[str, Assertion] = field(default_factory=dict)
    endings: MutableMapping[str, Ending] = field(default_factory=dict)
    before: Mapping[str, tuple[Interval, ...]] = field(default_factory=dict)  # before this message, by fact
    last: str = ""  # the latest statement of this message that changed it
    causes: dict[str, tuple[InvalidationKind, str]] = field(
        default_factory=dict
    )  # why a fact lost belief, where it is known
    long: LongChanges | None = None  # where the slot has very many statements
    _by_value: dict[str, dict[str, None]] | None = None  # the facts of each value, once it is asked for

    def put(self, assertion: Assertion) -> None:
        """Add an assertion, or replace what it said before."""
        self.assertions[assertion.fact_id] = assertion
        if self._by_value is not None:
            self._by_value.setdefault(assertion.value, {})[assertion.fact_id] = None

    def remove(self, assertion: Assertion) -> None:
        """Remove an assertion, if it is there."""
        if self.assertions.pop(assertion.fact_id, None) is not None and self._by_value is not None:
            self._by_value[assertion.value].pop(assertion.fact_id)

    def shorten(self) -> None:
        """Work without the indexes of a long slot, which know no occurrences."""
        if self.long is not None:
            self.assertions, self.endings, self.long = dict(self.assertions), dict(self.endings), None

    def of(self, value: str | None) -> list[Assertion]:
        """Return the assertions of a value, in their order; None: all of them."""
        if value is None:
            return list(self.assertions.values())
        if self.long is not None:
            return self.long.of(value)
        if self._by_value is None:
            self._by_value = {}
            for assertion in self.assertions.values():
                self._by_value.setdefault(assertion.value, {})[assertion.fact_id] = None
        return [self.assertions[fact_id] for fact_id in self._by_value.get(value, ())]

    def believed(self, value: str | None, at: int) -> list[Assertion]:
        """Return the assertions of a value that were believed of an instant before this message, in their order."""
        if self.long is not None and value is not None:
            return self.long.believed(value, at)
        return [a for a in self.of(value) if any(low <= at < high for low, high in self.before.get(a.fact_id, ()))]

    def begun(self, low: int, high: int, limit: int) -> list[Assertion]:
        """Return the assertions that were believed before this message and start within a period: low <= start < high.

        Where more than a limit do, none.
        """
        if self.long is not None:
            begun = self.long.begun(low, high, limit)
        else:
            begun = [assertion for assertion in self.assertions.values() if low <= assertion.start < high]
        return [one for one in begun if self.before.get(one.fact_id)] if len(begun) <= limit else []

    def belief(self) -> tuple[dict[str, tuple[Interval, ...]], list[str]]:
        """Return what is believed now of every fact that may have changed, and the facts that count no longer.

        InvalidInput: too many may have.
        """
        if self.long is not None:
            held = self.long.belief(self.rule)
            return held, [fact for fact, kept in self.long.assertions.changes.items() if kept is None]
        held = belief(self.assertions.values(), tuple(self.endings.values()), single=self.single, rule=self.rule)
        return held, [fact for fact in self.before if fact not in held]


@dataclass(slots=True)
class BeliefChanges:
    """Collects the statements of one message, in order, and derives their consequences."""

    known: FactView
    build: str
    rule: int
    group: str
    cause: int
    episode_id: str
    introduced: Container[str]  # entities that this message introduced: no store has facts of them
    retried: bool  # whether the episode has statements of its first processing, whose ids are taken
    statements: list[Event | dict[str, Any]] = field(
        default_factory=list
    )  # a dict: an assertion still without its holds
    asserted: dict[str, dict[str, Any]] = field(default_factory=dict)  # the assertions among them, by fact
    declared: dict[str, None] = field(default_factory=dict)  # relations that this message needs as single-valued
    _slots: dict[tuple[str, str, str | None], SlotState] = field(default_factory=dict)
    _dead: dict[str, bool] = field(default_factory=dict)

    def slot(self, subject: str, relation: str, value: str | None) -> SlotState:
        """Return the state of a slot; of a many-valued relation, with the facts of this value only."""
        state = self._slots.get((subject, relation, value)) or self._slots.get((subject, relation, None))
        if state is None:
            single = self.single(relation)
            at = (subject, relation, None if single else value)
            state = self._slots[at] = SlotState(single, self.rule)
            if subject not in self.introduced:  # even for a new value: an ending of every value may apply to it
                self._load(state, *at)
        return state

    def _load(self, state: SlotState, subject: str, relation: str, value: str | None) -> None:
        known = self.known.slot(self.group, subject, relation, value)
        if known.long is not None and state.single:
            state.long = LongChanges(known.long)
            state.assertions, state.endings, state.before = state.long.assertions, state.long.endings, known.held
            return
        if known.assertions:
            state.assertions = {assertion.fact_id: assertion for assertion in known.assertions}
            state.before = known.held
        if known.endings:
            state.endings = {e.ending_id: e for e in known.endings}

    def single(self, relation: str) -> bool:
        """Whether a relation was declared single-valued."""
        return relation in self.declared or self.known.single(self.group, relation)

    def new_id(self, kind: str) -> str:
        """Return the id of the next statement of this message."""
        again = (str(self.cause),) if self.retried else ()
        return derive(kind, self.build, self.episode_id, str(len(self.statements)), *again)

    def assert_fact(self, fields: dict[str, Any]) -> None:
        """Assert a fact. `fields`: those of FactAsserted, except `holds`, which is known at the end of the message."""
        value = value_of(fields.get("object"), fields.get("value"))
        slot = self.slot(fields["subject"], fields["relation"], value)
        end = fields.get("valid_to")
        if fields.get("occurrence"):
            slot.shorten()
        slot.put(
            Assertion(
                fields["fact_id"],
                value,
                fields["valid_from"],
                INF if end is None else end,
                (self.cause, len(self.statements)),
                fields["said_at"],
                ((fields["valid_from"], fields["valid_to"]),) if fields.get("occurrence") else (),
                not fields.get("planned"),
            )
        )
        slot.last = fields["fact_id"]
        self.statements.append(fields)
        self.asserted[fields["fact_id"]] = fields

    def reinforce(self, assertion: Assertion, slot: SlotState, event: FactReinforced) -> None:
        """Add another statement of a known fact, and perhaps a later time at which it was attested, or a granule."""
        again = assertion.said_again(event.said_at, event.granule, planned=event.planned)
        if again != assertion:
            slot.put(again)
            slot.last = assertion.fact_id
        self.statements.append(event)

    def restate(self, statement: Statement, granules: Sequence[Interval]) -> None:
        """Leave an occurrence the granules of its other statements, after a withdrawal of an episode that stated it."""
        assert statement.assertion is not None, f"{statement.uuid} is no fact"
        slot = self.slot(statement.subject, statement.relation, statement.assertion.value)
        if assertion := slot.assertions.get(statement.uuid):
            slot.put(assertion._replace(granules=tuple(granules)))
            slot.last = statement.uuid

    def attest(self, statement: Statement, attested: int) -> None:
        """Set the time at which a known fact was last attested, after a withdrawal of an episode that stated it."""
        assert statement.assertion is not None, f"{statement.uuid} is no fact"
        slot = self.slot(statement.subject, statement.relation, statement.assertion.value)
        if assertion := slot.assertions.get(statement.uuid):
            slot.put(assertion._replace(attested=attested))
            slot.last = statement.uuid
        self.statements.append(FactAttested(fact_id=statement.uuid, attested=attested))

    def end(self, event: FactEnded) -> None:
        """End a fact, or every fact of a slot: the world changed."""
        value = None if event.object is None and event.value is None else value_of(event.object, event.value)
        ending = Ending(event.ending_id, value, event.at, event.fact_id)
        for slot in self._ended_by(event.subject, event.relation, value):
            slot.endings[event.ending_id] = ending
            slot.last = event.ending_id
            for assertion in slot.of(value):
                if ending.cuts(assertion):
                    slot.causes[assertion.fact_id] = ("ended", event.ending_id)
        self.statements.append(event)

    def _ended_by(self, subject: str, relation: str, value: str | None) -> Iterator[SlotState]:
        if value is not None or self.single(relation):
            yield self.slot(subject, relation, value)
            return
        assertions = self.known.slot(self.group, subject, relation, None).assertions
        for other in dict.fromkeys(a.value for a in assertions):  # in the log's order, so that events are too
            yield self.slot(subject, relation, other)

    def retract(self, target: Statement, reason: Reason) -> list[tuple[Statement, bool]]:
        """Retract a statement. Return the statements that count no longer, or again, and whether each is dead now.

        To retract a retraction revives its target, unless another retraction of that target counts.
        """
        retraction = self.new_id("retraction")
        flips: dict[str, Statement] = {}
        self._flip(target, dead=True, flips=flips)
        for statement in flips.values():
            self._update_slot(statement, retraction, reason)
        self.statements.append(
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
            self.statements.append(ContradictionSettled(contradiction_id=contradiction, kept=kept, dropped=dropped))
        return [(s, self._dead[s.uuid]) for s in flips.values()]

    def _open_contradictions(self, facts: Sequence[str]) -> list[tuple[str, str, str]]:
        """Return the open contradictions that name one of these facts, those of this message included."""
        settled = {s.contradiction_id for s in self.statements if isinstance(s, ContradictionSettled)}
        own = [(s.contradiction_id, s.earlier, s.later) for s in self.statements if isinstance(s, ContradictionFlagged)]
        own = [c for c in own if c[1] in facts or c[2] in facts]
        return [c for c in [*self.known.open_contradictions(facts), *own] if c[0] not in settled]

    def _flip(self, statement: Statement, *, dead: bool, flips: dict[str, Statement]) -> None:
        """Mark a statement as dead or live, and then the target of its retraction, if it is one."""
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

    def _update_slot(self, statement: Statement, retraction: str, reason: Reason) -> None:
        """Remove a dead statement from its slot, or put a live one back."""
        dead = self._dead[statement.uuid]
        if (assertion := statement.assertion) is not None:
            slot = self.slot(statement.subject, statement.relation, assertion.value)
            slot.last = retraction
            if dead:
                slot.remove(assertion)
                slot.causes[assertion.fact_id] = (reason, retraction)
            else:
                slot.put(assertion)
        elif (ending := statement.ending) is not None:
            for slot in self._ended_by(statement.subject, statement.relation, ending.value):
                slot.last = retraction
                if dead:
                    slot.endings.pop(ending.ending_id, None)
                else:
                    slot.endings[ending.ending_id] = ending

    def events(self) -> list[Event]:
        """Return the statements, each assertion with the periods over which it is believed, then the consequences."""
        after = [(w, *w.belief()) for w in self._slots.values()]
        holds = {fact: held[fact] for _, held, _ in after for fact in self.asserted if fact in held}
        events: list[Event] = []
        for said in self.statements:
            if not isinstance(said, dict):
                events.append(said)
                continue
            fact = said["fact_id"]
            held_over = {"qualifiers": {}, "holds": open_periods(holds.get(fact, ()))}
            events.append(event_of(FactAsserted, {**_ASSERTED, **held_over, **said}))
        for slot, held, gone in after:
            before, asserted = slot.before, self.asserted
            changed = [f for f, periods in held.items() if before.get(f, ()) != periods and f not in asserted]
            changed += [f for f in gone if before.get(f)]
            if changed:
                events.extend(consequences(slot, sorted(changed), held))
        return events


def consequences(slot: SlotState, changed: Sequence[str], held: Mapping[str, tuple[Interval, ...]]) -> Iterator[Event]:
    """Yield the changes of belief in facts that were known before this message."""
    for fact_id in changed:
        before, now = slot.before.get(fact_id, ()), held.get(fact_id, ())
        if _within(before, now):
            yield event_of(FactRestored, {"fact_id": fact_id, "cause": slot.last, "holds": open_periods(now)})
        else:
            happened = bool(now) and bool(slot.assertions[fact_id].granules)
            kind, cause = slot.causes.get(fact_id, ("refined" if happened else "superseded", slot.last))
            if (
                cause == fact_id and now and not happened
            ):  # the fact itself is attested less long, so an older fact displaces it
                end = now[-1][1]
                cause = next((a.fact_id for a in slot.assertions.values() if a.start == end), cause)
            fields = {"fact_id": fact_id, "kind": kind, "cause": cause, "holds": open_periods(now)}
            yield event_of(FactInvalidated, fields)


def value_of(entity: str | None, literal: str | None) -> str:
    """Return the key of an object, by which slots compare values: an entity or a literal."""
    return f"e:{entity}" if entity is not None else f"v:{literal}"


def open_periods(periods: tuple[Interval, ...]) -> tuple[Period, ...]:
    """Return periods as events have them: one without a stated end has none."""
    return tuple((start, None if end == INF else end) for start, end in periods)


def _within(inner: tuple[Interval, ...], outer: tuple[Interval, ...]) -> bool:
    return all(any(low <= start and end <= high for low, high in outer) for start, end in inner)
