"""A set that only grows takes few keys for those that it has, and none for one that it lacks."""

import pytest

from asof_projections import key_set
from asof_projections.key_set import KeySet


@pytest.mark.parametrize("most", [1 << 18, 100], ids=["a set", "a filter"])
def test_a_key_that_was_added_is_in_it_and_others_are_not(monkeypatch: pytest.MonkeyPatch, most: int) -> None:
    monkeypatch.setattr(key_set, "_EXACT", most)
    keys = KeySet()
    assert ("g", "0") not in keys
    for number in range(2_000):
        keys.add(("g", str(number)))

    assert all(("g", str(number)) in keys for number in range(2_000))
    assert sum(("h", str(number)) in keys for number in range(2_000)) < 5
