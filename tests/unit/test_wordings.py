"""What is one thing in the same words, and what is another, however near the vectors are."""

import pytest

from asof_agents.extraction.aims import aim_of
from asof_agents.resolution.wordings import wording, wording_of_aim
from asof_projections.embedding.minilm import MiniLMEmbedder
from asof_streams.errors import ModelUnavailable
from unchecked import not_checked

SAME = [
    ("playing the guitar", "playing guitar"),
    ("to learn the piano", "learning piano"),
    ("to swim", "swimming"),
    ("to make bread", "making bread"),
    ("to play chess", "playing chess"),
    ("to visit the Louvre", "visiting the Louvre"),
    ("to see a play", "seeing a play"),
    ("clean, readable code", "clean readable code."),
    ("working with Python for AI projects", "Working  with Python for AI projects!"),
]
OTHER = [
    ("tea", "green tea"),
    ("tea over coffee", "coffee over tea"),
    ("movies with subtitles", "movies without subtitles"),
    ("being alone", "not being alone"),
    ("two cats", "three cats"),
    ("a dog", "dogs"),
    ("Acme", "Acme 2"),
    ("Python", "Python 3"),
    ("C", "C++"),
    ("vitamin", "vitamin a"),
    ("to buy a house", "to sell a house"),
    ("flights to Rome", "flights from Rome"),
    ("cut flowers", "cute flowers"),
    ("to hop", "hoping"),
    ("meet friends", "meeting friends"),
    ("sing", "to s"),
    ("peanuts", "nuts"),
    ("March 2024", "March 2025"),
]


@pytest.mark.parametrize(("one", "other"), SAME)
def test_phrases_of_the_same_words_have_one_key(one: str, other: str) -> None:
    assert wording(one) == wording(other)


@pytest.mark.parametrize(("one", "other"), OTHER)
def test_phrases_of_other_words_numbers_names_and_denials_have_two(one: str, other: str) -> None:
    assert wording(one) != wording(other)


def test_what_is_aimed_at_is_one_with_to_and_without() -> None:
    aims = ["build AI projects", "Build AI projects.", "building the AI projects"]
    assert len({wording_of_aim(aim) for aim in aims}) == 1
    assert wording_of_aim("Build AI projects") == wording("to build AI projects")
    assert wording_of_aim("build AI projects") != wording_of_aim("build 2 AI projects")


@pytest.mark.parametrize(
    ("description", "aim"),
    [("to learn Rust", "learn Rust"), ("To  win", "win"), ("learn to swim", "learn to swim"), ("to", "to"), ("", "")],
)
def test_an_aim_is_described_without_a_to_before_it(description: str, aim: str) -> None:
    assert aim_of(description) == aim


@pytest.mark.parametrize("phrase", ["", " ", "...", "to", "the", "to the", "ing", "to be", "to e", "-"])
def test_any_text_has_a_key(phrase: str) -> None:
    assert isinstance(wording(phrase), str)
    assert isinstance(wording_of_aim(phrase), str)


def test_at_the_distance_of_the_specification_other_facts_are_as_near_as_the_same_ones() -> None:
    try:
        embedder = MiniLMEmbedder()
    except ModelUnavailable as error:
        not_checked(f"with all-MiniLM-L6-v2: {error}")
    near = [
        ("Ana prefers tea over coffee", "Ana prefers coffee over tea"),
        ("Ana likes movies with subtitles", "Ana likes movies without subtitles"),
        ("Ana plans to buy a house", "Ana plans to sell a house"),
        ("Ana has two cats", "Ana has three cats"),
        ("Ana is allergic to peanuts", "Ana is allergic to nuts"),
    ]
    same = [(f"Ana likes {one}", f"Ana likes {other}") for one, other in SAME]
    ones, others = (embedder.embed([pair[side] for pair in near + same]) for side in (0, 1))
    distances = 1 - (ones * others).sum(axis=1)

    assert max(distances) < 0.1
    assert max(distances[len(near) :]) < 0.05
    assert [wording(one) == wording(other) for one, other in near] == [False] * len(near)
