"""A process that has imported everything and forks a child for each `asof` command, so that a start costs milliseconds.

Reads one JSON array a line: ["start", arguments, environment, file for what it says] forks a child and answers with
its process id; ["wait", process id, seconds] answers with its exit code (negative: the signal), or null where it runs.
"""

import importlib
import json
import os
import sys
import time
from pathlib import Path

IMPORTED = [
    "asof.kafka.projector_process",
    "asof.kafka.worker_process",
    "asof_agents.extraction.english.extractor",
    "faust",
]


def start(arguments: list[str], environment: dict[str, str], said: str) -> int:
    child = os.fork()
    if child:
        return child
    os.setsid()
    with Path(said).open("ab") as file:
        os.dup2(file.fileno(), 1)
        os.dup2(file.fileno(), 2)
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    os.environ.update(environment)
    sys.argv[1:] = arguments
    del sys.modules["__main__"].__file__  # so that a process it starts does not begin with this module
    importlib.import_module("asof.cli").main()
    return 0


def wait(child: int, seconds: float) -> int | None:
    end = time.monotonic() + seconds
    while os.waitid(os.P_PID, child, os.WEXITED | os.WNOHANG | os.WNOWAIT) is None:
        if time.monotonic() > end:
            return None
        time.sleep(0.005)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def main() -> None:
    for name in IMPORTED:
        importlib.import_module(name)
    calls = {"start": start, "wait": wait}
    for line in sys.stdin:
        name, *given = json.loads(line)
        print(json.dumps(calls[name](*given)), flush=True)  # noqa: T201


if __name__ == "__main__":
    main()
