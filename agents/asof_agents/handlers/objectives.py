"""The objectives handler: what a group aims at, by the goals that its members declare. Pure.

Goals in the same words are one objective, by the rule for facts: it keeps the greatest saliency of those that stand,
and is believed until the last of them is withdrawn.
"""

from collections.abc import Iterator

from asof_agents.ports import BeliefView
from asof_agents.resolution.wordings import wording_of_aim
from asof_streams.episodic import GoalDeclared, GoalWithdrawn
from asof_streams.events import Event
from asof_streams.ids import derive
from asof_streams.semantic import ObjectiveRaised, ObjectiveWithdrawn


def declare(group: str, goal: GoalDeclared, build: str, known: BeliefView) -> list[Event]:
    """Return the objective that a goal raises; `build`: the digest of the generation's build."""
    uuid = derive("objective", build, group, wording_of_aim(goal.description))
    standing = known.objective(uuid)
    raised = ObjectiveRaised(
        objective_id=uuid,
        description=goal.description,
        saliency=goal.saliency,
        status="pending",
        said_at=goal.valid_at,
        goal_id=goal.goal_id,
        stated=goal.saliency,
    )
    if standing is not None:
        first = {"description": standing.description, "saliency": max(standing.saliency, goal.saliency)}
        raised = raised.model_copy(update=first)
    return [raised]


def withdraw(withdrawn: GoalWithdrawn, known: BeliefView) -> list[Event]:
    """Return the events of a goal that is withdrawn: the withdrawal itself, then what becomes of its objective."""
    return [withdrawn, *_without(withdrawn.goal_id, known)]


def _without(goal: str, known: BeliefView) -> Iterator[Event]:
    uuid = known.objective_of(goal)
    standing = None if uuid is None else known.objective(uuid)
    if standing is None:
        return
    others = [other for other in known.goals_of(standing.uuid) if other[0] != goal]
    if not others:
        yield ObjectiveWithdrawn(objective_id=standing.uuid, goal_id=goal)
        return
    greatest, saliency = max(others, key=lambda other: other[1])
    if saliency != standing.saliency:
        yield ObjectiveRaised(
            objective_id=standing.uuid,
            description=standing.description,
            saliency=saliency,
            status="pending",
            said_at=standing.said_at,
            goal_id=greatest,
        )
