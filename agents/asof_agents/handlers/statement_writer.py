"""Writing down what one episode says: what statements of chat and structured facts have in common.

Pure: it reads what the generation knows so far and gives events. What follows for belief is left to `invalidations`.
"""

from dataclasses import dataclass
from typing import Any, Generic, Literal, NamedTuple, TypeVar

from asof_agents.extraction.registry import Ontologies
from asof_agents.handlers.episodes import episode_id
from asof_agents.handlers.invalidations import BeliefChanges, Reason, SlotState, value_of
from asof_agents.handlers.policies import apply_graded_policy
from asof_agents.resolution.exact import ExactNames
from asof_ontologies.model import Ontology
from asof_projections.model.rows import Statement
from asof_projections.versions import Assertion
from asof_streams.episodic import EpisodeRecorded
from asof_streams.events import Event, Record
from asof_streams.instants import INF
from asof_streams.semantic import EntityMerged, EntityUnmerged, FactEnded, FactReinforced

N = TypeVar("N", bound=ExactNames)

ALSO_KNOWN_AS = "also_known_as"  # the one relation that says something of identity
MERGE = "merge:"  # and a fact's id, where it rests on one


@dataclass(frozen=True, slots=True)
class Build:
    """What decides the content of a generation; its digest goes into every id.

    An episode that names its ontology is taken with that one: `ontologies` has them.
    """

    digest: str
    ontology: Ontology
    policy: Literal["recency", "graded"]
    ontologies: Ontologies | None = None

    def ontology_of(self, episode: EpisodeRecorded) -> Ontology:
        """Return what an episode is taken with."""
        return self.ontologies.of(episode, self.ontology) if self.ontologies else self.ontology


class Triple(NamedTuple):
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


class StatementWriter(Generic[N]):
    """Writes down what one episode says: its names, and what is asserted, said again, ended and taken back."""

    def __init__(self, names: N, build: Build, cause: int) -> None:
        self.names = names
        self.episode = names.episode
        self.known = names.known
        self.build = build
        self.ontology = build.ontology_of(names.episode)
        self.beliefs = BeliefChanges(
            names.known, build.digest, names.group, cause, names.episode.episode_id, names.introduced.keys()
        )

    def events(self) -> list[Event]:
        """Return everything written: names, then statements, then what follows."""
        return [*self.names.events, *self.beliefs.events()]

    def claim(self, place: Triple, **fields: Any) -> None:
        """Assert a fact anew; two names of one thing are joined, and a graded policy may contest it."""
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
        if self.build.policy == "graded" and self.beliefs.single(place.relation):
            apply_graded_policy(beliefs, self.known, beliefs.slot(place.subject, place.relation, None), fact_id)

    def reinforce(self, place: Triple, start: int, end: int | None, relationship: str | None) -> bool:
        """Say a held fact again, if this says nothing new: its time lies within what is believed already."""
        for at in self.both_ways(place):
            working = self.slot(at)
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

    def both_ways(self, place: Triple) -> list[Triple]:
        """Return a claim as it is said, and turned round where that means the same."""
        relation = self.ontology.relations.get(place.relation)
        if relation is None or not relation.symmetric or place.object is None:
            return [place]
        return [place, Triple(place.object, place.relation, place.subject, None)]

    def held(self, place: Triple) -> list[Assertion]:
        """Return the believed assertions of exactly this claim, said either way round where that means the same."""
        return [
            a
            for at in self.both_ways(place)
            for working in [self.slot(at)]
            for a in working.assertions.values()
            if a.value == at.compared and working.before.get(a.fact_id)
        ]

    def slot(self, place: Triple) -> SlotState:
        """Return what is known of the slot of a claim."""
        return self.beliefs.slot(place.subject, place.relation, place.compared)

    def end(self, place: Triple, at: int, fact: str | None = None, relationship: str | None = None) -> None:
        """End what holds of a claim (or one fact of it) at an instant."""
        for way in [place] if fact else self.both_ways(place):
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

    def retract(self, target: Statement, reason: Reason) -> None:
        """Take a statement back, and what it said of identity with it."""
        for statement, dead in self.beliefs.retract(target, reason):
            assertion = statement.assertion
            if assertion is None or statement.relation != ALSO_KNOWN_AS:
                continue
            if dead:
                self.beliefs.said.append(EntityUnmerged(merge_id=_merge_id(statement.uuid)))
            elif assertion.value.startswith("e:"):
                self.beliefs.said.append(_merged(statement.uuid, statement.subject, assertion.value[2:]))

    def statement(self, fact_id: str) -> Statement:
        """Return the statement of a fact that is known to be there."""
        statement = self.known.statement(fact_id)
        assert statement is not None, f"fact {fact_id} is in no log"
        return statement


def wordless(first: Record) -> EpisodeRecorded:
    """Return what stands for the episode of a message that has no words, and is recorded as none."""
    return EpisodeRecorded(
        episode_id=episode_id(first.group, first.cause),
        name="",
        source="fact",
        source_description="",
        role="",
        role_type="",
        body="",
        content_length=0,
        valid_at=first.recorded_at,
    )


def _merge_id(fact_id: str) -> str:
    return f"{MERGE}{fact_id}"


def _merged(fact_id: str, subject: str, object_: str) -> EntityMerged:
    return EntityMerged(merge_id=_merge_id(fact_id), duplicate=object_, into=subject, reason="also known as")
