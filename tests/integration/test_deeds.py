"""Deeds: what happened is dated, may happen again, is not ended, and is planned until it is told as past."""

import json
from pathlib import Path
from typing import Any

import pytest

from asking import records
from old_directories import ask, expected, unpack
from world import World, on

VISITS = {"relation": "visited"}


@pytest.fixture
def world(tmp_path: Path) -> Any:
    world = World(tmp_path / "data")
    yield world
    world.memory.close()


def say(world: World, day: str, text: str) -> Any:
    world.now = on(day)
    return world.memory.add(text, group_id="g", role="Ana")


def dated(world: World, relation: str = "visited", **asked: Any) -> list[tuple[str, str | None, str | None]]:
    facts = world.memory.facts(group_id="g", relation=relation, **{"any_time": True, **asked})
    return [(f.object, _day(f.valid_at), _day(f.invalid_at)) for f in facts]


def _day(moment: Any) -> str | None:
    return None if moment is None else str(moment.date())


def searched(world: World, day: str, text: str = "Who visited Paris?") -> list[tuple[str, bool]]:
    hits = world.memory.search(text, group_id="g", valid_at=on(day), min_probability=0, over="facts")
    return sorted((f"{hit.object} {_day(hit.valid_at)}", hit.planned) for hit in hits if hit.relation == "visited")


def test_facts_in_june_have_no_visit_of_january_and_a_search_has_it_with_its_date(world: World) -> None:
    say(world, "2024-02-01", "I visited Paris on January 5.")

    assert dated(world, any_time=False, valid_at=on("2024-06-15")) == []
    assert dated(world, any_time=False, valid_at=on("2024-01-05")) == [("Paris", "2024-01-05", "2024-01-06")]
    assert searched(world, "2024-06-15") == [("Paris 2024-01-05", False)]
    assert searched(world, "2023-12-31") == []
    context = world.memory.context("Who visited Paris?", group_id="g", valid_at=on("2024-06-15"))
    assert '"Ana visited Paris", on 2024-01-05' in context.text


def test_a_finer_granule_refines_a_visit_and_another_one_is_another_visit(world: World) -> None:
    say(world, "2024-06-01", "I visited Paris in March.")
    say(world, "2024-06-02", "I visited Paris on March 5.")
    say(world, "2024-06-03", "I visited Paris in May.")

    assert dated(world) == [("Paris", "2024-03-05", "2024-03-06"), ("Paris", "2024-05-01", "2024-06-01")]
    [refined] = [r.event for r in records(world.memory) if r.event.type == "fact.invalidated"]
    assert refined.kind == "refined"


def test_a_coarser_granule_is_of_the_earliest_visit_that_it_contains(world: World) -> None:
    say(world, "2024-06-01", "I visited Paris on May 20.")
    say(world, "2024-06-02", "I visited Paris on May 5.")
    say(world, "2024-06-03", "I visited Paris in May.")

    facts = world.memory.facts(group_id="g", any_time=True, **VISITS)
    assert [(_day(fact.valid_at), len(fact.episodes)) for fact in facts] == [("2024-05-05", 2), ("2024-05-20", 1)]


def test_the_withdrawal_of_the_finer_statement_restores_the_coarser_one(world: World) -> None:
    say(world, "2024-06-01", "I visited Paris in March.")
    finer = say(world, "2024-06-02", "I visited Paris on March 5.")

    world.memory.withdraw(finer.episode_id, group_id="g")

    assert dated(world) == [("Paris", "2024-03-01", "2024-04-01")]
    assert dated(world, known_at=on("2024-06-02")) == [("Paris", "2024-03-05", "2024-03-06")]
    assert [r.event.type for r in records(world.memory)][-1] == "fact.restored"
    assert world.memory.rebuild("again").build
    assert world.memory.digest("again") == world.memory.digest()


