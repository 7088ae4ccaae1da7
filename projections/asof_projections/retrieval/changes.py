"""Changes: facts that ended before a moment, begin after it or were retracted; replacements, and corrected mistakes."""

from collections.abc import Iterable, Iterator
from datetime import datetime
from itertools import islice
from typing import Final, NamedTuple

from asof_projections.graph.ports import GraphStore
from asof_projections.model.answers import Fact, Hit, instant_of
from asof_projections.model.queries import FactsQuery, ask
from asof_projections.model.rows import Moment
from asof_projections.queries.temporal import TemporalQueries
from asof_streams.instants import from_datetime

_MOST: Final = 10  # each of which is a question about its slot


class SlotChange(NamedTuple):
    """A fact that ended, or will begin; when; and the fact of its slot that began, or will end, at that moment.

    Or one that was retracted, and when that was recorded.
    """

    fact: Hit
    changed_at: datetime
    other: Fact | None = None
    retracted: bool = False


def holds(fact: Fact, at: int) -> bool:
    """Whether a fact holds at a moment of valid time."""
    moment = instant_of(at)
    return (fact.valid_at is None or fact.valid_at <= moment) and (fact.invalid_at is None or moment < fact.invalid_at)


class SlotChanges:
    """Finds changes in the graphs of one generation."""

    def __init__(self, questions: TemporalQueries, beliefs: GraphStore, episodes: GraphStore) -> None:
        self._questions = questions
        self._beliefs = beliefs
        self._episodes = episodes

    def of(self, facts: Iterable[Hit], valid: int, known: int) -> list[SlotChange]:
        """Return those of some facts that do not hold at a moment or were retracted, in their order, ten at most.

        What happened is none, unless it was retracted.

        facts: that were known at some time until the known moment.
        """
        return list(islice((found for fact in facts if (found := self._change(fact, valid, known))), _MOST))

    def _change(self, fact: Hit, valid: int, known: int) -> SlotChange | None:
        if fact.expired_at is not None and not self._is_known(fact, known):
            return self._retraction(fact, known)
        return None if fact.occurrence or holds(fact, valid) else _change(self._questions, fact, valid, known)

    def _is_known(self, fact: Hit, known: int) -> bool:
        versions = self._beliefs.versions(fact.uuid)
        return any(version.known_from <= known < version.known_to for version in versions)

    def _retraction(self, fact: Hit, known: int) -> SlotChange | None:
        """Return a retraction; None: the fact was corrected, is said by another one, or its episode was withdrawn."""
        provenance = self._beliefs.provenance(fact.uuid)
        revisions = [each for each in provenance.revisions if each.recorded_at <= known] if provenance else []
        last = revisions[-1] if revisions else None
        if last is None or last.kind != "retracted" or last.source is None:
            return None
        if self._episodes.episode(last.source.episode_id) is None:  # a withdrawal is no episode
            return None
        return SlotChange(fact, instant_of(last.recorded_at), retracted=True)


def corrected(beliefs: GraphStore, facts: Iterable[Fact]) -> dict[str, str]:
    """Return the sentences of the facts that the first ten of some facts correct, by the ids of these."""
    wrong = beliefs.correcting([fact.uuid for fact in islice(facts, _MOST)])
    found = {uuid: beliefs.fact(other) for uuid, other in wrong.items()}
    return {uuid: other.fact for uuid, other in found.items() if other}


def _change(questions: TemporalQueries, fact: Hit, valid: int, known: int) -> SlotChange:
    if fact.invalid_at is not None and from_datetime(fact.invalid_at) <= valid:
        began = _slot(questions, fact, Moment(from_datetime(fact.invalid_at), known))
        return SlotChange(fact, fact.invalid_at, next((f for f in began if f.valid_at == fact.invalid_at), None))
    assert fact.valid_at is not None, "it holds"
    ends = _slot(questions, fact, Moment(from_datetime(fact.valid_at) - 1, known))
    return SlotChange(fact, fact.valid_at, next((f for f in ends if f.invalid_at == fact.valid_at), None))


def _slot(questions: TemporalQueries, fact: Fact, at: Moment) -> Iterator[Fact]:
    """Return the other facts of a fact's slot that hold at a moment."""
    query = ask(FactsQuery, {"group_id": fact.group_id, "about": fact.subject_uuid, "relation": fact.relation})
    return (other for other in questions.facts(query, at) if other.uuid != fact.uuid)
