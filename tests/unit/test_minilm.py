"""all-MiniLM-L6-v2 in numpy is the model that others mean by that name."""

import json
import os
import re
import shutil
import sys
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest

from asof_projections.embedding import minilm, weights
from asof_projections.embedding.minilm import MiniLMEmbedder
from asof_projections.embedding.sentence_transformers import SentenceTransformersEmbedder
from asof_streams.errors import ModelUnavailable
from process_memory import printed_by
from unchecked import not_checked

GOLDEN = Path(__file__).parents[1] / "golden"
TEXTS = json.loads((GOLDEN / "minilm.json").read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def directory() -> Path:
    try:
        return weights.find_minilm(None)
    except ModelUnavailable as error:
        not_checked(f"with all-MiniLM-L6-v2: {error}")


def test_vectors_equal_those_that_sentence_transformers_gave(directory: Path) -> None:
    vectors = MiniLMEmbedder(directory).embed(TEXTS)

    assert np.abs(vectors - np.load(GOLDEN / "minilm.npy")).max() < 1e-5


def test_vectors_equal_those_of_sentence_transformers_where_it_is_installed(directory: Path) -> None:
    if find_spec("sentence_transformers") is None:
        not_checked("with sentence-transformers, which is not installed")
    ours, theirs = MiniLMEmbedder(directory), SentenceTransformersEmbedder(str(directory))

    assert np.abs(ours.embed(TEXTS) - theirs.embed(TEXTS)).max() < 1e-5
    assert ours.model_id == theirs.model_id
    assert ours.dimensions == theirs.dimensions


def test_a_vector_is_the_same_to_the_last_bit_whatever_stands_beside_it(directory: Path) -> None:
    embedder = MiniLMEmbedder(directory)
    together = embedder.embed(TEXTS)

    for size in (1, 2, 5):
        apart = [embedder.embed(TEXTS[at : at + size]) for at in range(0, len(TEXTS), size)]
        assert np.array_equal(np.concatenate(apart), together)
    assert np.array_equal(embedder.embed(TEXTS * 9), np.concatenate([together] * 9))


@pytest.mark.parametrize("width", minilm.SUMS)
@pytest.mark.parametrize("tokens", [20, 21, 25, 69, 70, 82, 163, 256])
def test_a_product_of_small_ones_is_the_large_one_to_the_last_bit_where_it_is_made_so(
    monkeypatch: pytest.MonkeyPatch, width: int, tokens: int
) -> None:
    """Only with AVX-512 does OpenBLAS add up as our parts do, so parts are used there; elsewhere they come near."""
    random = np.random.default_rng(tokens)
    tensors = {
        "some.weight": random.standard_normal((64, width), np.float32),
        "some.bias": random.standard_normal(64, np.float32),
    }
    linear = minilm._Linear.read(tensors, minilm._Room(64 * width), "some")
    x = random.standard_normal((2, tokens, width), np.float32)
    as_here = linear(x)
    in_parts = np.full((2, tokens, 64), np.nan, np.float32)
    linear._multiply_in_parts(x, in_parts.reshape(2, tokens, -1, minilm.BLOCK).swapaxes(1, 2))

    monkeypatch.setattr(minilm, "SMALL", tokens * width * minilm.BLOCK)  # so it is left to OpenBLAS
    whole = linear(x)
    assert np.array_equal(as_here, whole)
    assert np.abs(in_parts + linear.bias - whole).max() < 1e-3


def test_a_file_that_became_shorter_is_named_when_a_word_of_it_is_said(directory: Path, tmp_path: Path) -> None:
    for each in weights.SHA256:
        shutil.copy(directory / each, tmp_path)
    embedder = MiniLMEmbedder(tmp_path)
    embedder.embed(["a cat"])
    os.truncate(tmp_path / weights.MODEL, 100_000)

    with pytest.raises(ModelUnavailable, match=f"{weights.MODEL} became shorter"):
        embedder.embed(["a zebra"])


@pytest.mark.skipif(sys.platform != "linux", reason="it asks Linux what of a file is in memory")
def test_of_the_file_of_weights_little_stays_in_the_memory_of_a_process_that_embeds(
    directory: Path, tmp_path: Path
) -> None:
    for each in weights.SHA256:
        shutil.copy(directory / each, tmp_path)
    embedder = MiniLMEmbedder(tmp_path)
    for start in range(0, 2_000, 250):  # each word is a row of the file of its own
        embedder.embed([embedder._tokenizer.decode([start + word]) for word in range(0, 250, 5)])

    resident = re.findall(
        rf"{tmp_path / weights.MODEL}\n(?:.*\n)*?Rss: +(\d+) kB", Path("/proc/self/smaps").read_text()
    )
    assert resident, "the file is mapped"
    assert sum(map(int, resident)) * 1024 < (tmp_path / weights.MODEL).stat().st_size / 50


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_to_load_the_model_takes_little_more_memory_than_its_matrices(directory: Path) -> None:
    program = """
import sys
from pathlib import Path
from asof_projections.embedding.minilm import MiniLMEmbedder
from process_memory import peak_megabytes
before = peak_megabytes()
MiniLMEmbedder(Path(sys.argv[1])).embed(["Rome"])
print(peak_megabytes() - before)
"""
    [grown] = printed_by(program, directory)

    matrices, tokenizer = 43, 30  # megabytes; the file has 91, all of which were in memory at once
    assert grown < matrices + tokenizer


def test_text_beyond_256_tokens_is_not_read(directory: Path) -> None:
    long = "word " * 254
    vectors = MiniLMEmbedder(directory).embed([long, long + "and then something else"])

    assert np.array_equal(vectors[0], vectors[1])


@pytest.mark.parametrize("name", [weights.MODEL, weights.TOKENIZER])
def test_a_file_with_one_bit_changed_is_refused_by_name(directory: Path, tmp_path: Path, name: str) -> None:
    for each in weights.SHA256:
        shutil.copy(directory / each, tmp_path)
    with (tmp_path / name).open("r+b") as file:
        file.seek(100_000)
        byte = file.read(1)[0]
        file.seek(100_000)
        file.write(bytes([byte ^ 1]))

    with pytest.raises(ModelUnavailable, match=rf"{name} is not the file .* sha256 is [0-9a-f]{{64}}") as error:
        MiniLMEmbedder(tmp_path).embed(["a secret"])
    assert "secret" not in str(error.value)


def test_weights_that_are_not_there_are_an_error_with_the_command_that_gets_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    command = "asof model pull"

    with pytest.raises(ModelUnavailable, match=command):
        MiniLMEmbedder(tmp_path)
    monkeypatch.setitem(sys.modules, weights.PACKAGE, None)
    with pytest.raises(ModelUnavailable, match=command):
        MiniLMEmbedder()


def test_finding_the_weights_imports_neither_their_package_nor_torch(directory: Path) -> None:
    assert directory.is_dir()
    assert weights.PACKAGE not in sys.modules
