"""The objectives handler: what a group aims at, by the goals that its members declare or imply. Pure.

Goals in the same words are one objective, by the rule for facts: it keeps the greatest saliency of those that stand,
and is believed until the last of them is withdrawn.
"""

from collections.abc import Iterable, Iterator

from asof_agents.extraction.ports import MOST_GOALS
from asof_agents.ports import BeliefView
from asof_agents.resolution.wordings import wording_of_aim
from asof_streams.episodic import EpisodeRecorded, GoalDeclared, GoalImplied, GoalWithdrawn
from asof_streams.events import Event
from asof_streams.ids import derive
from asof_streams.semantic import ObjectiveRaised, ObjectiveWithdrawn


def declare(group: str, goal: GoalDeclared, build: str, known: BeliefView) -> list[Event]:
    """Return the objective that a goal raises; `build`: the digest of the generation's build."""
    return [_raised(group, goal, goal.valid_at, build, known)]


def implied_goal_id(episode: str, number: int) -> str:
    """Return the id of one of the goals that an episode implies, by its place among them."""
    return derive("goal", episode, number)


def imply(
    group: str, episode: EpisodeRecorded, goals: Iterable[GoalImplied], build: str, known: BeliefView
) -> list[Event]:
    """Return the objectives that the goals of an episode raise, those in the same words once, by the most salient."""
    greatest: dict[str, GoalImplied] = {}
    for goal in goals:
        words = wording_of_aim(goal.description)
        if words not in greatest or goal.saliency > greatest[words].saliency:
            greatest[words] = goal
    return [_raised(group, goal, episode.valid_at, build, known) for goal in greatest.values()]


def withdraw_implied(episode: str, known: BeliefView) -> Iterator[Event]:
    """Yield what becomes of the objectives that a withdrawn episode raised: its goals are withdrawn with it."""
    for number in range(MOST_GOALS):
        goal = implied_goal_id(episode, number)
        if known.objective_of(goal) is not None:
            yield from withdraw(GoalWithdrawn(goal_id=goal), known)


def _raised(
    group: str, goal: GoalDeclared | GoalImplied, said_at: int, build: str, known: BeliefView
) -> ObjectiveRaised:
    uuid = derive("objective", build, group, wording_of_aim(goal.description))
    standing = known.objective(uuid)
    raised = ObjectiveRaised(
        objective_id=uuid,
        description=goal.description,
        saliency=goal.saliency,
        status="pending",
        said_at=said_at,
        goal_id=goal.goal_id,
        stated=goal.saliency,
    )
    if standing is not None:
        first = {"description": standing.description, "saliency": max(standing.saliency, goal.saliency)}
        raised = raised.model_copy(update=first)
    return raised


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
