"""What statements of chat make of each other: assertions, corrections and endings, and the periods of unstated starts.

Each message says exactly the relationships that a test gives it, as `spoken` has them.
"""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from asof_agents.extraction.ports import Relationship
from asof_ontologies.registry import load
from asof_streams.ingestion_config import IngestionConfig
from asof_streams.instants import FIRST
from asof_streams.messages import TimezoneStatement
from asof_streams.semantic import EntityIntroduced, FactAsserted, RelationDeclared
from histories import ONTOLOGIES
from spoken import SpokenHistory, at, denied, ended, holds

Start = Callable[..., SpokenHistory]


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Start]:
    begun: list[SpokenHistory] = []

    def begin(**build: Any) -> SpokenHistory:
        begun.append(SpokenHistory(tmp_path, **build))
        return begun[-1]

    yield begin
    for history in begun:
        history.close()


@pytest.fixture
def history(start: Start) -> SpokenHistory:
    return start()


def assertion(history: SpokenHistory) -> FactAsserted:
    """Return the only assertion of the last message."""
    [event] = [event for event in history.last if isinstance(event, FactAsserted)]
    return event


# --- starts that nobody stated


@pytest.mark.parametrize(
    ("rule", "end", "grain", "gives_way"),
    [
        (2, "2024-05-01", "month", False),
        (3, "2024-05-01", "month", True),
        (3, "2023-01-01", "year", False),  # more than a year after that year began
        (4, "2023-01-01", "year", True),  # but not after it ended
        (4, "2022-01-01", "year", False),
        (4, "2023-06-11", None, True),  # a leap year after that day
        (4, "2023-06-10", None, False),
    ],
)
def test_what_ended_of_late_before_it_was_said_to_hold_held_until_then(
    start: Start, rule: int, end: str, grain: str | None, gives_way: bool
) -> None:
    history = start(rule=rule)
    history.hear("2024-06-10", holds("Ana lives_in Oslo"))

    told = history.hear("2024-06-12", ended("Ana lives_in Oslo", valid_to=at(end), grain=grain))

    put_back = ["- Ana lives in Oslo, corrected", f"+ Ana lives in Oslo, <{end}.."]
    assert told == [*(put_back if gives_way else []), f"| Ana lives_in Oslo, {end}"]


@pytest.mark.parametrize(("zone", "gives_way"), [(None, False), ("Pacific/Kiritimati", True)])
def test_the_month_in_which_something_ended_is_one_of_the_speaker(
    history: SpokenHistory, zone: str | None, gives_way: bool
) -> None:
    if zone is not None:
        history.send("2024-01-01", TimezoneStatement(group_id="g", timezone=zone))
    history.hear("2024-03-29", holds("Ana lives_in Oslo"))

    march = at("2023-02-28T10:00")  # where it ends three days later than by UTC
    told = history.hear("2024-03-30", ended("Ana lives_in Oslo", valid_to=march, grain="month"))

    assert len(told) == (3 if gives_way else 1)


def test_what_gives_way_keeps_all_that_was_said_of_it_but_its_start(history: SpokenHistory) -> None:
    history.hear("2024-06-10", holds("Ana lives_in Oslo", confidence=0.6, valid_to=at("2027-01-01")))
    before = assertion(history)
    history.hear("2024-06-11", holds("Ana lives_in Oslo", confidence=0.9))

    told = history.hear("2024-06-20", holds("Ana lives_in Rome", valid_from=at("2024-06-01"), grain="month"))

    assert told == [
        "- Ana lives in Oslo, corrected",
        "+ Ana lives in Oslo, <2024-06-01..2027-01-01",
        "+ Ana lives in Rome, 2024-06-01..",
    ]
    [_, oslo, _rome] = history.last
    assert isinstance(oslo, FactAsserted)
    assert (oslo.subject, oslo.object, oslo.value) == (before.subject, before.object, None)
    assert (oslo.confidence, oslo.grain, oslo.corrects) == (0.6, "unknown", before.fact_id)
    assert oslo.said_at == at("2024-06-11")  # when it was last attested
    assert oslo.holds == ((at("2024-06-01") - 1, at("2024-06-01")),)


