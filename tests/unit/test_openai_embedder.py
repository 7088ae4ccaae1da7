"""The OpenAI-compatible embedder, against a server over HTTP: what it sends, and how it fails."""

from collections.abc import Iterator

import numpy as np
import pytest

from asof_projections.embedding.hashing import HashingEmbedder
from asof_projections.embedding.openai import BATCH, OpenAIEmbedder
from asof_streams.backoff import Backoff
from asof_streams.errors import ModelUnavailable
from embedding_server import EmbeddingServer, serving


@pytest.fixture
def server() -> Iterator[EmbeddingServer]:
    with serving() as server:
        yield server


@pytest.fixture
def embedder(server: EmbeddingServer) -> OpenAIEmbedder:
    return OpenAIEmbedder(base_url=server.url, model="some-model", dimensions=384, backoff=Backoff(0.01, retries=3))


def test_answers_are_put_in_the_order_of_the_texts_and_made_unit_length(embedder: OpenAIEmbedder) -> None:
    texts = [f"text {number}" for number in range(5)]

    assert embedder.embed(texts) == pytest.approx(HashingEmbedder().embed(texts), abs=1e-6)


def test_many_texts_are_sent_in_several_requests(server: EmbeddingServer, embedder: OpenAIEmbedder) -> None:
    texts = [f"text {number}" for number in range(BATCH + 1)]

    assert embedder.embed(texts) == pytest.approx(HashingEmbedder().embed(texts), abs=1e-6)
    assert [len(asked["input"]) for asked in server.requests] == [BATCH, 1]


def test_dimensions_are_asked_for_where_they_are_given_and_else_learned_from_the_model(server: EmbeddingServer) -> None:
    asked = OpenAIEmbedder(base_url=server.url, model="m", dimensions=16)
    learned = OpenAIEmbedder(base_url=server.url, model="m")

    assert (asked.dimensions, learned.dimensions) == (16, 384)
    assert asked.embed(["a text of several words"]).shape == (1, 16)
    assert [request.get("dimensions") for request in server.requests] == [None, 16]
    assert asked.model_id == f"m@127.0.0.1:{server.server_port}/v1#16"
    assert learned.model_id == f"m@127.0.0.1:{server.server_port}/v1"


def test_a_password_in_the_address_is_not_part_of_the_models_name() -> None:
    embedder = OpenAIEmbedder(base_url="https://user:hidden@models.example/v1/", model="m", api_key="also-hidden")

    assert embedder.model_id == "m@models.example/v1"
    assert "hidden" not in repr(embedder)


@pytest.mark.parametrize("status", [429, 500, 503])
def test_a_passing_failure_is_tried_again(server: EmbeddingServer, embedder: OpenAIEmbedder, status: int) -> None:
    server.failures = [(status, "{}")] * 3

    assert embedder.embed(["a"]).shape == (1, 384)
    assert len(server.requests) == 4


def test_a_failure_that_lasts_is_given_up_after_a_few_attempts(
    server: EmbeddingServer, embedder: OpenAIEmbedder
) -> None:
    server.failures = [(503, "{}")] * 100

    with pytest.raises(ModelUnavailable, match=r"some-model@.* answered status 503"):
        embedder.embed(["a"])
    assert len(server.requests) == 4


def test_a_refusal_is_not_tried_again_and_repeats_nothing_of_the_text(
    server: EmbeddingServer, embedder: OpenAIEmbedder
) -> None:
    server.failures = [(400, '{"error": {"message": "bad input: a secret"}}')]

    with pytest.raises(ModelUnavailable, match="answered status 400") as error:
        embedder.embed(["a secret"])
    assert "secret" not in str(error.value)
    assert error.value.__suppress_context__
    assert len(server.requests) == 1


@pytest.mark.parametrize(
    "body",
    [
        "",
        "<html>",
        "{}",
        "[]",
        '{"data": []}',
        '{"data": [{"index": 0}]}',
        '{"data": [{"index": 0, "embedding": []}]}',
        '{"data": [{"index": 0, "embedding": "AAAA"}]}',
        '{"data": [{"index": 0, "embedding": [0.0, 0.0]}]}',
        '{"data": [{"index": 0, "embedding": [NaN, 1.0]}]}',
        '{"data": [{"index": 0, "embedding": [0.6, 0.8]}]}',
    ],
)
def test_an_answer_that_is_not_the_embeddings_asked_for_is_an_error(
    server: EmbeddingServer, embedder: OpenAIEmbedder, body: str
) -> None:
    server.failures = [(200, body)]

    with pytest.raises(ModelUnavailable, match="some-model@"):
        embedder.embed(["a"])


def test_an_endpoint_that_is_not_there_is_an_error_after_a_few_attempts(server: EmbeddingServer) -> None:
    server.server_close()
    embedder = OpenAIEmbedder(base_url=server.url, model="m", dimensions=4, backoff=Backoff(0.001, retries=3))

    with pytest.raises(ModelUnavailable, match="cannot be reached"):
        embedder.embed(["a"])


def test_an_empty_text_is_sent_as_one_that_the_api_takes(server: EmbeddingServer, embedder: OpenAIEmbedder) -> None:
    assert np.isfinite(embedder.embed([""])).all()
    assert server.requests[0]["input"] == [" "]