def test_the_withdrawal_of_the_first_statement_leaves_what_the_others_say(world: World) -> None:
    finer = say(world, "2024-06-01", "I visited Paris on March 5.")
    say(world, "2024-06-02", "I visited Paris in March.")

    world.memory.withdraw(finer.episode_id, group_id="g")

    assert dated(world) == [("Paris", "2024-03-01", "2024-04-01")]


def test_a_visit_without_a_time_was_before_it_was_told_of(world: World) -> None:
    say(world, "2024-06-01", "I visited Paris.")

    assert dated(world) == [("Paris", None, "2024-06-01")]
    [asserted] = [r.event for r in records(world.memory) if r.event.type == "fact.asserted"]
    assert asserted.grain == "unknown"
    context = world.memory.context("Who visited Paris?", group_id="g")
    assert '"Ana visited Paris", before 2024-06-01' in context.text

    say(world, "2024-06-02", "I visited Paris on March 5.")

    assert dated(world) == [("Paris", "2024-03-05", "2024-03-06")]


def test_a_plan_is_planned_until_it_is_told_as_past(world: World) -> None:
    say(world, "2024-06-03", "I'm going to Paris next week.")

    assert dated(world) == [("Paris", "2024-06-10", "2024-06-17")]
    assert searched(world, "2024-06-04") == [("Paris 2024-06-10", True)]
    assert searched(world, "2024-07-04") == [("Paris 2024-06-10", True)], "nobody told that it was done"
    context = world.memory.context("Who visited Paris?", group_id="g", valid_at=on("2024-06-04"))
    assert '"Ana visited Paris", planned, between 2024-06-10 and 2024-06-17' in context.text

    say(world, "2024-06-20", "I visited Paris on June 12.")

    assert dated(world) == [("Paris", "2024-06-12", "2024-06-13")]
    assert searched(world, "2024-07-04") == [("Paris 2024-06-12", False)]
    assert searched(world, "2024-06-04") == [], "as of that day it was done later, and it is no plan"
    then = world.memory.facts(group_id="g", any_time=True, known_at=on("2024-06-04"), **VISITS)
    assert [fact.planned for fact in then] == [True]


def test_what_was_done_is_not_planned_again_by_the_same_words(world: World) -> None:
    world.tell(
        "2024-06-10", relation="visited", object="Paris", valid_at="2024-06", grain="month", said_at="2024-06-10"
    )
    world.tell("2024-06-11", relation="visited", object="Paris", valid_at="2024-06-20")

    facts = world.memory.facts(group_id="g", any_time=True, **VISITS)
    assert [(_day(fact.valid_at), fact.planned) for fact in facts] == [("2024-06-01", False), ("2024-06-20", True)]


def test_a_plan_that_is_called_off_is_retracted(world: World) -> None:
    world.tell("2024-06-03", relation="visited", object="Paris", valid_at="2024-07-01")
    [plan] = world.memory.facts(group_id="g", any_time=True, **VISITS)

    world.memory.retract(plan.uuid, group_id="g")

    assert plan.planned
    assert dated(world) == []


@pytest.mark.parametrize(
    "off", ["I'm not going to Rome.", "I'm no longer going to Rome.", "I won't visit Rome next week."]
)
def test_a_plan_that_is_said_to_be_off_is_retracted_and_what_was_done_stays(world: World, off: str) -> None:
    say(world, "2024-06-20", "I visited Rome on March 5.")
    say(world, "2024-06-20", "I'm going to Rome next week.")
    say(world, "2024-06-20", "I'm going to Oslo next week.")

    say(world, "2024-06-21", off)

    assert [(place, start) for place, start, _ in dated(world)] == [("Rome", "2024-03-05"), ("Oslo", "2024-06-24")]


def test_a_plan_of_another_time_stays(world: World) -> None:
    say(world, "2024-06-20", "I'm going to Rome next week.")

    say(world, "2024-06-21", "I'm not going to Rome next month.")

    assert [start for _, start, _ in dated(world)] == ["2024-06-24"]


