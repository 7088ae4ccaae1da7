"""Writes the statements of one episode as semantic events: the base for chat and for structured facts. Pure.

The consequences for older facts are derived in `invalidations`.
"""

from dataclasses import dataclass, field
from operator import itemgetter
from typing import Any, Generic, Literal, NamedTuple, TypeVar

from asof_agents.extraction.registry import Ontologies
from asof_agents.handlers.invalidations import BeliefChanges, Reason, SlotState, value_of
from asof_agents.handlers.policies import apply_graded_policy
from asof_agents.resolution.exact import ExactNames
from asof_ontologies.model import Ontology
from asof_projections.model.rows import Statement
from asof_projections.versions import RULE, Assertion, Interval
from asof_streams.episodic import EpisodeRecorded
from asof_streams.events import Event, Record
from asof_streams.ids import episode_id
from asof_streams.ingestion_config import IngestionConfig
from asof_streams.instants import INF
from asof_streams.semantic import EntityMerged, EntityUnmerged, FactEnded, FactReinforced

N = TypeVar("N", bound=ExactNames)

ALSO_KNOWN_AS = "also_known_as"  # a fact of this relation also merges its two entities
MERGE = "merge:"  # the id of such a merge is this and the fact's id


@dataclass(frozen=True, slots=True)
class Build:
    """The parameters that decide the content of a generation. The digest is part of every derived id.

    ontologies: those that an episode may choose instead of `ontology`. ingestion: what is taken up, and how. rule: the
    version of the rule of belief; under the first, every fact lasts.
    """

    digest: str
    ontology: Ontology
    policy: Literal["recency", "graded"]
    ontologies: Ontologies | None = None
    ingestion: IngestionConfig = field(default_factory=IngestionConfig)
    rule: int = RULE

    def ontology_of(self, episode: EpisodeRecorded) -> Ontology:
        """Return the ontology of an episode."""
        return self.ontologies.of(episode, self.ontology) if self.ontologies else self.ontology


class Triple(NamedTuple):
    """A subject, a relation and an object: an entity, a literal, or neither, which means every value."""

    subject: str
    relation: str
    object: str | None
    value: str | None

    @property
    def value_key(self) -> str | None:
        if self.object is None and self.value is None:
            return None
        return value_of(self.object, self.value)


