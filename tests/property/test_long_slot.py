"""A long slot says of what changes may touch what `belief` says of the whole, and touches little of it."""

from random import Random
from typing import Final

import pytest

from asof_projections import long_slot
from asof_projections.long_slot import LongSlot
from asof_projections.model.rows import Slot
from asof_projections.versions import Assertion, Ending, Interval, belief
from asof_streams.errors import InvalidInput
from asof_streams.instants import INF
from effort import tries

Held = dict[str, tuple[Interval, ...]]
_VALUES: Final = "vwxyz"


def assertion(random: Random, n: int, span: int) -> Assertion:
    start = random.randrange(span)
    end = random.choice([INF, INF, start + 1 + random.randrange(-(-span // random.choice([2, 10, 100])))])
    value = random.choice(_VALUES[: random.choice([2, 5])])
    return Assertion(f"a{n}", value, start, end, (n, 0), random.choice([start, random.randrange(2 * span)]))


def ending(random: Random, n: int, span: int, facts: list[str]) -> Ending:
    value, fact = random.choice([(None, None), (random.choice(_VALUES), None), (None, random.choice(facts))])
    return Ending(f"e{n}", value, random.randrange(span), fact)


def changes(
    random: Random, n: int, span: int, slot: LongSlot
) -> tuple[dict[str, Assertion | None], dict[str, Ending | None]]:
    """Return some changes as one message makes them."""
    assertions: dict[str, Assertion | None] = {}
    endings: dict[str, Ending | None] = {}
    facts = list(slot.assertions)
    for i in range(random.choice([1, 1, 1, 2, 3])):
        match random.randrange(10):
            case 0 | 1 if len(facts) > 2:
                assertions[random.choice(facts)] = None
            case 2 if facts and (fact := random.choice(facts)) not in assertions:
                known = slot.assertions[fact]
                assertions[fact] = known._replace(attested=known.attested + random.randrange(span))
            case 3 if facts:
                endings[f"e{n}.{i}"] = ending(random, n, span, facts)._replace(ending_id=f"e{n}.{i}")
            case 4 if slot.endings:
                endings[random.choice(list(slot.endings))] = None
            case _:
                new = assertion(random, n, span)._replace(fact_id=f"a{n}.{i}", order=(n, i))
                assertions[new.fact_id] = new
    return assertions, endings


def apply(slot: LongSlot, assertions: dict[str, Assertion | None], endings: dict[str, Ending | None]) -> None:
    for fact, put in assertions.items():
        slot.put(put) if put else slot.remove(fact)
    for key, end in endings.items():
        slot.put_ending(end) if end else slot.remove_ending(key)


def test_what_changes_touch_is_what_the_whole_slot_says() -> None:
    for seed in range(tries(20, nightly=2_000)):
        random = Random(seed)
        span = random.choice([12, 60, 400, 4_000])  # where it is long, most are over before the next begins
        said = [assertion(random, n, span) for n in range(random.randrange(1, 40))]
        slot = LongSlot(Slot(tuple(said), (), belief(said, (), single=True)))
        for n in range(100, 140):
            assertions, endings = changes(random, n, span, slot)
            around = slot.belief(assertions, endings)
            apply(slot, assertions, endings)
            slot.held.update(around)
            whole = belief(slot.assertions.values(), tuple(slot.endings.values()), single=True)
            assert slot.held == whole, (seed, n)
            low, high = sorted(random.randrange(span) for _ in range(2))
            among = [a for a in slot.assertions.values() if any(s < high and low < e for s, e in whole[a.fact_id])]
            assert slot.believed(low, high) == sorted(among, key=lambda a: a.order), (seed, n)


def test_of_a_slot_whose_facts_follow_each_other_few_are_touched(monkeypatch: pytest.MonkeyPatch) -> None:
    said = [Assertion(f"a{n}", f"v{n}", 10 * n, INF, (n, 0), 10 * n) for n in range(5_000)]
    slot = LongSlot(Slot(tuple(said), (), belief(said, (), single=True)))
    slot.belief({"a0": None}, {})  # which finds the cuts
    monkeypatch.setattr(long_slot, "MOST", 12)

    for n in range(200):
        at = 10 * (n * 37 % 5_000) + 5
        new = Assertion(f"b{n}", "new", at, at + 2 if n % 3 else INF, (9_000 + n, 0), at)
        slot.held |= slot.belief({new.fact_id: new}, {})
        slot.put(new)
        if n % 4 == 0:
            slot.belief({f"a{n}": None}, {})
            slot.remove(f"a{n}")
        if n % 5 == 0:
            end = Ending(f"e{n}", None, at + 3, new.fact_id)
            slot.belief({}, {end.ending_id: end})
            slot.put_ending(end)
    assert len(slot.belief({"b0": None}, {})) < 12


def test_statements_that_overlap_with_too_many_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(long_slot, "MOST", 50)
    said = [Assertion(f"a{n}", f"v{n}", n, 1_000 + n, (n, 0), n) for n in range(100)]
    slot = LongSlot(Slot(tuple(said), (), belief(said, (), single=True)))

    with pytest.raises(InvalidInput, match="overlaps with more than 50"):
        slot.belief({"b": Assertion("b", "b", 60, INF, (200, 0), 60)}, {})


def test_no_more_is_looked_at_than_until_what_changes_is_over(monkeypatch: pytest.MonkeyPatch) -> None:
    said = [Assertion(f"a{n}", f"v{n}", 10 * n, INF, (n, 0), 10 * n) for n in range(100)]
    slot = LongSlot(Slot(tuple(said), (), belief(said, (), single=True)))
    assert slot.believed(500, 501) == [said[50]]  # which finds the cuts
    # From the one before it on, five at first; then twice as many, until the next one begins when it is over.
    for end, looked_at in ((550, 5), (551, 10), (600, 10), (601, 20)):
        new = {"b": Assertion("b", "b", 501, end, (200, 0), 501)}
        monkeypatch.setattr(long_slot, "MOST", looked_at)
        assert {"a50", "b"} <= set(slot.belief(new, {}))
        monkeypatch.setattr(long_slot, "MOST", looked_at - 1)
        with pytest.raises(InvalidInput):
            slot.belief(new, {})


def test_what_is_said_of_changes_is_about_those_that_they_touch_alone() -> None:
    said = [
        Assertion("a", "v", 10, INF, (0, 0), 10),
        Assertion("b", "w", 21, INF, (1, 0), 21),
        Assertion("c", "v", 30, INF, (2, 0), 30),
    ]
    slot = LongSlot(Slot(tuple(said), (), belief(said, (), single=True)))

    new = Assertion("d", "x", 20, INF, (3, 0), 20)
    assert slot.belief({"d": new}, {}) == {"a": ((10, 20),), "d": ((20, 21),)}
    assert slot.belief({}, {"e": Ending("e", "v", 30)}) == {"a": ((10, 21),)}
    slot.put_ending(Ending("e", "v", 10))
    assert slot.belief({}, {"f": Ending("f", "v", 15)}) == {"a": ((10, 15),)}


def test_the_facts_that_begin_within_a_period_are_found_unless_there_are_more_than_a_limit() -> None:
    said = [Assertion(f"a{n}", f"v{n}", 10 * n, INF, (n, 0), 10 * n) for n in range(50)]
    slot = LongSlot(Slot(tuple(said), (), belief(said, (), single=True)))
    for random in map(Random, range(tries(50, nightly=2_000))):
        low, high = sorted(random.randrange(-20, 520) for _ in range(2))
        within = [a.fact_id for a in said if low <= a.start < high]

        assert slot.begun(low, high, len(within)) == within
        assert slot.begun(low, high, len(within) - 1) == []


def test_what_states_a_fact_again_holds_once_that_is_removed_however_much_lies_between() -> None:
    first, again = Assertion("a", "x", 0, 100, (0, 0), 0), Assertion("c", "x", 90, 100, (1, 0), 90)
    between = [Assertion(f"b{n}", "y", 10 + 10 * n, 15 + 10 * n, (2 + n, 0), 10 * n) for n in range(7)]
    for said in ([first, again], [first, *between, again]):
        slot = LongSlot(Slot(tuple(said), (), belief(said, (), single=True)))

        assert slot.held["c"] == ()
        assert slot.belief({"a": None}, {}) == {"c": ((90, 100),)}


def test_what_lasts_longer_without_what_was_removed_behind_it_is_ended_by_what_begins_later() -> None:
    said = [Assertion(f"a{n}", "vwvx"[n], 10 * n, INF, (n, 0), 10 * n) for n in range(4)]
    slot = LongSlot(Slot(tuple(said), (), belief(said, (), single=True)))
    slot.held |= slot.belief({"a1": None}, {})
    slot.remove("a1")

    new = Assertion("b", "y", 25, INF, (4, 0), 25)
    assert slot.belief({"b": new}, {}) == {"a0": ((0, 25),), "a2": (), "b": ((25, 30),)}
