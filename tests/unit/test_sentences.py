"""Where sentences end, and that the words keep their places in the message."""

import pytest

from asof_agents.extraction.english.sentences import blank_markup, parse_sentences, split
from asof_agents.extraction.english.verbs import forms

SPLITS = [
    ("I moved. She stayed.", ["I moved.", "She stayed."]),
    ("Dr. Lee met Mr. Kim at 5 p.m. yesterday.", ["Dr. Lee met Mr. Kim at 5 p.m. yesterday."]),
    ("It costs 3.50 in total. Cheap!", ["It costs 3.50 in total.", "Cheap!"]),
    ("J. Smith called. I answered.", ["J. Smith called.", "I answered."]),
    ("Really?! Yes... maybe.", ["Really?!", "Yes...", "maybe."]),
    ('She said "no." Then she left.', ['She said "no."', "Then she left."]),
    ("one line\nanother line", ["one line", "another line"]),
    ("We use e.g. ruff and mypy.", ["We use e.g. ruff and mypy."]),
    ("So do I. We agree.", ["So do I.", "We agree."]),
    ("see asof.example for more", ["see asof.example for more"]),
    ("  ", []),
    ("", []),
]


@pytest.mark.parametrize(("text", "expected"), SPLITS, ids=[text for text, _ in SPLITS])
def test_a_text_is_split_into_sentences(text: str, expected: list[str]) -> None:
    assert [text[start:end] for start, end in split(text)] == expected


def test_words_keep_their_places_and_contractions_are_written_out() -> None:
    text = "I'm sure Ana's brother can't come."
    sentence = next(parse_sentences(text))
    assert sentence.low == ("i", "am", "sure", "ana", "'s", "brother", "can", "not", "come", ".")
    assert [text[start:end] for start, end in zip(sentence.starts, sentence.ends, strict=True)] == list(sentence.raw)


@pytest.mark.parametrize(
    "carried",
    ["[image: a photo of a cat]", "<memory id='1'>", "https://example.org/a.b", "```\nx = 1\n```"],
)
def test_what_a_message_carries_along_is_blanked_without_moving_anything(carried: str) -> None:
    text = f"I live here. {carried} And you?"
    clean = blank_markup(text)
    assert len(clean) == len(text)
    assert clean.split() == ["I", "live", "here.", "And", "you?"]


def test_a_question_is_known_by_its_mark() -> None:
    assert [sentence.question for sentence in parse_sentences("Where? Here. Why not?!")] == [True, False, True]


VERBS = [
    ("live", {"live", "lives", "lived", "living"}),
    ("move", {"move", "moves", "moved", "moving"}),
    ("stop", {"stop", "stops", "stopped", "stopping"}),
    ("visit", {"visit", "visits", "visited", "visiting"}),
    ("study", {"study", "studies", "studied", "studying"}),
    ("play", {"play", "plays", "played", "playing"}),
    ("go", {"go", "goes", "went", "gone", "going"}),
    ("get", {"get", "gets", "got", "gotten", "getting"}),
    ("have", {"have", "has", "had", "having"}),
    ("prefer", {"prefer", "prefers", "preferred", "preferring"}),
    ("read", {"read", "reads", "reading"}),
    ("teach", {"teach", "teaches", "taught", "teaching"}),
]


@pytest.mark.parametrize(("lemma", "expected"), VERBS)
def test_a_verb_is_conjugated(lemma: str, expected: set[str]) -> None:
    assert set(forms(lemma)) == expected
