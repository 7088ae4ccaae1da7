"""A language model behind an OpenAI-compatible endpoint, against a server over HTTP: what it asks, how it fails."""

import json
import time
from collections.abc import Iterator
from dataclasses import replace

import pytest

from asof_agents.extraction.llm.chat_model import BACKOFF, ChatModel
from asof_agents.extraction.llm.extractor import LLMExtractor
from asof_agents.extraction.llm.usage import UsageCounts
from asof_agents.extraction.ports import Turn
from asof_ontologies.prompts import prompt
from asof_ontologies.registry import load
from asof_streams.backoff import Backoff
from model_server import Fault, ModelServer, prompt_tokens, serving

EXTRACTOR = LLMExtractor(load("default"), prompt("extract"), "fake@here")
REQUEST = EXTRACTOR.request(Turn("e1", "Ana", "user", "I live in Berlin.", 0), [])


@pytest.fixture
def server() -> Iterator[ModelServer]:
    with serving() as server:
        yield server


@pytest.fixture
def model(server: ModelServer) -> ChatModel:
    return ChatModel(base_url=server.url, model="fake", backoff=Backoff(0.01, retries=1))


def test_a_question_is_one_call_that_asks_for_the_schema(server: ModelServer, model: ChatModel) -> None:
    reply = model.ask(REQUEST)

    (asked,) = server.requests
    assert reply.answer is not None
    assert json.loads(reply.answer)["facts"][0]["relation"] == "lives_in"
    assert (reply.failure, reply.calls, reply.prompt_tokens) == ("", 1, server.prompt_tokens)
    assert (asked["model"], asked["temperature"]) == ("fake", 0.0)
    assert [message["content"] for message in asked["messages"]] == [REQUEST.system, REQUEST.user]
    assert asked["response_format"]["json_schema"]["strict"] is True


def test_a_server_without_schemas_is_asked_for_plain_json_from_then_on(server: ModelServer, model: ChatModel) -> None:
    server.structured = False

    first, second = model.ask(REQUEST), model.ask(REQUEST)

    assert first.answer == second.answer is not None
    formats = [asked["response_format"]["type"] for asked in server.requests]
    assert formats == ["json_schema", "json_object", "json_object"]
    assert REQUEST.schema in server.requests[-1]["messages"][0]["content"]
    assert [asked["temperature"] for asked in server.requests] == [0.0] * 3


@pytest.mark.parametrize("status", [400, 415, 422, 501])
def test_a_server_may_say_in_several_ways_that_it_knows_no_schemas(
    server: ModelServer, model: ChatModel, status: int
) -> None:
    server.faults = [(status, "{}")]

    reply = model.ask(REQUEST)

    assert (reply.answer is not None, reply.calls) == (True, 1)
    assert [asked["response_format"]["type"] for asked in server.requests] == ["json_schema", "json_object"]


GARBLED: list[tuple[Fault, str]] = [
    ((200, "not JSON"), "malformed"),
    ((200, "{}"), "malformed"),
    ((200, '{"choices": [{"message": {"content": null, "refusal": "no"}}]}'), "declined"),
    ((200, '{"choices": [{"message": {"content": "{}"}, "finish_reason": "length"}]}'), "cut short"),
    ((200, '{"choices": [{"message": {"content": "{\\"a\\": \\"\\ud800\\"}"}}]}'), "malformed"),
    ("I cannot say.", "not JSON"),
    ("[1, 2]", "not JSON"),
    ("[" * 100_000, "not JSON"),
]


@pytest.mark.parametrize(
    ("fault", "failure"),
    [
        ((429, "{}"), "status 429"),
        ((500, "{}"), "status 500"),
        *GARBLED,
    ],
)
def test_what_fails_is_asked_once_more_and_then_given_up(
    server: ModelServer, model: ChatModel, fault: Fault, failure: str
) -> None:
    server.faults = [fault]
    assert (model.ask(REQUEST).calls, server.calls) == (2, 2)

    server.faults = [fault, fault]
    reply = model.ask(REQUEST)

    assert (reply.answer, reply.failure, reply.calls, server.calls) == (None, failure, 2, 4)


def test_what_answers_too_late_is_a_timeout(server: ModelServer) -> None:
    server.latency = 0.5
    reply = ChatModel(base_url=server.url, model="fake", timeout_seconds=0.05, backoff=Backoff(0.0, retries=1)).ask(
        REQUEST
    )

    assert (reply.answer, reply.failure, reply.calls) == (None, "timeout", 2)


def test_where_nobody_listens_there_is_no_answer() -> None:
    reply = ChatModel(base_url="http://127.0.0.1:9/v1", model="fake", backoff=Backoff(0.0, retries=1)).ask(REQUEST)

    assert (reply.answer, reply.failure, reply.calls) == (None, "unreachable", 2)


@pytest.mark.parametrize("status", [401, 403, 404])
def test_a_refusal_is_a_failure_like_any_other(server: ModelServer, model: ChatModel, status: int) -> None:
    server.faults = [(status, "{}")] * 2

    reply = model.ask(REQUEST)

    assert (reply.answer, reply.failure, reply.calls) == (None, f"status {status}", 2)


