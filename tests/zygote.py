"""A process that has imported everything and forks a child for each `asof` command, so that a start costs milliseconds.

Reads one JSON array a line: ["start", arguments, environment, working directory, file for its output, file for its
log] forks a child and answers with its process id; ["poll", process id] answers with its exit code (negative: the
signal), or null where it runs.
"""

import importlib
import json
import os
import sys
from multiprocessing import get_context

from asof.service import worker_handle

IMPORTED = [
    "asof.http.serving",
    "asof.kafka.projector_process",
    "asof.kafka.worker_process",
    "asof.service.worker_process",
    "asof_agents.extraction.english.extractor",
    "faust",
]


def start(arguments: list[str], environment: dict[str, str], folder: str, output: str, log: str) -> int:
    child = os.fork()
    if child:
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
    return 0


def poll(child: int) -> int | None:
    ended, status = os.waitpid(child, os.WNOHANG)
    return os.waitstatus_to_exitcode(status) if ended else None


def main() -> None:
    worker_handle.PROCESSES = get_context("fork")  # type: ignore[misc, assignment]  # the worker has imported all, too
    for name in IMPORTED:
        importlib.import_module(name)
    calls = {"start": start, "poll": poll}
    for line in sys.stdin:
        name, *given = json.loads(line)
        print(json.dumps(calls[name](*given)), flush=True)  # type: ignore[operator]  # noqa: T201


if __name__ == "__main__":
    main()
