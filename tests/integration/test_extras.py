"""What one extra brings is needed by nothing that is not of it; where it is needed and missing, one line says so."""

import os
import subprocess
from pathlib import Path

import pytest

from asof_process import ASOF
from asof_projections.embedding import weights
from asof_streams.distribution import install_command
from http_server import serving

WITHOUT_KAFKA = "import sys\nsys.modules.update(dict.fromkeys(('aiokafka', 'faust', 'mode')))\n"  # as if not installed


@pytest.fixture
def without_kafka(tmp_path: Path) -> dict[str, str]:
    """What a process has to find in its environment, so that nothing for Kafka is found there."""
    (tmp_path / "sitecustomize.py").write_text(WITHOUT_KAFKA, encoding="utf-8")
    return {"PYTHONPATH": str(tmp_path)}


def test_a_memory_is_served_where_nothing_for_kafka_is_installed(tmp_path: Path, without_kafka: dict[str, str]) -> None:
    with serving(tmp_path / "data", fresh=True, **without_kafka) as server:
        server.say("g", "I live in Paris.")

        assert [fact["fact"] for fact in server.search("Where does Ana live?", "g")] == ["Ana lives in Paris"]


def test_without_the_weights_a_service_says_at_its_start_that_it_compares_words(tmp_path: Path) -> None:
    hidden = f"import sys\nsys.modules[{weights.PACKAGE!r}] = None\n"
    (tmp_path / "sitecustomize.py").write_text(hidden, encoding="utf-8")
    with serving(tmp_path / "data", fresh=True, ASOF_EMBEDDER="auto", PYTHONPATH=str(tmp_path)) as server:
        told = server.announced

    assert told["embedder"] == "hash"
    assert weights.COMMAND in told["embedder_fallback"]


@pytest.mark.parametrize("command", [["serve", "--port", "0"], ["add", "Hello."], ["facts"], ["worker"]])
def test_what_asks_for_kafka_is_told_what_to_install(
    command: list[str], tmp_path: Path, without_kafka: dict[str, str]
) -> None:
    ended = subprocess.run(
        [ASOF, *command, "--kafka", "127.0.0.1:9", "--data", tmp_path / "data"],
        check=False,
        capture_output=True,
        text=True,
        env={**os.environ, **without_kafka},
    )

    assert (ended.returncode, ended.stdout) == (2, "")
    assert ended.stderr.endswith(f"Get it with: {install_command('kafka')}\n")
    assert ended.stderr.count("\n") == 1
