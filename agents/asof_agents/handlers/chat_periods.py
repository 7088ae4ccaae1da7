"""The periods of what was said in words, where their starts are not told. Pure.

What is told later may put back a start that nobody stated (`unstated_starts`); what is known by its end alone stands
right before that.
"""

from collections.abc import Sequence

from asof_agents.handlers.granules import granule_from
from asof_agents.handlers.statement_writer import StatementWriter, Triple
from asof_agents.handlers.unstated_starts import MOST, facts_begun_by, is_recent
from asof_agents.resolution.entities import Resolver
from asof_projections.versions import UNKNOWN_GRAIN, Assertion
from asof_streams.episodic import RelationshipStated
from asof_streams.instants import FIRST, INF, NEG
from asof_streams.timezones import zone_of


class ChatPeriods(StatementWriter[Resolver]):
    """Writes down when what was said in words held, as far as that follows from other statements."""

    def end_early(self, ended: Triple, at: int, stated: RelationshipStated) -> None:
        """Put what is told to have ended before its start, which nobody stated, back to before that."""
        told_end = self._told_end(at, stated) if self.build.rule > 3 else at
        if self.build.rule > 2 and is_recent(told_end, self.episode.valid_at):
            self._put_back(self.held(ended), ended.relation, at)

    def is_former(self, ended: Triple, stated: RelationshipStated) -> bool:
        """Whether what ended is known by its end alone: "I used to work at SAP"."""
        return (
            self.build.rule > 3
            and stated.former
            and ended.object is not None
            and not self.slot(ended).of(ended.value_key)
        )

    def hold_until(self, former: Triple, at: int, stated: RelationshipStated) -> bool:
        """State what held from an unknown time on until an instant, or until the value began that is held instead.

        Return whether it could: before the year 1 nothing is.
        """
        slot = self.slot(former)
        if slot.single:
            for other in sorted(slot.begun(NEG, at, MOST), key=lambda each: each.start, reverse=True):
                at = other.start if at <= other.end else at
        if at <= FIRST:
            return False
        self.assert_fact(
            former,
            sentence=self.sentence_of(former),
            confidence=stated.confidence,
            valid_from=at - 1,
            valid_to=at,
            grain=UNKNOWN_GRAIN,
            time_words=stated.time_words,
            relationship_id=stated.relationship_id,
        )
        return True

    def _told_end(self, at: int, stated: RelationshipStated) -> int:
        """Return the end of the day, month or year that begins at an instant."""
        return granule_from(at, stated.grain or "day", zone_of(self.episode.timezone or "UTC"))[1]

    def overtake(self, triple: Triple, start: int, stated: RelationshipStated) -> bool:
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
        found = () if change <= FIRST else facts_begun_by(assertions, change, self.episode.valid_at, self.known)
        for assertion, statement in found:
            is_entity, value = assertion.value.startswith("e:"), assertion.value[2:]
            triple = Triple(statement.subject, relation, *((value, None) if is_entity else (None, value)))
            self.retract(statement, "corrected")
            self.assert_fact(
                triple,
                sentence=self.sentence_of(triple),
                confidence=statement.confidence,
                valid_from=change - 1,
                valid_to=None if assertion.end == INF else assertion.end,
                said_at=assertion.attested,
                grain=UNKNOWN_GRAIN,
                corrects=assertion.fact_id,
            )
        return bool(found)

    def sentence_of(self, triple: Triple) -> str:
        relation = self.ontology.relation(triple.relation)
        subject, object_ = self.names.entity(triple.subject).name, self._object_name(triple)
        if relation is None:
            return f"{subject} {triple.relation.replace('_', ' ')} {object_}"
        return relation.said(triple.relation, subject, object_)

    def _object_name(self, triple: Triple) -> str:
        return triple.value if triple.value is not None else self.names.entity(triple.object or "").name
