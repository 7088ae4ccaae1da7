"""A process that is asked to stop before it has begun: it ends as one that was asked later."""

import os
import signal
import socket
import subprocess
import sys
from pathlib import Path

import pytest

import asof_process
from patience import wait_until

MOMENTS = {  # at which an exception would leave a thread behind that nobody ends, or break a lock
    "once the worker's thread has started": """
start = threading.Thread.start
def interrupted(self):
    start(self)
    if self.name == "asof-worker":
        signal.raise_signal(signal.SIGTERM)
threading.Thread.start = interrupted
""",
    "in the midst of a wait for the worker": """
release = threading.Condition._release_save
def interrupted(self):
    state = release(self)
    if any(thread.name == "asof-worker" for thread in threading.enumerate()):
        signal.raise_signal(signal.SIGTERM)
    return state
threading.Condition._release_save = interrupted
""",
}


def started(tmp_path: Path, *command: str, **settings: str) -> asof_process.Process:
    environment = {**os.environ, "ASOF_DATA": str(tmp_path / "data"), "ASOF_EMBEDDER": "hash", **settings}
    output = tmp_path / "said"
    return asof_process.fork(command, environment, output, output, has_children=True)


def test_a_service_that_is_asked_to_stop_while_its_directory_is_opened_stops_well(tmp_path: Path) -> None:
    ontology = tmp_path / "ontology.yaml"
    os.mkfifo(ontology)  # opening takes until somebody writes there
    process = started(tmp_path, "serve", "--port", "0", ASOF_ONTOLOGY=str(ontology))
    children = Path(f"/proc/{process.pid}/task/{process.pid}/children")
    wait_until(lambda: process.poll() is not None or children.read_text())

    process.send_signal(signal.SIGTERM)
    assert asof_process.wait(process) == 0


@pytest.mark.parametrize("moment", MOMENTS)
def test_whenever_a_service_is_asked_to_stop_before_it_serves_it_stops_well(tmp_path: Path, moment: str) -> None:
    run = "import signal, threading\n" + MOMENTS[moment] + "from asof.cli import script\nscript()\n"
    environment = {**os.environ, "ASOF_DATA": str(tmp_path / "data"), "ASOF_EMBEDDER": "hash"}
    process = subprocess.Popen([sys.executable, "-c", run, "serve", "--port", "0"], env=environment)
    try:
        wait_until(lambda: process.poll() is not None)
        assert process.returncode == 0
    finally:
        process.kill()
        process.wait()


def test_a_worker_that_is_asked_to_stop_while_its_broker_does_not_answer_stops_well(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        process = started(tmp_path, "worker", ASOF_KAFKA=f"127.0.0.1:{silent.getsockname()[1]}")
        connection, _ = silent.accept()

        process.send_signal(signal.SIGTERM)
        assert asof_process.wait(process) == 0
        connection.close()
