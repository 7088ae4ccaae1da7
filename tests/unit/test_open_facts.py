"""The facts that a message may end: of which a model is asked, how, and what counts of its answer."""

import json
from collections.abc import Sequence
from typing import Any

import pytest

from asof_agents.extraction.ports import RejectedPart
from asof_agents.resolution.open_facts import facts_in_doubt, parse_endings, request_about
from asof_ontologies.prompts import Prompt
from asof_projections.model.rows import FactRow, Moment
from asof_streams.episodic import EpisodeRecorded
from asof_streams.instants import INF


def episode(content: str, role: str = "Ana") -> EpisodeRecorded:
    about = {
        "episode_id": "e",
        "name": "",
        "source": "message",
        "source_description": "",
        "content_length": len(content),
    }
    return EpisodeRecorded(role=role, role_type="user", body=content, valid_at=5, **about)


def fact(number: int, sentence: str = "Ana plays padel", subject: str = "ana", **fields: Any) -> FactRow:
    name, relation, object_ = sentence.split(" ", 2)
    row = FactRow(
        uuid=f"f{number}",
        group_id="g",
        subject=name,
        relation=relation,
        object=object_,
        subject_uuid=subject,
        object_uuid=None,
        fact=sentence,
        valid_at=0,
        invalid_at=INF,
        created_at=0,
        expired_at=INF,
        confidence=1.0,
        episodes=(),
        generation="main",
        known_from=0,
        known_to=INF,
        number=number,
    )
    return row._replace(**fields)


class Known:
    """The facts around some entities."""

    def __init__(self, *facts: FactRow) -> None:
        self._facts = facts

    def facts_around(self, uuids: Sequence[str], at: Moment, limit: int) -> list[FactRow]:
        assert (at, limit) == (Moment(5, 7), 64)
        return [each for each in self._facts if each.subject_uuid in uuids]


def doubted(content: str, *facts: FactRow, named: Sequence[str] = ("ana",), ended: Sequence[str] = ()) -> list[int]:
    """Return the numbers of the facts that a message may end."""
    rows = facts_in_doubt(episode(content), named, ended, Known(*facts), 7)
    return [row.number for row in rows]


QUIT = "I quit padel."


@pytest.mark.parametrize(
    ("content", "is_asked"),
    [
        (QUIT, True),
        ("I QUIT padel", True),
        ("I love padel.", False),  # no word for an end
        ("I quit chess.", False),  # no word of the fact
        ("Ana quit.", False),  # her name is in every fact of hers
        ("x" * 995 + " quit padel", False),  # beyond what is looked at
        ("", False),
    ],
)
def test_facts_are_asked_about_with_whose_words_an_end_is_told(content: str, is_asked: bool) -> None:
    assert doubted(content, fact(1)) == ([1] if is_asked else [])


def test_of_a_word_for_an_end_no_facts_are_asked_of_whom_the_message_does_not_name() -> None:
    assert doubted(QUIT, fact(1, subject="ben")) == doubted(QUIT, fact(1), named=()) == []


def test_all_states_of_whom_something_ended_are_asked_about_that_no_fact_holds() -> None:
    assert doubted("It is over.", fact(1), fact(2, confidence=0.0), named=(), ended=["ana"]) == [2, 1]
    assert doubted("It is over.", fact(1), fact(2, subject="ben"), named=["ben"], ended=["ana"]) == [1]
    assert doubted("", fact(1), ended=["ana"]) == []  # what it says is suppressed


@pytest.mark.parametrize(
    ("fields", "is_asked"),
    [({}, True), ({"occurrence": True}, False), ({"planned": True}, False), ({"confidence": 0.0}, False)],
)
def test_what_happened_or_is_planned_or_believed_by_nobody_is_not_asked_about(
    fields: dict[str, Any], is_asked: bool
) -> None:
    assert doubted(QUIT, fact(1, **fields)) == ([1] if is_asked else [])


def test_the_ten_that_share_most_words_are_asked_about_of_equal_ones_the_latest() -> None:
    facts = [fact(number, "Ana plays padel daily" if number == 3 else "Ana plays padel") for number in range(12)]

    assert doubted("I quit padel daily.", *facts) == [3, 11, 10, 9, 8, 7, 6, 5, 4, 2]


def test_the_request_numbers_the_facts_in_one_line_each() -> None:
    prompt = Prompt(key="key", version=3, temperature=0.25, system="system", user="$speaker: $text\n$facts")
    long = fact(2, f"Ana plays {'x' * 200}")

    request = request_about(episode("y" * 1_001), [fact(1, "Ana plays padel\n daily"), long], prompt, "m")

    assert request.user == f"Ana: {'y' * 1_000}\n1. Ana plays padel daily\n2. Ana plays {'x' * 150}"
    assert (request.prompt, request.prompt_version, request.model) == ("key", 3, "m")
    assert (request.temperature, request.system) == (0.25, "system")
    assert request_about(episode("y", role=""), [], prompt, "m").user == "user: y\n"


def test_the_schema_asks_for_all_fields_and_no_others() -> None:
    schema = request_about(
        episode("y"), [], Prompt(key="k", version=1, temperature=0, system="s", user="u"), "m"
    ).schema

    ending = {"fact": {"type": "integer"}, "confidence": {"type": "number"}}
    strict = {"type": "object", "additionalProperties": False}
    each = strict | {"properties": ending, "required": ["fact", "confidence"]}
    ended = {"type": "array", "items": each}
    assert json.loads(schema) == strict | {"properties": {"ended": ended}, "required": ["ended"]}


@pytest.mark.parametrize(
    ("ended", "kept", "refused"),
    [
        ([(1, 0.8), (2, 1.0)], [1, 2], []),
        ([(2, 0.79)], [], ["unsure"]),
        ([(2, 0.0)], [], ["unsure"]),
        ([(2, 1.1), (1, -0.1)], [], ["confidence", "confidence"]),
        ([(0, 1.0), (3, 1.0)], [], ["id", "id"]),
        ([(1, 1.0), (1, 0.9)], [1], ["id"]),
    ],
)
def test_an_answer_counts_for_facts_of_the_request_of_which_it_is_sure(
    ended: list[tuple[int, float]], kept: list[int], refused: list[str]
) -> None:
    answer = json.dumps({"ended": [{"fact": number, "confidence": sure} for number, sure in ended]})

    rows, rejected = parse_endings(answer, [fact(1), fact(2)])

    assert [row.number for row in rows] == kept
    assert rejected == [RejectedPart("ending", why) for why in refused]


@pytest.mark.parametrize("answer", ["", "[]", '{"ended": 1}', '{"ended": [{"fact": "1", "confidence": 1.0}]}'])
def test_an_answer_of_another_form_ends_nothing(answer: str) -> None:
    assert parse_endings(answer, [fact(1)]) == ([], [RejectedPart("ending", "schema")])
