"""Set-up of processes that do long work."""

import gc

from asof.runtime.processes import SeldomCollections


def test_while_anybody_works_long_collections_are_seldom_and_then_as_often_as_before() -> None:
    before = gc.get_threshold()
    one, other = SeldomCollections(), SeldomCollections()
    with one:
        other.__enter__()
        during = gc.get_threshold()
    after_one = gc.get_threshold()
    other.__exit__()

    assert during == after_one > before
    assert gc.get_threshold() == before
