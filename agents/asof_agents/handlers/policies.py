"""The graded policy: when two facts of a single-valued slot contradict each other, which rule decides (spec/pipelines).

Starts more than a year apart: the newer wins, as under the default policy (recency). Else, confidence more than 0.3
apart: the surer wins and the other is retracted. Else neither rule decides: the contradiction is flagged for a
person, who settles it by retracting one; until then recency stands.
"""

from typing import Final

from asof_agents.handlers.invalidations import BeliefChanges, SlotState
from asof_agents.ports import FactView
from asof_projections.model.rows import Statement
from asof_projections.versions import Assertion
from asof_streams.ids import derive
from asof_streams.instants import SECOND
from asof_streams.semantic import ContradictionFlagged

YEAR: Final = 31_557_600 * SECOND
CONFIDENCE: Final = 0.3


def apply_graded_policy(beliefs: BeliefChanges, known: FactView, working: SlotState, new: str) -> None:
    """Let a new assertion contest the other assertions of its slot, those of this message included."""
    this = working.assertions[new]
    rivals = [
        _statement(beliefs, known, other)
        for other in working.assertions.values()
        if other.value != this.value and _meet(working, other, this) and abs(this.start - other.start) <= YEAR
    ]
    own = _statement(beliefs, known, this)
    if any(rival.confidence - own.confidence > CONFIDENCE for rival in rivals):
        beliefs.retract(own, "contradicted")
        return
    for rival in rivals:
        if own.confidence - rival.confidence > CONFIDENCE:
            beliefs.retract(rival, "contradicted")
        else:
            beliefs.said.append(
                ContradictionFlagged(
                    contradiction_id=derive("contradiction", rival.uuid, new), earlier=rival.uuid, later=new
                )
            )


def _meet(working: SlotState, other: Assertion, this: Assertion) -> bool:
    """Whether two assertions claim an instant in common; what was known before claims what was believed of it."""
    held = working.before.get(other.fact_id, ((other.start, other.end),))
    return any(low < this.end and this.start < high for low, high in held)


def _statement(beliefs: BeliefChanges, known: FactView, assertion: Assertion) -> Statement:
    """Return the statement behind an assertion, also of one that this message makes."""
    for said in beliefs.said:
        if isinstance(said, dict) and said["fact_id"] == assertion.fact_id:
            return Statement(
                uuid=assertion.fact_id,
                group_id=beliefs.group,
                subject=said["subject"],
                relation=said["relation"],
                dead=False,
                assertion=assertion,
                confidence=said["confidence"],
            )
    found = known.statement(assertion.fact_id)
    assert found is not None, f"fact {assertion.fact_id} is in no log"
    return found
