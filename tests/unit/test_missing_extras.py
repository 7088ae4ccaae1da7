"""An embedder whose packages are not installed says which command installs them."""

import re
import sys
from collections.abc import Callable
from importlib.metadata import metadata
from pathlib import Path

import pytest

from asof.runtime.doctor import examine
from asof_projections.embedding import weights
from asof_projections.embedding.minilm import MiniLMEmbedder
from asof_projections.embedding.openai import OpenAIEmbedder
from asof_projections.embedding.sentence_transformers import SentenceTransformersEmbedder
from asof_streams.distribution import NAME, install_command
from asof_streams.errors import ModelUnavailable


@pytest.mark.parametrize(
    ("package", "command", "make"),
    [
        ("tokenizers", weights.COMMAND, MiniLMEmbedder),
        ("sentence_transformers", install_command("torch"), lambda: SentenceTransformersEmbedder("a-model")),
        (
            "openai",
            install_command("openai"),
            lambda: OpenAIEmbedder(base_url="http://a.test", model="m"),
        ),
    ],
)
def test_a_missing_package_is_named_with_the_command_that_brings_it(
    package: str, command: str, make: Callable[[], object], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, package, None)  # as Python marks a module that cannot be imported

    with pytest.raises(ModelUnavailable, match=re.escape(f"{package}. Get it with: {command}")):
        make()


def test_the_doctor_finds_an_extra_that_is_imported_already(tmp_path: Path) -> None:
    import faust  # noqa: F401 - it puts another object in its own place

    found = {finding.what: finding for finding in examine(tmp_path, None)}

    assert found["extra kafka"].state == "ok"


def test_the_doctor_looks_for_every_extra_that_there_is(tmp_path: Path) -> None:
    looked_for = {finding.what for finding in examine(tmp_path, None)}

    assert {f"extra {extra}" for extra in metadata(NAME).get_all("Provides-Extra", [])} <= looked_for
