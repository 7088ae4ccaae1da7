"""Periods of occurrences: what is told again without one, and under the first rule of belief, which had none."""

from dataclasses import replace
from pathlib import Path

import pytest

from asof_projections.model.rows import Moment
from histories import History, on
from world import World


def test_an_occurrence_that_is_told_again_without_a_period_is_parked_with_the_field(tmp_path: Path) -> None:
    world = World(tmp_path / "data")
    world.tell("2024-01-07", relation="visited", object="Oslo", valid_at="2024-01-01", grain="year")

    world.tell("2024-01-08", relation="visited", object="Oslo", invalid_at="2024-01-04")

    [parked] = world.memory.parked(group_id="g")
    assert parked.reason.startswith("invalid_at: it must be after valid_at")
    world.memory.close()


@pytest.mark.parametrize(("rule", "until", "planned"), [(1, None, False), (2, "2024-01-06", True)])
def test_under_the_first_rule_what_happened_lasts_and_nothing_is_planned(
    tmp_path: Path, rule: int, until: str | None, planned: bool
) -> None:
    history = History(tmp_path)
    [generation] = history.engine.generations
    generation.build = replace(generation.build, rule=rule)
    history.tell("2024-02-01", relation="visited", object="Oslo", valid_at="2024-01-05")
    history.tell("2024-02-01", relation="graduated_from", object="MIT", valid_at="2024-07-01")

    facts = {fact.relation: fact for fact in history.questions.facts(Moment(None, on("2024-03-01")))}
    ended = facts["visited"].invalid_at
    assert (ended and str(ended.date())) == until
    assert facts["graduated_from"].planned == planned
    history.close()


def test_what_is_said_on_the_day_from_which_it_holds_is_no_plan(tmp_path: Path) -> None:
    world = World(tmp_path / "data")
    world.tell("2024-07-01", relation="graduated_from", object="MIT", valid_at="2024-07-01")

    [fact] = world.memory.facts(group_id="g", any_time=True)
    assert not fact.planned
    world.memory.close()
