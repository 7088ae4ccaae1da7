"""New values of what no rule read as a relationship: "we bank with Barclays", "it all moved to Monzo"."""

import pytest

from reading import AGENT_MEMORY, shown, talk


@pytest.mark.parametrize(
    ("before", "after", "stated"),
    [
        ("Invoices are due within 30 days.", "New terms: invoices have to be paid within 14 days now.", "14 days"),
        ("Our support rota is run by Kofi.", "Kofi stepped down, the rota is run by Mirela.", "Mirela"),
        ("The loan desk closes at 6 pm.", "The loan desk moved to 8 pm.", "8 pm"),
        ("i use bumble", "deleted bumble, trying hinge", "hinge"),
        ("We track bugs in Jira.", "We moved the bugs to Linear.", "Linear"),
        ("The retro is held every week.", "The retro is now held every other week.", "every other week"),
        ("My seat is 14C.", "They reseated me, I'm in 22A now.", "22A"),
        ("I go to bed at 11.", "I changed my bedtime, I go to bed at 10 now.", "10"),
        ("oleg is doing the release notes", "release notes got reassigned to hannah", "hannah"),
        ("Priya owns the billing service.", "Priya is going on leave, and Anselm has taken over billing.", "Anselm"),
        ("The bins are collected on Wednesday.", "The council changed the rounds, our bins go on Monday.", "Monday"),
        ("Our interns stay for three months.", "HR lengthened the internships to six months.", "six months"),
        ("i've got 2 nephews", "my sis had the baby, so that's 3 nephews!!!", "3 nephews"),
        ("I'm learning the cello.", "I swapped the cello for the double bass.", "double bass"),
        ("working at Pinecrest Labs rn", "new employer as of this week: Orbitfold", "Orbitfold"),
    ],
)
def test_a_new_value_of_the_same_thing_is_read(before: str, after: str, stated: str) -> None:
    found = shown(talk(before, after)[1])

    assert any(line.endswith(stated) for line in found), found


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("My sister Ines lives in Leeds.", "My sister Ines works in Boston."),
        ("Please add a login now.", "When editing src/db, always add a migration."),
        ("Add a test.", "Always add a doc."),
        ("Buy a coat.", "I always buy a hat."),
        ("I have a cat called Miso.", "I have a dog called Rex."),
        ("The board meets on Monday.", "The design team meets on Thursday."),
        ("Priya owns the billing service.", "Tom owns the search service."),
        ("I speak French.", "I speak Spanish now too."),
        ("I'm allergic to penicillin.", "I'm allergic to nuts."),
        ("We use Slack for chat.", "We have now moved our tickets to Jira."),
        ("My sister Ines works at Acme.", "My friend Tom works at Zeta now."),
        ("I run five kilometres every morning.", "I swim two kilometres on Sundays."),
        ("I have a meeting with Ola at 3.", "I have a meeting with Kim at 5."),
        ("We bank with ING.", "We switched our electricity to Vattenfall."),
        ("My gym is FitWorld.", "I moved to a new flat in Leeds."),
        ("My Spanish is at B1.", "My French is at A2 now."),
        ("Our Paris office has 20 people.", "Our Rome office has 35 people now."),
        ("I take 50 mg of sertraline.", "I take 10 mg of cetirizine."),
        ("My rent is 900 euros.", "My phone bill is 30 euros."),
        ("Maria is the owner of the parser.", "I moved to Berlin."),
        ("The parser is owned by Maria.", "I moved to Berlin."),
        ("My sister Anna works at Acme Ltd.", "I started at Globex Ltd yesterday."),
        ("My boss is Maria.", "Tom's boss is Peter now."),
        ("My daughter's phone is a Pixel.", "I switched to an iPhone."),
        ("My brother lives in Oslo.", "Oh, and I moved to Bergen."),
        ("My phone is a Pixel.", "I looked at the new iPhone today."),
        ("I weigh 80 kg.", "I lifted 100 kg today."),
        ("I live in Oslo.", "My flight to Paris was moved to Friday."),
    ],
)
def test_a_second_fact_takes_no_place_of_the_first(before: str, after: str) -> None:
    second = talk(before, after)[1]
    alone = set(shown(talk(after)[0]))

    assert set(shown(second)) <= alone
    assert not [each for each in second.relationships if each.stance == "ended"]


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("Ana lives near the station number 2, I think.", "Ana lives near the station number 3, I think."),
        ("Ana lives near the station number 2.", "Ana lives near the station number 3."),
        ("We bank with Barclays.", "We moved everything to Monzo, I guess."),
        ("Lena is my dentist.", "Lena moved to Berlin."),
    ],
)
def test_a_thought_and_the_name_of_somebody_give_no_attribute(before: str, after: str) -> None:
    found = shown(talk(before, after)[1])

    assert not [line for line in found if line.startswith("I has_")], found


def test_what_somebody_of_the_speaker_does_is_not_changed_by_what_the_speaker_does() -> None:
    assert shown(talk("My sister Maria works at Acme.", "I moved to Berlin.", extractor=AGENT_MEMORY)[-1]) == []


def test_a_value_that_is_read_of_one_thing_takes_no_place_of_another_of_its_kind() -> None:
    told = talk("I weigh 82 kg.", "My goal is 75 kg.", "I'm down to 79 kg.")[2]

    assert [line for line in shown(told) if "79" in line] == ["I has_weight 79 kg"]