def test_a_value_that_is_no_entity_is_put_back_as_it_is(history: SpokenHistory) -> None:
    history.hear("2024-06-10", holds("Ana has_age 30"))

    assert history.hear("2024-06-11", ended("Ana has_age 30", valid_to=at("2024-06-01")))[:2] == [
        "- Ana is 30 years old, corrected",
        "+ Ana is 30 years old, <2024-06-01..",
    ]
    oslo = assertion(history)
    assert (oslo.object, oslo.value) == (None, "30")


@pytest.mark.parametrize(
    ("build", "known", "told", "start_of_rome", "grain", "gives_way"),
    [
        ({}, "2024-06-10", "2024-06-20", "2024-06-01", None, True),
        ({"rule": 3}, "2024-06-10", "2024-06-20", "2024-06-01", None, True),
        ({"rule": 2}, "2024-06-10", "2024-06-20", "2024-06-01", None, False),
        ({"policy": "graded"}, "2024-06-10", "2024-06-20", "2024-06-01", None, False),
        ({}, "2024-06-10", "2024-06-20", "2023-01-01", "year", True),
        ({}, "2024-06-10", "2024-06-20", "2023-01-01", None, False),  # long ago
        ({}, "2024-06-20", "2024-06-20", "2024-06-01", None, True),  # with one timestamp
        ({}, "2024-06-20", "2024-06-20", None, None, False),  # and neither with a time
        ({"rule": 4}, "2024-06-01", "2024-06-20", "2024-06-01", None, True),  # at the very instant of the change
        ({"rule": 3}, "2024-06-01", "2024-06-20", "2024-06-01", None, False),
        ({"rule": 3}, "2024-06-01T00:00:00.000001", "2024-06-20", "2024-06-01", None, True),
    ],
)
def test_a_home_that_was_told_without_a_start_gives_way_to_one_to_which_somebody_moved_of_late(
    start: Start,
    build: dict[str, Any],
    known: str,
    told: str,
    start_of_rome: str | None,
    grain: str | None,
    gives_way: bool,
) -> None:
    history = start(**build)
    history.hear(known, holds("Ana lives_in Oslo"))

    valid_from = start_of_rome and at(start_of_rome)
    said = history.hear(told, holds("Ana lives_in Rome", valid_from=valid_from, grain=grain))

    put_back = ["- Ana lives in Oslo, corrected", f"+ Ana lives in Oslo, <{start_of_rome}.."]
    assert said == [*(put_back if gives_way else []), f"+ Ana lives in Rome, {start_of_rome or told}.."]


def test_nothing_is_put_back_to_before_the_first_year(history: SpokenHistory) -> None:
    history.hear("0001-01-01T10:00", holds("Ana lives_in Oslo"))

    assert history.hear("0001-01-01T11:00", ended("Ana lives_in Oslo", valid_to=FIRST)) == [
        "| Ana lives_in Oslo, 0001-01-01"
    ]


def test_the_home_that_is_told_again_with_an_earlier_start_gives_no_way_to_itself(history: SpokenHistory) -> None:
    history.hear("2024-06-10", holds("Ana lives_in Oslo"))

    assert history.hear("2024-06-20", holds("Ana lives_in Oslo", valid_from=at("2024-06-01"))) == [
        "+ Ana lives in Oslo, 2024-06-01.."
    ]


def test_what_held_before_something_else_held_until_that_began(start: Start) -> None:
    history = start(rule=4)
    for home, since, until in (("Oslo", "2013", "2015"), ("Bonn", "2015", "2016"), ("Kyiv", "2010", "2012")):
        times = {"valid_from": at(f"{since}-01-01"), "valid_to": at(f"{until}-01-01")}
        history.hear("2024-06-10", holds(f"Ana lives_in {home}", **times))
    history.hear("2024-06-10", holds("Ana lives_in Nice", valid_from=at("2016-01-01")))
    former = ended("Ana lives_in Rome", former=True, confidence=0.7, time_words="for long")

    assert history.hear("2024-06-10", former) == [
        "+ Ana lives in Rome, <2013-01-01..2013-01-01"
    ]  # nobody knows of 2012
    rome = assertion(history)
    assert (rome.confidence, rome.grain, rome.time_words) == (0.7, "unknown", "for long")
    assert rome.relationship_id == history.relationships[-1]


