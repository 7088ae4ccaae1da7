"""The interval algebra of belief, against the oracle and by worked example."""

import sys
from dataclasses import replace
from itertools import pairwise
from random import Random
from time import process_time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import oracle
from asof_projections import versions
from asof_projections.versions import RULE, Assertion, Ending, belief, coalesce, gaps, is_within
from asof_streams.instants import INF

SLOT = ("Ana", "livesIn")
instants = st.integers(0, 12)
ends = st.one_of(st.none(), st.integers(1, 6))


@st.composite
def slots(draw):
    """The live statements of one slot: assertions and endings, in the order in which they were said."""
    functional = draw(st.booleans())
    log: list[Any] = []
    for i in range(draw(st.integers(1, 9))):
        start, length = draw(instants), draw(ends)
        end = INF if length is None else start + length
        value = draw(st.sampled_from("xyz"))
        log.append(oracle.Assert(f"a{i}", SLOT, value, start, end, functional, draw(instants)))
    known = [a.id for a in log]
    for i in range(draw(st.integers(0, 3))):
        value = draw(st.sampled_from([None, "x", "y", "z"]))
        fact = draw(st.sampled_from([None, None, *known]))
        log.append(oracle.End(f"e{i}", SLOT, value, draw(instants), fact))
    log.extend(
        oracle.Reinforce(f"r{i}", draw(st.sampled_from(known)), draw(instants)) for i in range(draw(st.integers(0, 2)))
    )
    return log


def believed(log, rule=RULE):
    """What `belief` says of the statements of one slot."""
    assertions = {
        a.id: Assertion(a.id, a.value, a.vf, a.vt, (place, 0), a.wit)
        for place, a in enumerate(log)
        if isinstance(a, oracle.Assert)
    }
    for said in log:
        if isinstance(said, oracle.Reinforce):
            a = assertions[said.target]
            assertions[said.target] = a._replace(attested=max(a.attested, said.wit))
    endings = [Ending(e.id, e.value, e.at, e.fact) for e in log if isinstance(e, oracle.End)]
    return belief(assertions.values(), endings, single=log[0].functional, rule=rule)


@given(slots())
def test_belief_agrees_with_the_oracle_at_every_critical_point(log):
    held = believed(log)

    for v in oracle.critical(log):
        expected = oracle.belief(log, v, len(log)).get(SLOT, {})
        found = {id_ for id_, periods in held.items() for start, end in periods if start <= v < end}
        assert found == {id_ for ids in expected.values() for id_ in ids}


@given(slots())
def test_periods_are_disjoint_and_in_order_and_none_is_empty(log):
    for periods in believed(log).values():
        assert all(start < end for start, end in periods)
        assert all(one[1] < other[0] for one, other in pairwise(periods))


@given(slots())
def test_a_single_valued_slot_holds_one_assertion_at_a_time(log):
    single = [replace(s, functional=True) if isinstance(s, oracle.Assert) else s for s in log]
    periods = sorted(period for held in believed(single).values() for period in held)

    assert all(one[1] <= other[0] for one, other in pairwise(periods))


def told(value, start, end=INF, *, at=0, said=0):
    return Assertion(f"{value}{start}", value, start, end, (at, 0), said)


