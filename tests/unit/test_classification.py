"""What a message of a chat is: a turn, feedback, a goal, or a change of what was sent."""

from hashlib import sha256
from typing import Any, get_args

import pytest

from asof_agents.conversation.classification import MAX_DESCRIPTION, Class, Goal, classify, goal_of
from asof_projections.conversation import schema
from asof_streams.messages import Message


def message(content: str = "Hello there.", **fields: Any) -> Message:
    return Message(**{"group_id": "g", "role_type": "user", "kind": "message", "content": content, **fields})


@pytest.mark.parametrize("replies_to_bot", [True, False])
@pytest.mark.parametrize("content", ["Hello.", "My goal is to run a marathon", "🗑️"])
def test_without_a_kind_a_message_is_a_turn_as_ever(content: str, replies_to_bot: bool) -> None:
    assert classify(message(content, kind=None), replies_to_bot) == "turn"


@pytest.mark.parametrize("content", ["That is wrong.", "My goal is to run a marathon", ""])
def test_a_reply_to_the_bot_is_feedback_whatever_it_says(content: str) -> None:
    assert classify(message(content, reply_to="7"), replies_to_bot=True) == "feedback"


def test_a_reply_to_a_person_is_a_turn() -> None:
    assert classify(message(reply_to="7"), replies_to_bot=False) == "turn"


@pytest.mark.parametrize("role_type", ["assistant", "system"])
@pytest.mark.parametrize("content", ["Hello.", "My goal is to run a marathon"])
def test_what_is_not_said_by_a_user_is_a_turn(content: str, role_type: str) -> None:
    assert classify(message(content, role_type=role_type, reply_to="7"), replies_to_bot=True) == "turn"


@pytest.mark.parametrize("emoji", ["\U0001f5d1\ufe0f", "\U0001f5d1", " \U0001f5d1\ufe0f\n"])
def test_a_wastebasket_undoes(emoji: str) -> None:
    assert classify(message(emoji, kind="reaction", reply_to="7"), replies_to_bot=False) == "undo"


@pytest.mark.parametrize("emoji", ["🫡", "👍", "", "wastebasket", "🗑️🗑️"])
def test_any_other_reaction_is_nothing(emoji: str) -> None:
    assert classify(message(emoji, kind="reaction", reply_to="7"), replies_to_bot=True) == "none"


@pytest.mark.parametrize("kind", ["edit", "deletion", "feedback"])
def test_other_kinds_are_what_they_say(kind: str) -> None:
    assert classify(message("My goal is to run", kind=kind, external_id="7"), replies_to_bot=True) == kind


@pytest.mark.parametrize(
    ("content", "goal"),
    [
        ("My goal is to become a machine learning engineer", Goal("become a machine learning engineer", 1.0)),
        (
            "I want to focus on building production-ready AI systems",
            Goal("building production-ready AI systems", 0.8),
        ),
        (
            "My priority is learning reinforcement learning this year",
            Goal("learning reinforcement learning this year", 0.9),
        ),
        ("north star: ship the game", Goal("ship the game", 1.0)),
        ("North star: to ship the game", Goal("ship the game", 1.0)),
        ("North Star:  Ship it. Then\nrest!", Goal("Ship it. Then rest", 1.0)),
        ("My north star is to write every day.", Goal("write every day", 1.0)),
        ("  my main goal this year is to\trun a marathon!  ", Goal("run a marathon", 1.0)),
        ("My long-term objective is financial independence.", Goal("financial independence", 1.0)),
        ("I'd like to focus on sleep", Goal("sleep", 0.8)),
        ("I’d like to focus on sleep", Goal("sleep", 0.8)),
        ("One of my goals is to read a book a month.", Goal("read a book a month", 1.0)),
        ("one of my main goals this year is paying off the car", Goal("paying off the car", 1.0)),
        ("One of my priorities is sleep", Goal("sleep", 0.9)),
        ("My goals this year are to rest more and to row", Goal("rest more and to row", 1.0)),
        ("My aim is to sing in a choir", Goal("sing in a choir", 1.0)),
        ("My biggest ambition is to sail to Norway!", Goal("sail to Norway", 1.0)),
        ("I have a goal of swimming a mile", Goal("swimming a mile", 1.0)),
        ("I’ve got one goal to reach by May", Goal("reach by May", 1.0)),
        ("I aim to get a diving licence before summer", Goal("get a diving licence before summer", 0.8)),
        ("I'm aiming to retire at 60.", Goal("retire at 60", 0.8)),
    ],
)
def test_a_goal_is_declared_in_words_that_say_so(content: str, goal: Goal) -> None:
    assert goal_of(content) == goal
    assert classify(message(content), replies_to_bot=False) == "goal"