@pytest.mark.parametrize(
    ("rule", "words", "fields"),
    [
        (3, "Ana works_at SAP", {"former": True}),
        (4, "Ana works_at SAP", {}),
        (4, "Ana works_at SAP", {"former": True, "valid_to": FIRST}),
        (4, "Ana works_at Acme", {"former": True}),  # which is known to hold
        (4, "Ana has_age 30", {"former": True}),  # no entity
    ],
)
def test_what_else_ended_is_ended_alone(start: Start, rule: int, words: str, fields: dict[str, Any]) -> None:
    history = start(rule=rule)
    history.hear("2024-06-10", holds("Ana works_at Acme", valid_from=at("2020-01-01")))

    [told] = history.hear("2024-06-11", ended(words, **fields))
    assert told.startswith(f"| {words}, ")


# --- states


def test_a_fact_has_all_that_was_said_of_it(history: SpokenHistory) -> None:
    said = {"valid_from": at("2020-01-01"), "valid_to": at("2022-01-01"), "grain": "year", "confidence": 0.7}

    assert history.hear("2024-06-10", holds("Ana lives_in Oslo", time_words="back then", **said)) == [
        "+ Ana lives in Oslo, 2020-01-01..2022-01-01"
    ]
    oslo = assertion(history)
    assert (oslo.confidence, oslo.grain, oslo.time_words) == (0.7, "year", "back then")
    assert (oslo.relationship_id, oslo.corrects, oslo.planned) == (history.relationships[-1], None, False)


@pytest.mark.parametrize(
    ("valid_from", "valid_to", "period"),
    [
        (None, None, "2024-06-10.."),
        (None, "2025-01-01", "2024-06-10..2025-01-01"),
        (None, "2024-06-01", "<2024-06-01..2024-06-01"),  # it ended before it was said
        (None, "2024-06-10", "<2024-06-10..2024-06-10"),
        ("2020-01-01", None, "2020-01-01.."),
        ("2022-01-01", "2022-01-01", None),  # times that contradict each other
    ],
)
def test_what_holds_without_a_start_holds_when_it_is_said_or_until_its_end(
    history: SpokenHistory, valid_from: str | None, valid_to: str | None, period: str | None
) -> None:
    times = {"valid_from": valid_from and at(valid_from), "valid_to": valid_to and at(valid_to)}

    told = history.hear("2024-06-10", holds("Ana lives_in Oslo", **times))

    assert told == ([] if period is None else [f"+ Ana lives in Oslo, {period}"])


def test_what_is_said_again_is_reinforced_and_so_is_a_plan(history: SpokenHistory) -> None:
    history.hear("2024-06-10", holds("Ana lives_in Oslo", valid_from=at("2010-01-01")))
    history.hear("2024-06-10", holds("Ana graduated_from MIT", valid_from=at("2025-06-01")))
    assert assertion(history).planned

    assert history.hear(
        "2024-06-11",
        holds("Ana lives_in Oslo", valid_from=at("2010-01-01")),
        holds("Ana graduated_from MIT", valid_from=at("2025-06-01")),
    ) == ["= Ana lives in Oslo", "= Ana graduated from MIT"]
    assert [event.planned for event in history.last] == [False, True]
    assert [event.relationship_id for event in history.last] == history.relationships[-2:]


@pytest.mark.parametrize(
    ("times", "period"),
    [
        ({}, "2020-01-01..2022-01-01"),
        ({"valid_from": "2021-01-01"}, "2021-01-01.."),
        ({"valid_to": "2023-01-01"}, "<2023-01-01..2023-01-01"),
    ],
)
@pytest.mark.parametrize("until", ["2022-01-01", None])
def test_a_correction_takes_over_the_period_of_what_was_wrong_unless_it_has_one(
    history: SpokenHistory, times: dict[str, str], period: str, until: str | None
) -> None:
    end = until and at(until)
    history.hear("2024-06-10", holds("Ana lives_in Oslo", valid_from=at("2020-01-01"), valid_to=end))
    wrong = assertion(history).fact_id

    said = {name: at(day) for name, day in times.items()}
    told = history.hear("2024-06-11", holds("Ana lives_in Rome", **said), denied("Ana lives_in Oslo"))

    expected = period if until or times else "2020-01-01.."
    assert told == ["- Ana lives in Oslo, corrected", f"+ Ana lives in Rome, {expected}"]
    assert assertion(history).corrects == wrong


