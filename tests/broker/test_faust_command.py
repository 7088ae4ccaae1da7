"""A worker that Faust's own command line starts: `faust -A asof.kafka.app worker`."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import asof_process
from kafka_worker import Running, World, fact, reached
from patience import wait_until

FAUST = Path(sys.executable).with_name("faust")
WORKER = (FAUST, "-A", "asof.kafka.app", "worker")


def environment(settings: dict[str, str]) -> dict[str, str]:
    others = {name: value for name, value in os.environ.items() if not name.startswith("ASOF_")}
    return others | {f"ASOF_{name.upper()}": value for name, value in settings.items()}


def test_a_worker_that_fausts_command_starts_makes_facts_of_messages_and_ends_by_a_signal(
    world: World, tmp_path: Path, start: Callable[..., Running]
) -> None:
    end, data = world.send([fact(1)]), tmp_path / "data"
    settings = world.settings() | {"data": str(data), "embedder": "none"}
    with (tmp_path / "said").open("wb") as said:
        worker = subprocess.Popen(
            WORKER, env=environment(settings), cwd=tmp_path, stdout=said, stderr=subprocess.STDOUT
        )
    try:
        wait_until(lambda: reached(data) == (end, 1), (tmp_path / "said").read_text)
        replica = start(world, "replica", ("facts", "--group", "g", "--json"))
        assert replica.wait() == 0
        assert [found["object"] for found in json.loads(replica.said())] == ["O1"]
        worker.send_signal(signal.SIGTERM)
        assert asof_process.wait(worker) == 0
    finally:
        asof_process.kill(worker)
    assert {path.name for path in tmp_path.iterdir()} == {"data", "replica", "replica.said", "said"}


def test_fausts_command_says_which_setting_it_lacks(tmp_path: Path) -> None:
    ran = subprocess.run(
        WORKER, env=environment({"data": str(tmp_path)}), cwd=tmp_path, capture_output=True, text=True, check=False
    )

    assert ran.returncode == 1
    assert ran.stderr.startswith("asof: kafka: which Kafka?")