class StatementWriter(Generic[N]):
    """Writes down what one episode says: its names, and what is asserted, said again, ended and taken back."""

    def __init__(self, names: N, build: Build, cause: int, *, retried: bool = False) -> None:
        self.names = names
        self.episode = names.episode
        self.known = names.known
        self.build = build
        self.ontology = build.ontology_of(names.episode)
        self.changes = BeliefChanges(
            names.known,
            build.digest,
            build.rule,
            names.group,
            cause,
            names.episode.episode_id,
            names.introduced.keys(),
            retried,
        )

    def events(self) -> list[Event]:
        """Return everything written: names, then statements, then what follows."""
        return [*self.names.events, *self.changes.events()]

    def is_occurrence(self, relation: str) -> bool:
        """Whether facts of a relation are occurrences. One that the ontology does not know lasts."""
        return self.build.rule > 1 and relation in self.ontology.occurrences

    def is_plan(self, relation: str, start: int) -> bool:
        """Whether a deed that begins at an instant is still ahead. States begin by themselves."""
        found = self.ontology.relations.get(relation)
        return self.build.rule > 1 and found is not None and found.is_deed and start > self.episode.valid_at

    def assert_fact(self, triple: Triple, **fields: Any) -> None:
        """Assert a new fact. `also_known_as` merges its entities as well; the graded policy may contest the fact."""
        changes, fact_id = self.changes, self.changes.new_id("fact")
        changes.assert_fact({**self._of_triple(triple, fact_id), **fields})
        if triple.relation == ALSO_KNOWN_AS and triple.object is not None:
            changes.statements.append(_merged(fact_id, triple.subject, triple.object))
        is_contested = self.build.policy == "graded" and not fields.get("occurrence")
        if is_contested and self.changes.single(triple.relation):
            apply_graded_policy(
                changes,
                self.known,
                changes.slot(triple.subject, triple.relation, None),
                fact_id,
                self.build.ingestion.conflict_config,
            )

    def _of_triple(self, triple: Triple, fact_id: str) -> dict[str, Any]:
        """Return the fields of an assertion of this episode that say of what it is."""
        return {
            "fact_id": fact_id,
            "subject": triple.subject,
            "relation": triple.relation,
            "object": triple.object,
            "value": triple.value,
            "said_at": self.episode.valid_at,
            "episode_id": self.episode.episode_id,
        }

    def reinforce(self, triple: Triple, start: int, end: int | None, **fields: Any) -> bool:
        """Reinforce a believed fact instead of asserting it again; return whether there was one.

        The start must lie within a believed period of the fact; the end must be its stated end, or open. `fields`: the
        others of FactReinforced.
        """
        for at in self.both_ways(triple):
            value = at.value_key
            slot = self.changes.slot(at.subject, at.relation, value)
            for assertion in slot.believed(value, start) if slot.assertions else ():
                if assertion.granules:
                    continue
                known_end = None if assertion.end == INF else assertion.end
                if end in (None, known_end):
                    self.changes.reinforce(
                        assertion,
                        slot,
                        FactReinforced(
                            fact_id=assertion.fact_id,
                            said_at=self.episode.valid_at,
                            episode_id=self.episode.episode_id,
                            **fields,
                        ),
                    )
                    return True
        return False

    def tell_again(self, triple: Triple, granule: Interval, *, planned: bool, **fields: Any) -> bool:
        """Reinforce an occurrence that is told again; return whether there was one. Of several the earliest counts.

        `fields`: the others of FactReinforced.
        """
        said_at = self.episode.valid_at
        told = [
            (assertion.finest, assertion.order, assertion, slot)
            for at in self.both_ways(triple)
            for slot in [self.slot(at)]
            for assertion in slot.of(at.value_key)
            if assertion.granules and assertion.is_told_by(granule, said_at, planned=planned)
        ]
        if not told:
            return False
        _, _, assertion, slot = min(told, key=itemgetter(0, 1))
        self.changes.reinforce(
            assertion,
            slot,
            FactReinforced(
                fact_id=assertion.fact_id,
                said_at=said_at,
                episode_id=self.episode.episode_id,
                granule=granule,
                planned=planned,
                **fields,
            ),
        )
        return True

    def assert_occurrence(self, triple: Triple, granule: Interval, *, planned: bool, **fields: Any) -> None:
        """Assert that something happened, or is planned, within a granule."""
        start, end = granule
        self.assert_fact(triple, valid_from=start, valid_to=end, occurrence=True, planned=planned, **fields)

    def both_ways(self, triple: Triple) -> list[Triple]:
        """Return a triple and, if its relation is symmetric, also the reversed one."""
        relation = self.ontology.relation(triple.relation)
        if relation is None or not relation.symmetric or triple.object is None:
            return [triple]
        return [triple, Triple(triple.object, triple.relation, triple.subject, None)]

    def held(self, triple: Triple) -> list[Assertion]:
        """Return the believed assertions of a triple, or of its reverse if the relation is symmetric."""
        return [
            a
            for at in self.both_ways(triple)
            for slot in [self.slot(at)]
            for a in slot.of(at.value_key)
            if a.granules or slot.before.get(a.fact_id)
        ]

    def slot(self, triple: Triple) -> SlotState:
        """Return the state of a triple's slot."""
        return self.changes.slot(triple.subject, triple.relation, triple.value_key)

    def end(self, triple: Triple, at: int, fact: str | None = None, relationship: str | None = None) -> None:
        """End a triple's facts at an instant, or one `fact` of them."""
        for way in [triple] if fact else self.both_ways(triple):
            self.changes.end(
                FactEnded(
                    ending_id=self.changes.new_id("ending"),
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
        """Retract a statement, and with an `also_known_as` fact the merge that rests on it."""
        for statement, dead in self.changes.retract(target, reason):
            assertion = statement.assertion
            if assertion is None or statement.relation != ALSO_KNOWN_AS:
                continue
            if dead:
                self.changes.statements.append(EntityUnmerged(merge_id=_merge_id(statement.uuid)))
            elif assertion.value.startswith("e:"):
                self.changes.statements.append(_merged(statement.uuid, statement.subject, assertion.value[2:]))

    def statement(self, fact_id: str) -> Statement:
        """Return the statement of a fact that exists."""
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
