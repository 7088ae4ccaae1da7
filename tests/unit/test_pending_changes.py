"""What an answer leaves out while an edit or a deletion is not believed yet."""

from asof.service.pending_changes import PendingChanges
from asof_agents.handlers.objectives import implied_goal_id
from asof_projections.model.rows import ObjectiveRow
from asof_streams.instants import INF


def objective(uuid: str, *goals: str) -> ObjectiveRow:
    return ObjectiveRow(uuid, "g", "learn Rust", 0.5, "pending", 1, 1, INF, goals, (1,) * len(goals))


def test_an_objective_is_left_out_with_the_last_goal_that_was_declared_or_implied_for_it() -> None:
    pending = PendingChanges({"turn": None, "edited": "I like tea.", "declared": None})
    gone = implied_goal_id("turn", 0), implied_goal_id("edited", 3), "declared"
    stays = [objective("other", *gone, implied_goal_id("another", 0)), objective("without goals")]

    assert pending.pursued([objective("all", *gone), objective("one", gone[0]), *stays]) == stays
    assert PendingChanges({}).pursued([objective("all", *gone)]) == [objective("all", *gone)]