def test_a_denial_takes_back_what_happened_within_its_time_and_without_a_time_all(world: World) -> None:
    say(world, "2024-06-20", "I visited Paris on January 5.")
    say(world, "2024-06-20", "I visited Paris in March.")
    say(world, "2024-06-20", "I visited Paris on May 2.")

    say(world, "2024-06-21", "I didn't visit Paris on March 4.")
    assert [start for _, start, _ in dated(world)] == ["2024-01-05", "2024-03-01", "2024-05-02"]

    say(world, "2024-06-21", "I didn't visit Paris in May.")
    assert [start for _, start, _ in dated(world)] == ["2024-01-05", "2024-03-01"]

    say(world, "2024-06-22", "I have never visited Paris.")
    assert dated(world) == []


def test_one_message_may_tell_of_two_visits_and_take_both_back(world: World) -> None:
    say(world, "2024-06-20", "I visited Paris in January. I visited Paris in March.")
    assert dated(world) == [("Paris", "2024-01-01", "2024-02-01"), ("Paris", "2024-03-01", "2024-04-01")]

    say(world, "2024-06-20", "I visited Rome in January. I visited Rome in March. I have never visited Rome.")
    assert {place for place, _, _ in dated(world)} == {"Paris"}


def test_a_profile_and_an_export_have_what_happened_and_what_is_planned_and_a_summary_no_plan(world: World) -> None:
    world.tell("2024-06-03", relation="visited", object="Paris", valid_at="2024-03-05")
    world.tell("2024-06-03", relation="visited", object="Rome", valid_at="2024-07-06")

    [ana] = world.memory.entity("Ana", group_id="g", valid_at=on("2024-06-15"))
    [then] = world.memory.entity("Ana", group_id="g", valid_at=on("2024-07-06"))
    graph = json.loads("".join(world.memory.export(group_id="g", valid_at=on("2024-06-15"))))
    graphml = "".join(world.memory.export(group_id="g", valid_at=on("2024-06-15"), format="graphml"))

    assert [(fact.object, fact.planned) for fact in ana.facts] == [("Paris", False), ("Rome", True)]
    assert ana.summary == then.summary == "Ana visited Paris."
    assert [(edge["object"], edge["planned"]) for edge in graph["edges"]] == [("Paris", False), ("Rome", True)]
    assert graphml.count('<data key="edge.occurrence">true') == 2
    assert graphml.count('<data key="edge.planned">true') == 1


def test_a_deed_whose_outcome_stays_holds_from_then_on_and_may_be_planned(world: World) -> None:
    world.tell("2024-06-03", relation="wrote", object="Dunes", valid_at="2020-01-01")
    world.tell("2024-06-03", relation="graduated_from", object="MIT", valid_at="2024-07-01")

    facts = world.memory.facts(group_id="g", valid_at=on("2024-08-01"))
    assert {(fact.object, fact.planned, fact.occurrence) for fact in facts} == {
        ("Dunes", False, False),
        ("MIT", True, False),
    }

    world.tell("2024-08-03", relation="graduated_from", object="MIT", valid_at="2024-07-01")

    [done] = world.memory.facts(group_id="g", relation="graduated_from", valid_at=on("2024-08-01"))
    assert (done.planned, len(done.episodes)) == (False, 2)


def test_an_ending_of_a_value_passes_a_visit_by_and_one_of_its_id_is_parked(world: World) -> None:
    world.tell("2024-06-03", relation="visited", object="Paris", valid_at="2024-03", grain="month", ref="trip")

    world.tell("2024-06-04", op="end", relation="visited", object="Paris", invalid_at="2024-03-10")
    world.tell("2024-06-05", op="end", relation=None, subject=None, ref="trip", invalid_at="2024-03-10")

    assert dated(world) == [("Paris", "2024-03-01", "2024-04-01")]
    [parked] = world.memory.parked(group_id="g")
    assert parked.reason == "ref: it names what happened, which cannot end: use op retract or correct"


