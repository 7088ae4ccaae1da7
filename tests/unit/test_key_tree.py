"""The keys of a group: any range of them can be destroyed, and what is kept gives none of those."""

import hmac
import random

import pytest

from asof_streams.key_tree import DEPTH, KeyTree, is_whole

LAST = 2**DEPTH - 1


def test_each_message_has_a_key_of_its_own_whatever_the_order_they_are_asked_for_in() -> None:
    tree, positions = KeyTree.plant(), [*range(200), 2**40, LAST, 2**40 - 1, 7, 0]

    keys = {position: tree.key(position) for position in positions}

    assert len({*keys.values()}) == len({*positions})
    assert all(KeyTree(tree.nodes).key(position) == key for position, key in keys.items())


def test_a_key_is_worked_out_from_its_tree_as_the_reference_page_says() -> None:
    tree, path = KeyTree.plant(), format(77, "063b")

    key = tree.nodes[""]
    for digit in path:
        key = hmac.digest(key, bytes([int(digit)]), "sha256")

    assert tree.key(77) == key


@pytest.mark.parametrize("seed", range(5))
def test_keys_of_destroyed_ranges_are_gone_and_all_others_stay(seed: int) -> None:
    chosen = random.Random(seed)
    tree = whole = KeyTree.plant()
    gone: set[int] = set()
    for _ in range(5):
        start = chosen.randrange(1_000)
        stop = start + chosen.choice((0, 1, 3, 200))
        tree = tree.without(range(start, stop))
        gone.update(range(start, stop))

    assert [position for position in range(1_300) if tree.key(position) is None] == sorted(gone)
    assert all(tree.key(at) == whole.key(at) for at in [*range(1_300), LAST] if at not in gone)
    assert len(tree.nodes) < 1_000


def test_no_kept_key_is_above_a_destroyed_one() -> None:
    tree = KeyTree.plant().without(range(500), range(600, 601))

    assert not [top for top in tree.nodes if format(499, "063b").startswith(top) or format(600, "063b").startswith(top)]
    assert KeyTree.plant().without(range(LAST + 1)).nodes == {}


def test_ranges_that_overlap_or_meet_are_destroyed_as_one() -> None:
    tree = KeyTree.plant()

    together = tree.without(range(12))
    assert tree.without(range(10), range(2, 12), range(3, 5)).nodes == together.nodes
    assert tree.without(range(6, 12), range(6), range(3, 3)).nodes == together.nodes


def test_a_range_is_reached_until_each_key_of_it_is_destroyed() -> None:
    tree = KeyTree.plant().without(range(5), range(6, 9))

    assert [tree.reaches(of) for of in (range(6), range(5), range(6, 9), range(5, 6), range(8, 10), range(3, 3))] == [
        True,
        False,
        False,
        True,
        True,
        False,
    ]
    assert not tree.reaches()


@pytest.mark.parametrize(
    ("nodes", "whole"),
    [
        ({}, True),
        ({"": 32}, True),
        ({"": 31}, False),
        ({"": 33}, False),
        ({"00": 32, "01": 32, "1" * 63: 32}, True),
        ({"1" * 64: 32}, False),  # deeper than a leaf
        ({"02": 32}, False),
        ({"": 32, "0": 32}, False),  # which the other one gives
        ({"0": 32, "01": 32, "1": 32}, False),
    ],
)
def test_kept_keys_are_those_of_a_tree_if_each_has_its_size_and_none_gives_another(
    nodes: dict[str, int], whole: bool
) -> None:
    assert is_whole({path: bytes(size) for path, size in nodes.items()}) == whole