def test_a_denial_of_another_slot_is_corrected_by_nothing_that_is_said_beside_it(history: SpokenHistory) -> None:
    history.hear("2024-06-10", holds("Ana lives_in Oslo", valid_from=at("2020-01-01")))

    assert history.hear("2024-06-11", denied("Ana lives_in Oslo"), holds("Ana works_at SAP")) == [
        "- Ana lives in Oslo, corrected",
        "+ Ana works at SAP, 2024-06-11..",
    ]
    assert assertion(history).corrects is None


def test_relations_are_said_as_the_ontology_has_them_and_others_in_their_own_words(history: SpokenHistory) -> None:
    assert history.hear("2024-06-10", holds("Ana child_of Ben"), holds("Ana rides_with Ben")) == [
        "+ Ben is a parent of Ana, 2024-06-10..",
        "+ Ana rides with Ben, 2024-06-10..",
    ]
    assert history.hear("2024-06-11", holds("Ana friend_of Ana")) == []  # nobody is meant twice


# --- deeds


@pytest.mark.parametrize(
    ("fields", "period", "grain", "planned"),
    [
        ({}, "..2024-06-10", "unknown", False),
        ({"valid_to": "2024-06-01"}, "..2024-06-01", "unknown", False),
        ({"valid_to": "2025-01-01"}, "..2024-06-10", "unknown", False),
        ({"valid_from": "2024-06-01"}, "2024-06-01..2024-06-02", "day", False),
        ({"valid_from": "2024-06-01", "grain": "month"}, "2024-06-01..2024-07-01", "month", False),  # it goes on
        (
            {"valid_from": "2024-05-01", "valid_to": "2024-05-04", "grain": "day"},
            "2024-05-01..2024-05-04",
            "day",
            False,
        ),
        ({"valid_from": "2024-05-04", "valid_to": "2024-05-04"}, "2024-05-04..2024-05-05", "day", False),
        ({"granule": ("2024-05-01", "2024-06-01"), "grain": "month"}, "2024-05-01..2024-06-01", "month", False),
        ({"valid_from": "2024-07-01"}, "2024-07-01..2024-07-02", "day", True),
        ({"planned": True}, "..2024-06-10", "unknown", True),
    ],
)
def test_a_deed_happened_within_the_time_that_is_said(
    history: SpokenHistory, fields: dict[str, Any], period: str, grain: str, planned: bool
) -> None:
    times: dict[str, Any] = {name: at(day) for name, day in fields.items() if name in ("valid_from", "valid_to")}
    if "granule" in fields:
        times["granule"] = tuple(at(day) for day in fields["granule"])
    said = holds("Ana visited Oslo", **fields | times, confidence=0.7, time_words="once")

    assert history.hear("2024-06-10", said) == [f"+ Ana visited Oslo, {period}"]
    oslo = assertion(history)
    assert (oslo.grain, oslo.planned, oslo.occurrence) == (grain, planned, True)
    assert (oslo.confidence, oslo.time_words, oslo.corrects) == (0.7, "once", None)
    assert oslo.relationship_id == history.relationships[-1]


def test_a_deed_lasts_a_month_by_the_clocks_of_the_speaker(history: SpokenHistory) -> None:
    history.send("2024-01-01", TimezoneStatement(group_id="g", timezone="Pacific/Kiritimati"))
    march = at("2023-02-28T10:00")

    assert history.hear("2024-06-10", holds("Ana visited Oslo", valid_from=march, grain="month")) == [
        "+ Ana visited Oslo, 2023-02-28T10:00:00..2023-03-31T10:00:00"
    ]


def test_a_deed_that_is_told_again_is_one(history: SpokenHistory) -> None:
    history.hear("2024-06-10", holds("Ana visited Oslo", valid_from=at("2024-07-01"), planned=True))

    assert history.hear("2024-06-11", holds("Ana visited Oslo", valid_from=at("2024-07-01"), planned=True)) == [
        "= Ana visited Oslo"
    ]
    [again] = history.last
    assert (again.planned, again.relationship_id) == (True, history.relationships[-1])


