"""Small talk is recognised by its words, and answered as such where no model words the answer."""

import re
import sys

import pytest

from asof_agents.conversation import small_talk
from asof_agents.conversation.material import ReplyMaterial, ShownFact
from asof_agents.conversation.small_talk import small_talk_of
from asof_agents.conversation.templates import from_memory

NO_MODEL = "No language model is set"


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("hi there", "greeting"),
        ("Good evening!", "greeting"),
        ("yo, anybody home?", "greeting"),
        ("Are you there?", "greeting"),
        ("How are you?", "wellbeing"),
        ("hey, how are you doing today", "wellbeing"),
        ("Hello! What’s up?", "wellbeing"),
        ("how's it going", "wellbeing"),
        ("And you?", "wellbeing"),
        ("What can you do?", "abilities"),
        ("ok so how does this work then?", "abilities"),
        ("Who are you", "abilities"),
        ("are you a bot?", "abilities"),
        ("Can you help me please", "abilities"),
        ("help", "abilities"),
        ("thanks so much", "thanks"),
        ("ok thx, bye", "farewell"),
        ("see you soon!", "farewell"),
        ("Good night", "farewell"),
        ("lol", "assent"),
        ("Yes.", "assent"),
        ("\N{THUMBS UP SIGN}", "assent"),
        (":)", "assent"),
    ],
)
def test_small_talk_is_told_by_its_words(text: str, kind: str) -> None:
    assert small_talk_of(text) == kind


@pytest.mark.parametrize(
    "text",
    [
        "How are you and Tom related?",
        "How is Tom?",
        "Is anyone there allergic?",
        "How are my sister's kids?",
        "What can you do about the leak?",
        "What can Nina do?",
        "Help Nina with her homework",
        "What is this?",
        "Is this real?",
        "What did I do?",
        "Are you a friend of Tom?",
        "Hi, I live in Leeds",
        "thanks to Tom I found a job",
        "??",
        "",
        " ",
        "how are you " * 20,
    ],
)
def test_what_says_or_asks_anything_beside_is_no_small_talk(text: str) -> None:
    assert small_talk_of(text) is None


class CountedPattern:
    """A pattern that counts the characters that it is given: it goes back and forth in them."""

    def __init__(self, pattern: re.Pattern[str]) -> None:
        self._pattern = pattern
        self.given = 0

    def fullmatch(self, text: str) -> re.Match[str] | None:
        self.given += len(text)
        return self._pattern.fullmatch(text)


@pytest.mark.parametrize("word", ["hi ", "there ", "ok ", "how are you ", "see you ", "?", "\N{THUMBS UP SIGN}"])
def test_a_text_takes_steps_in_proportion_to_its_size(word: str, monkeypatch: pytest.MonkeyPatch) -> None:
    questions = [(kind, CountedPattern(question)) for kind, question in small_talk._QUESTIONS]
    monkeypatch.setattr(small_talk, "_QUESTIONS", questions)

    def steps(size: int) -> int:
        count = 0

        def note(*_: object) -> None:
            nonlocal count
            count += 1

        text = word * size + "x"
        sys.setprofile(note)
        try:
            small_talk_of(text)
        finally:
            sys.setprofile(None)
        return count

    small = steps(1_000)
    assert steps(8_000) < 9 * small
    assert max(question.given for _, question in questions) <= 2, "of texts so long no more than the x is given"


def test_small_talk_is_answered_with_nothing_of_a_memory() -> None:
    material = ReplyMaterial(facts=(ShownFact("1", "Tom is well", "Tom", "is", "well"),))
    answers = [
        from_memory(material, said) for said in ("Hi!", "How are you?", "Thanks.", "Bye!", "ok", "What can you do?")
    ]

    assert len({*answers}) == len(answers)
    assert not [answer for answer in answers if "Tom" in answer or "kept" in answer or "know nothing" in answer]
    assert [NO_MODEL in answer for answer in answers] == [False] * 5 + [True]
