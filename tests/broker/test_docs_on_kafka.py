"""The how-tos about Kafka do what they say, on a broker of their own; tests/documents.py reads them."""

from pathlib import Path

import pytest

import documents
from kafka_broker import Broker


@pytest.mark.parametrize("document", documents.ON_KAFKA, ids=lambda path: path.stem)
def test_what_a_document_tells_to_do_works_and_prints_what_it_shows(
    document: Path, own_broker: Broker, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ASOF_KAFKA", own_broker.bootstrap)
    monkeypatch.chdir(tmp_path)

    documents.run(document)
