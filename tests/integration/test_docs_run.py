"""README, tutorials and how-tos do what they say, each in a directory of its own; tests/documents.py reads them."""

from pathlib import Path

import pytest

import documents


@pytest.fixture(autouse=True)
def _clean(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """What somebody has who starts in an empty directory."""
    for name in ("DATA", "ONTOLOGY", "POLICY", "EMBEDDER", "MODEL_DIR"):
        monkeypatch.delenv(f"ASOF_{name}", raising=False)
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize("document", documents.OFFLINE, ids=lambda path: path.stem)
def test_what_a_document_tells_to_do_works_and_prints_what_it_shows(document: Path) -> None:
    documents.run(document)
