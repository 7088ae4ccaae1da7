"""What is told of other people changes nothing of the speaker: "my wife quit Acme", after "I work at Acme"."""

import pytest

from reading import shown, talk


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("I live in Oslo.", "My parents live in Bergen now."),
        ("I work at Acme.", "My wife quit Acme last week."),
        ("I work at Acme with Tom.", "Tom left Acme."),
        ("I play the piano.", "My daughter stopped playing the piano."),
        ("I drink coffee every morning.", "Maria gave up coffee."),
        ("I'm allergic to peanuts.", "Tom isn't allergic to peanuts anymore."),
        ("My flight is at 10:15.", "Tom's flight got moved to 12:30."),
        ("I use Vim.", "My colleague switched to Emacs."),
        ("My rent is 900 euros.", "His rent went up to 1200 euros."),
        ("I'm dating Sam.", "Sam's brother broke up with Kim."),
        ("My favourite food is sushi.", "He changed his favourite to pizza."),
        ("My gym is FitWorld.", "Anna changed her gym to Flex."),
        ("My phone is an iPhone.", "Mum got a new Pixel."),
        ("My phone is an iPhone.", "The neighbours got their new Pixel."),
        ("We're going to Spain in July.", "They cancelled their trip to Spain."),
    ],
)
def test_what_others_changed_is_as_it_was_of_the_speaker(before: str, after: str) -> None:
    told = [each for each in talk(before, after)[1].relationships if each.source.speaker]

    assert not [each.relation for each in told if each.relation not in {"tells", "has_family"}]


def test_what_belongs_to_others_is_no_thing_of_before() -> None:
    assert shown(talk("Our wedding is on 12 June.", "Eva's wedding got moved to 3 July.")[1]) == [
        "Eva has_wedding 3 July"
    ]


@pytest.mark.parametrize(
    ("before", "after", "stated"),
    [
        ("My boss is Maria.", "Maria quit, Peter took over.", "Peter"),
        ("My brother lives in Oslo.", "He moved to Bergen.", "Bergen"),
        ("My brother lives in Oslo.", "My brother moved to Bergen.", "Bergen"),
        ("My son goes to Lincoln School.", "He goes to Park School now.", "Park School"),
        ("We use Slack.", "Everyone switched to Teams.", "Teams"),
        ("I'm at desk 4.", "They moved me to desk 9.", "9"),
        ("My brother's phone is a Pixel.", "My brother's phone is a Nokia now.", "Nokia"),
        ("My sister is a vegetarian.", "My sister is vegan now.", "vegan"),
    ],
)
def test_what_is_of_that_person_changes(before: str, after: str, stated: str) -> None:
    found = shown(talk(before, after)[1])

    assert any(line.endswith(stated) for line in found), found


@pytest.mark.parametrize(
    ("before", "after", "ended"),
    [
        ("My boss is Maria.", "Maria left.", "Maria"),
        ("I'm allergic to peanuts.", "My doctor says I'm not allergic to peanuts anymore.", "peanuts"),
    ],
)
def test_what_is_over_by_others_is_over(before: str, after: str, ended: str) -> None:
    told = talk(before, after)[1].relationships

    assert [each.target.text for each in told if each.source.speaker and each.stance == "ended"] == [ended]
