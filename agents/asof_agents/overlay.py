"""A view of a store with the structured facts of a dry run on top; they reach no log and no store."""

from collections import defaultdict
from collections.abc import Iterable, Sequence

from asof_agents.handlers.invalidations import value_of
from asof_agents.ports import FactView
from asof_projections.model.rows import EntityRow, LinkRow, Slot, Statement
from asof_projections.slot_cache import SlotCache, assertion_of, intervals
from asof_projections.versions import Ending, Interval
from asof_streams.events import Event, Record
from asof_streams.instants import INF
from asof_streams.semantic import (
    ContradictionFlagged,
    ContradictionSettled,
    EntityIntroduced,
    EntityMerged,
    EntityUnmerged,
    FactAsserted,
    FactEnded,
    FactInvalidated,
    FactReinforced,
    FactRestored,
    FactRetracted,
)


class Overlay:
    """A FactView over that of a store: it answers as the store would with more events of structured facts.

    Nothing is copied but statements that change, so that a dry run costs what it says, however much is known.
    """

    def __init__(self, known: FactView) -> None:
        self._known = known
        self._entities: dict[str, EntityRow] = {}
        self._links: dict[str, LinkRow] = {}
        self._statements: dict[str, Statement] = {}  # that are new, or not as the store has them
        self._slots: defaultdict[tuple[str, str, str], dict[str, None]] = defaultdict(dict)  # the statements of each
        self._retractions: defaultdict[str, list[str]] = defaultdict(list)  # by target
        self._refs: dict[tuple[str, str], str] = {}  # the latest fact of each, by group
        self._held: dict[str, tuple[Interval, ...]] = {}  # by fact
        self._contradictions: list[tuple[str, str, str]] = []  # with the earlier fact and the later one
        self._settled: set[str] = set()
        self._whole = SlotCache()

    def slots(self) -> list[tuple[str, str, str]]:
        """Return the group, subject and relation of every slot that was touched, sorted."""
        return sorted(self._slots)

    def apply(self, records: Iterable[Record]) -> None:
        """Take the events of a message."""
        for record in records:
            self._apply(record, record.event)
            self._whole.apply(record)

    def _apply(self, record: Record, event: Event) -> None:
        match event:
            case EntityIntroduced(entity_id=uuid, name=name, entity_type=type_):
                self._entities[uuid] = EntityRow(uuid, record.group, name, type_, record.recorded_at)
            case EntityMerged(merge_id=uuid, duplicate=duplicate, into=into, reason=reason):
                self._links[uuid] = LinkRow(uuid, duplicate, into, reason, record.recorded_at, INF)
            case EntityUnmerged(merge_id=uuid):
                if (link := self.link(uuid)) is not None:
                    self._links[uuid] = link._replace(known_to=record.recorded_at)
            case FactAsserted():
                self._assert(record, event)
            case FactReinforced(fact_id=uuid):
                said = self._there(uuid)
                assert said.assertion is not None, f"{uuid} is no fact"
                again = said.assertion.said_again(event.said_at, event.granule, planned=event.planned)
                self._put(said._replace(assertion=again))
            case FactEnded(ending_id=uuid, subject=subject, relation=relation):
                ending = Ending(uuid, _compared(event), event.at, event.fact_id)
                self._put(Statement(uuid, record.group, subject, relation, dead=False, ending=ending))
            case FactRetracted(retraction_id=uuid, target=target):
                self._put(Statement(uuid, record.group, "", "", dead=False, target=target))
                self._retractions[target].append(uuid)
                for dead, others in ((True, event.dead), (False, event.live)):
                    for other in others:
                        self._put(self._there(other)._replace(dead=dead))
            case FactInvalidated(fact_id=uuid, holds=holds) | FactRestored(fact_id=uuid, holds=holds):
                self._put(self._there(uuid))
                self._held[uuid] = intervals(holds)
            case ContradictionFlagged(contradiction_id=uuid, earlier=earlier, later=later):
                self._contradictions.append((uuid, earlier, later))
            case ContradictionSettled(contradiction_id=uuid):
                self._settled.add(uuid)
            case _:
                raise TypeError(f"{event.type} is no event of a structured fact")

    def _assert(self, record: Record, event: FactAsserted) -> None:
        uuid, assertion = event.fact_id, assertion_of(record, event)
        where = (record.group, event.subject, event.relation)
        self._put(Statement(uuid, *where, dead=False, assertion=assertion, confidence=event.confidence, ref=event.ref))
        self._held[uuid] = intervals(event.holds)
        if event.ref is not None:
            self._refs[record.group, event.ref] = uuid

    def _put(self, statement: Statement) -> None:
        self._statements[statement.uuid] = statement
        if statement.target is None:
            self._slots[statement.group_id, statement.subject, statement.relation][statement.uuid] = None

    def _there(self, uuid: str) -> Statement:
        statement = self.statement(uuid)
        assert statement is not None, f"statement {uuid} is in no log"
        return statement

    # What handlers ask.

    def entity(self, uuid: str) -> EntityRow | None:
        return self._entities.get(uuid) or self._known.entity(uuid)

    def entities_named(self, group: str, name: str) -> list[EntityRow]:
        ours = [e for e in self._entities.values() if (e.group_id, e.name) == (group, name)]
        return self._known.entities_named(group, name) + ours

    def single(self, group: str, relation: str) -> bool:
        return self._known.single(group, relation)

    def slot(self, group: str, subject: str, relation: str, value: str | None) -> Slot:
        if value is not None:
            return self._merged(group, subject, relation, value)
        return self._whole.read(group, subject, relation, lambda: self._merged(group, subject, relation, None))

    def _merged(self, group: str, subject: str, relation: str, value: str | None) -> Slot:
        known = self._known.slot(group, subject, relation, value)
        ours = {uuid: self._statements[uuid] for uuid in self._slots.get((group, subject, relation), ())}
        live = [statement for statement in ours.values() if not statement.dead]
        assertions = [a for a in known.assertions if a.fact_id not in ours]
        assertions += [s.assertion for s in live if s.assertion and value in (None, s.assertion.value)]
        endings = [e for e in known.endings if e.ending_id not in ours]
        endings += [s.ending for s in live if s.ending and (value is None or s.ending.value in (None, value))]
        held = {a.fact_id: self._held.get(a.fact_id, known.held.get(a.fact_id, ())) for a in assertions}
        return Slot(tuple(assertions), tuple(endings), held)

    def statement(self, uuid: str) -> Statement | None:
        return self._statements.get(uuid) or self._known.statement(uuid)

    def retractions_of(self, uuid: str) -> list[Statement]:
        known = [self._statements.get(r.uuid, r) for r in self._known.retractions_of(uuid)]
        return known + [self._statements[r] for r in self._retractions[uuid]]

    def fact_with_ref(self, group: str, ref: str) -> Statement | None:
        if (group, ref) in self._refs:
            return self._statements[self._refs[group, ref]]
        known = self._known.fact_with_ref(group, ref)
        return known and self._statements.get(known.uuid, known)

    def link(self, uuid: str) -> LinkRow | None:
        return self._links.get(uuid) or self._known.link(uuid)

    def open_contradictions(self, facts: Sequence[str]) -> list[tuple[str, str, str]]:
        own = [each for each in self._contradictions if each[1] in facts or each[2] in facts]
        return [each for each in [*self._known.open_contradictions(facts), *own] if each[0] not in self._settled]


def _compared(event: FactEnded) -> str | None:
    return None if event.object is None and event.value is None else value_of(event.object, event.value)
