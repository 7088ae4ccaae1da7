"""Budgets of calls to a language model, and the counts of calls and tokens."""

import pytest

from asof_agents.extraction.llm import budget
from asof_agents.extraction.llm.budget import ANSWER_TOKENS, Budget
from asof_agents.extraction.llm.usage import Meter, UsageCounts
from asof_agents.extraction.ports import ModelReply, ModelRequest
from asof_projections.model.prices import ModelBudget, ModelPrice
from asof_streams.episodic import ExtractionAnswered, ExtractionFailed

REQUEST = ModelRequest("extract", 1, "m", 0.0, "s" * 100, "u" * 250, "c" * 53)  # 403 characters are 100 tokens
READ, WRITTEN = 100, ANSWER_TOKENS
BOTH = READ + WRITTEN


def answered(read: int, written: int) -> ExtractionAnswered:
    about = {"episode_id": "e", "request": "r", "prompt": "extract", "prompt_version": 1, "model": "m", "calls": 1}
    return ExtractionAnswered(answer="", latency_ms=1, prompt_tokens=read, completion_tokens=written, **about)


def failed(read: int, written: int) -> ExtractionFailed:
    about = {"episode_id": "e", "request": "r", "prompt": "extract", "prompt_version": 1, "model": "m", "calls": 1}
    return ExtractionFailed(reason="schema", prompt_tokens=read, completion_tokens=written, **about)


@pytest.mark.parametrize(("behind", "left"), [(0, BOTH), (2, 3 * BOTH)])
def test_a_request_is_admitted_while_it_and_those_behind_it_fit_with_what_is_recorded(behind: int, left: int) -> None:
    recorded: list[ExtractionAnswered | ExtractionFailed] = [answered(5, 2), failed(3, 0)]
    budgets = [Budget(ModelBudget(tokens=10 + left - more), recorded=lambda _: recorded) for more in (0, 1)]

    assert [each.admits("g", REQUEST, behind) for each in budgets] == [True, False]
    assert (Budget().admits("g", REQUEST, 10**9), Budget().is_of_build) == (True, False)


def test_money_is_of_what_is_read_and_written_each_at_its_price() -> None:
    price = ModelPrice(input=1.0, output=3.0)

    for cost, is_admitted in ((READ + 3 * WRITTEN, True), (READ + 3 * WRITTEN - 1, False)):
        assert Budget(ModelBudget(cost=cost / 1e6), price).admits("g", REQUEST) == is_admitted


def test_what_is_asked_counts_by_its_prompt_until_it_is_settled_for_its_own_group_alone() -> None:
    spent = Budget(ModelBudget(tokens=2 * BOTH))
    assert spent.admits("g", REQUEST)
    spent.reserve("g", REQUEST)
    spent.reserve("g", REQUEST)

    assert [spent.admits(group, REQUEST) for group in ("g", "h")] == [False, True]
    spent.settle("g", REQUEST, None)  # it was not made
    assert spent.admits("g", REQUEST)
    spent.settle("g", REQUEST, ModelReply("", prompt_tokens=BOTH - 1, completion_tokens=1))
    assert spent.admits("g", REQUEST)
    spent.reserve("g", REQUEST)
    spent.settle("g", REQUEST, ModelReply("", prompt_tokens=1, completion_tokens=0))
    assert not spent.admits("g", REQUEST)


def test_an_erased_group_is_counted_from_the_beginning() -> None:
    recorded = [answered(BOTH, 0)]
    spent = Budget(ModelBudget(tokens=BOTH), recorded=lambda _: recorded)
    assert not spent.admits("g", REQUEST)

    recorded.clear()
    assert not spent.admits("g", REQUEST)  # it was asked for once
    spent.erase("g")
    assert spent.admits("g", REQUEST)
    spent.erase("unknown")


def test_the_group_that_was_asked_about_longest_ago_is_read_again_where_there_are_too_many(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(budget, "_KEPT", 2)
    read: list[str] = []

    def recorded(group: str) -> list[ExtractionAnswered]:
        read.append(group)
        return []

    limited = Budget(ModelBudget(tokens=BOTH), recorded=recorded)
    for group in "abacab":
        limited.admits(group, REQUEST)

    assert "".join(read) == "abcb"


def test_a_build_is_counted_over_all_groups_with_what_it_recorded_before_and_only_while_it_lasts() -> None:
    spent = Budget()

    with spent.of_build(ModelBudget(tokens=2 * BOTH), [answered(BOTH - 1, 1)]):
        assert (spent.is_of_build, spent.admits("g", REQUEST)) == (True, True)
        spent.reserve("g", REQUEST)
        assert not spent.admits("h", REQUEST)
    assert (spent.is_of_build, spent.admits("h", REQUEST)) == (False, True)

    group = Budget(ModelBudget(tokens=BOTH - 1))
    with group.of_build(ModelBudget(), []):
        assert not group.admits("g", REQUEST)  # the budget of the group is spent


def test_usage_counts_failed_calls_and_those_after_them_by_prompt_and_model() -> None:
    meter, other = Meter(), ModelRequest("reply", 1, "m", 0.0, "", "", "")

    meter.count(REQUEST, ModelReply("answer", calls=3, prompt_tokens=5, completion_tokens=2))
    meter.count(REQUEST, ModelReply("answer", prompt_tokens=1, completion_tokens=1))
    meter.refuse(REQUEST)
    meter.count(other, ModelReply(None, "schema", calls=2, prompt_tokens=1, completion_tokens=1))
    meter.refuse(other)

    assert meter.snapshot() == {
        ("extract", "m"): UsageCounts(4, 2, 2, 6, 3, 1),
        ("reply", "m"): UsageCounts(2, 2, 1, 1, 1, 1),
    }
