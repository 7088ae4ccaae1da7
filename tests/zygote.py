"""A process that has imported everything and forks a child for each `asof` command, so that a start costs milliseconds.

Reads one JSON array a line: ["start", arguments, environment, working directory, file for its output, file for its
log] forks a child and answers with its process id; ["poll", process id] answers with its exit code (negative: the
signal), or null where it runs.
"""

import gc
import importlib
import json
import os
import signal
import subprocess
import sys
import threading
from contextlib import suppress
from typing import Any

from asof.runtime import child_process
from asof_ontologies import registry

IMPORTED = [
    "asof.http.serving",
    "asof.kafka.projector_process",
    "asof.kafka.worker_process",
    "asof.service.worker_process",
    "asof_agents.extraction.english.extractor",
    "faust",
]


running: set[int] = set()


class Fork:
    """A child that has imported everything too: as much of Popen as a ChildProcess uses."""

    def __init__(self, command: list[str]) -> None:
        self.pid = os.fork()
        if self.pid == 0:
            sys.argv = command[-3:]
            child_process.main()
        self._code: int | None = None

    def wait(self, _: float | None = None) -> int:
        if self._code is None:
            self._code = os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])
        return self._code

    def kill(self) -> None:
        if self._code is None:
            os.kill(self.pid, signal.SIGKILL)


def start_child(command: list[str], **given: Any) -> object:
    """Start a child of a command: as a fork, unless there are threads whose locks it would take over."""
    return Fork(command) if threading.active_count() == 1 else subprocess.Popen(command, **given)


def start(arguments: list[str], environment: dict[str, str], folder: str, output: str, log: str) -> int:
    child = os.fork()
    if child:
        running.add(child)
        return child
    os.setsid()
    os.chdir(folder)
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    for number, name in ((1, output), (2, log)):
        os.dup2(os.open(name, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o666), number)
    os.environ.clear()
    os.environ.update(environment)
    sys.argv[1:] = arguments
    del sys.modules["__main__"].__file__  # so that a process it starts does not begin with this module
    importlib.import_module("asof.cli").main()
    sys.exit()


def poll(child: int) -> int | None:
    ended, status = os.waitpid(child, os.WNOHANG)
    if not ended:
        return None
    running.remove(child)
    return os.waitstatus_to_exitcode(status)


def prepare() -> None:
    """Do once what every command would: import, read the ontologies, and the signatures of the commands."""
    for name in IMPORTED:
        importlib.import_module(name)
    for name in registry.names():
        registry.load(name)
    gc.collect()
    gc.freeze()  # a collection in a child would copy every page


def main() -> None:
    child_process.Popen = start_child  # type: ignore[attr-defined, assignment]
    prepare()
    for line in sys.stdin:
        name, *given = json.loads(line)
        print(json.dumps(start(*given) if name == "start" else poll(*given)), flush=True)  # noqa: T201
    for child in running:  # of tests that were interrupted
        with suppress(ProcessLookupError):
            os.killpg(child, signal.SIGKILL)


if __name__ == "__main__":
    main()
