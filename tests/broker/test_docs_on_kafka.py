"""The how-tos about Kafka do what they say, each with topics of its own; tests/documents.py reads them."""

import subprocess
from pathlib import Path

import pytest

import documents
from asking import records
from asof.api.memory import Memory
from asof.settings import Settings
from asof_process import launcher
from asof_streams.errors import NotFound
from patience import wait_until


@pytest.fixture(autouse=True)
def _own(bootstrap: str, prefix: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ASOF_KAFKA", bootstrap)
    monkeypatch.setenv("ASOF_KAFKA_PREFIX", prefix)
    monkeypatch.setenv("ASOF_EMBEDDER", "none")
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize("document", documents.ON_KAFKA, ids=lambda path: path.stem)
def test_what_a_document_tells_to_do_works_and_prints_what_it_shows(document: Path, prefix: str) -> None:
    documents.run(document, prefix)


def test_what_is_sent_as_told_becomes_facts_and_once(tmp_path: Path, prefix: str) -> None:
    documents.run(documents.ROOT / "docs" / "how-to" / "produce-to-kafka.md", prefix)

    with subprocess.Popen(launcher("worker")) as worker:
        try:
            wait_until(lambda: objects(tmp_path / "asof-data") == {"Acme", "Beta", "Berlin", "Madrid"})
        finally:
            worker.terminate()

    assert worker.returncode == 0
    with local(tmp_path / "asof-data") as memory:
        assert [record.cause for record in records(memory, "messages")] == [0, 1, 2, 3], (
            "not those that were sent again"
        )
        assert memory.stats()["parked"] == 0


def objects(data: Path) -> set[str]:
    """Return the objects of all facts."""
    try:
        with local(data) as memory:
            return {fact.object for fact in memory.facts(any_time=True, all_groups=True)}
    except NotFound:  # the worker has not made it yet
        return set()


def local(data: Path) -> Memory:
    """The worker's directory, read as what it is."""
    return Memory(Settings(data=data, embedder="none", kafka=None))
