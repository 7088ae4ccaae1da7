"""Questions that take long: each in a process of its own, one after the other, and none outlives the service."""

import os
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

import pytest

import asof
from asof.operations import generations
from asof.operations.operation import read_query
from asof.runtime.layout import DirectoryLayout
from asof.service.long_questions import LongQuestions
from asof.settings import Settings
from child_work import answer_never, end_at_once, number_of_process
from patience import wait_until


@pytest.fixture
def questions(tmp_path: Path) -> LongQuestions:
    with asof.open(tmp_path / "data", embedder="none") as memory:
        memory.add("I live in Oslo.", role="Ana")
    settings = Settings(data=tmp_path / "data", embedder="none")
    return LongQuestions(DirectoryLayout(settings.data), settings)


def test_each_is_answered_by_a_process_of_its_own_as_here(questions: LongQuestions, tmp_path: Path) -> None:
    with asof.open(tmp_path / "data", embedder="none") as memory:
        digest = memory.digest()
    asked = partial(generations.digest, query=read_query(generations.DigestQuery, {}))

    with ThreadPoolExecutor(3) as pool:
        numbers = list(pool.map(questions.ask, [number_of_process] * 3))

    assert questions.ask(asked) == digest
    assert os.getpid() not in numbers


def test_what_it_refuses_is_raised_here(questions: LongQuestions) -> None:
    asked = partial(generations.estimate_rebuild, query=read_query(generations.EstimateRebuild, {"name": "main"}))

    with pytest.raises(asof.InvalidInput, match="there already"):
        questions.ask(asked)


def test_a_process_that_ends_without_an_answer_is_unavailable_and_the_next_one_answers(
    questions: LongQuestions,
) -> None:
    with pytest.raises(asof.UnavailableError, match="ask again"):
        questions.ask(end_at_once)

    assert questions.ask(number_of_process) > 0


def test_the_end_of_the_service_ends_what_is_asked_and_what_waits(questions: LongQuestions, tmp_path: Path) -> None:
    begun = tmp_path / "begun"
    with ThreadPoolExecutor(2) as pool:
        asked = pool.submit(questions.ask, partial(answer_never, begun=begun))
        wait_until(begun.exists)
        waiting = pool.submit(questions.ask, number_of_process)
        questions.end()

        for one in (asked, waiting):
            with pytest.raises(asof.UnavailableError):
                one.result()
    with pytest.raises(asof.UnavailableError):
        questions.ask(number_of_process)
