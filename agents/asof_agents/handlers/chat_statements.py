"""The statements of chat: what was said in words becomes facts, endings and retractions. Pure."""

from collections.abc import Sequence
from typing import Final

from asof_agents.extraction.ports import CALLED_OFF, ROLES
from asof_agents.handlers.chat_periods import ChatPeriods
from asof_agents.handlers.endings import ended_facts
from asof_agents.handlers.granules import before, granule_from
from asof_agents.handlers.lifted_rules import lifted_rule
from asof_agents.handlers.statement_writer import Triple
from asof_agents.handlers.value_slots import OF_THINGS, slot_of
from asof_agents.meter import UNMETERED, IngestionMeter
from asof_agents.resolution.entities import PERSON
from asof_agents.resolution.judge import Judge
from asof_agents.resolution.open_facts import facts_in_doubt
from asof_agents.resolution.structure import StructuralMatcher, related_mentions
from asof_ontologies.model import RelationType
from asof_projections.model.rows import EntityRow, FactRow, Moment
from asof_projections.names import words
from asof_projections.versions import UNKNOWN_GRAIN, Assertion, Interval, is_within
from asof_streams.episodic import MentionObserved, RelationshipStated
from asof_streams.events import Event
from asof_streams.instants import INF
from asof_streams.semantic import RelationDeclared
from asof_streams.timezones import zone_of

_OUTCOMES: Final = 5  # the first version of the rule of belief under which a plan with a lasting outcome can be off
_LATEST: Final = 256  # facts of a target that are looked at for others who have it


