"""What a judge is asked about the statements of a message, and what it ends."""

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from asof_agents.extraction.ports import ModelReply, ModelRequest, Relationship
from asof_agents.resolution.judge import Judge
from asof_ontologies.prompts import Prompt
from asof_streams.episodic import ExtractionAnswered
from asof_streams.ingestion_config import IngestionConfig
from spoken import SpokenHistory, at, ended, holds


class Asked:
    """Answers that all is over of which it is asked, and nothing of names; notes what the prompts say."""

    def __init__(self) -> None:
        self.facts: list[str] = []
        self.names: list[str] = []

    def reply(self, _group: str, request: ModelRequest, _cause: int) -> ModelReply:
        lines = request.user.splitlines()
        if request.prompt == "names":
            self.names += lines
            return ModelReply(json.dumps({"meant": [], "same": []}))
        self.facts += lines
        numbers = range(1, len(lines) + 1)
        return ModelReply(json.dumps({"ended": [{"fact": number, "confidence": 1.0} for number in numbers]}))

    def failure(self, _group: str, _request: str, _cause: int) -> None:
        return None


def prompt(key: str, user: str) -> Prompt:
    return Prompt(key=key, version=1, temperature=0.0, system="system", user=user)


Start = Callable[..., tuple[SpokenHistory, Asked]]


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Start]:
    begun: list[SpokenHistory] = []

    def begin(endings: str | None = "endings", **build: Any) -> tuple[SpokenHistory, Asked]:
        history, asked = SpokenHistory(tmp_path, **build), Asked()
        begun.append(history)
        about = None if endings is None else prompt(endings, "$facts")
        history.judge(Judge(prompt("names", "$mentions"), "model", asked, endings=about))
        return history, asked

    yield begin
    for history in begun:
        history.close()


@pytest.fixture
def judged(start: Start) -> tuple[SpokenHistory, Asked]:
    return start()


def answers(history: SpokenHistory) -> int:
    return sum(isinstance(record.event, ExtractionAnswered) for record in history.semantic.read())


def test_what_the_speaker_and_those_who_are_named_have_is_ended_where_a_word_says_so(
    judged: tuple[SpokenHistory, Asked],
) -> None:
    history, asked = judged
    for known in ("Ana rides_with Cleo", "Ana has_age 30", "Ben rides_with Cleo", "Cleo rides_with Oslo"):
        history.hear("2024-06-01", holds(known))

    assert history.hear("2024-06-10", content="Cleo quit riding at 30.") == [
        "| Ana has_age 30, 2024-06-10",
        "| Ana rides_with Cleo, 2024-06-10",
    ]
    assert (asked.facts, answers(history)) == (["1. Ana is 30 years old", "2. Ana rides with Cleo"], 1)
    assert history.hear("2024-06-11", holds("Oslo rides_with Ben"), content="Ben, Cleo quit riding.")[1:] == [
        "| Ben rides_with Cleo, 2024-06-11"
    ]


def test_who_says_something_without_a_name_is_known_by_the_role_type(judged: tuple[SpokenHistory, Asked]) -> None:
    history, _ = judged
    history.hear("2024-06-01", holds("user rides_with Cleo"), role="")

    assert history.hear("2024-06-10", content="Cleo quit riding.", role="") == ["| user rides_with Cleo, 2024-06-10"]
    assert history.hear("2024-06-10", content="Ben quit riding.", role="nobody") == []


def test_nothing_is_asked_about_what_the_message_itself_says_or_ends(judged: tuple[SpokenHistory, Asked]) -> None:
    history, asked = judged
    history.hear("2024-06-01", holds("Ana works_at Acme Labs"), holds("Ana rides_with Cleo"))
    said = ended("Ana works_at Acme"), holds("Ana rides_with Cleo")

    assert history.hear("2024-06-10", *said, content="Left Acme Labs, not riding with Cleo.") == [
        "| Ana works_at Acme Labs, 2024-06-10",
        "= Ana rides with Cleo",
    ]
    assert asked.facts == []


@pytest.mark.parametrize(
    ("said", "is_asked"),
    [
        (ended("Ana likes tea"), True),
        (ended("Ana studies_at MIT"), True),
        (ended("Ana lives_in Rome"), False),  # an earlier home
        (ended("Ana likes Bonn"), False),  # which holds, and ends
        (ended("Ana comes_from York"), False),  # New York is meant
        (ended("Ana likes tea", planned=True), False),
        (ended("Ana likes tea", valid_to=at("2024-05-01")), False),
        (ended("Ana visited Oslo"), False),
        (ended("Ana friend_of Ana"), False),
        (holds("Ana likes tea"), False),
    ],
)
def test_an_ending_of_what_no_fact_holds_is_asked_about(
    judged: tuple[SpokenHistory, Asked], said: Relationship, is_asked: bool
) -> None:
    history, asked = judged
    for known in ("Ana rides_with Cleo", "Ana lives_in Oslo", "Ana likes Bonn", "Ana comes_from New York"):
        history.hear("2024-06-01", holds(known))

    history.hear("2024-06-10", said)

    assert bool(asked.facts) == is_asked


def test_the_first_home_that_ended_may_be_one_of_other_words(judged: tuple[SpokenHistory, Asked]) -> None:
    history, asked = judged
    history.hear("2024-06-01", holds("Ana rides_with Cleo"))

    history.hear("2024-06-10", ended("Ana lives_in Rome"))

    assert asked.facts == ["1. Ana rides with Cleo"]


def test_without_a_prompt_for_endings_nothing_is_asked_about_them(start: Start) -> None:
    history, asked = start(endings=None)
    history.hear("2024-06-01", holds("Ana rides_with Cleo"))

    assert history.hear("2024-06-10", content="Cleo quit riding.") == []
    assert asked.facts == []


@pytest.mark.parametrize("is_resolved", [True, False])
def test_names_are_asked_about_where_they_are_resolved(start: Start, is_resolved: bool) -> None:
    history, asked = start(ingestion=IngestionConfig(enable_entity_resolution=is_resolved))
    history.hear("2024-06-01", holds("Ana works_at Acme Labs"))

    history.hear("2024-06-10", holds("Ana works_at Acme"))

    assert bool(asked.names) == is_resolved
