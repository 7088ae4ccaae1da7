"""The journal of a model's answers: who is asked when."""

import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from threading import Event

import pytest

from asof_agents.extraction.llm.journal import Journal
from asof_agents.extraction.ports import ModelReply, ModelRequest
from asof_streams.errors import ModelUnavailable
from patience import SECONDS

REQUEST = ModelRequest("extract", 1, "fake@here", 0.0, "system", "", "{}")


class Model:
    """Answers with what it was asked; the first question waits until it may be answered."""

    def __init__(self) -> None:
        self.asked: list[str] = []
        self.began, self.may = Event(), Event()

    def ask(self, request: ModelRequest) -> ModelReply:
        self.asked.append(request.user)
        self.began.set()
        self.may.wait(SECONDS)
        if request.user == "refused":
            raise ModelUnavailable("no")
        return ModelReply(request.user)


def about(words: str) -> ModelRequest:
    return replace(REQUEST, user=words)


def test_what_is_waited_for_goes_before_what_was_asked_ahead() -> None:
    model = Model()
    journal = Journal(model, lambda *_: None, lambda *_: None, 1)
    for words in ("one", "two", "three"):
        journal.prefetch("g", about(words), 0)
    assert model.began.wait(SECONDS)
    with ThreadPoolExecutor(1) as waiting:
        answered = waiting.submit(journal.reply, "g", about("now"), 0)
        while len(journal._waiting) < 3:
            time.sleep(0.001)
        model.may.set()
        assert answered.result().answer == "now"
    assert [journal.reply("g", about(words), 0).answer for words in ("one", "two", "three")] == ["one", "two", "three"]
    assert model.asked == ["one", "now", "two", "three"]
    journal.close()


def test_what_is_forgotten_before_its_turn_is_never_asked() -> None:
    model = Model()
    journal = Journal(model, lambda *_: None, lambda *_: None, 1)
    for group in ("g", "h"):
        journal.prefetch(group, about(f"one of {group}"), 0)
        journal.prefetch(group, about(f"two of {group}"), 0)
    assert model.began.wait(SECONDS)
    journal.erase("g")
    model.may.set()

    assert journal.reply("h", about("two of h"), 0).answer == "two of h"
    assert "two of g" not in model.asked
    journal.close()


def test_an_error_reaches_whoever_waits_and_the_next_question_is_asked() -> None:
    model = Model()
    model.may.set()
    journal = Journal(model, lambda *_: None, lambda *_: None, 1)

    for _ in range(2):
        with pytest.raises(ModelUnavailable):
            journal.reply("g", about("refused"), 0)
    assert journal.reply("g", about("one"), 0).answer == "one"
    assert model.asked == ["refused", "refused", "one"]
    journal.close()
