"""How alike spellings are. The numbers were computed by rapidfuzz 3.14.6."""

from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from asof_projections.spelling import is_one_slip_away, jaro_winkler

FEW_LETTERS = st.text("abc", max_size=9)  # so that they repeat, and are swapped


@pytest.mark.parametrize(
    ("one", "other", "similarity"),
    [
        ("", "", 1.0),
        ("", "Ana", 0.0),
        ("a", "b", 0.0),
        ("Ana", "Ana", 1.0),
        ("Ana", "ana", 0.7777777777777777),
        ("Munich", "Mumbai", 0.6666666666666666),  # too little for a boost
        ("martha", "marhta", 0.9611111111111111),  # two neighbours are swapped
        ("dwayne", "duane", 0.8400000000000001),
        ("dixon", "dicksonx", 0.8133333333333332),
        ("jonathan", "johnathan", 0.9037037037037037),
        ("jonathan smith", "jonathan smyth", 0.9714285714285714),  # of a long prefix four characters count
        ("abcabcabc", "cbacbacba", 0.8888888888888888),
        ("aab", "baa", 0.5555555555555555),  # of letters that are two places away none is in common
        ("katherine", "catherine", 0.9259259259259259),  # no boost: the first letters differ
        ("Müller", "Mueller", 0.8042857142857143),
        ("ab" * 8, "ba" * 8, 0.8333333333333334),
    ],
)
def test_the_similarity_of_two_spellings_is_that_of_jaro_and_winkler(one: str, other: str, similarity: float) -> None:
    assert jaro_winkler(one, other) == jaro_winkler(other, one) == similarity


@given(FEW_LETTERS, FEW_LETTERS)
def test_only_equal_spellings_are_wholly_alike(one: str, other: str) -> None:
    assert 0 <= jaro_winkler(one, other) <= 1
    assert (jaro_winkler(one, other) == 1) is (one == other)


def slips(text: str) -> set[str]:
    """Every text that one slip makes of a text of a few letters, and the text itself."""
    parts = [(text[:place], text[place:]) for place in range(len(text) + 1)]
    missing = {before + after[1:] for before, after in parts}
    more = {before + letter + after for before, after in parts for letter in "abc"}
    other = {before + letter + after[1:] for before, after in parts if after for letter in "abc"}
    swapped = {before + after[1::-1] + after[2:] for before, after in parts if len(after) > 1}
    return missing | more | other | swapped | {text}


def test_one_slip_is_a_character_that_is_missing_another_or_swapped_with_its_neighbour() -> None:
    texts = ["".join(letters) for size in range(5) for letters in product("abc", repeat=size)]

    assert {(one, other) for one in texts for other in texts if is_one_slip_away(one, other)} == {
        (one, other) for one in texts for other in slips(one) if len(other) < 5
    }
