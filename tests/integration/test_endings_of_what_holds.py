"""An ending ends what holds and its words can mean, and no more."""

from collections.abc import Iterator
from pathlib import Path

import pytest

import asof
from asof_agents.handlers.mentions import CONTEXT_TURNS

LATER = ["Hm."] * (CONTEXT_TURNS + 1)  # after which a turn is no longer the context of another


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[asof.Memory]:
    with asof.open(tmp_path) as memory:
        yield memory


def told(memory: asof.Memory, *lines: str) -> list[str]:
    """Tell one line a day, and return the facts of states that hold at last."""
    for day, line in enumerate(lines, 1):
        memory.add(line, role="Ana", timestamp=f"2024-05-{day:02}T10:00:00Z")
    return sorted(f.fact for f in memory.facts(valid_at="2024-06-01T00:00:00Z") if f.relation != "did")


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("I joined the chess club.", "I left the chess club."),
        ("I own a Honda Civic.", "I sold the Civic."),
        ("I'm a member of the Tigers.", "I left the Tigers."),
        ("I like Arsenal.", "I'm not a fan of Arsenal any more."),
        ("I love tea.", "I got tired of tea."),
        ("I am married to Julia.", "Julia and I got divorced."),
        ("I'm dating Sam.", "Sam and I broke up."),
        ("The wedding is on June 14.", "The wedding is off."),
        ("I have a dog named Rex.", "Rex died last week."),
    ],
)
def test_what_held_holds_no_longer(memory: asof.Memory, before: str, after: str) -> None:
    assert told(memory, before, after) == []


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("I joined the chess club.", "I left the chess club."),
        ("I own a Honda Civic.", "I sold the Civic."),
        ("I bought a Honda.", "I sold the Honda Civic."),
        ("I work at Acme Labs.", "I left Acme."),
        ("I drive a Honda Civic.", "I sold the car."),
    ],
)
def test_what_was_said_long_before_holds_no_longer(memory: asof.Memory, before: str, after: str) -> None:
    assert told(memory, before, *LATER, after) == []


@pytest.mark.parametrize(
    ("before", "after", "left"),
    [
        (("I joined the Foxes.", "Ben joined the Tigers."), "I left the Tigers.", "Ana is a member of Foxes"),
        (("I drive a Honda Civic.", "I drive a Volvo."), "I sold the car.", "Ana owns Honda Civic, Ana owns Volvo"),
        (("I drive a Honda Civic.", "I bought a dog."), "I sold the car.", "Ana owns dog"),
        (("I drive a Honda Civic.",), "I sold the dog.", "Ana owns Honda Civic"),
        (("I drive a Honda Civic.",), "I sold the Volvo.", "Ana owns Honda Civic"),
        (("I work at Acme.", "I live in Rome."), "I left Globex.", "Ana lives in Rome, Ana works at Acme"),
        (("I like the Tigers.", "I work at Acme."), "I left the Tigers.", "Ana likes Tigers, Ana works at Acme"),
    ],
)
def test_an_ending_of_what_was_said_long_before_ends_that_of_its_subject_alone(
    memory: asof.Memory, before: tuple[str, ...], after: str, left: str
) -> None:
    facts = [fact for fact in told(memory, *before, *LATER, after) if fact.startswith("Ana")]

    assert ", ".join(facts) == left


def test_a_part_of_a_name_that_two_have_ends_neither(memory: asof.Memory) -> None:
    facts = told(memory, "I drive a Honda Civic.", "I drive a Honda Jazz.", "I sold the Honda.")

    assert facts == ["Ana owns Honda Civic", "Ana owns Honda Jazz"]


def test_a_part_of_a_name_that_is_said_twice_ends_it(memory: asof.Memory) -> None:
    assert told(memory, "I drive a Honda Civic.", "I drive a Honda Civic.", "I sold the Civic.") == []


def test_leaving_one_ends_no_other(memory: asof.Memory) -> None:
    facts = told(memory, "I work at Acme.", "I joined the Tigers.", "I left the Tigers.")

    assert facts == ["Ana works at Acme"]


def test_an_ending_of_what_was_never_said_ends_nothing(memory: asof.Memory) -> None:
    assert told(memory, "I work at Acme.", "I left Globex.") == ["Ana works at Acme"]
