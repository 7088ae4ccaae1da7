"""Changes that a message tells of what its speaker said before, as the rules read them."""

import pytest

from reading import shown, talk


@pytest.mark.parametrize(
    ("before", "after", "stated"),
    [
        (
            "standup's at 9:30 every day",
            "standup got bumped to 10:15 because of the Denver folks",
            ["standup scheduled_for 10:15"],
        ),
        (
            "my internet is £45 a month",
            "ugh they put the internet up AGAIN, it's £52 a month now",
            ["my has_internet £52 a month"],
        ),
        ("I drive a Skoda Octavia.", "Sold it on Saturday.", ["I owns Skoda Octavia ended"]),
        ("I use Sublime.", "I've made the jump to Neovim", ["I uses Neovim", "I uses Sublime ended"]),
        ("My boss is Marta.", "Marta left and now I'm reporting to this guy Devin.", ["I has_boss Devin"]),
        ("Our cache layer is Memcached.", "We've replaced it with Redis.", ["cache layer has_value Redis"]),
        ("My address is 17 Larch Road.", "Please update my address to 52 Canal Walk.", ["I has_address 52 Canal Walk"]),
        ("nah I'm single", "it's official, I'm going out with Jules!!", ["I partner_of Jules"]),
    ],
)
def test_a_change_of_what_was_said_is_read(before: str, after: str, stated: list[str]) -> None:
    found = [line.replace("my ", "I ", 1) for line in shown(talk(before, after)[1])]

    assert {line.replace("my ", "I ", 1) for line in stated} <= set(found)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("I own a Skoda Octavia.", "Would you say I sold it?"),
        ("I own a Skoda Octavia.", "If I sold it, I would walk."),
        ("I own a Skoda Octavia.", "I never sold it."),
        ("My rent is 900 euros.", "Now I have 40 books about rent control."),
        ("I live in Berlin.", "I met some new people from Rome in the city."),
        ("I'm a nurse.", "They made me laugh at work now."),
    ],
)
def test_what_changes_nothing_leaves_what_was_said(before: str, after: str) -> None:
    first, second = talk(before, after)
    old = {(each.relation, each.target.text) for each in first.relationships}

    assert not [each for each in second.relationships if (each.relation, each.target.text) in old]
    assert not {name for name, _ in old} & {each.relation for each in second.relationships}


def test_another_speakers_statement_is_no_old_value() -> None:
    found = talk(("Ana", "My rent is 900 euros."), ("Ben", "My rent is 950 euros now."))[1]

    assert shown(found) == ["I has_rent 950 euros"]