class ChatStatements(ChatPeriods):
    """Writes down what was said in words: resolves its names, states its relationships."""

    _related: set[Triple]  # what the relationships are about
    _held_here: set[Triple]  # what they say to hold, of relations of which a target has one source

    def state(self, events: Sequence[Event], judge: Judge | None, meter: IngestionMeter = UNMETERED) -> None:
        """Resolve the mentions of an episode, then add its relationships: denials first, for corrections need them."""
        self._related = set()
        stated = [e for e in events if type(e) is RelationshipStated]
        config = self.build.ingestion
        if config.enable_entity_resolution and config.enable_structural_similarity:
            where = self.names.group, self.episode.valid_at, config.entity_resolution_threshold
            self.names.structure = StructuralMatcher(self.names.known, *where, related_mentions(stated))
        self.names.kinds = frozenset(each.target for each in stated if self._is_generic(each.relation))
        mentions = [event for event in events if type(event) is MentionObserved]
        with meter.phases["entity_resolution"]:
            self.names.resolve(mentions, judge if config.enable_entity_resolution else None)
        told = (self._triple(each) for each in stated if each.stance == "holds" and self._is_exclusive(each.relation))
        self._held_here = {each[0] for each in told if each is not None}
        replaced: dict[tuple[str, str], Assertion] = {}
        with meter.phases["relation_extraction"]:
            for relationship in sorted(stated, key=lambda r: r.stance != "denied"):
                self._relate(relationship, replaced)
            if judge is not None and judge.endings is not None:
                self.end_by_judge(events, judge)

    def end_by_judge(self, events: Sequence[Event], judge: Judge) -> None:
        """End the facts that a judge finds to be ended by what an episode says, where the rules leave it open."""
        names, episode = self.names, self.episode
        mentioned = (names.meant(event.mention_id) for event in events if isinstance(event, MentionObserved))
        speaker = names.named(episode.role or episode.role_type, PERSON)
        named = {uuid for uuid in (*mentioned, speaker and speaker.uuid) if uuid is not None}
        doubtful = {triple.subject for triple in map(self._doubtful, events) if triple is not None}
        found = facts_in_doubt(episode, named, doubtful, names.known, names.recorded_at)
        left = [fact for fact in found if self._triple_of(fact) not in self._related]
        ended, asked = judge.ended(names.group, episode, left, names.cause)
        names.asked += asked
        for fact in ended:
            self.end(self._triple_of(fact), episode.valid_at)

    def _doubtful(self, event: Event) -> Triple | None:
        """Return what a relationship ends, if it is a state that no fact holds, and is no earlier value of another."""
        if not isinstance(event, RelationshipStated) or event.stance != "ended" or event.planned or event.valid_to:
            return None
        triple, other = self._triple(event) or (None, None)
        if triple is None or other is None or self.is_occurrence(triple.relation) or self.held(triple):
            return None
        if self.changes.single(triple.relation) and self._has(triple.subject, triple.relation):
            return None
        return triple if self._ended(triple, other) == [triple] else None

    def _triple_of(self, fact: FactRow) -> Triple:
        literal = fact.object if fact.object_uuid is None else None
        return Triple(fact.subject_uuid, fact.relation, fact.object_uuid, literal)

    def events(self) -> list[Event]:
        """Return everything written: relations declared and what was asked before all else."""
        declared = [RelationDeclared(relation=name, cardinality="one") for name in self.changes.declared]
        return [*declared, *self.names.asked, *super().events()]

    def _is_exclusive(self, name: str) -> bool:
        relation = self.ontology.relations.get(name)
        return relation is not None and relation.exclusive

    def _is_generic(self, name: str) -> bool:
        relation = self.ontology.relation(self.ontology.canonical(name)[0])
        return relation is not None and relation.generic

    def _triple(self, stated: RelationshipStated) -> tuple[Triple, EntityRow] | None:
        """Return what a relationship is about, with its object; None: its mentions are of no two entities."""
        source, target = self.names.meant(stated.source), self.names.meant(stated.target)
        if source is None or target is None or source == target:
            return None  # the mention was never resolved, or the words name one thing twice
        relation, flipped = self.ontology.canonical(stated.relation)
        subject, object_ = (target, source) if flipped else (source, target)
        subject, relation = self._slot_of(subject, relation)
        other = self.names.entity(object_)
        literal = other.type is not None and self.ontology.is_value(other.type)
        return Triple(subject, relation, None if literal else object_, other.name if literal else None), other

    def _relate(self, stated: RelationshipStated, replaced: dict[tuple[str, str], Assertion]) -> None:
        found = self._triple(stated)
        if found is None:
            return
        triple, other = found
        relation = triple.relation
        self._declare(relation)
        self._related.add(triple)
        match stated.stance:
            case "denied":
                for assertion in self.held(triple):
                    if _is_denied(assertion, stated.granule):
                        self.retract(self.statement(assertion.fact_id), "corrected")
                        replaced[triple.subject, triple.relation] = assertion
            case "holds" if self.is_occurrence(relation):
                self._happen(triple, stated, replaced.get((triple.subject, triple.relation)))
            case "ended" if stated.planned or self.is_occurrence(relation):
                self._call_off(triple, stated.granule)
            case "ended":
                at = self.episode.valid_at if stated.valid_to is None else stated.valid_to
                for ended in self._ended(triple, other):
                    self._related.add(ended)
                    if self.is_former(ended, stated) and self.hold_until(ended, at, stated):
                        continue
                    self.end_early(ended, at, stated)
                    self.end(ended, at, relationship=stated.relationship_id)
            case "holds":
                self._hold(triple, stated, replaced.get((triple.subject, triple.relation)))

    def _slot_of(self, subject: str, relation: str) -> tuple[str, str]:
        """Return the subject and relation of a statement: the value of a thing may be one that the speaker has."""
        kind = self.ontology.relation(relation)
        if kind is None or kind.value not in OF_THINGS:
            return subject, relation
        speaker = self.names.named(self.episode.role or self.episode.role_type, PERSON)
        thing = self.names.entity(subject)
        return slot_of(thing, kind, speaker, self.ontology, self.names, self._has)

    def _ended(self, triple: Triple, object_: EntityRow) -> list[Triple]:
        """Return what an ending ends: what holds and can be meant, or else what it says."""
        kind = self.ontology.relation(triple.relation)
        if kind is not None and kind.value in OF_THINGS:
            return (
                [Triple(triple.subject, triple.relation, None, None)] if self._is_value(triple, object_) else [triple]
            )
        if kind is not None and kind.value == "rule" and self.build.rule > 3:
            return self._lifted(triple)
        if kind is None or not self._may_mean_another(kind) or triple.object is None or self.held(triple):
            return [triple]
        at = self.episode.valid_at
        meant = ended_facts(triple.subject, triple.relation, object_, at, self.ontology, self.names)
        told = [] if object_.name in ROLES else [triple]
        return [Triple(triple.subject, relation, uuid, None) for relation, uuid in meant] or told

    def _lifted(self, ended: Triple) -> list[Triple]:
        """Return the rule that is lifted: of those that hold, the only one that can be meant."""
        slot = self.known.slot(self.names.group, ended.subject, ended.relation, None)
        at = self.episode.valid_at
        held = {one.value[2:] for one in slot.assertions if _holds(slot.held.get(one.fact_id, ()), at)}
        found = lifted_rule(ended.value or "", held)
        return [] if found is None else [ended._replace(value=found)]

    def _is_value(self, triple: Triple, ended: EntityRow) -> bool:
        """Whether the value that is said to have ended is the one that holds, perhaps with more or fewer words."""
        if self.build.rule < 4 or ended.name.casefold() in CALLED_OFF:
            return True
        slot, said = self.changes.slot(triple.subject, triple.relation, None), set(words(ended.name))
        at = self.episode.valid_at
        for assertion in slot.of(None):
            held = set(words(assertion.value[2:]))
            if _holds(slot.before.get(assertion.fact_id, ()), at):
                return said.issubset(held) or held.issubset(said)
        return False

    def _may_mean_another(self, kind: RelationType) -> bool:
        """Whether an ending of a relation may mean another object than it names: "my dog died" means Rex."""
        return bool(kind.ends) or (self.build.rule > 3 and len(kind.targets) == 1)

    def _has(self, subject: str, relation: str) -> bool:
        return bool(self.held(Triple(subject, relation, None, None)))

    def _declare(self, relation: str) -> None:
        """Declare a relation that only this episode's own ontology has as single-valued, once for its group."""
        own = self.ontology.relation(relation)
        if own is None or own.cardinality != "one" or relation in self.build.ontology.relations:
            return
        if not self.build.ingestion.enable_contradiction_detection:
            return
        if not self.known.single(self.names.group, relation):
            self.changes.declared[relation] = None

    def _happen(self, triple: Triple, stated: RelationshipStated, replaced: Assertion | None) -> None:
        """State what was done, or is planned."""
        granule, grain = self._granule(stated)
        if replaced is not None and replaced.granules and grain == UNKNOWN_GRAIN:
            granule, grain = replaced.finest, None
        planned = stated.planned or self.is_plan(triple.relation, granule[0])
        if self.tell_again(triple, granule, planned=planned, relationship_id=stated.relationship_id):
            return
        self.assert_occurrence(
            triple,
            granule,
            planned=planned,
            sentence=self.sentence_of(triple),
            confidence=stated.confidence,
            grain=grain,
            time_words=stated.time_words,
            relationship_id=stated.relationship_id,
            corrects=replaced.fact_id if replaced else None,
        )

    def _granule(self, stated: RelationshipStated) -> tuple[Interval, str | None]:
        """Return when something happened, and how exactly that is known."""
        start, end, said_at = stated.valid_from, stated.valid_to, self.episode.valid_at
        if stated.granule is not None:
            return stated.granule, stated.grain
        if start is not None and end is not None and start < end:
            return (start, end), stated.grain
        if start is not None:
            grain = stated.grain or "day"
            return granule_from(start, grain, zone_of(self.episode.timezone or "UTC")), grain
        return before(said_at if end is None else min(end, said_at)), UNKNOWN_GRAIN

    def _call_off(self, triple: Triple, granule: Interval | None) -> None:
        """Retract the plans, of a granule or of all time, for what is said to have ended: what was done cannot end."""
        for assertion in self.held(triple):
            if self._is_plan_within(granule, triple.relation, assertion):
                self.retract(self.statement(assertion.fact_id), "retracted")

    def _is_plan_within(self, granule: Interval | None, relation: str, assertion: Assertion) -> bool:
        """Whether a deed is planned for a time that is not over, or has its outcome from a time on that is ahead."""
        if assertion.granules:
            is_ahead = not assertion.done and assertion.finest[1] > self.episode.valid_at
            return is_ahead and _is_denied(assertion, granule)
        if self.build.rule < _OUTCOMES or not self.is_plan(relation, assertion.start):
            return False
        return granule is None or granule[0] <= assertion.start < granule[1]

    def _hold(self, triple: Triple, stated: RelationshipStated, replaced: Assertion | None) -> None:
        said_at = self.episode.valid_at
        start, end = stated.valid_from, stated.valid_to
        if replaced is not None and start is None and end is None:
            start, end = replaced.start, None if replaced.end == INF else replaced.end
        if start is None:
            start = min(said_at, said_at if end is None else end - 1)
        if end is not None and start >= end:
            return  # the stated times contradict each other; a missing fact costs less than a wrong one
        planned = self.is_plan(triple.relation, start)
        overtakes = end is None and self.overtake(triple, start, stated)
        if not overtakes and self.reinforce(
            triple, start, end, relationship_id=stated.relationship_id, planned=planned
        ):
            return
        self.assert_fact(
            triple,
            sentence=self.sentence_of(triple),
            confidence=stated.confidence,
            valid_from=start,
            valid_to=end,
            grain=stated.grain,
            time_words=stated.time_words,
            relationship_id=stated.relationship_id,
            corrects=replaced.fact_id if replaced else None,
            planned=planned,
        )
        self._end_others(triple, start, stated)

    def _end_others(self, triple: Triple, at: int, stated: RelationshipStated) -> None:
        """End what others have of a target that one source has at a time, unless the episode says that both have it."""
        kind = self.ontology.relation(triple.relation)
        if kind is None or not kind.exclusive or stated.shared or triple.object is None:
            return
        around = self.names.known.facts_around([triple.object], Moment(at, self.names.recorded_at), _LATEST)
        others = (self._triple_of(fact) for fact in around if fact.relation == triple.relation)
        for other in others:
            if other.object == triple.object and other.subject != triple.subject and other not in self._held_here:
                self.end(other, at, relationship=stated.relationship_id)


def _holds(periods: Sequence[Interval], at: int) -> bool:
    return any(low <= at < high for low, high in periods)


def _is_denied(assertion: Assertion, granule: Interval | None) -> bool:
    """Whether a denial, of a granule or of all time, is of a fact: of what happened, if it was within that granule."""
    return not assertion.granules or granule in (None, assertion.finest) or is_within(assertion.finest, granule)