@pytest.mark.parametrize(
    ("times", "period", "grain"),
    [({}, "2024-05-01..2024-05-02", None), ({"valid_from": "2024-05-03"}, "2024-05-03..2024-05-04", "day")],
)
def test_a_corrected_deed_happened_when_the_wrong_one_did_unless_it_says_when(
    history: SpokenHistory, times: dict[str, str], period: str, grain: str | None
) -> None:
    history.hear("2024-06-10", holds("Ana visited Oslo", valid_from=at("2024-05-01")))
    wrong = assertion(history).fact_id

    said = {name: at(day) for name, day in times.items()}
    assert history.hear("2024-06-11", denied("Ana visited Oslo"), holds("Ana visited Rome", **said)) == [
        "- Ana visited Oslo, corrected",
        f"+ Ana visited Rome, {period}",
    ]
    assert (assertion(history).grain, assertion(history).corrects) == (grain, wrong)


MAY, DAY, JUNE = ("2024-05-01", "2024-06-01"), ("2024-05-01", "2024-05-02"), ("2024-06-01", "2024-07-01")


@pytest.mark.parametrize(("within", "is_denied"), [(None, True), (DAY, True), (MAY, True), (JUNE, False)])
def test_a_deed_is_denied_of_all_time_or_of_the_time_that_is_said(
    history: SpokenHistory, within: tuple[str, str] | None, is_denied: bool
) -> None:
    history.hear("2024-06-10", holds("Ana visited Oslo", valid_from=at("2024-05-01")))
    granule = within and (at(within[0]), at(within[1]))

    told = history.hear("2024-06-11", denied("Ana visited Oslo", granule=granule))

    assert told == (["- Ana visited Oslo, corrected"] if is_denied else [])


@pytest.mark.parametrize(
    ("rule", "known", "start_of_plan", "within", "is_off"),
    [
        (5, "Ana visited Oslo", "2024-07-01", None, True),
        (5, "Ana visited Oslo", "2024-07-01", JUNE, False),
        (5, "Ana visited Oslo", "2024-06-01", None, False),  # it was done
        (5, "Ana visited Oslo", "2024-06-11", None, True),
        (5, "Ana graduated_from MIT", "2024-07-01", None, True),
        (4, "Ana graduated_from MIT", "2024-07-01", None, False),
        (5, "Ana graduated_from MIT", "2024-06-10", None, False),  # it was done by then
        (5, "Ana graduated_from MIT", "2024-06-30", JUNE, True),
        (5, "Ana graduated_from MIT", "2024-06-11", ("2024-06-11", "2024-06-12"), True),
        (5, "Ana graduated_from MIT", "2024-07-01", JUNE, False),
        (5, "Ana lives_in Oslo", "2024-07-01", None, False),  # no deed
    ],
)
def test_a_plan_is_off_that_is_ahead_in_the_time_that_is_said_and_what_was_done_is_not(
    start: Start, rule: int, known: str, start_of_plan: str, within: tuple[str, str] | None, is_off: bool
) -> None:
    history = start(rule=rule)
    history.hear("2024-06-01", holds(known, valid_from=at(start_of_plan)))
    granule = within and (at(within[0]), at(within[1]))

    said = history.hear("2024-06-10", ended(known, granule=granule, planned=True))

    assert [event.partition(" ")[0] for event in said] == (["-"] if is_off else [])


def test_a_plan_whose_time_is_over_is_off_no_more(history: SpokenHistory) -> None:
    history.hear("2024-06-01", holds("Ana visited Oslo", valid_from=at("2024-06-09"), planned=True))

    assert history.hear("2024-06-10", ended("Ana visited Oslo")) == []
    assert history.hear("2024-06-09T23:59", ended("Ana visited Oslo")) == ["- Ana visited Oslo, retracted"]


# --- values, rules, and what has one owner


