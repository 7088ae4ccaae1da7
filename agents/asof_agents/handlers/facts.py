"""The facts handler: derives a generation's semantic events from the episodic events of one message. Pure.

Statements of chat go through entity resolution here. Structured facts are in `structured_facts`, and the consequences
for older facts in `invalidations`.
"""

from collections.abc import Sequence

from asof_agents.extraction.ports import ROLES
from asof_agents.handlers.admission import admit
from asof_agents.handlers.attributes import weigh_attributes
from asof_agents.handlers.communities import assign_communities
from asof_agents.handlers.endings import ended_facts
from asof_agents.handlers.granules import before, granule_from
from asof_agents.handlers.statement_writer import Build, StatementWriter, Triple
from asof_agents.handlers.structured_facts import state
from asof_agents.handlers.unstated_starts import MOST, facts_begun_by, is_recent
from asof_agents.handlers.value_slots import OF_THINGS, slot_of
from asof_agents.meter import UNMETERED, IngestionMeter
from asof_agents.ports import BeliefView
from asof_agents.resolution.entities import PERSON, Resolver, Speakers
from asof_agents.resolution.episode_resolver import EpisodeResolver
from asof_agents.resolution.judge import Judge
from asof_agents.resolution.open_facts import facts_in_doubt
from asof_agents.resolution.structure import StructuralMatcher, related_mentions
from asof_ontologies.model import RelationType
from asof_projections.model.rows import EntityRow, FactRow
from asof_projections.versions import UNKNOWN_GRAIN, Assertion, Interval, is_within
from asof_streams.episodic import EpisodeRecorded, MentionObserved, MessageParked, RelationshipStated
from asof_streams.errors import InvalidInput, NotFound
from asof_streams.events import Event, Record
from asof_streams.instants import INF, NEG
from asof_streams.semantic import RelationDeclared
from asof_streams.timezones import zone_of


def derive_semantic_events(
    batch: Sequence[Record],
    build: Build,
    known: BeliefView,
    speakers: Speakers = tuple,
    judge: Judge | None = None,
    meter: IngestionMeter = UNMETERED,
) -> list[Event]:
    """Return the semantic events of one message; if one of its statements is invalid, only the reason as a parking."""
    episode = batch[0].event
    if not isinstance(episode, EpisodeRecorded):
        return []
    if episode.source == "fact":
        return _of_fact(batch[0], episode, build, known)
    if episode.is_of_bot:
        judge = None  # it ends nothing
    extracted = admit([record.event for record in batch[1:]], build.ingestion)
    if not extracted and judge is None and not _acts_alone(episode):
        return []  # as of most messages of chat: there is nothing to resolve, state or end
    chat = _chat(batch[0], episode, build, known, speakers)
    try:
        chat.state(extracted, judge, meter)
    except (InvalidInput, NotFound) as error:
        return [MessageParked(reason=str(error))]
    with meter.phases["contradiction_detection"]:
        return _events(chat, extracted, known)


def _of_fact(first: Record, episode: EpisodeRecorded, build: Build, known: BeliefView) -> list[Event]:
    try:
        return state(first, episode, build, known)
    except (InvalidInput, NotFound) as error:
        return [MessageParked(reason=str(error))]


def _acts_alone(episode: EpisodeRecorded) -> bool:
    """Whether an episode of which nothing was extracted may have an effect: its own ontology may be gone by now."""
    return episode.ontology is not None or bool(episode.update_communities)


