"""What a message asks for, by its words alone."""

import time

import pytest

from asof_agents.conversation.questions import (
    answering_words,
    asks_about_speaker,
    asks_for_goals,
    asks_when,
    is_pleasantry,
    is_question,
)


@pytest.mark.parametrize(
    "text",
    [
        "What is my goal?",
        "what are my goals",
        "Do I have any objectives?",
        "Tell me my goals.",
        "So, what's my goal?",
        "Can you tell me what my three main goals are?",
        "What goals did I tell you?",
        "Which goals of mine do you know?",
        "What are Bob's goals, and what are my goals?",
        "What's Bob's and my goal?",
        "What are the goals I set?",
    ],
)
def test_who_asks_for_his_goals_is_understood(text: str) -> None:
    assert asks_for_goals(text)


@pytest.mark.parametrize(
    "text",
    [
        "My goal is to run a marathon",
        "What goals did Ronaldo score?",
        "Where do I live?",
        "I have no goals.",
        "Tell me Bob's goals.",
        "Can you tell me what Bob's goals are?",
        "Do I know Bob’s main goals?",
        "Do I know her goals?",
        "Could you tell me what goals Bob has?",
        "What are my wife's goals?",
        "Do I know the goals of my team?",
        "Did I miss all those Arsenal goals?",
        "",
    ],
)
def test_what_asks_for_no_goal_of_the_speaker_is_told_from_it(text: str) -> None:
    assert not asks_for_goals(text)


@pytest.mark.parametrize(
    "text",
    [
        "What do you know about me?",
        "so what do you remember about me",
        "Do you remember anything at all about me?",
        "What have you been told? What do you still know about me?",
        "What did I tell you so far about myself?",
        "What is it that I've told you about me?",
        "Tell me everything about me.",
        "Tell me what you know about me.",
        "Hey, who am I?",
        "Do you know who I am?",
        "Can you tell me who I am?",
        "What have you learned about me?",
        "What have you already learnt about me?",
        "What do you know of me?",
        "Did I ever tell you anything about myself?",
        "What do you know?",
    ],
)
def test_who_asks_what_is_known_of_himself_is_understood(text: str) -> None:
    assert asks_about_speaker(text)


@pytest.mark.parametrize(
    "text",
    [
        "Do you know what Ben said about me?",
        "I told you about me.",
        "Can I tell you something about me?",
        "May I tell you more about myself?",
        "Should I tell you about me?",
        "Do you know who I am going to meet?",
        "Does she know who I am?",
        "What do you know of mine?",
        "What do you know about Mia?",
        "What do you know about me and jazz?",
        "Who am I going to meet?",
        "Tell me about it.",
        "",
    ],
)
def test_what_asks_of_somebody_or_something_else_is_told_from_it(text: str) -> None:
    assert not asks_about_speaker(text)


@pytest.mark.parametrize(
    "text",
    [
        "hi",
        "Hello!",
        "Nice!",
        "Thanks! Nice of you",
        "very nice",
        "Good morning :)",
        "hey there",
        "Thanks a lot!",
        "ok, thank you",
        "No.",
    ],
)
def test_a_greeting_or_thanks_is_about_nothing(text: str) -> None:
    assert is_pleasantry(text)


@pytest.mark.parametrize(
    "text",
    [
        "Hi, I live in Rome",
        "I have been to Nice",
        "hi, it is in Nice!",
        "Good jazz!",
        "Is it good?",
        "Hey, where is Mia?",
        "I am",
        "jazz",
        "",
        "?",
    ],
)
def test_what_says_more_than_a_greeting_is_none(text: str) -> None:
    assert not is_pleasantry(text)


@pytest.mark.parametrize("text", ["Where do I live?", "and who is my sister", "You know me?", "Isn't Ana in Rome"])
def test_a_question_is_told_by_its_mark_or_its_beginning(text: str) -> None:
    assert is_question(text)


@pytest.mark.parametrize(
    "text",
    ["I live in Rome.", "My sister asked where I live.", "Will lives in Oslo.", "What a day!", "Doing well", "", "🎉"],
)
def test_what_asks_nothing_is_no_question(text: str) -> None:
    assert not is_question(text)


@pytest.mark.parametrize(
    ("text", "answers"),
    [
        ("Where do I live?", "home"),
        ("And where, by the way, did I use to work?", "job"),
        ("where is where I study", "school"),
        ("Where?\nI live in Rome.", None),
        ("I live there. Where is it?", None),
    ],
)
def test_what_answers_a_question_of_where_is_told_by_the_verb_behind_it(text: str, answers: str | None) -> None:
    words = answering_words(text)

    assert answers in words if answers else not words


@pytest.mark.parametrize(
    "words", ["where ", "you know ", "tell me all all ", "what else ", "i have ", "did i ", "goals "]
)
def test_a_text_takes_time_in_proportion_to_its_size(words: str) -> None:
    def seconds(size: int) -> float:
        text = words * size
        began = time.process_time()
        assert not answering_words(text)
        assert not asks_about_speaker(text)
        assert not asks_for_goals(text)
        return time.process_time() - began

    small = max(min(seconds(1_000) for _ in range(5)), 0.001)
    assert min(seconds(8_000) for _ in range(3)) < 24 * small  # a square is 64 times


@pytest.mark.parametrize("text", ["When is it?", "what day is the wedding", "How long have I lived here?"])
def test_who_asks_for_a_time_is_understood(text: str) -> None:
    assert asks_when(text)


@pytest.mark.parametrize("text", ["Where is it?", "I cried when it broke.", "How longing is spelled?", ""])
def test_what_asks_for_no_time_is_told_from_it(text: str) -> None:
    assert not asks_when(text)
