"""The facts agent: the episodic events of one message become the semantic events of one generation.

Pure: it reads what the generation knows so far and gives events. Statements of chat go through entity resolution;
structured facts name their entities exactly. What follows for belief is left to `invalidations`.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

from asof_agents.invalidations import Beliefs, Reason, Working, value_of
from asof_agents.policies import contest
from asof_agents.ports import BeliefKnown
from asof_agents.resolution.entities import Resolver
from asof_ontologies.model import Ontology, RelationType
from asof_projections.rows import Entity, Statement
from asof_projections.versions import Assertion
from asof_streams.episodic import EpisodeRecorded, MentionObserved, MessageParked, RelationshipStated
from asof_streams.errors import ContractError, InvalidInput, NotFound
from asof_streams.events import Event, Record, decode
from asof_streams.instants import INF
from asof_streams.messages import FactStatement
from asof_streams.semantic import EntityMerged, EntityUnmerged, FactEnded, FactReinforced

ALSO_KNOWN_AS = "also_known_as"  # the one relation that says something of identity


@dataclass(frozen=True, slots=True)
class Build:
    """What decides the content of a generation; its digest goes into every id."""

    digest: str
    ontology: Ontology
    policy: Literal["recency", "graded"]


def believe(batch: Sequence[Record], build: Build, known: BeliefKnown, speakers: Sequence[str] = ()) -> list[Event]:
    """Return the semantic events of one message's episodic events; a statement that cannot stand is parked whole."""
    episode = batch[0].event
    if not isinstance(episode, EpisodeRecorded):
        return []
    scribe = Scribe(batch[0], episode, build, known, speakers)
    try:
        if episode.source == "fact":
            scribe.state(_statement(episode))
        else:
            scribe.read([r.event for r in batch[1:]])
    except ContractError as error:
        return [MessageParked(reason=str(error))]
    return scribe.events()


def _statement(episode: EpisodeRecorded) -> FactStatement:
    stated = decode(FactStatement.type, FactStatement.version, episode.body.encode())
    assert isinstance(stated, FactStatement)
    return stated