def test_a_structured_fact_gives_its_end_or_its_grain_or_means_the_day(world: World) -> None:
    world.tell("2024-06-03", relation="visited", object="Paris", valid_at="2024-03-05", invalid_at="2024-03-09")
    world.tell("2024-06-03", relation="visited", object="Rome", valid_at="2023-05-05", grain="year")
    world.tell("2024-06-03", relation="visited", object="Oslo", valid_at="2022-05-05T10:00:00Z")
    world.tell("2024-06-03", relation="praised", object="Bonn", valid_at="2021-05-05", grain="year")

    assert dated(world) == [
        ("Oslo", "2022-05-05", "2022-05-06"),
        ("Rome", "2023-01-01", "2024-01-01"),
        ("Paris", "2024-03-05", "2024-03-09"),
    ]
    assert dated(world, "praised") == [("Bonn", "2021-05-05", None)], "a relation that the ontology lacks lasts"


def test_a_timeline_has_each_visit_by_itself_and_nothing_in_between(world: World) -> None:
    world.tell("2024-06-03", relation="visited", object="Paris", valid_at="2024-03-05")
    world.tell("2024-06-03", relation="visited", object="Paris", valid_at="2024-03-06")
    world.tell("2024-06-03", relation="visited", object="Rome", valid_at="2024-07-06")

    segments = world.memory.timeline("Ana", group_id="g", relation="visited")

    assert [(s.object, _day(s.valid_at), s.planned) for s in segments] == [
        ("Paris", "2024-03-05", False),
        ("Paris", "2024-03-06", False),
        ("Rome", "2024-07-06", True),
    ]


def test_a_dry_run_shows_each_visit_by_itself_and_plans_as_such(world: World) -> None:
    world.tell("2024-06-03", relation="visited", object="Paris", valid_at="2024-03", grain="month")
    visit = {"subject": "Ana", "relation": "visited", "object": "Paris"}

    tried = world.memory.what_if(
        [{**visit, "valid_at": "2024-03-05"}, {**visit, "valid_at": "2024-07-06"}], group_id="g"
    )

    assert [(_day(s.valid_at), _day(s.invalid_at), s.planned) for s in tried.before] == [
        ("2024-03-01", "2024-04-01", False)
    ]
    assert [(_day(s.valid_at), _day(s.invalid_at), s.planned) for s in tried.after] == [
        ("2024-03-05", "2024-03-06", False),
        ("2024-07-06", "2024-07-07", True),
    ]


def test_an_old_directory_goes_on_as_it_was_and_a_rebuild_dates_its_deeds(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for setting, value in expected("chat")["settings"].items():
        monkeypatch.setenv(setting, value)
    data = unpack("chat", tmp_path)
    visits = {"ask": ["facts", "--any-time", "--relation", "visited", "--json"]}

    def periods(generation: str) -> list[tuple[str, str | None]]:
        asked = {"ask": [*visits["ask"], "--generation", generation]} if generation else visits
        return [(fact["valid_at"], fact["invalid_at"]) for fact in ask(data, asked)["answer"]]

    def ids(generation: str) -> set[str]:
        asked = {"ask": ["facts", "--any-time", "--generation", generation, "--json"]}
        return {fact["uuid"] for fact in ask(data, asked)["answer"]}

    before = periods("")
    advice = [g["advice"] for g in ask(data, {"ask": ["stats", "--json"]})["answer"]["generations"].values()]
    ask(data, {"ask": ["rebuild", "--name", "dated", "--input", "mentions", "--switch", "--json"]})
    after = periods("")

    assert ids("dated") == ids("main"), "so that they can be compared"
    assert all(advice)
    assert before
    assert all(end is None for _, end in before)
    assert after
    assert all(end is not None for _, end in after)
    assert ask(data, {"ask": ["stats", "--json"]})["answer"]["generations"]["dated"]["advice"] is None
