"""Endings, as the rules read them, and the times and verbs of clauses that are joined."""

from pathlib import Path

import pytest

import asof
from reading import check, shown, talk

PASSED = "I tells My husband passed away 2024-05-14.."


@pytest.mark.parametrize(
    ("text", "stated"),
    [
        ("The wedding is off.", ["wedding scheduled_for off ended"]),
        ("The meeting was cancelled.", ["meeting scheduled_for cancelled ended"]),
        ("Julia and I got divorced.", ["I married_to Julia ended"]),
        ("Julia and I broke up.", ["I partner_of Julia ended"]),
        ("Julia and I broke up in March.", ["I partner_of Julia ended ..2024-03-01"]),
        ("My girlfriend and I split up.", ["I partner_of girlfriend ended"]),
        ("We got divorced.", ["I married_to spouse ended"]),
        ("My husband passed away yesterday.", ["I married_to husband ended ..2024-05-14", PASSED]),
        ("My cat died.", ["I has_pet cat ended", "I tells My cat died"]),
        ("I quit my job last week.", ["I works_at job ended ..2024-05-06"]),
        ("I just got laid off.", ["I works_at job ended"]),
        ("I resigned yesterday.", ["I works_at job ended ..2024-05-14"]),
        ("I don't work there anymore.", ["I works_at job ended"]),
        ("I gave up the guitar and took up the piano.", ["I plays guitar ended", "I plays piano"]),
        ("I traded the Civic in for a Toyota RAV4.", ["I owns Civic ended", "I owns Toyota RAV4"]),
        ("I prefer coffee over tea.", ["I prefers coffee", "I likes tea ended"]),
        ("I'm not a fan of Arsenal any more.", ["I likes Arsenal ended"]),
        ("I'm off sugar.", ["I eats sugar ended"]),
        ("I eat meat again.", ["I eats meat", "I does_not_eat meat ended"]),
        ("I left Acme and work at Zeta Labs now.", ["I works_at Acme ended", "I works_at Zeta Labs"]),
        (
            "I moved to Berlin in March and I no longer work at SAP.",
            ["I lives_in Berlin 2024-03-01..", "I works_at SAP ended"],
        ),
        ("In March I moved to Berlin.", ["I lives_in Berlin 2024-03-01.."]),
        ("Bill is the CEO of Initech now.", ["Initech has_ceo Bill"]),
        ("We're 14 people on the team now.", ["team number_of_people 14"]),
    ],
)
def test_an_ending_is_read(text: str, stated: list[str]) -> None:
    check(text, *stated)


@pytest.mark.parametrize(
    "text",
    [
        "Is the wedding off?",
        "I think the wedding is off.",
        "The wedding is off to a good start.",
        "Julia and I broke the vase.",
        "Julia and Ben got divorced.",
        "I bought milk and drink.",
        "I almost quit my job.",
        "I want to quit my job.",
        "My phone died.",
        "My mother died.",
        "My battery died.",
        "I quit my job search.",
        "I got fired up about it.",
        "He quit my job list.",
        "We broke up the concrete.",
        "I left my job description at home.",
        "Lee quit my team.",
        "I lived there longer.",
    ],
)
def test_what_ends_nothing_is_left_alone(text: str) -> None:
    from reading import read

    assert not [each for each in read(text).relationships if each.stance == "ended"]


@pytest.mark.parametrize(
    ("told", "ended", "holds"),
    [
        ("I own a house in Leeds.", "I sold the car.", ["house"]),
        ("I own a house in Leeds.", "I sold the house.", []),
        ("I bought a Honda Civic.", "I sold the Civic.", []),
        ("I bought a Honda Civic.", "I sold the car.", []),
    ],
)
def test_a_common_noun_ends_what_it_can_mean_and_nothing_of_another_name(
    told: str, ended: str, holds: list[str], tmp_path: Path
) -> None:
    with asof.open(tmp_path / "data", embedder="none") as memory:
        memory.add(told, role="Ana")
        memory.add(ended, role="Ana")
        assert [fact.object for fact in memory.facts(relation="owns")] == holds


@pytest.mark.parametrize(
    ("before", "said", "expected"),
    [
        ("Ben is my husband.", "Ben died.", ["I married_to Ben ended"]),
        ("Ben is my husband.", "Ben passed away last week.", ["I married_to Ben ended ..2024-05-06"]),
        ("I'm married to Ben.", "Sadly, Ben has died.", ["I married_to Ben ended"]),
        ("Ben is my friend.", "Ben died.", []),
        ("I'm married to Ben. My brother is Tom.", "Tom died.", []),
        ("Ben is my husband.", "Ben's mother died.", []),
        ("Ben is my husband.", "Ben almost died.", []),
        ("Ben is my husband.", "Ben died laughing.", []),
        ("Ben is my husband.", "Ben passed his exam.", []),
        ("Ben is my husband.", "I think Ben died.", []),
        ("Ben is my husband.", "Did Ben pass away?", []),
    ],
)
def test_a_death_of_who_was_just_told_to_be_the_speakers_husband_ends_that(
    before: str, said: str, expected: list[str]
) -> None:
    stated = [line for line in shown(talk(before, said)[-1]) if "married_to" in line or "partner_of" in line]

    assert stated == expected