class Scribe:
    """Writes down what one episode says: resolves its names, states its facts."""

    def __init__(
        self, first: Record, episode: EpisodeRecorded, build: Build, known: BeliefKnown, speakers: Sequence[str]
    ) -> None:
        self.episode = episode
        self.build = build
        self.known = known
        self.names = Resolver(known, build.digest, first.group, first.recorded_at, episode, speakers)
        self.beliefs = Beliefs(
            known, build.digest, first.group, first.cause, episode.episode_id, self.names.introduced.keys()
        )

    def events(self) -> list[Event]:
        """Return everything written: names first, then statements, then what follows."""
        return [*self.names.events, *self.beliefs.events()]

    # chat

    def read(self, events: Sequence[Event]) -> None:
        """Resolve the mentions of an episode, then state its relationships; what is denied first."""
        for event in events:
            if isinstance(event, MentionObserved):
                self.names.mention(event)
        stated = [e for e in events if isinstance(e, RelationshipStated)]
        replaced: dict[tuple[str, str], Assertion] = {}
        for relationship in sorted(stated, key=lambda r: r.stance != "denied"):
            self._relate(relationship, replaced)

    def _relate(self, stated: RelationshipStated, replaced: dict[tuple[str, str], Assertion]) -> None:
        source, target = self.names.meant(stated.source), self.names.meant(stated.target)
        if source is None or target is None or source == target:
            return  # the mention was never resolved, or the words name one thing twice
        relation, flipped = _canonical(self.build.ontology, stated.relation)
        subject, object_ = (target, source) if flipped else (source, target)
        other = self.names.entity(object_)
        literal = other.type is not None and self._is_literal(other.type)
        place = _Place(subject, relation, None if literal else object_, other.name if literal else None)
        match stated.stance:
            case "denied":
                for assertion in self._held(place):
                    self._retract(assertion.fact_id, "corrected")
                    replaced[place.subject, place.relation] = assertion
            case "ended":
                at = self.episode.valid_at if stated.valid_to is None else stated.valid_to
                self._end(place, at, relationship=stated.relationship_id)
            case "holds":
                self._hold(place, stated, replaced.get((place.subject, place.relation)))

    def _hold(self, place: "_Place", stated: RelationshipStated, replaced: Assertion | None) -> None:
        said_at = self.episode.valid_at
        start, end = stated.valid_from, stated.valid_to
        if replaced is not None and start is None and end is None:
            start, end = replaced.start, None if replaced.end == INF else replaced.end
        if start is None:
            start = min(said_at, said_at if end is None else end - 1)
        if end is not None and start >= end:
            return  # the words contradict each other; a missing fact costs less than a wrong one
        if self._reinforce(place, start, end, stated.relationship_id):
            return
        self._assert(
            place,
            sentence=self._sentence(place),
            confidence=stated.confidence,
            valid_from=start,
            valid_to=end,
            grain=stated.grain,
            time_words=stated.time_words,
            relationship_id=stated.relationship_id,
            corrects=replaced.fact_id if replaced else None,
        )

    def _is_literal(self, type_: str) -> bool:
        entity_type = self.build.ontology.entities.get(type_)
        return entity_type is not None and entity_type.literal

    def _sentence(self, place: "_Place") -> str:
        relation = self.build.ontology.relations.get(place.relation)
        subject, object_ = self.names.entity(place.subject).name, self._object_name(place)
        if relation is None:
            return f"{subject} {place.relation.replace('_', ' ')} {object_}"
        return relation.sentence.format(subject=subject, object=object_)

    def _object_name(self, place: "_Place") -> str:
        return place.value if place.value is not None else self.names.entity(place.object or "").name

    # structured facts

    def state(self, stated: FactStatement) -> None:
        """State a structured fact."""
        target = self._referred(stated) if stated.ref is not None else None
        match stated.op:
            case "assert":
                self._state_assertion(stated, target)
            case "correct":
                self._state_correction(stated, target)
            case "retract":
                for statement in self._wrong(stated, target):
                    self._retract_statement(statement, "retracted")
            case "end":
                self._state_end(stated, target)

    def _state_assertion(self, stated: FactStatement, target: Statement | None) -> None:
        place = self._named_place(stated)
        start = self._start(stated)
        if target is not None and not target.dead and not self._same(target, place, start, stated.invalid_at):
            raise InvalidInput("ref: it names another fact already; use op correct (or end) to change that one")
        if (stated.ref is None or target is not None) and self._reinforce(place, start, stated.invalid_at, None):
            return
        self._state_new(stated, place)

    def _state_correction(self, stated: FactStatement, target: Statement | None) -> None:
        if stated.ref is not None and (target is None or target.assertion is None):
            raise NotFound("ref: no fact of this group has it")
        place = self._named_place(stated)
        wrong = [target] if target else [self._known(a.fact_id) for a in self._replaced(stated, place)]
        for statement in wrong:
            self._retract_statement(statement, "corrected")
        if wrong and wrong[0].assertion and stated.valid_at is None and stated.invalid_at is None:
            old = wrong[0].assertion  # no period of its own: it held when the other was thought to
            period = {"valid_at": old.start, "invalid_at": None if old.end == INF else old.end}
            stated = stated.model_copy(update=period)
        self._state_new(stated, place, corrects=wrong[0].uuid if wrong else None)

    def _same(self, target: Statement, place: "_Place", start: int, end: int | None) -> bool:
        """Whether a fact is exactly what is stated again; what leaves the end open contradicts no end."""
        known = target.assertion
        if known is None or (target.subject, target.relation) != (place.subject, place.relation):
            return False
        return (known.value, known.start) == (place.compared, start) and end in (None, known.end)

    def _state_new(self, stated: FactStatement, place: "_Place", corrects: str | None = None) -> None:
        start = self._start(stated)
        if stated.invalid_at is not None and start >= stated.invalid_at:
            raise InvalidInput("invalid_at: it must be after valid_at (or, without one, after the time it was said)")
        self._assert(
            place,
            sentence=stated.fact or f"{stated.subject} {place.relation.replace('_', ' ')} {stated.object}",
            confidence=stated.confidence,
            valid_from=start,
            valid_to=stated.invalid_at,
            ref=stated.ref,
            corrects=corrects,
        )

    def _state_end(self, stated: FactStatement, target: Statement | None) -> None:
        at = self.episode.valid_at if stated.invalid_at is None else stated.invalid_at
        if stated.ref is None:
            subject = self._existing(stated.subject, stated.subject_type)
            object_ = self._existing(stated.object, stated.object_type) if stated.object is not None else None
            self._end(_Place(subject.uuid, stated.relation or "", object_.uuid if object_ else None, None), at)
            return
        if target is None or target.assertion is None:
            raise NotFound("ref: no fact of this group has it")
        kind, value = target.assertion.value[:2], target.assertion.value[2:]
        place = _Place(target.subject, target.relation, *((value, None) if kind == "e:" else (None, value)))
        self._end(place, at, fact=target.uuid)

    def _referred(self, stated: FactStatement) -> Statement | None:
        """Return what a ref names: a fact by its producer's id, or any statement by its uuid."""
        group, ref = self.names.group, stated.ref or ""
        statement = self.known.fact_with_ref(group, ref) or self.known.statement(ref)
        return statement if statement is not None and statement.group_id == group else None

    def _wrong(self, stated: FactStatement, target: Statement | None) -> list[Statement]:
        if target is not None:
            return [target]
        if stated.ref is not None:
            raise NotFound("ref: no fact of this group has it")
        subject = self._existing(stated.subject, stated.subject_type)
        object_ = self._existing(stated.object, stated.object_type)
        place = _Place(subject.uuid, stated.relation or "", object_.uuid, None)
        found = [
            self._known(a.fact_id)
            for way in self._both_ways(place)
            for a in self._slot(way).assertions.values()
            if a.value == way.compared
        ]
        if not found:
            raise NotFound("no such fact is held: nothing to retract")
        return found

    def _replaced(self, stated: FactStatement, place: "_Place") -> list[Assertion]:
        """Return what a correction without a ref replaces: what is believed of the slot at the time it speaks of."""
        if not self.known.single(place.relation):
            raise InvalidInput("ref: a relation with many values needs it, to say which of them is corrected")
        start = self._start(stated)
        end = start + 1 if stated.valid_at is None else INF if stated.invalid_at is None else stated.invalid_at
        slot = self.known.slot(self.names.group, place.subject, place.relation, None)
        return [a for a in slot.assertions if any(low < end and start < high for low, high in slot.held[a.fact_id])]

    def _named_place(self, stated: FactStatement) -> "_Place":
        assert stated.subject is not None
        assert stated.object is not None
        subject = self.names.exact(stated.subject, stated.subject_type)
        object_ = self.names.exact(stated.object, stated.object_type)
        return _Place(subject.uuid, stated.relation or "", object_.uuid, None)

    def _existing(self, name: str | None, type_: str | None) -> Entity:
        """Return an entity that an ending or a retraction names; naming an unknown one is a mistake to report."""
        found = [e for e in self.known.entities_named(self.names.group, name or "") if type_ in (None, e.type)]
        if not found:
            raise NotFound("subject or object: no entity of this group has that name")
        return found[0]

    def _start(self, stated: FactStatement) -> int:
        return self.episode.valid_at if stated.valid_at is None else stated.valid_at

    # both

    def _assert(self, place: "_Place", **fields: Any) -> None:
        beliefs, fact_id = self.beliefs, self.beliefs.new_id("fact")
        beliefs.claim(
            {
                "fact_id": fact_id,
                "subject": place.subject,
                "relation": place.relation,
                "object": place.object,
                "value": place.value,
                "said_at": self.episode.valid_at,
                "episode_id": self.episode.episode_id,
                **fields,
            }
        )
        if place.relation == ALSO_KNOWN_AS and place.object is not None:
            beliefs.said.append(_merged(fact_id, place.subject, place.object))
        if self.build.policy == "graded" and self.known.single(place.relation):
            contest(beliefs, self.known, beliefs.slot(place.subject, place.relation, None), fact_id)

    def _reinforce(self, place: "_Place", start: int, end: int | None, relationship: str | None) -> bool:
        """Say a held fact again, if this says nothing new: its time lies within what is believed already."""
        for at in self._both_ways(place):
            working = self._slot(at)
            for assertion in working.assertions.values():
                held = working.before.get(assertion.fact_id, ())
                known_end = None if assertion.end == INF else assertion.end
                if assertion.value == at.compared and end in (None, known_end) and any(a <= start < b for a, b in held):
                    self.beliefs.reinforce(
                        assertion,
                        working,
                        FactReinforced(
                            fact_id=assertion.fact_id,
                            said_at=self.episode.valid_at,
                            episode_id=self.episode.episode_id,
                            relationship_id=relationship,
                        ),
                    )
                    return True
        return False

    def _both_ways(self, place: "_Place") -> list["_Place"]:
        relation = self.build.ontology.relations.get(place.relation)
        if relation is None or not relation.symmetric or place.object is None:
            return [place]
        return [place, _Place(place.object, place.relation, place.subject, None)]

    def _held(self, place: "_Place") -> list[Assertion]:
        """Return the believed assertions of exactly this claim, said either way round where that means the same."""
        return [
            a
            for at in self._both_ways(place)
            for working in [self._slot(at)]
            for a in working.assertions.values()
            if a.value == at.compared and working.before.get(a.fact_id)
        ]

    def _slot(self, place: "_Place") -> Working:
        return self.beliefs.slot(place.subject, place.relation, place.compared)

    def _end(self, place: "_Place", at: int, fact: str | None = None, relationship: str | None = None) -> None:
        for way in [place] if fact else self._both_ways(place):
            self.beliefs.end(
                FactEnded(
                    ending_id=self.beliefs.new_id("ending"),
                    subject=way.subject,
                    relation=way.relation,
                    object=way.object,
                    value=way.value,
                    fact_id=fact,
                    at=at,
                    said_at=self.episode.valid_at,
                    episode_id=self.episode.episode_id,
                    relationship_id=relationship,
                )
            )

    def _retract(self, fact_id: str, reason: Reason) -> None:
        self._retract_statement(self._known(fact_id), reason)

    def _retract_statement(self, target: Statement, reason: Reason) -> None:
        for statement, dead in self.beliefs.retract(target, reason):
            assertion = statement.assertion
            if assertion is None or statement.relation != ALSO_KNOWN_AS:
                continue
            if dead:
                self.beliefs.said.append(EntityUnmerged(merge_id=_merge_id(statement.uuid)))
            elif assertion.value.startswith("e:"):
                self.beliefs.said.append(_merged(statement.uuid, statement.subject, assertion.value[2:]))

    def _known(self, fact_id: str) -> Statement:
        statement = self.known.statement(fact_id)
        assert statement is not None, f"fact {fact_id} is in no log"
        return statement


@dataclass(frozen=True, slots=True)
class _Place:
    """Subject, relation, and an object: an entity, a literal, or (in an ending of every value) neither."""

    subject: str
    relation: str
    object: str | None
    value: str | None

    @property
    def compared(self) -> str | None:
        if self.object is None and self.value is None:
            return None
        return value_of(self.object, self.value)


def _merge_id(fact_id: str) -> str:
    return f"merge:{fact_id}"


def _merged(fact_id: str, subject: str, object_: str) -> EntityMerged:
    return EntityMerged(merge_id=_merge_id(fact_id), duplicate=object_, into=subject, reason="also known as")


def _canonical(ontology: Ontology, name: str) -> tuple[str, bool]:
    """Return a relation as facts keep it: of two inverses the one named first, and whether that turns it round."""
    relation: RelationType | None = ontology.relations.get(name)
    if relation is None or relation.inverse is None or relation.inverse == name:
        return name, False
    order = list(ontology.relations)
    return (relation.inverse, True) if order.index(relation.inverse) < order.index(name) else (name, False)