@pytest.mark.parametrize(
    ("said", "endings", "held"),
    [
        pytest.param(
            [told("x", 2019, at=2), told("y", 2021, at=1)],
            [],
            {"x2019": ((2019, 2021),), "y2021": ((2021, INF),)},
            id="a late open start does not destroy what began later",
        ),
        pytest.param(
            [told("madrid", 2015), told("berlin", 2021, at=1)],
            [Ending("e", "berlin", 2023)],
            {"madrid2015": ((2015, 2021),), "berlin2021": ((2021, 2023),)},
            id="an ending never revives what was before",
        ),
        pytest.param(
            [told("berlin", 2015, said=2024), told("paris", 2019, 2020, at=1)],
            [],
            {"berlin2015": ((2015, 2019), (2020, INF)), "paris2019": ((2019, 2020),)},
            id="what was attested after a stay outlives the stay",
        ),
        pytest.param(
            [told("berlin", 2015, said=2016), told("paris", 2019, 2020, at=1)],
            [],
            {"berlin2015": ((2015, 2019),), "paris2019": ((2019, 2020),)},
            id="what was last attested before a stay is unknown after it",
        ),
        pytest.param(
            [told("x", 2020), told("y", 2020, at=1)],
            [],
            {"x2020": (), "y2020": ((2020, INF),)},
            id="of equal starts the later said wins",
        ),
        pytest.param(
            [told("x", 2020), told("x", 2024, at=1)],
            [Ending("e", None, 2023, "x2020")],
            {"x2020": ((2020, 2023),), "x2024": ((2024, INF),)},
            id="an ending of one assertion leaves its return alone",
        ),
        pytest.param(
            [told("x", 0, 10), told("y", 2, 4, at=1)],
            [],
            {"x0": ((0, 2), (4, 10)), "y2": ((2, 4),)},
            id="what has a stated end goes on after a stay within it",
        ),
        pytest.param(
            [told("x", 0, said=4), told("y", 2, 4, at=1)],
            [],
            {"x0": ((0, 2), (4, INF)), "y2": ((2, 4),)},
            id="what was attested as a stay ended outlives the stay",
        ),
        pytest.param(
            [told("x", 0), told("x", 5, 7, at=1)],
            [],
            {"x0": ((0, INF),), "x5": ()},
            id="the same value for a while ends nothing",
        ),
        pytest.param(
            [told("x", 0, 6), told("y", 2, 9, at=1)],
            [],
            {"x0": ((0, 2),), "y2": ((2, 9),)},
            id="of two stated periods that overlap the one that starts later wins",
        ),
        pytest.param(
            [told("x", 0, 9), told("y", 2, 3, at=1), told("z", 5, 6, at=2)],
            [],
            {"x0": ((0, 2), (3, 5), (6, 9)), "y2": ((2, 3),), "z5": ((5, 6),)},
            id="two stays within a stated period leave three parts of it",
        ),
        pytest.param(
            [told("x", 0, said=5), told("x", 1, 2, at=1), told("y", 2, 5, at=2)],
            [],
            {"x0": ((0, 2), (5, INF)), "x1": (), "y2": ((2, 5),)},
            id="what was attested as a stay ended outlives it, whatever came between",
        ),
        pytest.param(
            [told("x", 0, said=9), *(told("x", n, n + 1, at=n) for n in (1, 2, 3)), told("y", 5, 9, at=4)],
            [],
            {"x0": ((0, 5), (9, INF)), **{f"x{n}": () for n in (1, 2, 3)}, "y5": ((5, 9),)},
            id="what was attested as a stay ended outlives it, however much came between",
        ),
        pytest.param(
            [told("x", 0), told("x", 1, 2, at=1), told("y", 3, 4, at=2), told("z", 5, 6, at=3)],
            [],
            {"x0": ((0, 3),), "x1": (), "y3": ((3, 4),), "z5": ((5, 6),)},
            id="the first of another value ends it, not a later one",
        ),
        pytest.param(
            [told("x", 0), *(told("x", n, n + 1, at=n) for n in (1, 3, 5))],
            [],
            {"x0": ((0, INF),), **{f"x{n}": () for n in (1, 3, 5)}},
            id="of four assertions of one value none ends the first",
        ),
        pytest.param(
            [told("x", 6)],
            [Ending("a", None, 8), Ending("b", None, 5)],
            {"x6": ((6, 8),)},
            id="of two endings the one after its start cuts, though it was said first",
        ),
    ],
)
def test_worked_example(said, endings, held):
    assert belief(said, endings, single=True) == held


