"""Signals of turns: a date counts only where the question names one, and only for the turns of that time."""

import numpy as np
import pytest

from asof_projections.retrieval.question import Question
from asof_projections.retrieval.signals import date_named
from asof_streams.instants import parse

MAY, JUNE, MAY_BEFORE = (parse(f"{day}T10:00:00Z") for day in ("2023-05-08", "2023-06-01", "2022-05-30"))


def dated(text: str) -> list[float]:
    """Return how well the days of three turns fit the dates that a question names."""
    question = Question.of(text, {"Ana": frozenset({"ana"})})
    return date_named(question, np.array([MAY, JUNE, MAY_BEFORE], np.int64)).tolist()


@pytest.mark.parametrize("text", ["Where does Ana live?", "What may Ana like?", "When did Ana move?", "Is 42 right?"])
def test_a_question_that_names_no_date_prefers_no_turn_by_its_day(text: str) -> None:
    assert dated(text) == [0, 0, 0]


def test_a_month_counts_for_its_turns_and_a_year_narrows_it() -> None:
    assert dated("What did Ana do in May?") == [1, 0, 1]
    assert dated("What did Ana do in May 2023?") == [1, 0, 0]
    assert dated("What did Ana do in December 2023?") == [0, 0, 0]  # nothing was said then


def test_a_year_alone_says_less_than_a_month() -> None:
    first, second, before = dated("What did Ana do in 2023?")

    assert 0 < first == second < 1
    assert before == 0
