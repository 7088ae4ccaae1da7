"""A process that has imported everything and forks an `asof serve` for each directory that it is told, one a line.

The service says where it listens, as JSON; the zygote then kills it when it reads an empty line, and says "gone".
"""

import logging
import os
import signal
import sys
from multiprocessing import get_context
from pathlib import Path

from asof.http.serving import serve
from asof.runtime.processes import tune
from asof.service import worker_handle
from asof.settings import Settings
from asof_agents.extraction.english import extractor

worker_handle.PROCESSES = get_context("fork")  # so that the worker has imported everything too


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
tune()
main()
