"""Messages on Kafka that a language model reads: the events of the embedded runtime, and no answer asked for twice."""

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from asof_streams.episodic import ExtractionAnswered
from kafka_worker import World, dump, embedded
from model_server import ModelServer, serving

SAID = ["I moved to Berlin in March 2024.", "I work at Siemens.", "ok", "My sister Eva lives in Rome."] * 5
SAID += ["My colleague Tom works at Acme Works.", "Acme is a customer of ours.", "My colleague Ben works at Acme."]
CALLS = len(SAID) + 1  # and one about a name


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[ModelServer]:
    with serving() as server:
        monkeypatch.setenv("ASOF_EXTRACTOR", "model")
        monkeypatch.setenv("ASOF_MODEL_NAME", "fake")
        monkeypatch.setenv("ASOF_MODEL_URL", server.url)
        yield server


def lasting(rows: list[Any]) -> list[Any]:
    """Events but for the measured time, and what is derived from it."""
    return [
        (*row[:-2], row[-2].model_copy(update={"latency_ms": 0}))
        if isinstance(row[-2], ExtractionAnswered)
        else row[:-1]
        for row in rows
    ]


def test_a_partition_is_read_ahead_and_its_answers_come_back_from_the_topics(
    world: World, server: ModelServer, tmp_path: Path
) -> None:
    server.latency = 0.2
    world.send([{"group_id": "g", "role": "Ana", "role_type": "user", "content": text} for text in SAID])
    data = tmp_path / "data"
    taken = world.partition(data)
    taken.ingest([])
    taken.close()
    found = dump(data)
    assert server.calls == CALLS
    assert server.at_once >= 4

    shutil.rmtree(data)
    again = world.partition(data)
    again.ingest([])
    again.close()
    assert dump(data) == found
    assert world.afresh(tmp_path / "afresh") == found
    assert server.calls == CALLS

    server.latency = 0.0
    wanted = embedded(world, data, tmp_path / "embedded")
    assert lasting(found.episodic) == lasting(wanted.episodic)
    assert lasting(found.unplaced().semantic) == lasting(wanted.semantic)
    assert found.semantic[-1][-2].type != "generation.started"