def derive_semantic_events_of_retry(
    first: Record,
    added: Sequence[Event],
    before: Sequence[Record],
    build: Build,
    known: BeliefView,
    speakers: Speakers,
    judge: Judge | None,
) -> list[Event]:
    """Return the semantic events of a retried message that had some before.

    first: the episode, as recorded by the retry. added: what its extraction found now and had not before.
    before: the records of its first processing; of the names in them that were taken to be new, judge is asked again.
    """
    episode = first.event
    assert isinstance(episode, EpisodeRecorded)
    chat = _chat(first, episode, build, known, speakers, retried=True)
    added = admit(added, build.ingestion)
    chat.state(added, judge)
    if judge is not None and build.ingestion.enable_entity_resolution:
        mentions = [record.event for record in before if isinstance(record.event, MentionObserved)]
        chat.names.resolve_again(mentions, before[0].recorded_at, judge)
    if judge is not None and judge.endings is not None and not added:
        chat.end_by_judge([record.event for record in before], judge)
    return _events(chat, added, known)


def _events(chat: "ChatStatements", extracted: Sequence[Event], known: BeliefView) -> list[Event]:
    events = chat.events()
    if extracted:
        events += weigh_attributes(extracted, chat.names, known)
    if chat.episode.update_communities:
        events += assign_communities(events, chat.names, known)
    return events


def _chat(
    first: Record,
    episode: EpisodeRecorded,
    build: Build,
    known: BeliefView,
    speakers: Speakers,
    *,
    retried: bool = False,
) -> "ChatStatements":
    is_value = build.ontology_of(episode).is_value
    about = (known, build.digest, first.group, first.recorded_at, episode)
    resolver = Resolver if build.ingestion.enable_entity_resolution else EpisodeResolver
    names = resolver(*about, speakers=speakers, is_value=is_value, cause=first.cause)
    return ChatStatements(names, build, first.cause, retried=retried)


