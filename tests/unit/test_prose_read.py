"""Prose in the third person: offices, founders, places, each with its sentence."""

import pytest

from reading import check


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Ana Silva is the mayor of Porto.", ["Ana Silva holds_position mayor of Porto"]),
        ("Tim Cook is the CEO of Apple.", ["Apple has_ceo Tim Cook"]),
        ("Lisa Su has been the CEO of AMD since 2014.", ["Lisa Su holds_position CEO of AMD 2014-01-01.."]),
        ("John became director of engineering at Globex.", ["John holds_position director of engineering"]),
        ("Acme was founded by John Smith in 1998.", ["John Smith founded Acme 1998-01-01.."]),
        ("Paul Allen founded Microsoft with Bill Gates.", ["Paul Allen founded Microsoft"]),
        ("Zurich is a city in Switzerland.", ["Zurich located_in Switzerland"]),
        ("Maria Lopez joined Siemens in 2019.", ["Maria Lopez member_of Siemens 2019-01-01.."]),
    ],
)
def test_a_sentence_about_others_is_read(text: str, expected: list[str]) -> None:
    check(text, *expected)


@pytest.mark.parametrize(
    "text",
    [
        "Is Ana Silva the mayor of Porto?",
        "Ana Silva may be the mayor of Porto.",
        "She's the president.",
        "The head of the bed is broken.",
        "Hands finally got warm today.",
        "Brain is buzzing with options.",
    ],
)
def test_what_is_unsure_or_about_nobody_is_left_out(text: str) -> None:
    check(text)
