"""The index of rules: what a pattern needs, and that no rule is left out that would have matched."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from asof_agents.extraction.english.times.rule_index import RuleIndex, needs
from asof_agents.extraction.english.times.rules_clock import grammar


@pytest.mark.parametrize(
    ("pattern", "needed"),
    [
        ("[a]([bc])", ["a", "bc"]),
        ("[a]?([b])[c]*", ["b"]),
        ("(?:[a]|[b])[c]", ["ab", "c"]),
        ("(?:[a][b]|[c]?)[d]", ["d"]),
        ("(?:[a])?([b])", ["b"]),
        ("(?<=[a]|[b])([c])(?![d])(?=[e]?(?:[f]|[g]))", ["ab", "c", "fg"]),
        ("(?<![a])([b])(?!(?:[c]|[d])[e])", ["b"]),
        ("[a](?:[b]|[c]|[d])*", ["a"]),
    ],
)
def test_a_pattern_needs_what_no_match_can_be_without(pattern: str, needed: list[str]) -> None:
    assert needs(pattern) == [frozenset(letters) for letters in needed]


def test_a_letter_that_comes_by_the_way_brings_the_later_rules_that_it_serves() -> None:
    index = RuleIndex()
    for pattern in ("[x]", "[a]", "[b][x]", "[c]", "[x]?"):
        index.add(needs(pattern))
    near = index.near("ab")
    numbers = []
    for number in near:
        numbers.append(number)
        if number == 1:
            near.add("x")
    assert numbers == [1, 2, 4]


_PATTERNS = [rule.pattern for rule in grammar.rules]
_LETTERS = sorted({letter for pattern in _PATTERNS for letter in re.findall(r"[^][|()?*<=!:]", pattern.pattern)})
_INDEX = RuleIndex()
for _pattern in _PATTERNS:
    _INDEX.add(needs(_pattern.pattern))


@given(st.text(st.sampled_from(_LETTERS), max_size=24))
def test_each_rule_of_time_that_matches_is_near(code: str) -> None:
    assert set(_INDEX.near(code)) >= {number for number, pattern in enumerate(_PATTERNS) if pattern.search(code)}


@given(st.data())
def test_each_rule_of_time_is_near_what_is_made_of_its_own_pattern(data: st.DataObject) -> None:
    number = data.draw(st.integers(0, len(_PATTERNS) - 1))
    code = data.draw(st.from_regex(_PATTERNS[number]))
    assert number in set(_INDEX.near(code))
