"""A fork of this process, which has all that is imported here: a new interpreter would import it again.

Whatever this process was doing is not gone on with in the fork, and no exit handler runs there.
"""

import os
import sys
import threading
import traceback
from collections.abc import Callable, Iterable
from contextlib import suppress


def can_fork() -> bool:
    """Return whether a fork of this process can do all that this process can.

    It would take over the locks of other threads. And libraries of macOS end a process that was forked.
    """
    return sys.platform == "linux" and threading.active_count() == 1


def fork(work: Callable[[], object], *kept: int, stdout: int | None = None, stderr: int = 2) -> int:
    """Do work in a fork of this process, which then ends; return its process id. OSError: it cannot be started.

    It is of a session of its own. Of the files that are open here it has those kept, and what are to be its standard
    output (None: nothing) and its standard error. It ends with exit code 1 after an error, which it writes to that.
    """
    pid = os.fork()
    if pid:
        return pid
    code = 1
    try:
        os.setsid()
        _open_streams(stdout, stderr)
        _close_all_but(kept)
        work()
        code = 0
    except BaseException:  # noqa: BLE001 - as an interpreter does that ends
        traceback.print_exc()
    finally:
        os._exit(code)


def _open_streams(stdout: int | None, stderr: int) -> None:
    nothing = os.open(os.devnull, os.O_RDWR)
    for number, file in enumerate((nothing, nothing if stdout is None else stdout, stderr)):
        os.dup2(file, number)
    # They close no file, as an interpreter's do not: a fork of this fork drops them, for its own on the same files.
    sys.stdin = open(0, encoding="utf-8", closefd=False)  # noqa: SIM115 - as long as the process
    sys.stdout = open(1, "w", encoding="utf-8", closefd=False)  # noqa: SIM115
    sys.stderr = open(2, "w", buffering=1, encoding="utf-8", errors="backslashreplace", closefd=False)  # noqa: SIM115


def _close_all_but(kept: Iterable[int]) -> None:
    """Close the files that are open, but for the standard streams and some others."""
    for file in _open_files() - {0, 1, 2, *kept}:
        with suppress(OSError):  # the one by which they were listed
            os.close(file)


def _open_files() -> set[int]:
    """Return the files that are open: to try all that may be takes minutes where the limit is a billion."""
    try:
        return {int(name) for name in os.listdir("/dev/fd")}  # noqa: PTH208 - numbers, no paths
    except OSError:
        return set(range(os.sysconf("SC_OPEN_MAX")))
