"""The graded policy: when two facts of a single-valued slot contradict each other, which rule decides (spec/pipelines).

Starts more than a year apart: the newer wins, as under the default policy (recency). Else, confidence more than 0.3
apart: the surer wins and the other is retracted. Else neither rule decides: the contradiction is flagged for a
person, who settles it by retracting one; until then recency stands.
"""

from typing import Final

from asof_agents.invalidations import Beliefs, Working
from asof_agents.ports import BeliefKnown
from asof_projections.rows import Statement
from asof_projections.versions import Assertion
from asof_streams.ids import derive
from asof_streams.instants import SECOND
from asof_streams.semantic import ContradictionFlagged

YEAR: Final = 31_557_600 * SECOND
CONFIDENCE: Final = 0.3


def contest(beliefs: Beliefs, known: BeliefKnown, working: Working, new: str) -> None:
    """Let a new assertion of a slot contest what was believed there when the message came."""
    this = working.assertions[new]
    for other in list(working.assertions.values()):
        held = working.before.get(other.fact_id, ())
        if other.value == this.value or not any(low < this.end and this.start < high for low, high in held):
            continue
        if abs(this.start - other.start) > YEAR:
            continue
        rival = known.statement(other.fact_id)
        assert rival is not None, f"fact {other.fact_id} is in no log"
        margin = _confidence(beliefs, new) - rival.confidence
        if margin > CONFIDENCE:
            beliefs.retract(rival, "contradicted")
        elif -margin > CONFIDENCE:
            beliefs.retract(_statement_of(beliefs, this), "contradicted")
            return
        else:
            beliefs.said.append(
                ContradictionFlagged(
                    contradiction_id=derive("contradiction", other.fact_id, new), earlier=other.fact_id, later=new
                )
            )


def _fields(beliefs: Beliefs, fact_id: str) -> dict[str, object]:
    return next(said for said in beliefs.said if isinstance(said, dict) and said["fact_id"] == fact_id)


def _confidence(beliefs: Beliefs, fact_id: str) -> float:
    confidence = _fields(beliefs, fact_id)["confidence"]
    assert isinstance(confidence, float)
    return confidence


def _statement_of(beliefs: Beliefs, assertion: Assertion) -> Statement:
    fields = _fields(beliefs, assertion.fact_id)
    return Statement(
        uuid=assertion.fact_id,
        group_id=beliefs.group,
        subject=str(fields["subject"]),
        relation=str(fields["relation"]),
        dead=False,
        assertion=assertion,
    )
