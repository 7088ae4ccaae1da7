"""An embedder whose packages are not installed says which command installs them."""

import re
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from asof.runtime.doctor import examine
from asof_projections.embedding.minilm import MiniLMEmbedder
from asof_projections.embedding.openai import OpenAIEmbedder
from asof_projections.embedding.sentence_transformers import SentenceTransformersEmbedder
from asof_streams.distribution import install_command
from asof_streams.errors import ModelUnavailable


@pytest.mark.parametrize(
    ("package", "extra", "make"),
    [
        ("tokenizers", "minilm", MiniLMEmbedder),
        ("safetensors", "minilm", MiniLMEmbedder),
        ("sentence_transformers", "torch", lambda: SentenceTransformersEmbedder("a-model")),
        ("openai", "openai", lambda: OpenAIEmbedder(base_url="http://127.0.0.1:9/v1", model="a-model")),
    ],
)
def test_a_missing_package_is_named_with_the_extra_that_brings_it(
    package: str, extra: str, make: Callable[[], object], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, package, None)  # as Python marks a module that cannot be imported

    with pytest.raises(ModelUnavailable, match=re.escape(f"{package}. Get it with: {install_command(extra)}")):
        make()


def test_the_doctor_finds_an_extra_that_is_imported_already(tmp_path: Path) -> None:
    import faust  # noqa: F401 - it puts another object in its own place

    found = {finding.what: finding for finding in examine(tmp_path, None)}

    assert found["extra kafka"].state == "ok"