class ChatStatements(StatementWriter[Resolver]):
    """Writes down what was said in words: resolves its names, states its relationships."""

    _related: set[Triple]  # what the relationships are about

    def state(self, events: Sequence[Event], judge: Judge | None, meter: IngestionMeter = UNMETERED) -> None:
        """Resolve the mentions of an episode, then add its relationships: denials first, for corrections need them."""
        self._related = set()
        stated = [e for e in events if isinstance(e, RelationshipStated)]
        config = self.build.ingestion
        if config.enable_entity_resolution and config.enable_structural_similarity:
            where = self.names.group, self.episode.valid_at, config.entity_resolution_threshold
            self.names.structure = StructuralMatcher(self.names.known, *where, related_mentions(stated))
        self.names.kinds = frozenset(each.target for each in stated if self._is_generic(each.relation))
        mentions = (event for event in events if isinstance(event, MentionObserved))
        with meter.phases["entity_resolution"]:
            self.names.resolve(mentions, judge if config.enable_entity_resolution else None)
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
                    if self._is_former(ended, stated):
                        self._hold_until(ended, at, stated)
                        continue
                    self._end_early(ended, at, stated)
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
            return [Triple(triple.subject, triple.relation, None, None)]
        if kind is None or not self._may_mean_another(kind) or triple.object is None or self.held(triple):
            return [triple]
        at = self.episode.valid_at
        meant = ended_facts(triple.subject, triple.relation, object_, at, self.ontology, self.names)
        told = [] if object_.name in ROLES else [triple]
        return [Triple(triple.subject, relation, uuid, None) for relation, uuid in meant] or told

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
            sentence=self._sentence(triple),
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
        said_at = self.episode.valid_at
        for assertion in self.held(triple) if self.build.rule > 1 else ():
            ahead = not assertion.done and (assertion.finest[1] if assertion.granules else assertion.start) > said_at
            if ahead and _is_denied(assertion, granule):
                self.retract(self.statement(assertion.fact_id), "retracted")

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
        overtakes = end is None and self._overtake(triple, start, stated)
        if not overtakes and self.reinforce(
            triple, start, end, relationship_id=stated.relationship_id, planned=planned
        ):
            return
        self.assert_fact(
            triple,
            sentence=self._sentence(triple),
            confidence=stated.confidence,
            valid_from=start,
            valid_to=end,
            grain=stated.grain,
            time_words=stated.time_words,
            relationship_id=stated.relationship_id,
            corrects=replaced.fact_id if replaced else None,
            planned=planned,
        )

    def _end_early(self, ended: Triple, at: int, stated: RelationshipStated) -> None:
        """Put what is told to have ended before its start, which nobody stated, back to before that."""
        told_end = self._told_end(at, stated) if self.build.rule > 3 else at
        if self.build.rule > 2 and is_recent(told_end, self.episode.valid_at):
            self._put_back(self.held(ended), ended.relation, at)

    def _is_former(self, ended: Triple, stated: RelationshipStated) -> bool:
        """Whether what ended is known by its end alone: "I used to work at SAP"."""
        return (
            self.build.rule > 3
            and stated.former
            and ended.object is not None
            and not self.slot(ended).of(ended.value_key)
        )

    def _hold_until(self, former: Triple, at: int, stated: RelationshipStated) -> None:
        """State what held from an unknown time on until an instant, or until the value began that is held instead."""
        slot = self.slot(former)
        if slot.single:
            for other in sorted(slot.begun(NEG, at, MOST), key=lambda each: each.start, reverse=True):
                at = other.start if other.start < at <= other.end else at
        self.assert_fact(
            former,
            sentence=self._sentence(former),
            confidence=stated.confidence,
            valid_from=at - 1,
            valid_to=at,
            grain=UNKNOWN_GRAIN,
            time_words=stated.time_words,
            relationship_id=stated.relationship_id,
        )

    def _told_end(self, at: int, stated: RelationshipStated) -> int:
        """Return the end of the day, month or year that begins at an instant."""
        return granule_from(at, stated.grain or "day", zone_of(self.episode.timezone or "UTC"))[1]

    def _overtake(self, triple: Triple, start: int, stated: RelationshipStated) -> bool:
        """Put back to before a state what it displaces: values whose starts nobody stated. Return whether there are."""
        said_at, slot = self.episode.valid_at, self.slot(triple)
        if self.build.rule < 3 or self.build.policy != "recency" or not slot.single or start >= said_at:
            return False
        if not is_recent(self._told_end(start, stated), said_at):
            return False
        low = start if self.build.rule > 3 else start + 1  # a timestamp may be a day alone, as a change may be of it
        others = [a for a in slot.begun(low, said_at + 1, MOST) if a.value != triple.value_key]
        return self._put_back(others, triple.relation, start)

    def _put_back(self, assertions: Sequence[Assertion], relation: str, change: int) -> bool:
        """Let those of the facts whose starts nobody stated begin at an unknown time before a change.

        Return whether there are any.
        """
        found = facts_begun_by(assertions, change, self.episode.valid_at, self.known)
        for assertion, statement in found:
            is_entity, value = assertion.value.startswith("e:"), assertion.value[2:]
            triple = Triple(statement.subject, relation, *((value, None) if is_entity else (None, value)))
            self.retract(statement, "corrected")
            self.assert_fact(
                triple,
                sentence=self._sentence(triple),
                confidence=statement.confidence,
                valid_from=change - 1,
                valid_to=None if assertion.end == INF else assertion.end,
                said_at=assertion.attested,
                grain=UNKNOWN_GRAIN,
                corrects=assertion.fact_id,
            )
        return bool(found)

    def _sentence(self, triple: Triple) -> str:
        relation = self.ontology.relation(triple.relation)
        subject, object_ = self.names.entity(triple.subject).name, self._object_name(triple)
        if relation is None:
            return f"{subject} {triple.relation.replace('_', ' ')} {object_}"
        return relation.said(triple.relation, subject, object_)

    def _object_name(self, triple: Triple) -> str:
        return triple.value if triple.value is not None else self.names.entity(triple.object or "").name


def _is_denied(assertion: Assertion, granule: Interval | None) -> bool:
    """Whether a denial, of a granule or of all time, is of a fact: of what happened, if it was within that granule."""
    return not assertion.granules or granule in (None, assertion.finest) or is_within(assertion.finest, granule)
