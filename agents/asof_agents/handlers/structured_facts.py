"""Structured facts: an assertion, a correction, a retraction or an end, as another system states it.

They name their entities exactly. What cannot stand is refused whole, with the field that is wrong.
"""

from typing import Any, NamedTuple

from asof_agents.handlers.granules import granule_of
from asof_agents.handlers.statement_writer import MERGE, Build, StatementWriter, Triple
from asof_agents.handlers.usual_facts import usual_events
from asof_agents.ports import FactView
from asof_agents.resolution.exact import ExactNames
from asof_projections.model.rows import EntityRow, Statement
from asof_projections.versions import Assertion, Interval
from asof_streams.episodic import EpisodeRecorded
from asof_streams.errors import InvalidInput, NotFound
from asof_streams.events import Event, Record
from asof_streams.instants import INF
from asof_streams.messages import FactStatement
from asof_streams.semantic import EntityUnmerged
from asof_streams.timezones import zone_of


def state(first: Record, episode: EpisodeRecorded, build: Build, known: FactView) -> list[Event]:
    """Return the semantic events of the episode of a structured fact. InvalidInput, NotFound: it cannot stand."""
    usual = usual_events(first, episode, build, known)
    return weighed_events(first, episode, build, known) if usual is None else usual


def weighed_events(first: Record, episode: EpisodeRecorded, build: Build, known: FactView) -> list[Event]:
    """Return the same of any structured fact: what the usual ones come to has a shorter way."""
    names = ExactNames(known, build.digest, first.group, first.recorded_at, episode)
    structured = StructuredStatements(names, build, first.cause)
    structured.state(episode.statement)
    return structured.events()


class _Claim(NamedTuple):
    """What an assertion claims: over which period, whether it is still ahead, and the literals that say more of it."""

    triple: Triple
    start: int
    end: int | None
    granule: Interval | None  # of what happened
    planned: bool
    literals: dict[str, Any]


