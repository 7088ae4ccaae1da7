"""Values that change: the new one ends the old, and nothing else does."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from bench.changes import disturbed, outcomes, pairs, sets

import asof


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[asof.Memory]:
    with asof.open(tmp_path) as memory:
        yield memory


def told(memory: asof.Memory, *lines: str) -> list[str]:
    """Tell one line a day, each "Name: words", and return what holds at last."""
    for day, line in enumerate(lines, 1):
        role, _, words = line.partition(": ")
        memory.add(words, role=role, timestamp=f"2024-05-{day:02}T10:00:00Z")
    return [fact.fact for fact in memory.facts(valid_at="2024-06-01T00:00:00Z")]


def test_what_the_speaker_called_my_rent_is_meant_by_the_rent(memory: asof.Memory) -> None:
    facts = told(memory, "Ana: My rent is 900 euros.", "Ana: The landlord raised the rent to 950 euros.")

    assert facts == ["Ana's rent is 950 euros"]


def test_two_speakers_have_a_rent_each(memory: asof.Memory) -> None:
    facts = told(memory, "Ana: My rent is 900 euros.", "Ben: My rent is 950 euros.")

    assert facts == ["Ana's rent is 900 euros", "Ben's rent is 950 euros"]


def test_a_name_with_fewer_words_means_the_one_thing_that_ends_so(memory: asof.Memory) -> None:
    facts = told(memory, "Ana: The project deadline is May 3.", "Ben: The deadline slipped to May 17.")

    assert facts == ["project deadline is scheduled for May 17"]


@pytest.mark.parametrize(("over", "held"), [("3 May", ["beta is scheduled for 17 May"]), ("17 May 2024", [])])
def test_a_value_that_holds_no_longer_ends_itself_and_no_later_one(
    memory: asof.Memory, over: str, held: list[str]
) -> None:
    moved = ["Ana: The deadline for the beta is 3 May.", "Ana: The deadline for the beta is 17 May."]

    assert told(memory, *moved, f"Ana: The deadline for the beta is no longer {over}.") == held


def test_a_name_with_fewer_words_means_none_of_two(memory: asof.Memory) -> None:
    facts = told(
        memory,
        "Ana: The project deadline is May 3.",
        "Ana: The tax deadline is May 31.",
        "Ben: The deadline is May 17.",
    )

    assert len(facts) == 3


def test_the_favorites_of_two_kinds_stand_beside_each_other(memory: asof.Memory) -> None:
    facts = told(
        memory,
        "Ana: My favourite food is ramen.",
        "Ana: My favourite band is Muse.",
        "Ana: My favourite band is Blur now.",
    )

    assert sorted(facts) == ["Ana's favorite band is Blur", "Ana's favorite food is ramen"]


def test_a_thing_has_a_version_and_a_date_at_once(memory: asof.Memory) -> None:
    facts = told(memory, "Ana: The release is on June 5.", "Ana: We upgraded the release to 2.9.")

    assert sorted(facts) == ["release is at version 2.9", "release is scheduled for June 5"]


def test_most_everyday_changes_are_believed() -> None:
    for name, changes in sets().items():
        found = outcomes(changes)

        least = {"fresh": 0.6, "many": 0.5, "unread": 0.2}.get(name, 0.85)  # docs/quality.md says what each is
        assert sum(each.right for each in found) >= least * len(found), name


def test_a_second_fact_seldom_disturbs_the_first() -> None:
    assert len(disturbed(pairs())) <= 8