def test_while_a_server_is_away_each_request_is_one_call_until_one_succeeds(server: ModelServer) -> None:
    model = ChatModel(base_url=server.url, model="fake", backoff=Backoff(0.01, retries=3))
    server.faults = [(503, "{}")] * 5

    assert [model.ask(REQUEST).calls for _ in range(3)] == [4, 1, 1]
    server.faults = [(503, "{}")]
    assert model.ask(REQUEST).calls == 2


def test_a_call_that_failed_is_repeated_after_pauses_that_grow(server: ModelServer) -> None:
    model = ChatModel(base_url=server.url, model="fake", backoff=Backoff(0.3, retries=2))
    server.faults = [(503, "{}"), (503, "{}")]
    begun = time.perf_counter()

    assert model.ask(REQUEST).calls == 3
    assert time.perf_counter() - begun >= 0.3 + 0.6


@pytest.mark.parametrize("fault", [(503, "{}"), (200, "{}")])
def test_a_server_that_asks_for_no_pause_is_given_that_of_the_settings(
    server: ModelServer, model: ChatModel, fault: Fault, monkeypatch: pytest.MonkeyPatch
) -> None:
    pauses: list[float] = []
    monkeypatch.setattr(time, "sleep", pauses.append)
    server.faults = [fault]

    assert model.ask(REQUEST).calls == 2
    assert max(pauses) == 0.01  # the server of the tests, in another thread, pauses for 0


def test_where_nothing_else_is_said_a_server_that_fails_is_given_a_quarter_of_a_minute() -> None:
    assert list(BACKOFF.pauses()) == [1.0, 2.0, 4.0, 8.0]


def test_a_server_is_left_alone_for_as_long_as_it_asks(server: ModelServer, model: ChatModel) -> None:
    server.faults, server.retry_after = [(429, "{}")], 1
    begun = time.perf_counter()

    assert model.ask(REQUEST).calls == 2
    assert time.perf_counter() - begun >= 1


def test_a_server_that_asks_for_longer_than_a_message_waits_is_given_up_at_once(
    server: ModelServer, model: ChatModel
) -> None:
    server.faults, server.retry_after = [(429, "{}")], 3_600

    assert (model.ask(REQUEST).failure, server.calls) == ("status 429", 1)


@pytest.mark.parametrize(("fault", "failure"), GARBLED)
def test_an_answer_that_cannot_be_used_is_asked_for_once_more_and_its_server_is_not_away(
    server: ModelServer, fault: Fault, failure: str
) -> None:
    model = ChatModel(base_url=server.url, model="fake", backoff=Backoff(0.01, retries=9))
    server.faults = [fault] * 9

    assert (model.ask(REQUEST).failure, server.calls) == (failure, 2)
    server.faults = [(503, "{}")] * 2
    assert model.ask(REQUEST).calls == 3


def test_no_password_stands_in_the_models_name() -> None:
    model = ChatModel(base_url="https://user:hidden@models.example/v1/", model="m", api_key="also-hidden")

    assert model.model_id == "m@models.example/v1"
    assert "hidden" not in repr(model)


def test_what_was_asked_is_counted_by_prompt_and_model(server: ModelServer, model: ChatModel) -> None:
    other = replace(REQUEST, prompt="other")
    server.faults = [(500, "{}"), "no", (500, "{}")]
    model.ask(REQUEST)  # fails twice
    model.ask(REQUEST)  # fails once
    model.ask(other)

    counted = model.usage.snapshot()
    assert counted["extract", "fake@here"][:3] == (4, 3, 2)
    assert counted["other", "fake@here"][:3] == (1, 0, 0)
    assert sum(used.prompt_tokens for used in counted.values()) == server.prompt_tokens - 2 * _read_for_nothing(server)
    assert counted["other", "fake@here"].completion_tokens > 0


def _read_for_nothing(server: ModelServer) -> int:
    """What a call reads that fails with a status: its server counts no tokens."""
    return prompt_tokens(server.requests[0])


@pytest.mark.parametrize(("counted", "tokens"), [(1, 1), (0, 0), (-1, 0), ("7", 0), (None, 0)])
def test_tokens_are_those_that_the_server_counts(
    server: ModelServer, model: ChatModel, counted: object, tokens: int
) -> None:
    usage = {"prompt_tokens": counted, "completion_tokens": counted}
    server.faults = [(200, json.dumps({"choices": [{"message": {"content": "{}"}}], "usage": usage}))]

    reply = model.ask(REQUEST)

    assert (reply.answer, reply.prompt_tokens, reply.completion_tokens) == ("{}", tokens, tokens)


def test_a_call_that_is_refused_is_counted(server: ModelServer, model: ChatModel) -> None:
    server.faults = [(401, "{}")] * 2
    model.ask(REQUEST)

    assert list(model.usage.snapshot().values()) == [UsageCounts(calls=2, failed=2, retries=1)]
