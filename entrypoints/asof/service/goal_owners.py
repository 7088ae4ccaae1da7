"""Finds the owner of each goal of some objectives: the person who declared it, or whose turn implies it."""

from collections.abc import Mapping, Sequence
from typing import Final

from asof.runtime.wiring import Opened
from asof_agents.extraction.ports import MOST_GOALS
from asof_agents.handlers.objectives import implied_goal_id
from asof_projections.model.rows import ObjectiveRow
from asof_projections.names import key

_NAMELESS: Final = "user"  # the role, which stands for a speaker without a name


class GoalOwners:
    """The owners of goals, by the goal's id, "" for a person without a name; a goal that is not among them has none."""

    def __init__(self, names: Mapping[str, str]) -> None:
        self._names = names

    @classmethod
    def of(cls, opened: Opened, group: str, objectives: Sequence[ObjectiveRow]) -> "GoalOwners":
        """Return the owners of the goals of some objectives of a group."""
        names = opened.episodes.declarers(goal for row in objectives for goal in row.goals)
        implied = {
            recorded
            for row in objectives
            for goal, recorded in zip(row.goals, row.goals_recorded, strict=True)
            if goal not in names
        }
        # An implied goal has no row of its own: its id is made of that of its turn, with which it was recorded.
        turns = opened.episodes.speakers(group, implied) if implied else {}
        for turn, speaker in turns.items():
            names |= {implied_goal_id(turn, number): speaker for number in range(MOST_GOALS)}
        return cls(names)

    def owns(self, speaker: str, objective: ObjectiveRow) -> bool:
        """Return whether one of an objective's goals is a speaker's, whatever the case of the name.

        A speaker without a name owns the goals that were declared in the group without one.
        """
        return key(speaker) in self._named(objective) or (speaker == _NAMELESS and self._is_of_nameless(objective))

    def others(self, speaker: str, objective: ObjectiveRow) -> tuple[str, ...]:
        """Return the names of the owners, each once; none if the speaker is one of them."""
        return () if self.owns(speaker, objective) else tuple(self._named(objective).values())

    def _is_of_nameless(self, objective: ObjectiveRow) -> bool:
        return any(self._names.get(goal) == "" for goal in objective.goals)

    def _named(self, objective: ObjectiveRow) -> dict[str, str]:
        names = (self._names.get(goal, "") for goal in objective.goals)
        return {key(name): name for name in names if name}
