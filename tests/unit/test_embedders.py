"""Where the weights of the model are missing, `auto` compares words, and says so wherever somebody looks."""

import logging
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import asof
from asof.runtime import embedders
from asof.settings import Settings
from asof_projections.embedding import weights


@pytest.fixture
def without_weights(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Hides the package of the weights."""
    monkeypatch.setitem(sys.modules, weights.PACKAGE, None)
    embedders._warn.cache_clear()
    yield
    embedders._warn.cache_clear()


@pytest.mark.usefixtures("without_weights")
def test_without_weights_the_log_says_once_that_words_are_compared_and_what_mends_it(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with asof.open(tmp_path, embedder="auto") as memory:
        memory.add("I live in Lisbon.", role="Ana")
        memory.search("where does Ana live")
        memory.search("who lives in Lisbon")

    (said,) = [record for record in caplog.records if record.levelno == logging.WARNING]
    assert said.getMessage().startswith("search compares words, not meaning: ")
    assert weights.COMMAND in said.getMessage()


@pytest.mark.usefixtures("without_weights")
def test_without_weights_the_counts_say_which_embedder_is_used_instead_and_why(tmp_path: Path) -> None:
    with asof.open(tmp_path, embedder="auto") as memory:
        memory.add("Hello.")
        counts = memory.stats()

    assert counts["embedder"] == "hash"
    assert weights.COMMAND in counts["embedder_fallback"]


@pytest.mark.usefixtures("without_weights")
@pytest.mark.parametrize("embedder", ["hash", "none"])
def test_an_embedder_that_was_asked_for_is_no_fallback(tmp_path: Path, embedder: str) -> None:
    settings = Settings(data=tmp_path, embedder=embedder)

    assert embedders.resolve_embedder(settings) == embedder
    assert embedders.embedder_fallback(settings) is None


def test_a_change_of_the_embedder_is_not_called_damage(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO)
    with asof.open(tmp_path, embedder="hash") as memory:
        memory.add("I live in Lisbon.", role="Ana")
        memory.search("where does Ana live")
    index = next(tmp_path.rglob("vectors.index"))
    _let_be_of_another_model(index)

    with asof.open(tmp_path, embedder="hash") as memory:
        assert [hit.object for hit in memory.search("where does Ana live")] == ["Lisbon"]

    assert "damaged" not in caplog.text
    assert [record.levelno for record in caplog.records if "another-model" in record.getMessage()] == [logging.INFO]


def _let_be_of_another_model(index: Path) -> None:
    """Write an empty index of another model in its place."""
    from asof_projections.vectors.faiss_index import FaissVectorIndex

    FaissVectorIndex(index, "another-model", 8).save(0)