@pytest.mark.parametrize(
    ("said", "endings", "held"),
    [
        pytest.param(
            [told("x", 0), told("x", 5, at=1)],
            [],
            {"x0": ((0, INF),), "x5": ()},
            id="a restatement takes nothing from what it states again",
        ),
        pytest.param(
            [told("x", 0), told("x", 5, at=1)],
            [Ending("e", None, 7, "x0")],
            {"x0": ((0, 7),), "x5": ((7, INF),)},
            id="where the first is ended the restatement holds",
        ),
        pytest.param(
            [told("x", 0), told("x", 5, at=1)],
            [Ending("e", None, 7, "x5")],
            {"x0": ((0, INF),), "x5": ()},
            id="where the restatement is ended the first holds",
        ),
        pytest.param(
            [told("x", 0, 8), told("x", 5, 12, at=1)],
            [],
            {"x0": ((0, 8),), "x5": ((8, 12),)},
            id="a restatement that goes on for longer holds for the rest",
        ),
        pytest.param(
            [told("x", 0, at=1), told("x", 5)],
            [],
            {"x0": ((0, 5),), "x5": ((5, INF),)},
            id="what was said first keeps what it claims, though another began earlier",
        ),
        pytest.param(
            [told("x", 0, 20), told("y", 3, 20, at=1), told("x", 6, 20, at=2)],
            [],
            {"x0": ((0, 3),), "y3": ((3, 6),), "x6": ((6, 20),)},
            id="what returns after another value is no restatement",
        ),
        pytest.param(
            [told("x", 0, 20), told("y", 3, 9, at=1), told("x", 6, 20, at=2)],
            [],
            {"x0": ((0, 3), (9, 20)), "y3": ((3, 6),), "x6": ((6, 9),)},
            id="once the other value is over what returned is a restatement",
        ),
        pytest.param(
            [told("x", 0, said=1), told("x", 0, said=9, at=1)._replace(fact_id="again"), told("y", 3, 5, at=2)],
            [],
            {"x0": ((0, 3), (5, INF)), "again": (), "y3": ((3, 5),)},
            id="what is stated again from the same start is attested by it",
        ),
        pytest.param(
            [told("x", 0, said=1), told("x", 0, 7, said=9, at=1)._replace(fact_id="again"), told("y", 3, 5, at=2)],
            [],
            {"x0": ((0, 3),), "again": ((5, 7),), "y3": ((3, 5),)},
            id="what ends attests nothing without an end",
        ),
    ],
)
def test_a_restatement(said, endings, held):
    assert belief(said, endings, single=True) == held


def test_under_the_fourth_rule_a_restatement_supersedes_what_it_states_again() -> None:
    said = [told("x", 0), told("x", 5, at=1)]

    assert belief(said, [], single=True, rule=4) == {"x0": ((0, 5),), "x5": ((5, INF),)}
    again = [told("x", 0, said=1), told("x", 0, said=9, at=1)._replace(fact_id="again"), told("y", 3, 5, at=2)]
    assert belief(again, [], single=True, rule=4) == {"x0": (), "again": ((0, 3), (5, INF)), "y3": ((3, 5),)}


@given(slots())
def test_the_rule_of_restatements_changes_which_fact_holds_and_no_value(log):
    by_rule = [believed(log, rule=rule) for rule in (4, 5)]

    values = {a.id: a.value for a in log if isinstance(a, oracle.Assert)}
    for v in oracle.critical(log):
        fourth, fifth = (
            {values[id_] for id_, periods in held.items() for start, end in periods if start <= v < end}
            for held in by_rule
        )
        assert fourth == fifth


def test_of_eight_assertions_the_last_ends_the_first():
    brief = [told("x", n, n + 1, at=n) for n in range(1, 7)]

    held = belief([told("x", 0), *brief, told("y", 9, 10, at=9)], [], single=True)

    assert held["x0"] == ((0, 9),)


def test_an_occurrence_is_done_unless_it_is_said_to_be_planned():
    visit = told("x", 0, 1)._replace(granules=((0, 1),))

    assert visit.done
    assert not visit.is_told_by((0, 1), 0, planned=True)
    assert visit._replace(done=False).is_told_by((0, 1), 0, planned=True)


