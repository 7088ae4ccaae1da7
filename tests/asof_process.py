"""`asof` commands in processes of their own: forked from one that has imported everything, or started afresh."""

import atexit
import os
import shlex
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from fcntl import LOCK_EX, flock
from functools import cache
from pathlib import Path
from socket import socket
from tempfile import TemporaryDirectory, gettempdir
from typing import Protocol

from forks import Zygote, connected
from patience import wait_until

ASOF = Path(sys.executable).with_name("asof")
ZYGOTE = Path(__file__).with_name("zygote.py")
LAUNCHER = Path(__file__).with_name("launcher.py")


class Process(Protocol):
    """What a test asks of a process that it started."""

    pid: int

    def poll(self) -> int | None:
        """Return the exit code, or None while it runs."""
        ...

    def send_signal(self, number: int) -> None: ...


_STARTED: list["subprocess.Popen[str]"] = []


@cache
def zygote() -> Zygote:
    """Return the one that all test processes of a run share. It ends with the last of them."""
    path = Path(gettempdir(), f"asof-{os.environ.get('PYTEST_XDIST_TESTRUNUID', os.getpid())}.socket")
    with path.with_suffix(".lock").open("w") as lock:
        flock(lock, LOCK_EX)
        try:
            connection = connected(path)
        except OSError:  # there is none, or it was killed
            path.unlink(missing_ok=True)
            _start(path)
            connection = connected(path)
    atexit.register(_leave, connection)
    return Zygote(path)


def _start(path: Path) -> None:
    """Start the zygote, and wait until one can connect to it."""
    started = subprocess.Popen(
        [sys.executable, str(ZYGOTE), str(path)],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    _STARTED.append(started)
    assert started.stdout is not None
    assert started.stdout.readline(), "the zygote ended"


def _leave(connection: socket) -> None:
    """Let the zygote end, if nobody else needs it."""
    connection.close()
    for started in _STARTED:
        started.communicate()


class Forked:
    """A process that a zygote forked."""

    def __init__(self, pid: int) -> None:
        self.pid = pid
        self._code: int | None = None

    def poll(self) -> int | None:
        """Return the exit code, or None while it runs."""
        if self._code is None:
            self._code = zygote().poll(self.pid)
        return self._code

    def send_signal(self, number: int) -> None:
        if self.poll() is None:
            os.kill(self.pid, number)


def fork(
    command: Sequence[str],
    environment: Mapping[str, str],
    output: Path,
    log: Path,
    folder: Path | None = None,
    *,
    has_children: bool = False,
) -> Process:
    """Start a command, in a folder, from what is imported already; what it says goes to the end of two files.

    `has_children` is needed where the test looks for the children of the process.
    """
    with Path(os.devnull).open("rb") as nothing, output.open("ab") as out, log.open("ab") as err:
        files = nothing.fileno(), out.fileno(), err.fileno()
        given = command, {**environment}, str(folder or Path.cwd())
        return Forked(zygote().start(*given, *files, has_children=has_children))


def launcher(*arguments: str) -> list[str]:
    """Return the command line for a program that is to start an `asof` command: it is forked."""
    return _launched("start", *arguments)


def interpreter(folder: Path) -> Path:
    """Return an executable in a folder that stands for Python: modules and code that it runs are forked, files are not.

    What is run starts others by it too. Who looks at the processes that a program has sees those of the zygote.
    """
    executable = folder / "python"
    launched = shlex.join(_launched("run", str(executable)))
    here = shlex.quote(sys.executable)
    executable.write_text(f'#!/bin/sh\ncase "$1" in -*) exec {launched} "$@" ;; esac\nexec {here} "$@"\n', "utf-8")
    executable.chmod(0o755)
    return executable


def program(code: str, *arguments: object, has_children: bool = False) -> list[str]:
    """Return the command line for a program in Python, with its arguments: it is forked, and need import nothing again.

    `has_children` is needed where its children have to end as it does.
    """
    return _launched("run", sys.executable, "-c", code, *map(str, arguments), has_children=has_children)


def _launched(request: str, *arguments: str, has_children: bool = False) -> list[str]:
    children = str(int(has_children))
    return [sys.executable, "-I", "-S", str(LAUNCHER), str(zygote().path), request, children, *arguments]


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


def stop(process: Process) -> int:
    """Ask it to stop, once it has come so far that it can be asked, and wait for the end; return the exit code."""
    wait_until(lambda: process.poll() is not None or _catches(process.pid, signal.SIGTERM))
    process.send_signal(signal.SIGTERM)
    return wait(process)


def _catches(pid: int, number: int) -> bool:
    """Whether a process has a handler for a signal: one that was just started has none, and is killed by it."""
    with suppress(FileNotFoundError, ProcessLookupError):  # it has ended
        status = Path(f"/proc/{pid}/status").read_text("utf-8")
        caught = next(line.split()[1] for line in status.splitlines() if line.startswith("SigCgt"))
        return bool(int(caught, 16) >> (number - 1) & 1)
    return False


def kill(process: Process) -> None:
    """Kill it with -9, if it runs, and wait for the end."""
    process.send_signal(signal.SIGKILL)
    wait(process)
