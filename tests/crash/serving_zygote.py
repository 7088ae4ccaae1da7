"""A process that has imported everything and forks an `asof serve` for each directory that it is told, one a line.

The service says where it listens, as JSON; the zygote then kills it when it reads an empty line, and says "gone".
"""

import logging
import os
import signal
import sys
from pathlib import Path

from asof.http.serving import serve
from asof.runtime import child_process
from asof.runtime.processes import tune_allocator
from asof.settings import Settings
from asof_agents.extraction.english import extractor


class Fork:
    """Starts a child as a fork, so that it has imported everything too: as much of Popen as a ChildProcess uses."""

    def __init__(self, command: list[str], **_: object) -> None:
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


child_process.Popen = Fork  # type: ignore[misc, assignment]


def main() -> None:
    for directory in sys.stdin:
        child = os.fork()
        if child == 0:
            os.setsid()
            logging.disable()
            settings = Settings(data=Path(directory.strip()), embedder="none")
            serve(settings, "127.0.0.1", 0, lambda url: os.write(1, f"{url}\n".encode()) and None)
        sys.stdin.readline()
        os.killpg(child, signal.SIGKILL)  # the worker too, at the same moment
        os.waitpid(child, 0)
        os.write(1, b"gone\n")


assert extractor
tune_allocator()
main()
