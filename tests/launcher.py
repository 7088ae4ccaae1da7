"""Stands for the `asof` command, or for Python, where a program starts it: zygote.py forks it; it ends as that does.

Its arguments are the path of the zygote's socket, the request (`start` or `run`), whether the command has children of
its own (`1` or `0`), and those of the command. A signal goes on to the command, unless it is SIGKILL. It imports next
to nothing: `python -I -S` starts it in ten milliseconds.
"""

import _signal  # type: ignore[import-not-found]
import _socket
import marshal
import os
import sys
from typing import Any

LENGTH = 4  # as in forks.py


def ask(*request: Any, files: bytes = b"") -> Any:
    """Ask the zygote for something, and return its answer."""
    connection = _socket.socket(_socket.AF_UNIX)
    connection.connect(sys.argv[1])
    value = marshal.dumps(request)
    connection.sendmsg(
        [len(value).to_bytes(LENGTH, "big") + value], [(_socket.SOL_SOCKET, _socket.SCM_RIGHTS, files)] if files else []
    )
    length = int.from_bytes(connection.recv(LENGTH), "big")
    return marshal.loads(connection.recv(length))


def main() -> None:
    ended, open_ = os.pipe()
    files = b"".join(number.to_bytes(4, sys.byteorder) for number in (0, 1, 2, open_))
    pid = ask(sys.argv[2], sys.argv[4:], dict(os.environ), os.getcwd(), sys.argv[3] == "1", files=files)  # noqa: PTH109
    for number in (0, 1, open_):
        os.close(number)
    for name in (_signal.SIGHUP, _signal.SIGINT, _signal.SIGTERM):
        _signal.signal(name, lambda number, _: os.kill(pid, number))
    os.read(ended, 1)
    code = ask("end", pid)
    if code < 0:
        if code != -_signal.SIGKILL:  # which nobody handles
            _signal.signal(-code, _signal.SIG_DFL)
        os.kill(os.getpid(), -code)
    os._exit(code)


main()
