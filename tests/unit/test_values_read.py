"""Values of things, as the rules read them: what is stated, and what must not be."""

import pytest

from asof_agents.extraction.english.dates import find_times
from asof_agents.extraction.english.extractor import EnglishExtractor
from asof_agents.extraction.ports import Turn
from asof_ontologies.registry import load
from asof_streams.instants import parse, render

DEFAULT = load("default")
EXTRACTOR = EnglishExtractor(DEFAULT, find_times)


def read(text: str) -> list[str]:
    """Return the statements as "subject relation object"."""
    turn = Turn("episode", "Kim", "user", text, parse("2024-05-15T10:00:00Z"))
    found = EXTRACTOR.extract(turn, [], lambda _: {})
    return [
        f"{'I' if each.source.speaker else each.source.text} {each.relation} {each.target.text}"
        + ("" if each.stance == "holds" else f" {each.stance}")
        for each in found.relationships
    ]


@pytest.mark.parametrize(
    ("text", "stated"),
    [
        ("The budget is 40,000 euros.", "budget has_value 40,000 euros"),
        ("The budget is now 55k.", "budget has_value 55k"),
        ("They cut the budget to $35,000.", "budget has_value $35,000"),
        ("Our goal is 15 km now.", "goal has_value 15 km"),
        ("The rent was raised to 900 euros a month.", "rent has_value 900 euros a month"),
        ("The ticket costs 30 euros.", "ticket has_price 30 euros"),
        ("The price of the ticket rose to 35 euros.", "ticket has_price 35 euros"),
        ("The status of the order is pending.", "order has_status pending"),
        ("We're on version 3.2 now.", "version has_value 3.2"),
        ("We're on version 2.8 of the app.", "app has_version 2.8"),
        ("We upgraded the app to 2.9.", "app has_version 2.9"),
        ("The release moved to June 5.", "release scheduled_for June 5"),
        ("The stand-up has moved to Thursday.", "stand-up scheduled_for Thursday"),
        ("The meeting got moved to 4:30 pm.", "meeting scheduled_for 4:30 pm"),
        ("We pushed the wedding to September 20.", "wedding scheduled_for September 20"),
        ("Our team has 12 people.", "team number_of_people 12"),
        ("The app reached 1,000 users.", "app number_of_users 1,000"),
        ("My phone number is 555-0182.", "I has_phone_number 555-0182"),
        ("My email is ann@new.example now.", "I has_email ann@new.example"),
        ("My wifi password is bluefish22.", "I has_wifi_password bluefish22"),
        ("My boss is Laura.", "I has_boss Laura"),
        ("My dentist is Dr. Patel.", "I has_dentist Patel"),
        ("Acme's CEO is Bill.", "Acme has_ceo Bill"),
        ("My favorite band these days is Big Thief.", "I favorite_band Big Thief"),
        ("Blur is my new favourite band.", "I favorite_band Blur"),
        ("My favourite food is tacos now.", "I favorite_food tacos"),
    ],
)
def test_a_value_is_read(text: str, stated: str) -> None:
    assert read(text) == [stated]


@pytest.mark.parametrize(
    "text",
    [
        "The budget might be 40k.",
        "Is the budget 40k?",
        "If the budget is 40k, we stop.",
        "I think the budget is 40k.",
        "The budget was 40k.",
        "The budget has been 40k.",
        "My rent was 800 euros since 2019.",
        "My rent was 800 euros in 2020.",
        "My car was stolen until May.",
        "My boss was Laura until May.",
        "My phone was broken from May to June.",
        "The kids were 7 and 9 until May.",
        "My rent being 900 until May was fine.",
        "The budget is not 40k.",
        "The budget is 40 times bigger.",
        "We did not move the date to June 5.",
        "I wanted to move the wedding to June 5.",
        "They would raise the rent to 900 euros.",
        "The weather is nice.",
        "The first is 3.",
        "The problem is that 3 people left.",
        "The book I read is 300 pages long.",
        "The kids are 7 and 9.",
        "The concert is tomorrow.",
        "My old number is 555-0182.",
        "My favorite thing is that you came.",
        "My favorite food is not ramen.",
        "He gave it to 12 people.",
        "My boss is Laura's sister.",
    ],
)
def test_what_states_no_value_is_left_alone(text: str) -> None:
    relations = [DEFAULT.relation(line.split()[1]) for line in read(text)]

    assert not any(relation.value for relation in relations if relation)


