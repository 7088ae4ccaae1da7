"""Everyday values, as people write them in chat, and what must not be read as one."""

import pytest

from reading import check, read


@pytest.mark.parametrize(
    ("text", "stated"),
    [
        ("I make $18 an hour at the bakery, plus all the bread i can eat", ["I has_pay $18 an hour"]),
        ("im on the 10 GB plan with Vodafone", ["i has_plan 10 GB"]),
        ("We have the Spotify family plan, want me to add you?", ["We has_plan Spotify family"]),
        ("I'm in room 204", ["I has_room 204"]),
        ("Sure, my address is 14 Harrow Lane, leave it there.", ["my has_address 14 Harrow Lane"]),
        ("i wake up at 6:30", ["i has_wake_up_time 6:30"]),
        ("I take 50 mg of sertraline in the mornings", ["I has_sertraline 50 mg"]),
        ("there's 6 of us on the team", ["team number_of_people 6"]),
        ("we've got 3 cats now", ["we number_of_cats 3"]),
        ("i drive a beat up Corolla", ["i owns Corolla"]),
        ("I've got a Pixel 6", ["I owns Pixel 6"]),
        ("I do bouldering twice a week", ["I practices bouldering"]),
        ("nah I'm single", ["I has_relationship_status single"]),
        ("My brother lives in Denver.", ["My has_brother_home Denver", "My has_family brother"]),
        ("I drink black tea in the morning.", ["I has_morning_drink black tea"]),
        ("I spend 300 euros a month on groceries.", ["I has_groceries_budget 300 euros a month"]),
        ("I see Dr. Lindqvist for my knees.", ["I has_doctor Dr. Lindqvist"]),
        ("Hassan's running the website redesign", ["website redesign has_lead Hassan"]),
        ("prod is running Postgres 13, don't ask", ["prod has_value Postgres 13"]),
        ("standup's at 9:30 every day", ["standup scheduled_for 9:30"]),
        ("My flight to Oslo leaves at 7:40.", ["My has_flight 7:40"]),
        ("my 5k pb is 27:40, don't laugh", ["my has_5k_pb 27:40"]),
        ("My go-to drink is oat latte.", ["My has_go_to_drink oat latte"]),
        ("i moved to leeds", ["i lives_in leeds"]),
        ("i work at zalando", ["i works_at zalando"]),
    ],
)
def test_an_everyday_value_is_read(text: str, stated: list[str]) -> None:
    found = [
        f"{each.source.text} {each.relation} {each.target.text}"
        for each in read(text).relationships
        if each.stance == "holds"
    ]

    assert set(stated) <= set(found)


@pytest.mark.parametrize(
    "text",
    [
        "Do I make $18 an hour?",
        "I wish I was on the 10 GB plan",
        "I might be in room 204",
        "I'm not single",
        "I wake up at dawn",
        "If I take 50 mg of sertraline, I sleep.",
        "I went to upstairs",
        "I'm on the way",
        "I'm the one for you",
        "I've got a plan",
    ],
)
def test_what_states_no_value_is_left_alone(text: str) -> None:
    check(text)


@pytest.mark.parametrize(
    "text", ["I've been working at SAP since March 2023.", "I've been living in a flat in Leeds since 2019."]
)
def test_nothing_is_said_without_the_time_that_is_stated(text: str) -> None:
    [found] = read(text).relationships

    assert found.valid_from is not None
