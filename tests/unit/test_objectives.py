"""Objectives: what a group aims at, by goals in the same words."""

from typing import Any

from asof_agents.handlers.objectives import declare, implied_goal_id, imply, withdraw, withdraw_implied
from asof_projections.model.rows import ObjectiveRow
from asof_streams.episodic import EpisodeRecorded, GoalDeclared, GoalImplied, GoalWithdrawn
from asof_streams.instants import INF
from asof_streams.semantic import ObjectiveRaised, ObjectiveWithdrawn


class Believed:
    """What is believed of objectives: goals, each with its saliency, by the objective for which they count."""

    def __init__(self, *objectives: ObjectiveRow, **goals: dict[str, float]) -> None:
        self._objectives = {each.uuid: each for each in objectives}
        self._goals = goals

    def objective(self, uuid: str) -> ObjectiveRow | None:
        return self._objectives.get(uuid)

    def goals_of(self, objective: str) -> list[tuple[str, float]]:
        return list(self._goals[objective].items())

    def objective_of(self, goal: str) -> str | None:
        return next((uuid for uuid, goals in self._goals.items() if goal in goals), None)


def declared(description: str, saliency: float) -> GoalDeclared:
    said = {"content": description, "description": description, "saliency": saliency, "valid_at": 7}
    return GoalDeclared(goal_id="g", role_type="user", **said)


def implied(number: int, description: str, saliency: float) -> GoalImplied:
    about = {"goal_id": implied_goal_id("e", number), "episode_id": "e", "start": 0, "end": 1}
    return GoalImplied(description=description, saliency=saliency, **about)


def believed(uuid: str, saliency: float) -> ObjectiveRow:
    return ObjectiveRow(uuid, "g", "learn Rust", saliency, "pending", 3, 3, INF)


def raised(goal: GoalDeclared, *known: ObjectiveRow, build: str = "build", group: str = "group") -> ObjectiveRaised:
    [event] = declare(group, goal, build, Believed(*known))
    assert isinstance(event, ObjectiveRaised)
    return event


def test_goals_in_the_same_words_are_one_objective_of_their_group_and_build() -> None:
    one = raised(declared("learn Rust", 0.5))

    assert (one.description, one.saliency, one.stated, one.status) == ("learn Rust", 0.5, 0.5, "pending")
    assert (one.said_at, one.goal_id) == (7, "g")
    assert raised(declared("Learning Rust.", 0.5)).objective_id == one.objective_id
    others = [raised(declared("learn Go", 0.5)), *(raised(declared("learn Rust", 0.5), **of) for of in _ELSEWHERE)]
    assert len({one.objective_id, *(other.objective_id for other in others)}) == 4


_ELSEWHERE: list[dict[str, Any]] = [{"build": "other"}, {"group": "other"}]


def test_an_objective_keeps_its_first_words_and_its_greatest_saliency() -> None:
    uuid = raised(declared("learn Rust", 0.5)).objective_id

    for known, saliency in ((0.4, 0.6), (0.6, 0.6), (0.9, 0.9)):
        again = raised(declared("learning Rust", 0.6), believed(uuid, known))
        assert (again.description, again.saliency, again.stated) == ("learn Rust", saliency, 0.6)


def test_of_goals_of_one_episode_in_the_same_words_the_most_salient_counts_the_first_of_equal_ones() -> None:
    goals = [implied(n, words, s) for n, (words, s) in enumerate([("learn Rust", 0.4), ("learning Rust", 0.6)])]
    goals += [implied(2, "Learn Rust", 0.6), implied(3, "run", 0.1)]
    episode = EpisodeRecorded(
        episode_id="e",
        name="",
        source="message",
        source_description="",
        role="Ana",
        role_type="user",
        body="",
        content_length=0,
        valid_at=5,
    )

    events = imply("group", episode, goals, "build", Believed())

    assert [(e.description, e.goal_id, e.said_at) for e in events if isinstance(e, ObjectiveRaised)] == [
        ("learning Rust", goals[1].goal_id, 5),
        ("run", goals[3].goal_id, 5),
    ]


def test_an_objective_is_believed_until_its_last_goal_is_withdrawn() -> None:
    known = Believed(believed("o", 0.9), o={"a": 0.9, "b": 0.5, "c": 0.7, "d": 0.7}, gone={"x": 0.5})
    withdrawn = GoalWithdrawn(goal_id="a")

    [itself, less] = withdraw(withdrawn, known)
    assert itself == withdrawn
    assert less == ObjectiveRaised(
        objective_id="o", description="learn Rust", saliency=0.7, status="pending", said_at=3, goal_id="c"
    )
    for goal in ("b", "x", "unknown"):  # a lesser one, one whose objective is gone, and one that counts for none
        assert len(withdraw(GoalWithdrawn(goal_id=goal), known)) == 1
    last = Believed(believed("o", 0.9), o={"a": 0.9})
    assert withdraw(withdrawn, last)[1:] == [ObjectiveWithdrawn(objective_id="o", goal_id="a")]


def test_with_an_episode_all_goals_are_withdrawn_that_it_implied_and_that_count() -> None:
    first, last = (implied_goal_id("e", number) for number in (0, 3))
    known = Believed(believed("o", 0.9), o={first: 0.9, last: 0.9, "other": 0.9})

    events = list(withdraw_implied("e", known))

    assert events == [GoalWithdrawn(goal_id=first), GoalWithdrawn(goal_id=last)]
