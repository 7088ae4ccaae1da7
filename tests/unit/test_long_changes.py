"""What one message changes in a long slot, beside the slot."""

from collections.abc import Iterator, Mapping

import pytest

from asof_agents.handlers.invalidations import SlotState
from asof_agents.handlers.long_changes import LongChanges, Patch
from asof_projections.long_slot import LongSlot
from asof_projections.model.rows import Slot
from asof_projections.versions import RULE, Assertion, Ending, belief
from asof_streams.instants import INF


def test_a_patch_reads_as_if_its_changes_were_made_and_changes_nothing_below() -> None:
    known = {"a": 1, "b": 2, "c": 3}
    patch = Patch(known)

    patch["b"] = 20
    patch["d"] = 4
    del patch["a"]
    patch["e"] = 5
    del patch["e"]

    assert dict(patch) == {"b": 20, "c": 3, "d": 4}
    assert len(patch) == 3
    assert patch.get("a") is None
    for gone in ("a", "e", "f"):
        with pytest.raises(KeyError):
            patch[gone]
    assert (known, patch.changes) == ({"a": 1, "b": 2, "c": 3}, {"a": None, "b": 20, "d": 4})


class Unwalked(dict[str, int]):
    """A long slot, as who must not walk through it sees it."""

    def __iter__(self) -> Iterator[str]:
        raise AssertionError


def test_how_much_a_patched_mapping_holds_is_known_without_a_walk_through_it() -> None:
    patch = Patch(Unwalked({"a": 1, "b": 2, "c": 3}))

    assert len(patch) == 3
    patch["b"] = 20
    patch["d"] = 4
    del patch["a"]
    assert len(patch) == 3
    assert patch
    del patch["b"], patch["c"], patch["d"]
    assert not patch


def assertion(fact: str, value: str, start: int) -> Assertion:
    return Assertion(fact, value, start, INF, (start, 0), start)


def test_changes_of_a_long_slot_are_seen_beside_what_is_known_of_it() -> None:
    known = [assertion("a", "v", 10), assertion("b", "w", 20), assertion("c", "v", 30)]
    slot = LongSlot(Slot(tuple(known), (), belief(known, (), single=True)))
    changes = LongChanges(slot)
    changes.assertions["d"] = assertion("d", "v", 40)
    changes.assertions["e"] = assertion("e", "w", 25)
    changes.assertions["a"] = known[0]._replace(attested=50)
    del changes.assertions["c"]

    assert [a.fact_id for a in changes.of("v")] == ["a", "d"]
    assert [a.fact_id for a in changes.of("w")] == ["b", "e"]
    assert changes.of("x") == []
    assert [(a.fact_id, a.attested) for a in changes.begun(10, 31, 9)] == [("a", 50), ("b", 20)]  # known before alone
    changes.endings["end"] = Ending("end", "v", 45)
    now = [*(changes.assertions[fact] for fact in "abde")]
    assert changes.belief(5) == belief(now, [changes.endings["end"]], single=True)


class UnaskedSlot(LongSlot):
    """A long slot that nobody asks for everything that was ever said of a value."""

    def of(self, value: str) -> Mapping[str, None]:
        raise AssertionError(value)


def test_what_was_believed_of_a_value_at_an_instant_is_found_by_the_instant() -> None:
    known = [
        assertion(f"{value}{start}", value, start) for start, value in zip(range(0, 400, 10), "vw" * 20, strict=True)
    ]
    long = LongChanges(UnaskedSlot(Slot(tuple(known), (), held := belief(known, (), single=True))))
    state = SlotState(single=True, rule=RULE, assertions=long.assertions, endings=long.endings, before=held, long=long)

    assert state.believed("v", 205) == [known[20]]
    assert state.believed("w", 205) == []
    state.put(known[20]._replace(attested=300))
    assert [a.attested for a in state.believed("v", 200)] == [300]
    state.remove(known[20])
    assert state.believed("v", 205) == []
    assert state.believed("w", 219) == [known[21]]
