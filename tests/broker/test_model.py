"""Messages on Kafka that a language model reads: the events of the embedded runtime, and no answer asked for twice."""

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from asof_streams.episodic import ExtractionAnswered
from kafka_worker import Dump, World, dump, embedded
from model_server import ModelServer, serving

SAID = ["I moved to Berlin in March 2024.", "I work at Siemens.", "ok", "My sister Eva lives in Rome."] * 5


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[ModelServer]:
    with serving() as server:
        monkeypatch.setenv("ASOF_EXTRACTOR", "model")
        monkeypatch.setenv("ASOF_MODEL_NAME", "fake")
        monkeypatch.setenv("ASOF_MODEL_URL", server.url)
        yield server


def lasting(found: Dump) -> list[Any]:
    """The episodic events but for the measured time."""
    return [
        row
        if not isinstance(row[-2], ExtractionAnswered)
        else (*row[:-2], row[-2].model_copy(update={"latency_ms": 0}))
        for row in found.episodic
    ]


def test_a_partition_is_read_ahead_and_its_answers_come_back_from_the_topics(
    world: World, server: ModelServer, tmp_path: Path
) -> None:
    server.latency = 0.2
    world.send([{"group_id": "g", "role": "Ana", "role_type": "user", "content": text} for text in SAID])
    data = tmp_path / "data"
    taken = world.partition(data)
    taken.take([])
    taken.close()
    found = dump(data)
    assert server.calls == len(SAID)
    assert server.at_once >= 4

    shutil.rmtree(data)
    again = world.partition(data)
    again.take([])
    again.close()
    assert dump(data) == found
    assert world.afresh(tmp_path / "afresh") == found
    assert server.calls == len(SAID)

    server.latency = 0.0
    wanted = embedded(world, data, tmp_path / "embedded")
    assert [row[:-1] for row in lasting(found)] == [row[:-1] for row in lasting(wanted)]
    assert (found.semantic, found.digest) == (wanted.semantic, wanted.digest)
    assert found.semantic[-1][-2].type != "generation.started"