@pytest.mark.parametrize(
    ("rule", "said", "ends"),
    [
        (4, "900", True),
        (4, "950", False),  # no longer, at the time
        (4, "9", False),
        (4, "900 euros", True),
        (4, "off", True),
        (3, "950", True),
    ],
)
def test_a_value_ends_by_the_words_of_the_one_that_holds_or_by_being_off(
    start: Start, rule: int, said: str, ends: bool
) -> None:
    history = start(rule=rule)
    history.hear("2024-06-01", holds("rent has_value 950", valid_to=at("2024-06-10")))
    history.hear("2024-06-02", holds("rent has_value 900", valid_from=at("2024-06-01"), valid_to=at("2024-06-11")))

    told = history.hear("2024-06-10", ended(f"rent has_value {said}"))

    assert told == [f"| rent has_value {None if ends else said}, 2024-06-10"]


@pytest.mark.parametrize(
    ("known", "said", "told"),
    [
        (["Ana has_rent 900"], "rent has_value 950", "Ana's rent is 950"),
        (["rent has_value 900", "Ana has_rent 900"], "rent has_value 950", "rent is 950"),  # it has one of its own
        (["Ben has_rent 900"], "rent has_value 950", "rent is 950"),
        (["office rent has_value 900"], "rent has_value 950", "office rent is 950"),
        (["rent has_value 900"], "office rent has_value 950", "rent is 950"),
        (["office rent has_value 900"], "monthly rent has_value 950", "monthly rent is 950"),
        (["office rent has_value 900", "monthly rent has_value 900"], "rent has_value 950", "rent is 950"),
        (["office rent likes tea"], "rent has_value 950", "rent is 950"),  # which has no value
    ],
)
def test_the_value_of_a_thing_is_that_of_the_only_one_that_can_be_meant(
    history: SpokenHistory, known: list[str], said: str, told: str
) -> None:
    for each in known:
        history.hear("2024-06-01", holds(each))

    assert history.hear("2024-06-10", holds(said)) == [f"+ {told}, 2024-06-10.."]


@pytest.mark.parametrize(
    ("rule", "known", "said", "told"),
    [
        (2, "Ana works_at Acme Labs", "Ana works_at Acme", "Ana works_at Acme Labs"),
        (4, "Ana comes_from New York", "Ana comes_from York", "Ana comes_from New York"),
        (3, "Ana comes_from New York", "Ana comes_from York", "Ana comes_from York"),  # no words end that
        (4, "Ana works_in New York", "Ana works_in York", "Ana works_in York"),  # of targets of several types
        (4, "Ana works_at Acme Labs", "Ana works_at SAP", "Ana works_at SAP"),
        (4, "Ana works_at Acme Labs", "Ana works_at job", "Ana works_at Acme Labs"),
        (4, "Ana lives_in York", "Ana works_at job", None),
        (4, "Ana has_age 30", "Ana has_age 31", "Ana has_age 31"),
        (4, "Ana rides_with Ben", "Ana rides_with Cleo", "Ana rides_with Cleo"),
    ],
)
def test_an_ending_of_what_does_not_hold_is_of_the_one_thing_that_is_called_so(
    start: Start, rule: int, known: str, said: str, told: str | None
) -> None:
    history = start(rule=rule)
    history.hear("2024-06-01", holds(known))

    assert history.hear("2024-06-10", ended(said)) == ([] if told is None else [f"| {told}, 2024-06-10"])


@pytest.mark.parametrize(("since", "ends"), [("2024-06-10", True), ("2024-06-11", False)])
def test_a_value_that_begins_as_it_ends_is_ended_and_one_that_does_not_hold_yet_is_not(
    history: SpokenHistory, since: str, ends: bool
) -> None:
    history.hear("2024-06-01", holds("rent has_value 900", valid_from=at(since)))

    told = history.hear("2024-06-10", ended("rent has_value 900"))

    assert told == [f"| rent has_value {None if ends else 900}, 2024-06-10"]


def test_a_new_value_of_a_relation_that_may_have_several_puts_none_back(history: SpokenHistory) -> None:
    history.hear("2024-06-10", holds("rent has_value 900"))

    assert history.hear("2024-06-20", holds("rent has_value 950", valid_from=at("2024-06-01"))) == [
        "+ rent is 950, 2024-06-01.."
    ]


@pytest.fixture
def work(start: Start) -> SpokenHistory:
    return start(ontology=load("agent_memory_v1"))


