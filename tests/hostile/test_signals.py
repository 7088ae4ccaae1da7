"""A process that is asked to stop before it has begun: it ends as one that was asked later."""

import os
import signal
import socket
from pathlib import Path

import asof_process
from asof_streams.writer_lock import WriterLock
from patience import wait_until


def started(tmp_path: Path, *command: str, **settings: str) -> asof_process.Process:
    environment = {**os.environ, "ASOF_DATA": str(tmp_path / "data"), "ASOF_EMBEDDER": "hash", **settings}
    output = tmp_path / "said"
    return asof_process.fork(command, environment, output, output)


def test_a_service_that_is_asked_to_stop_while_its_directory_is_opened_stops_well(tmp_path: Path) -> None:
    with WriterLock(tmp_path / "data"):
        process = started(tmp_path, "serve", "--port", "0")
        children = Path(f"/proc/{process.pid}/task/{process.pid}/children")
        wait_until(lambda: process.poll() is not None or children.read_text())

        process.send_signal(signal.SIGTERM)
        assert asof_process.wait(process) == 0


def test_a_worker_that_is_asked_to_stop_while_its_broker_does_not_answer_stops_well(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        process = started(tmp_path, "worker", ASOF_KAFKA=f"127.0.0.1:{silent.getsockname()[1]}")
        connection, _ = silent.accept()

        process.send_signal(signal.SIGTERM)
        assert asof_process.wait(process) == 0
        connection.close()
