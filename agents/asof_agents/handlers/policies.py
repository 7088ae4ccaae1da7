"""The graded policy: decides between two facts of a single-valued slot that contradict each other. Pure.

If their starts are further apart than the one threshold (a year), the newer fact wins, as under the default policy
(recency). Otherwise, if their confidences are further apart than the other (0.3), the fact with less is retracted.
Otherwise the contradiction is flagged for a person, who settles it by retracting one of them; until then recency
decides.
"""

from asof_agents.handlers.invalidations import BeliefChanges, SlotState
from asof_agents.ports import FactView
from asof_projections.model.rows import Statement
from asof_projections.versions import Assertion
from asof_streams.ids import derive
from asof_streams.ingestion_config import ConflictConfig
from asof_streams.instants import SECOND
from asof_streams.semantic import ContradictionFlagged


def apply_graded_policy(
    changes: BeliefChanges, known: FactView, slot: SlotState, new: str, config: ConflictConfig
) -> None:
    """Let a new assertion contest the other assertions of its slot, those of this message included."""
    apart, surer = config.temporal_threshold_secs * SECOND, config.confidence_threshold
    this = slot.assertions[new]
    rivals = [
        _statement(changes, known, other)
        for other in slot.assertions.values()
        if other.value != this.value
        and not other.granules
        and _meet(slot, other, this)
        and abs(this.start - other.start) <= apart
    ]
    own = _statement(changes, known, this)
    if any(rival.confidence - own.confidence > surer for rival in rivals):
        changes.retract(own, "contradicted")
        return
    for rival in rivals:
        if own.confidence - rival.confidence > surer:
            changes.retract(rival, "contradicted")
        else:
            changes.statements.append(
                ContradictionFlagged(
                    contradiction_id=derive("contradiction", rival.uuid, new), earlier=rival.uuid, later=new
                )
            )


def _meet(slot: SlotState, other: Assertion, this: Assertion) -> bool:
    """Whether two assertions claim a common instant; an older one claims only the periods that were believed of it."""
    held = slot.before.get(other.fact_id, ((other.start, other.end),))
    return any(low < this.end and this.start < high for low, high in held)


def _statement(changes: BeliefChanges, known: FactView, assertion: Assertion) -> Statement:
    """Return the statement behind an assertion, also of one that this message makes."""
    if said := changes.asserted.get(assertion.fact_id):
        return Statement(
            uuid=assertion.fact_id,
            group_id=changes.group,
            subject=said["subject"],
            relation=said["relation"],
            dead=False,
            assertion=assertion,
            confidence=said["confidence"],
        )
    statement = known.statement(assertion.fact_id)
    assert statement is not None, f"fact {assertion.fact_id} is in no log"
    return statement