def periods(text: str) -> list[str]:
    """Return the statements as "relation object from to", days or -."""
    turn = Turn("episode", "Kim", "user", text, parse("2024-06-15T10:00:00Z"))
    found = EXTRACTOR.extract(turn, [], lambda _: {})
    return [
        f"{each.relation} {each.target.text} {_day(each.valid_from)} {_day(each.valid_to)}"
        for each in found.relationships
    ]


def _day(instant: int | None) -> str:
    return (render(instant) or "")[:10] if instant is not None else "-"


@pytest.mark.parametrize(
    ("text", "stated"),
    [
        ("My rent is 900 euros since May.", "has_rent 900 euros 2024-05-01 -"),
        ("My rent is €900 since May 2023.", "has_rent €900 2023-05-01 -"),
        ("Since last year my rent is 900 euros.", "has_rent 900 euros 2023-01-01 -"),
        ("Since May my rent has been 900.", "has_rent 900 2024-05-01 -"),
        ("My rent's been 900 since May.", "has_rent 900 2024-05-01 -"),
        ("My rent was 800 euros until 2020.", "has_rent 800 euros - 2021-01-01"),
        ("My salary was $50,000 from 2019 to 2021.", "has_salary $50,000 2019-01-01 2022-01-01"),
        ("From 2019 to 2021 my rent was 800 euros.", "has_rent 800 euros 2019-01-01 2022-01-01"),
        ("From 2019 to 2021, my salary was $50,000.", "has_salary $50,000 2019-01-01 2022-01-01"),
        ("Between 2019 and 2021 the budget was 40k.", "has_value 40k 2019-01-01 2022-01-01"),
        ("My salary is 50,000 a year since 2019.", "has_salary 50,000 a year 2019-01-01 -"),
        ("My rent is 900 euros until September.", "has_rent 900 euros - 2024-10-01"),
        ("My rent is 900 euros until 2020.", "has_rent 900 euros - -"),
        ("The budget has been 40k since 2023.", "has_value 40k 2023-01-01 -"),
        ("The app is on version 3.2 since Monday.", "has_version 3.2 2024-06-10 -"),
        ("My boss is Laura since May.", "has_boss Laura 2024-05-01 -"),
        ("My rent is 900 euros, since May it includes heating.", "has_rent 900 euros - -"),
    ],
)
def test_a_value_holds_in_the_period_that_is_stated_beside_it(text: str, stated: str) -> None:
    assert periods(text) == [stated]


@pytest.mark.parametrize(
    "text",
    [
        "My phone has been 3 days at the repair shop since Monday.",
        "My laptop was 2 weeks in repair until May.",
        "My rent was twice 800 euros until 2020.",
        "My rent has been over 900 euros since May.",
        "My rent was 20% lower until 2020.",
    ],
)
def test_a_duration_or_a_comparison_beside_a_period_is_no_value(text: str) -> None:
    assert periods(text) == []


def test_a_value_that_no_longer_holds_since_a_time_ended_then() -> None:
    turn = Turn("episode", "Kim", "user", "My rent is not 900 euros since May.", parse("2024-06-15T10:00:00Z"))

    [found] = EXTRACTOR.extract(turn, [], lambda names: dict.fromkeys(names, "Value")).relationships

    assert (found.relation, found.stance, _day(found.valid_to)) == ("has_rent", "ended", "2024-05-01")


def test_several_favorites_are_likings() -> None:
    assert read("My favorite bands are Blur and Muse.") == ["I likes Blur", "I likes Muse"]


def test_a_number_of_things_that_come_and_go_is_no_attribute() -> None:
    assert "number_of" not in " ".join(read("I have 3 meetings today."))