@pytest.mark.parametrize(
    "content",
    [
        "",
        "My goal is",
        "My goal is to",
        "north star:",
        "My goal is not to win.",
        "My goal is still unclear",
        "My goalkeeper is to blame",
        "My goal is to win, isn't it?",
        "What is my goal?",
        "I love working with Python for AI projects",
        "I want to eat",
        "I want to visit Lisbon this year",
        "I'm trying to cut down on sugar",
        "One of my goals",
        "One of my colleagues is to marry",
        "My goals are fine",
        "My aim is true",
        "I have one goal of mine",
        "I aim at the bin",
        "I have a goal keeper in the family",
        "Do I aim to win?",
        "I want to focus on the train. It is late.",
        "Her goal is to win",
        "I think my goal is to win",
        "My goal is to run a marathon. I moved to Berlin for it.",
        "My goal is to run a marathon\nI moved to Berlin for it.",
        f"My goal is to {'x' * (MAX_DESCRIPTION + 1)}",
    ],
)
def test_what_says_anything_else_or_more_is_no_goal(content: str) -> None:
    assert goal_of(content) is None
    assert classify(message(content), replies_to_bot=False) == "turn"


TOLD = [
    *("Hello there.", "", "Thanks!", "That is wrong.", "\U0001f5d1", "\U0001f5d1\ufe0f", " \U0001f5d1\n", "\U0001f44d"),
    *("My goal is to run a marathon", "my main goal right now is to rest.", "My objective for the year is sleep"),
    *("My priority this week is learning", "My long-term priority is to save", "my goal is", "My goal is to"),
    *(
        "I want to focus on my health",
        "I'd like to focus on work!",
        "I would like to focus on it",
        "I wanna focus on art",
    ),
    *("North star: be kind. And brave.", "My north star goal is to teach", "north star is calm", "North star:"),
    *(
        "My goal is not to lose",
        "My goal is unclear",
        "My goal is still to win",
        "Is my goal to run?",
        "My goal is what?",
    ),
    *("My goal is to run. Then I rest.", "My goal is to run\nand to rest", "My goal was to run", "The goal is to run"),
    *("One of my goals is to read", "one of my top priorities is rest", "My aim is to sing", "I have a goal of rest"),
    *(
        "My goals are to win",
        "I aim to win",
        "I'm aiming to win",
        "I aim at it",
        "I want to rest this year",
        "I'm trying to rest",
    ),
    "My goal is to " + "run " * 200,
]


def test_a_changed_classification_has_a_new_version_of_the_projection_that_keeps_it() -> None:
    """What a message is stands in the projection of conversations: one that another rule made has to be made anew.

    Where the digest is another one, raise VERSION in asof_projections/conversation/schema.py, and write both here.
    """
    kinds = (None, "message", "reaction", "edit", "deletion", "feedback")
    found = [
        classify(message(content, kind=kind, role_type=role, external_id="7", reply_to="6"), replies_to_bot)
        for content in TOLD
        for kind in kinds
        for role in ("user", "assistant", "system")
        for replies_to_bot in (True, False)
    ]

    assert set(found) == set(get_args(Class))
    assert (schema.VERSION, sha256(" ".join(found).encode()).hexdigest()[:16]) == (4, "cd10713fbeecbf0a")