class StructuredStatements(StatementWriter[ExactNames]):
    """Writes down a structured fact."""

    def state(self, stated: FactStatement) -> None:
        """Add the statements of a structured fact, as its `op` says."""
        target = self._referred(stated) if stated.ref is not None else None
        match stated.op:
            case "assert":
                self._state_assertion(stated, target)
            case "correct":
                self._state_correction(stated, target)
            case "retract" if target is None and stated.ref is not None:
                self.changes.statements.append(EntityUnmerged(merge_id=self._merge(stated.ref)))
            case "retract":
                for statement in self._wrong(stated, target):
                    self.retract(statement, "retracted")
            case "end":
                self._state_end(stated, target)

    def _state_assertion(self, stated: FactStatement, target: Statement | None) -> None:
        triple = self._named_triple(stated)
        if target is not None and not target.dead and not self._same(target, triple, stated):
            raise InvalidInput("it names another fact already; use op correct (or end) to change that one", field="ref")
        claim = self._claim(stated, triple)
        if not ((stated.ref is None or target is not None) and self._say_again(claim)):
            self._state_new(stated, claim)

    def _claim(self, stated: FactStatement, triple: Triple) -> "_Claim":
        """Return what is claimed. InvalidInput: it would end before it begins."""
        granule = self._granule(stated) if self.is_occurrence(triple.relation) else None
        start, end = (self._start(stated), stated.invalid_at) if granule is None else granule
        return _Claim(triple, start, end, granule, self.is_plan(triple.relation, start), _literals(stated))

    def _say_again(self, claim: "_Claim") -> bool:
        if claim.granule is not None:
            return self.tell_again(claim.triple, claim.granule, planned=claim.planned, **claim.literals)
        return self.reinforce(claim.triple, claim.start, claim.end, planned=claim.planned, **claim.literals)

    def _state_correction(self, stated: FactStatement, target: Statement | None) -> None:
        if stated.ref is not None and (target is None or target.assertion is None):
            raise NotFound("ref: no fact of this group has it")
        triple = self._named_triple(stated)
        wrong = [target] if target else [self.statement(a.fact_id) for a in self._replaced(stated, triple)]
        for statement in wrong:
            self.retract(statement, "corrected")
        if wrong and wrong[0].assertion and stated.valid_at is None and stated.invalid_at is None:
            old = wrong[0].assertion  # without a period of its own, the correction has that of the corrected fact
            start, end = old.finest if old.granules else (old.start, old.end)
            period = {"valid_at": start, "invalid_at": None if end == INF else end}
            stated = stated.model_copy(update=period)
        self._state_new(stated, self._claim(stated, triple), corrects=wrong[0].uuid if wrong else None)

    def _same(self, target: Statement, triple: Triple, stated: FactStatement) -> bool:
        """Whether a fact is stated again unchanged: an open end agrees with any, a granule with a part of it."""
        known, end = target.assertion, stated.invalid_at
        if known is None or (target.subject, target.relation) != (triple.subject, triple.relation):
            return False
        if known.granules and known.value == triple.value_key and self.is_occurrence(triple.relation):
            granule = self._granule(stated)
            return known.is_told_by(granule, self.episode.valid_at, planned=self.is_plan(triple.relation, granule[0]))
        return (known.value, known.start) == (triple.value_key, self._start(stated)) and end in (None, known.end)

    def _state_new(self, stated: FactStatement, claim: "_Claim", corrects: str | None = None) -> None:
        self.assert_fact(claim.triple, **self._fields(stated, claim), corrects=corrects)

    def _fields(self, stated: FactStatement, claim: "_Claim") -> dict[str, Any]:
        """Return the fields of an assertion besides its triple. InvalidInput: it would end before it begins."""
        _expect_period(self._start(stated), stated)
        return {
            "valid_from": claim.start,
            "valid_to": claim.end,
            "occurrence": claim.granule is not None,
            "planned": claim.planned,
            "sentence": stated.fact or f"{stated.subject} {claim.triple.relation.replace('_', ' ')} {_worded(stated)}",
            "confidence": stated.confidence,
            "grain": stated.grain,
            "ref": stated.ref,
            **claim.literals,
        }

    def _state_end(self, stated: FactStatement, target: Statement | None) -> None:
        at = self.episode.valid_at if stated.invalid_at is None else stated.invalid_at
        if stated.ref is None:
            self.end(self._existing_triple(stated), at)
            return
        if target is None or target.assertion is None:
            raise NotFound("ref: no fact of this group has it")
        if target.assertion.granules:
            raise InvalidInput("it names what happened, which cannot end: use op retract or correct", field="ref")
        kind, value = target.assertion.value[:2], target.assertion.value[2:]
        triple = Triple(target.subject, target.relation, *((value, None) if kind == "e:" else (None, value)))
        self.end(triple, at, fact=target.uuid)

    def _referred(self, stated: FactStatement) -> Statement | None:
        """Return the statement of a ref: a fact by its producer's id, or any statement by its uuid."""
        group, ref = self.names.group, (stated.ref or "").removeprefix(MERGE)  # the id of a merge names its fact
        statement = self.known.fact_with_ref(group, ref) or self.known.statement(ref)
        return statement if statement is not None and statement.group_id == group else None

    def _merge(self, ref: str) -> str:
        """Return the id of a merge to undo that rests on no fact, so that there is no fact to retract instead."""
        link = self.known.link(ref)
        if link is None or link.known_to < INF or self.names.entity(link.into).group_id != self.names.group:
            raise NotFound("ref: no fact of this group has it, nor any merge that is believed")
        return link.uuid

    def _wrong(self, stated: FactStatement, target: Statement | None) -> list[Statement]:
        if target is not None:
            return [target]
        triple = self._existing_triple(stated)
        found = [self.statement(a.fact_id) for way in self.both_ways(triple) for a in self.slot(way).of(way.value_key)]
        if not found:
            raise NotFound("no such fact is held: nothing to retract")
        return found

    def _replaced(self, stated: FactStatement, triple: Triple) -> list[Assertion]:
        """Return what a correction without a ref replaces: what is believed of the slot at the time it speaks of."""
        if not self.known.single(self.names.group, triple.relation):
            raise InvalidInput("a relation with many values needs it, to say which of them is corrected", field="ref")
        start = self._start(stated)
        end = start + 1 if stated.valid_at is None else INF if stated.invalid_at is None else stated.invalid_at
        slot = self.known.slot(self.names.group, triple.subject, triple.relation, None)
        if slot.long is not None:
            return slot.long.believed(start, end)
        return [a for a in slot.assertions if any(low < end and start < high for low, high in slot.held[a.fact_id])]

    def _named_triple(self, stated: FactStatement) -> Triple:
        assert stated.subject is not None
        subject = self.names.exact(stated.subject, stated.subject_type).uuid
        if not isinstance(stated.object, str):
            return Triple(subject, stated.relation or "", None, stated.value)
        return Triple(subject, stated.relation or "", self.names.exact(stated.object, stated.object_type).uuid, None)

    def _existing_triple(self, stated: FactStatement) -> Triple:
        """Return the triple that an ending or a retraction names; without an object, of every value."""
        subject = self._existing(stated.subject, stated.subject_type).uuid
        if not isinstance(stated.object, str):
            return Triple(subject, stated.relation or "", None, stated.value)
        return Triple(subject, stated.relation or "", self._existing(stated.object, stated.object_type).uuid, None)

    def _existing(self, name: str | None, type_: str | None) -> EntityRow:
        """Return the entity that an ending or a retraction names. NotFound: there is none, so nothing can be ended."""
        found = [e for e in self.known.entities_named(self.names.group, name or "") if type_ in (None, e.type)]
        if not found:
            raise NotFound("subject or object: no entity of this group has that name")
        return found[0]

    def _granule(self, stated: FactStatement) -> Interval:
        """Return when something happened: until the stated end, else within the granule, or the day, of its start."""
        start = self._start(stated)
        _expect_period(start, stated)
        if stated.invalid_at is not None:
            return start, stated.invalid_at
        return granule_of(start, stated.grain or "day", zone_of(self.episode.timezone or "UTC"))

    def _start(self, stated: FactStatement) -> int:
        return self.episode.valid_at if stated.valid_at is None else stated.valid_at


def _expect_period(start: int, stated: FactStatement) -> None:
    if stated.invalid_at is not None and start >= stated.invalid_at:
        raise InvalidInput(
            "it must be after valid_at (or, without one, after the time it was said)", field="invalid_at"
        )


def _worded(stated: FactStatement) -> str | None:
    return stated.object if isinstance(stated.object, str) else stated.value


def _literals(stated: FactStatement) -> dict[str, Any]:
    """Return the fields of an assertion or a reinforcement that say more than its claim."""
    if stated.value is None and stated.qualifiers is None:  # as nearly always
        return {}
    return {"number": stated.value is not None, "qualifiers": stated.qualifiers or {}}