def test_in_a_many_valued_slot_nothing_ends_by_another_value():
    said = [told("x", 1), told("y", 2, at=1)]

    assert belief(said, [Ending("e", "x", 5)], single=False) == {"x1": ((1, 5),), "y2": ((2, INF),)}


@given(st.lists(st.tuples(instants, st.integers(1, 5)).map(lambda p: (p[0], p[0] + p[1]))))
def test_coalesced_periods_and_their_gaps_cover_the_same_instants(periods):
    whole = coalesce(periods)

    for t in range(20):
        covered = any(a <= t < b for a, b in periods)
        assert covered == any(a <= t < b for a, b in whole)
        between = bool(whole) and whole[0][0] <= t < whole[-1][1]
        assert any(a <= t < b for a, b in gaps(periods)) == (between and not covered)


def test_periods_that_overlap_or_meet_are_one_and_nothing_is_between_them() -> None:
    assert coalesce([(2, 3), (1, 2), (5, 8), (6, 7)]) == [(1, 3), (5, 8)]
    assert gaps([(2, 3), (1, 2), (5, 8), (6, 7)]) == [(3, 5)]


def test_a_slot_with_a_long_history_costs_in_proportion_to_it():
    def work(count: int) -> int:
        """Count the lines that run, which no load of the machine changes."""
        ran = 0

        def trace(*_: object):
            nonlocal ran
            ran += 1
            return trace

        stated = [Assertion(f"s{i}", f"v{i}", 10 * i, 10 * i + 5, (i, 0), 10 * i) for i in range(count)]
        before = sys.gettrace()
        sys.settrace(trace)
        try:
            belief(stated, [Ending(f"e{i}", f"v{i}", 10 * i + 3) for i in range(count)], single=True)
        finally:
            sys.settrace(before)
        return ran

    assert work(800) < 10 * work(100)


