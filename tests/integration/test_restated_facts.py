"""A structured fact that is stated again under another ref: what was known of it stays, and each ref is its own."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from asof_projections.model.answers import Fact
from world import World


@pytest.fixture
def world(tmp_path: Path) -> Iterator[World]:
    """Ana lives in Berlin, as two sources say, each under a ref of its own."""
    world = World(tmp_path / "data")
    world.tell("2024-01-10", object="Berlin", valid_at="2020", ref="first")
    world.tell("2024-02-10", object="Berlin", valid_at="2021", ref="again")
    yield world
    world.memory.close()


def held(world: World, valid: str = "2023-01-01", known: str | None = None) -> Fact:
    [fact] = world.memory.facts(group_id="g", about="Ana", relation="lives_in", valid_at=valid, known_at=known)
    return fact


def days(fact: Fact) -> tuple[str, ...]:
    return tuple(str(at)[:10] for at in (fact.valid_at, fact.invalid_at, fact.created_at))


def test_what_is_stated_again_is_known_since_it_was_stated_first(world: World) -> None:
    assert days(held(world)) == ("2020-01-01", "None", "2024-01-10")
    assert held(world) == held(world, known="2024-01-20")


def test_why_has_the_words_of_each_of_its_statements(world: World) -> None:
    first = held(world)

    why = world.memory.why(first.uuid)

    assert [(said.name, str(said.recorded_at)[:10]) for said in why.evidence] == [
        ("first", "2024-01-10"),
        ("again", "2024-02-10"),
    ]
    assert [world.memory.why(again).evidence[0].name for again in why.restated_by] == ["again"]
    assert why.consequences == ()
    before = world.memory.why(first.uuid, known_at="2024-01-20")
    assert ([said.name for said in before.evidence], before.restated_by) == (["first"], ())


@pytest.mark.parametrize("op", ["end", "retract"])
def test_what_becomes_of_the_restatement_leaves_the_first(world: World, op: str) -> None:
    first = held(world)

    world.tell("2024-03-10", op=op, ref="again", subject=None, relation=None, **ending(op))

    assert held(world) == first
    assert len(world.memory.why(first.uuid).evidence) == (2 if op == "end" else 1)


def test_why_as_of_a_moment_has_the_restatement_that_was_retracted_later(world: World) -> None:
    first = held(world)
    before = world.memory.why(first.uuid)

    world.tell("2024-03-10", op="retract", ref="again", subject=None, relation=None)

    assert world.memory.why(first.uuid, known_at="2024-03-09") == before
    assert len(before.evidence) == 2


def test_history_and_why_as_of_a_moment_have_the_qualifiers_that_were_told_by_then(world: World) -> None:
    first = held(world)
    asked: dict[str, Any] = {"group_id": "g", "known_at": "2024-03-01"}
    before = world.memory.history(first.uuid, **asked), world.memory.history("Ana", **asked)
    assert before[0] == before[1]

    world.tell("2024-03-10", object="Berlin", valid_at="2020", ref="first", qualifiers={"floor": 3})

    assert dict(world.memory.why(first.uuid).fact.qualifiers) == {"floor": 3}
    assert not world.memory.why(first.uuid, known_at="2024-03-01").fact.qualifiers
    assert (world.memory.history(first.uuid, **asked), world.memory.history("Ana", **asked)) == before


def test_where_the_first_is_ended_the_restatement_holds(world: World) -> None:
    world.tell("2024-03-10", op="end", ref="first", subject=None, relation=None, invalid_at="2022")

    assert days(held(world, "2021-06-01")) == ("2020-01-01", "2022-01-01", "2024-01-10")
    assert days(held(world)) == ("2022-01-01", "None", "2024-02-10")


def test_where_the_first_is_retracted_the_restatement_holds(world: World) -> None:
    world.tell("2024-03-10", op="retract", ref="first", subject=None, relation=None)

    assert world.where("2020-06-01") == []
    assert days(held(world)) == ("2021-01-01", "None", "2024-02-10")
    assert days(held(world, known="2024-03-01")) == ("2020-01-01", "None", "2024-01-10")


def test_what_returns_after_another_value_is_no_restatement(world: World) -> None:
    first = held(world)
    world.tell("2024-03-10", object="Paris", valid_at="2024-03-01", ref="moved")
    world.tell("2024-04-10", object="Berlin", valid_at="2024-04-01", ref="back")

    assert days(held(world, "2024-05-01")) == ("2024-04-01", "None", "2024-04-10")
    assert [said.name for said in world.memory.why(first.uuid).evidence] == ["first", "again"]


def test_a_rebuild_comes_to_the_same(world: World) -> None:
    world.tell("2024-03-10", op="end", ref="first", subject=None, relation=None, invalid_at="2022")

    world.memory.rebuild("anew")

    assert world.memory.digest("anew") == world.digest()


def ending(op: str) -> dict[str, str]:
    return {"invalid_at": "2022"} if op == "end" else {}
