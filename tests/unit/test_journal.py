"""The journal of a model's answers: who is asked when."""

import threading
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest

from asof_agents.extraction.llm import budget
from asof_agents.extraction.llm.budget import ANSWER_TOKENS, Budget
from asof_agents.extraction.llm.journal import SPENT, Journal
from asof_agents.extraction.ports import ModelReply, ModelRequest
from asof_projections.model.prices import ModelBudget
from asof_streams.episodic import ExtractionAnswered, ExtractionFailed
from asof_streams.errors import BuildStopped, ModelUnavailable
from patience import SECONDS, wait_until

REQUEST = ModelRequest("extract", 1, "fake@here", 0.0, "system", "", "{}")


class Model:
    """Answers with what it was asked; the first question waits until it may be answered."""

    def __init__(self) -> None:
        self.asked: list[str] = []
        self.began, self.may = threading.Event(), threading.Event()

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
    budget = Budget(ModelBudget(tokens=ANSWER_TOKENS + 10))  # what fails costs nothing
    journal = Journal(model, lambda *_: None, lambda *_: None, 1, budget)

    for _ in range(2):
        with pytest.raises(ModelUnavailable):
            journal.reply("g", about("refused"), 0)
    assert journal.reply("g", about("one"), 0).answer == "one"
    assert model.asked == ["refused", "refused", "one"]
    journal.close()


def test_an_answer_is_used_again_until_the_logs_have_it() -> None:
    model = Model()
    model.may.set()
    journal = Journal(model, lambda *_: None, lambda *_: None, 1)

    for _ in range(2):
        assert journal.reply("g", about("one"), 0).answer == "one"
    assert model.asked == ["one"]
    journal.discard_recorded()
    assert journal.reply("g", about("one"), 0).answer == "one"
    assert model.asked == ["one", "one"]
    journal.close()


def recorded(request: ModelRequest) -> ExtractionAnswered:
    return ExtractionAnswered(
        episode_id="e",
        request=request.digest,
        prompt="extract",
        prompt_version=1,
        model="fake@here",
        answer="recorded",
        calls=2,
        prompt_tokens=30,
        completion_tokens=4,
        latency_ms=500,
    )


def test_what_a_log_has_an_answer_to_is_asked_neither_ahead_nor_when_it_is_wanted() -> None:
    model = Model()
    model.may.set()
    answer = recorded(about("one"))
    logs = {("g", answer.request): answer}
    journal = Journal(model, lambda group, digest: logs.get((group, digest)), lambda *_: None, 1)

    journal.prefetch("g", about("one"), 0)
    assert journal.reply("g", about("one"), 0) == ModelReply("recorded", "", 2, 30, 4, 500)
    assert journal.reply("h", about("one"), 0).answer == "one"
    assert model.asked == ["one"]
    journal.close()


def test_an_answer_that_is_erased_is_there_for_what_is_told_again_and_then_gone() -> None:
    model = Model()
    model.may.set()
    journal = Journal(model, lambda *_: None, lambda *_: None, 1)
    journal.keep("g", [recorded(about("one"))])

    assert journal.reply("g", about("one"), 0).answer == "recorded"
    assert journal.reply("h", about("one"), 0).answer == "one"
    journal.discard_recorded()
    assert journal.reply("g", about("one"), 0).answer == "one"
    journal.close()


def test_a_failure_stands_for_its_message_and_another_message_asks_again() -> None:
    model = Model()
    model.may.set()
    failed = ExtractionFailed(**recorded(about("one")).model_dump(exclude={"answer", "latency_ms"}), reason="timeout")
    journal = Journal(model, lambda *_: None, lambda _, __, cause: failed if cause == 7 else None, 1)

    journal.prefetch("g", about("one"), 7)
    assert journal.reply("g", about("one"), 7) == ModelReply(None, "timeout", 2, 30, 4)
    assert model.asked == []
    assert journal.reply("g", about("one"), 8).answer == "one"
    journal.close()


