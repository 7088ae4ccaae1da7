"""The facts agent: the episodic events of one message become the semantic events of one generation.

Pure: it reads what the generation knows so far and gives events. Statements of chat go through entity resolution here;
structured facts are left to `statements`, and what follows for belief to `invalidations`.
"""

from collections.abc import Sequence

from asof_agents.handlers.attributes import attribute
from asof_agents.handlers.communities import assign_communities
from asof_agents.handlers.statement_writer import Build, StatementWriter, Triple
from asof_agents.handlers.structured_facts import state
from asof_agents.ports import BeliefView
from asof_agents.resolution.entities import Resolver, Speakers
from asof_agents.resolution.judge import Judge
from asof_ontologies.model import Ontology, RelationType
from asof_projections.versions import Assertion
from asof_streams.episodic import EpisodeRecorded, MentionObserved, MessageParked, RelationshipStated
from asof_streams.errors import InvalidInput, NotFound
from asof_streams.events import Event, Record
from asof_streams.instants import INF
from asof_streams.semantic import RelationDeclared


def derive_semantic_events(
    batch: Sequence[Record],
    build: Build,
    known: BeliefView,
    speakers: Speakers = tuple,
    judge: Judge | None = None,
) -> list[Event]:
    """Return the semantic events of one message's episodic events; a statement that cannot stand is parked whole."""
    episode = batch[0].event
    if not isinstance(episode, EpisodeRecorded):
        return []
    found = [r.event for r in batch[1:]]
    chat = None if episode.source == "fact" else _chat(batch[0], episode, build, known, speakers)
    try:
        if chat is None:
            return state(batch[0], episode, build, known)
        chat.read(found, judge)
    except (InvalidInput, NotFound) as error:
        return [MessageParked(reason=str(error))]
    events = chat.events()
    if found:
        events += attribute(found, chat.names, known)
    if episode.update_communities:
        events += assign_communities(events, chat.names, known)
    return events


def _chat(
    first: Record, episode: EpisodeRecorded, build: Build, known: BeliefView, speakers: Speakers
) -> "ChatStatements":
    is_value = build.ontology_of(episode).is_value
    about = (known, build.digest, first.group, first.recorded_at, episode)
    return ChatStatements(Resolver(*about, speakers=speakers, is_value=is_value), build, first.cause)


class ChatStatements(StatementWriter[Resolver]):
    """Writes down what was said in words: resolves its names, states its relationships."""

    def read(self, events: Sequence[Event], judge: Judge | None) -> None:
        """Resolve the mentions of an episode, then state its relationships; what is denied first."""
        self.names.read((event for event in events if isinstance(event, MentionObserved)), judge)
        stated = [e for e in events if isinstance(e, RelationshipStated)]
        replaced: dict[tuple[str, str], Assertion] = {}
        for relationship in sorted(stated, key=lambda r: r.stance != "denied"):
            self._relate(relationship, replaced)

    def events(self) -> list[Event]:
        """Return everything written: relations declared and what was asked before all else."""
        declared = [RelationDeclared(relation=name, cardinality="one") for name in self.beliefs.declared]
        return [*declared, *self.names.asked, *super().events()]

    def _relate(self, stated: RelationshipStated, replaced: dict[tuple[str, str], Assertion]) -> None:
        source, target = self.names.meant(stated.source), self.names.meant(stated.target)
        if source is None or target is None or source == target:
            return  # the mention was never resolved, or the words name one thing twice
        relation, flipped = _canonical(self.ontology, stated.relation)
        self._declare(relation)
        subject, object_ = (target, source) if flipped else (source, target)
        other = self.names.entity(object_)
        literal = other.type is not None and self.ontology.is_value(other.type)
        place = Triple(subject, relation, None if literal else object_, other.name if literal else None)
        match stated.stance:
            case "denied":
                for assertion in self.held(place):
                    self.retract(self.statement(assertion.fact_id), "corrected")
                    replaced[place.subject, place.relation] = assertion
            case "ended":
                at = self.episode.valid_at if stated.valid_to is None else stated.valid_to
                self.end(place, at, relationship=stated.relationship_id)
            case "holds":
                self._hold(place, stated, replaced.get((place.subject, place.relation)))

    def _declare(self, relation: str) -> None:
        """Declare a single-valued relation that only this episode's ontology knows: others keep what they are here."""
        own = self.ontology.relations.get(relation)
        if own is None or own.cardinality != "one" or relation in self.build.ontology.relations:
            return
        if not self.known.single(self.names.group, relation):
            self.beliefs.declared[relation] = None

    def _hold(self, place: Triple, stated: RelationshipStated, replaced: Assertion | None) -> None:
        said_at = self.episode.valid_at
        start, end = stated.valid_from, stated.valid_to
        if replaced is not None and start is None and end is None:
            start, end = replaced.start, None if replaced.end == INF else replaced.end
        if start is None:
            start = min(said_at, said_at if end is None else end - 1)
        if end is not None and start >= end:
            return  # the words contradict each other; a missing fact costs less than a wrong one
        if self.reinforce(place, start, end, stated.relationship_id):
            return
        self.claim(
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

    def _sentence(self, place: Triple) -> str:
        relation = self.ontology.relations.get(place.relation)
        subject, object_ = self.names.entity(place.subject).name, self._object_name(place)
        if relation is None:
            return f"{subject} {place.relation.replace('_', ' ')} {object_}"
        return relation.sentence.format(subject=subject, object=object_)

    def _object_name(self, place: Triple) -> str:
        return place.value if place.value is not None else self.names.entity(place.object or "").name


def _canonical(ontology: Ontology, name: str) -> tuple[str, bool]:
    """Return a relation as facts keep it: of two inverses the one named first, and whether that turns it round."""
    relation: RelationType | None = ontology.relations.get(name)
    if relation is None or relation.inverse is None or relation.inverse == name:
        return name, False
    order = list(ontology.relations)
    return (relation.inverse, True) if order.index(relation.inverse) < order.index(name) else (name, False)
