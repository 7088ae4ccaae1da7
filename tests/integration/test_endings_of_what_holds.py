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
        ("I have a dog named Rex.", "My dog passed away."),
        ("I have a cat.", "My cat died."),
        ("I work at Acme.", "I quit my job."),
        ("I work at Acme.", "I got laid off."),
        ("I work at Acme.", "I don't work there anymore."),
        ("My husband is Ben.", "We got divorced."),
        ("I'm dating Sam.", "We broke up."),
        ("My girlfriend is Lea.", "My girlfriend and I split up."),
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
        ("I work at Acme Labs.", "I lost my job."),
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


def test_what_nobody_has_is_ended_by_no_role(memory: asof.Memory) -> None:
    told(memory, "I live in Rome.", "I quit my job.", "We got divorced.")

    assert [f.fact for f in memory.facts(any_time=True) if f.relation != "did"] == ["Ana lives in Rome"]


def test_an_end_in_a_year_that_is_just_over_ends_what_was_told_without_a_start(memory: asof.Memory) -> None:
    assert told(memory, "I am married to Julia.", "Julia and I got divorced last year.") == []


def test_a_dog_that_died_is_none_of_two(memory: asof.Memory) -> None:
    facts = told(memory, "I have a dog named Rex.", "I have a dog named Bello.", "My dog died.")

    assert facts == ["Ana has a pet, Bello", "Ana has a pet, Rex"]


@pytest.mark.parametrize(
    ("one", "more"),
    [
        ("I have a sister named Lea.", "I have a sister named Eva."),
        ("I have a brother named Jon.", "My other brother is named Tim."),
    ],
)
def test_one_more_takes_nobodys_place(memory: asof.Memory, one: str, more: str) -> None:
    assert len(told(memory, one, more)) == 2


@pytest.mark.parametrize(
    ("lines", "facts"),
    [
        (["I used to work at SAP."], ["Ana works_at SAP until 2024-05-01T10:00:00Z"]),
        (["I left SAP in 2018."], ["Ana works_at SAP until 2018-01-01"]),
        (["I don't work at SAP."], []),  # which says nothing of former times
        (
            ["I live in Oslo.", "I used to live in Rome.", "I used to live in Paris."],
            [
                "Ana lives_in Oslo from 2024-05-01T10:00:00Z",
                "Ana lives_in Paris until 2024-05-01T09:59:59.999999Z",
                "Ana lives_in Rome until 2024-05-01T10:00:00Z",
            ],
        ),
        (
            ["I work at Acme.", "I used to work at SAP.", "I quit my job yesterday."],
            [
                "Ana works_at Acme from 2024-05-01T10:00:00Z until 2024-05-02",
                "Ana works_at SAP until 2024-05-01T10:00:00Z",
            ],
        ),
    ],
)
def test_what_is_told_as_former_alone_held_until_then(memory: asof.Memory, lines: list[str], facts: list[str]) -> None:
    told(memory, *lines)

    assert sorted(str(f) for f in memory.facts(any_time=True)) == facts
