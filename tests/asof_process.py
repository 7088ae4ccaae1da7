"""`asof` commands in processes of their own: forked from one that has imported everything, or started afresh."""

import atexit
import json
import os
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Lock
from typing import Any, Protocol

from patience import wait_until

ASOF = Path(sys.executable).with_name("asof")
ZYGOTE = Path(__file__).with_name("zygote.py")


class Process(Protocol):
    """What a test asks of a process that it started."""

    pid: int

    def poll(self) -> int | None:
        """Return the exit code, or None while it runs."""
        ...

    def send_signal(self, number: int) -> None: ...


class Zygote:
    """Starts `asof` commands as forks of a process that has imported everything."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._process = subprocess.Popen(
            [sys.executable, str(ZYGOTE)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )

    def ask(self, *call: Any) -> Any:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        with self._lock:
            self._process.stdin.write(json.dumps(call) + "\n")
            self._process.stdin.flush()
            return json.loads(self._process.stdout.readline())

    def close(self) -> None:
        self._process.communicate()


@cache
def zygote() -> Zygote:
    """Return the one of this test process, which ends with it."""
    started = Zygote()
    atexit.register(started.close)
    return started


class Forked:
    """A process that a zygote forked."""

    def __init__(self, pid: int) -> None:
        self.pid = pid
        self._code: int | None = None

    def poll(self) -> int | None:
        """Return the exit code, or None while it runs."""
        if self._code is None:
            self._code = zygote().ask("poll", self.pid)
        return self._code

    def send_signal(self, number: int) -> None:
        if self.poll() is None:
            os.kill(self.pid, number)


def fork(
    command: Sequence[str], environment: Mapping[str, str], output: Path, log: Path, folder: Path | None = None
) -> Process:
    """Start a command, in a folder, from what is imported already; what it says goes to the end of two files."""
    pid = zygote().ask("start", [*command], {**environment}, str(folder or Path.cwd()), str(output), str(log))
    return Forked(pid)


def spawn(command: Sequence[str], environment: Mapping[str, str], output: Path, log: Path) -> Process:
    """Start a command as an operator does; what it says goes to the end of two files."""
    with output.open("ab") as out, log.open("ab") as err:
        return subprocess.Popen([ASOF, *command], stdout=out, stderr=err, env=environment)


def run(
    *command: str, folder: Path | None = None, environment: Mapping[str, str] = os.environ
) -> subprocess.CompletedProcess[str]:
    """Run a command from what is imported already, to its end; return its exit code and what it said."""
    with TemporaryDirectory() as said:
        output, log = Path(said, "output"), Path(said, "log")
        code = wait(fork(command, environment, output, log, folder))
        return subprocess.CompletedProcess(command, code, output.read_text("utf-8"), log.read_text("utf-8"))


def wait(process: Process) -> int:
    """Wait for the end; return the exit code."""
    wait_until(lambda: process.poll() is not None)
    code = process.poll()
    assert code is not None
    return code


def kill(process: Process) -> None:
    """Kill it with -9, if it runs, and wait for the end."""
    process.send_signal(signal.SIGKILL)
    wait(process)
