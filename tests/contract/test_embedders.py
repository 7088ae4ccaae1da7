"""Every embedder keeps the promises of the port."""

from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest

from asof_projections.embedding import weights
from asof_projections.embedding.cache import CachedEmbedder
from asof_projections.embedding.hashing import HashingEmbedder
from asof_projections.embedding.minilm import MiniLMEmbedder
from asof_projections.embedding.openai import OpenAIEmbedder
from asof_projections.embedding.ports import Embedder
from asof_projections.embedding.sentence_transformers import SentenceTransformersEmbedder
from asof_streams.errors import ModelUnavailable
from embedding_server import serving
from unchecked import not_checked

TEXTS = [
    "Ana works at SAP.",
    "",
    "My sister moved to Berlin in March.",
    "fish",
    "Zoë lives in 東京 🙂",
    "Ana works at SAP.",
    "the committee met again and put it off again " * 60,
    "...",
]


def weights_or_skip() -> Path:
    try:
        return weights.find_minilm(None)
    except ModelUnavailable as error:
        not_checked(f"with all-MiniLM-L6-v2: {error}")


@pytest.fixture(params=["hashing", "minilm", "cached", "openai", "sentence-transformers"])
def embedder(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Embedder]:
    match request.param:
        case "hashing":
            yield HashingEmbedder()
        case "minilm":
            yield MiniLMEmbedder(weights_or_skip())
        case "cached":
            cached = CachedEmbedder(HashingEmbedder(), tmp_path / "vectors.db")
            yield cached
            cached.close()
        case "openai":
            with serving() as server:
                yield OpenAIEmbedder(base_url=server.url, model="some-model")
        case "sentence-transformers":
            if find_spec("sentence_transformers") is None:
                not_checked("with sentence-transformers, which is not installed")
            yield SentenceTransformersEmbedder(str(weights_or_skip()))


def test_each_text_gets_one_row_of_unit_length_in_32_bits(embedder: Embedder) -> None:
    vectors = embedder.embed(TEXTS)

    assert vectors.shape == (len(TEXTS), embedder.dimensions)
    assert vectors.dtype == np.float32
    assert np.linalg.norm(vectors.astype(float), axis=1) == pytest.approx(1, abs=1e-6)


def test_no_texts_give_no_rows(embedder: Embedder) -> None:
    assert embedder.embed([]).shape == (0, embedder.dimensions)


@pytest.mark.parametrize("size", [1, 3])
def test_a_text_has_the_same_vector_in_every_batch(embedder: Embedder, size: int) -> None:
    together = embedder.embed(TEXTS)

    apart = np.concatenate([embedder.embed(TEXTS[at : at + size]) for at in range(0, len(TEXTS), size)])
    backwards = embedder.embed(TEXTS[::-1])[::-1]

    assert apart == pytest.approx(together, abs=1e-6)
    assert backwards == pytest.approx(together, abs=1e-6)


def test_equal_texts_have_equal_vectors_and_others_do_not(embedder: Embedder) -> None:
    vectors = embedder.embed(TEXTS)
    cosines = vectors @ vectors.T

    assert cosines[0, 5] == pytest.approx(1, abs=1e-6)
    assert cosines[0, [2, 3, 4, 6]].max() < 0.9


def test_a_text_is_nearer_to_one_that_shares_its_subject_than_to_any_other(embedder: Embedder) -> None:
    question, near, far = embedder.embed(
        ["Which city did my sister move to?", "My sister moved to Berlin.", "Postgres stores rows on disk."]
    )

    assert question @ near > question @ far + 0.1


def test_the_model_is_named_and_its_representation_shows_no_text(embedder: Embedder) -> None:
    embedder.embed(["a secret"])

    assert embedder.model_id
    assert embedder.model_id == embedder.model_id.strip()
    assert "secret" not in repr(embedder)