def test_the_next_assertion_of_another_value_is_the_one_that_looking_at_each_finds(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    random = Random(3)
    for _ in range(200):
        kinds, reach = random.randrange(1, 5), random.choice([3, 30])
        assertions = [
            Assertion(
                f"a{n}",
                random.choice("wxyz"[:kinds]),
                start := random.randrange(100),
                random.choice([INF, start + 1 + random.randrange(reach)]),
                (n, 0),
                random.randrange(150),
            )
            for n in range(random.randrange(2, 60))
        ]
        ends = [Ending("e", random.choice([None, "w"]), random.randrange(100))] * random.randrange(2)
        found = belief(assertions, ends, single=True)
        with monkeypatch.context() as context:
            context.setattr(versions, "_NEAR", sys.maxsize)
            assert found == belief(assertions, ends, single=True)


def test_a_slot_of_which_much_was_attested_late_takes_no_longer_than_its_size() -> None:
    half = 10_000
    late = [Assertion(f"o{n}", "same", n, INF, (n, 0), 10 * half) for n in range(half)]
    short = [Assertion(f"s{n}", f"v{n}", half + n, half + n + 1, (half + n, 0), 0) for n in range(half)]
    last = Assertion("last", "other", 3 * half, INF, (2 * half, 0), 0)

    start = process_time()
    held = belief([*late, *short, last], [], single=True)

    assert process_time() - start < 3  # looking at each, one by one, takes ten times as long
    assert held["o0"] == ((0, half), (2 * half, 3 * half))
    assert held[f"o{half - 1}"] == ()


@pytest.mark.parametrize(
    ("value", "at", "fact", "cuts"),
    [
        (None, 6, None, True),
        (None, 5, None, False),
        (None, 4, None, False),
        ("x", 6, None, True),
        ("y", 6, None, False),
        (None, 6, "x5", True),
        ("x", 6, "x5", True),
        (None, 6, "other", False),
        ("y", 6, "x5", False),
    ],
)
def test_an_ending_cuts_what_it_is_about_if_that_began_before(
    value: str | None, at: int, fact: str | None, *, cuts: bool
) -> None:
    assert Ending("e", value, at, fact).cuts(told("x", 5)) is cuts
    assert not Ending("e", value, at, fact).cuts(visit(MORNING))


# Occurrences.

JUNE, MORNING, EVENING, JULY = (0, 30), (5, 6), (6, 7), (30, 61)


def visit(*granules: tuple[int, int], said: int = 10, **more: Any) -> Assertion:
    return Assertion("visit", "x", *granules[0], (0, 0), said, granules, **more)


def test_the_rule_has_the_version_that_released_generations_name() -> None:
    assert RULE == 5


@pytest.mark.parametrize(
    ("inner", "outer", "within"),
    [
        (MORNING, JUNE, True),
        ((0, 6), JUNE, True),
        ((6, 30), JUNE, True),
        (JUNE, JUNE, False),
        (JUNE, MORNING, False),
        ((5, 31), JUNE, False),
        ((-1, 6), JUNE, False),
        (JULY, JUNE, False),
        (JUNE, JULY, False),
    ],
)
def test_a_period_is_within_another_if_it_is_a_part_and_not_all_of_it(
    inner: tuple[int, int], outer: tuple[int, int], *, within: bool
) -> None:
    assert is_within(inner, outer) is within


@pytest.mark.parametrize(
    ("granules", "finest"),
    [
        ([JUNE], JUNE),
        ([JUNE, MORNING], MORNING),
        ([MORNING, JUNE], MORNING),
        ([JUNE, EVENING, MORNING], MORNING),
        ([JUNE, JUNE], JUNE),
        ([JUNE, JULY], JUNE),
    ],
)
def test_the_finest_granule_is_the_earliest_of_those_that_contain_no_other(
    granules: list[tuple[int, int]], finest: tuple[int, int]
) -> None:
    assert visit(*granules).finest == finest


@pytest.mark.parametrize("single", [True, False])
def test_an_occurrence_is_believed_over_its_granule_whatever_else_is_said(*, single: bool) -> None:
    lasting = told("y", 2)
    endings = [Ending("e", None, 6), Ending("f", "x", 6), Ending("g", None, 6, "visit")]

    held = belief([visit(JUNE, MORNING), lasting], endings, single=single)

    assert held == {"visit": (MORNING,), "y2": ((2, 6),)}
    assert belief([visit(JUNE), lasting], [], single=single) == {"visit": (JUNE,), "y2": ((2, INF),)}


def test_what_is_said_again_is_attested_by_the_latest_and_an_occurrence_has_one_more_granule() -> None:
    lasting = told("y", 2, said=5)

    assert lasting.said_again(7, None, planned=False) == lasting._replace(attested=7)
    assert lasting.said_again(3, None, planned=True) == lasting
    assert visit(JUNE).said_again(12, MORNING, planned=False) == visit(JUNE, MORNING, said=12)
    assert visit(JUNE).said_again(8, MORNING, planned=False) == visit(JUNE, MORNING)


@pytest.mark.parametrize("done", [True, False])
@pytest.mark.parametrize("planned", [True, False])
def test_an_occurrence_is_done_once_anyone_tells_it_as_past(*, done: bool, planned: bool) -> None:
    assert visit(JUNE, done=done).said_again(12, JUNE, planned=planned).done is (done or not planned)
    assert visit(JUNE).done


@pytest.mark.parametrize(
    ("granule", "again"), [(JUNE, True), (MORNING, True), ((-10, 30), True), (JULY, False), ((20, 40), False)]
)
def test_an_occurrence_is_told_again_where_one_granule_contains_the_other(
    granule: tuple[int, int], *, again: bool
) -> None:
    assert visit(JUNE).is_told_by(granule, 12, planned=False) is again
    assert visit(JUNE, done=False).is_told_by(granule, 12, planned=True) is again


@pytest.mark.parametrize(("said", "again"), [(9, True), (10, False), (11, False)])
def test_what_was_done_by_then_is_not_what_is_planned(said: int, *, again: bool) -> None:
    assert visit(JUNE).is_told_by(JUNE, said, planned=True) is again
    assert visit(JUNE).is_told_by(JUNE, said, planned=False)