@pytest.mark.parametrize(
    ("rule", "lifted", "told"),
    [
        (4, "never edit locks", ["| Ana has_rule never edit the locks, 2024-06-10"]),
        (4, "never push", []),  # no rule that holds
        (4, "never sleep", []),
        (3, "never edit locks", ["| Ana has_rule never edit locks, 2024-06-10"]),
    ],
)
def test_the_rule_that_is_lifted_is_the_one_that_holds_and_says_so(
    start: Start, rule: int, lifted: str, told: list[str]
) -> None:
    history = start(ontology=load("agent_memory_v1"), rule=rule)
    history.hear("2024-06-01", holds("Ana has_rule never edit the locks"))
    history.hear("2024-06-01", holds("Ana has_rule never push to main", valid_to=at("2024-06-10")))

    assert history.hear("2024-06-10", ended(f"Ana has_rule {lifted}")) == told


@pytest.mark.parametrize(
    ("said", "told"),
    [
        ([holds("Ben owns parser")], ["+ Ben owns parser, 2024-06-10..", "| Ana owns parser, 2024-06-10"]),
        ([holds("Ben owns parser", shared=True)], ["+ Ben owns parser, 2024-06-10.."]),
        ([holds("Ben uses parser")], ["+ Ben uses parser, 2024-06-10.."]),
        ([holds("Ben owns linter")], ["+ Ben owns linter, 2024-06-10.."]),
        (
            [holds("Ben owns parser"), holds("Ana owns parser")],
            ["+ Ben owns parser, 2024-06-10..", "= Ana owns parser"],
        ),
        (
            [ended("Ana owns parser", valid_to=at("2024-07-01")), holds("Ben owns parser")],
            ["| Ana owns parser, 2024-07-01", "+ Ben owns parser, 2024-06-10..", "| Ana owns parser, 2024-06-10"],
        ),
    ],
)
def test_what_one_has_alone_is_no_longer_that_of_another_unless_both_are_said_to_have_it(
    work: SpokenHistory, said: list[Relationship], told: list[str]
) -> None:
    work.hear("2024-06-01", holds("Ana owns parser"), holds("Ana uses parser"))

    assert work.hear("2024-06-10", *said) == told
    assert {e.relationship_id for e in work.last if e.type == "fact.ended"} <= {*work.relationships[-len(said) :]}


@pytest.mark.parametrize(
    ("said", "detects", "declared"),
    [
        ("parser assigned_to Ana", True, ["assigned_to"]),
        ("parser assigned_to Ana", False, []),  # where nothing contradicts
        ("rent has_value 900", True, []),  # which the build knows
        ("Ana owns parser", True, []),  # of which there may be several
        ("Ana rides_with Ben", True, []),
    ],
)
def test_a_relation_of_one_value_that_only_the_ontology_of_a_message_has_is_declared_once(
    start: Start, said: str, detects: bool, declared: list[str]
) -> None:
    ingestion = IngestionConfig(enable_contradiction_detection=detects)
    history = start(ontologies=ONTOLOGIES, ingestion=ingestion)
    for day in ("2024-06-01", "2024-06-02"):
        history.hear(day, holds(said), schema_id="agent_memory_v1")

    events = [record.event for record in history.semantic.read() if record.cause >= 0]
    found = [event for event in events if isinstance(event, RelationDeclared)]
    assert [(event.relation, event.cardinality) for event in found] == [(relation, "one") for relation in declared]


@pytest.mark.parametrize(("resolves", "by_structure", "places"), [(True, True, 1), (True, False, 2), (False, True, 2)])
def test_names_are_compared_by_structure_where_that_is_asked_for(
    start: Start, resolves: bool, by_structure: bool, places: int
) -> None:
    history = start(
        ingestion=IngestionConfig(enable_entity_resolution=resolves, enable_structural_similarity=by_structure)
    )
    history.hear("2024-06-01", holds("Ana comes_from New York"))
    history.hear("2024-06-01", holds("Ana comes_from York"))

    introduced = [r.event for r in history.semantic.read() if isinstance(r.event, EntityIntroduced)]
    assert sum(event.entity_type == "Location" for event in introduced) == places