def test_what_is_asked_for_counts_until_its_answer_says_what_it_took() -> None:
    model = Model()
    enough = ModelBudget(
        tokens=10 * ANSWER_TOKENS
    )  # for what is sent ahead, and the eight that may be wanted before it
    journal = Journal(model, lambda *_: None, lambda *_: None, 1, Budget(enough))
    journal.prefetch("g", about("one"), 0)
    assert model.began.wait(SECONDS)
    journal.prefetch("g", about("two"), 0)
    journal.prefetch("h", about("three"), 0)
    assert [group for group, _, _ in journal._waiting] == ["h"]

    model.may.set()
    assert journal.reply("g", about("one"), 0).answer == "one"
    journal.prefetch("g", about("two"), 0)
    wait_until(lambda: model.asked == ["one", "three", "two"])
    journal.close()


def test_a_group_whose_budget_is_spent_is_told_so_without_a_call() -> None:
    model, refused = Model(), list[ModelRequest]()
    model.may.set()
    budget = Budget(ModelBudget(tokens=ANSWER_TOKENS + 10), refused=refused.append)
    journal = Journal(model, lambda *_: None, lambda *_: None, 1, budget)

    assert journal.reply("g", about("one"), 0).answer == "one"
    assert journal.reply("g", about("two"), 0).answer == "two"
    long = about("three " * 100)
    assert journal.reply("g", long, 0) == ModelReply(None, SPENT, 0)
    assert (refused, model.asked) == ([long], ["one", "two"])
    journal.close()


def test_what_a_group_has_cost_is_erased_with_it() -> None:
    model = Model()
    model.may.set()
    replies = [recorded(about("one"))]
    journal = Journal(
        model,
        lambda *_: None,
        lambda *_: None,
        1,
        Budget(ModelBudget(tokens=ANSWER_TOKENS + 10), None, lambda _: replies),
    )

    assert journal.reply("g", about("two"), 0).failure == SPENT
    replies.clear()
    journal.erase("g")
    assert journal.reply("g", about("two"), 0).answer == "two"
    journal.close()


def test_what_groups_have_cost_is_kept_of_those_that_were_asked_about_last(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(budget, "_KEPT", 2)
    read: list[str] = []

    def recorded_of(group: str) -> list[ExtractionAnswered]:
        read.append(group)
        return []

    limited = Budget(ModelBudget(tokens=10 * ANSWER_TOKENS), None, recorded_of)
    for group in ["a", "b", "a", "c", "a", "b"]:
        assert limited.admits(group, about("tea"))
    assert read == ["a", "b", "c", "b"]


def test_what_waits_when_the_journal_is_closed_is_never_asked() -> None:
    before, model = set(threading.enumerate()), Model()
    journal = Journal(model, lambda *_: None, lambda *_: None, 1)
    for words in ("one", "two"):
        journal.prefetch("g", about(words), 0)
    assert model.began.wait(SECONDS)
    journal.close()
    model.may.set()

    wait_until(lambda: set(threading.enumerate()) <= before)
    assert model.asked == ["one"]


def test_a_build_stops_where_its_budget_is_spent_and_what_it_was_not_asked_for_costs_nothing() -> None:
    model = Model()
    budget = Budget()
    journal = Journal(model, lambda *_: None, lambda *_: None, 1, budget)
    with budget.of_build(ModelBudget(tokens=11 * ANSWER_TOKENS), []):
        for words in ("one", "two"):
            journal.prefetch("g", about(words), 0)
        assert model.began.wait(SECONDS)
        journal.erase("g")
        model.may.set()
        wait_until(lambda: budget.admits("h", about("long" * 9 * ANSWER_TOKENS)))
        with pytest.raises(BuildStopped, match="budget"):
            journal.reply("h", about("long" * 11 * ANSWER_TOKENS), 0)
    assert model.asked == ["one"]
    journal.close()
