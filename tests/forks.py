"""What is asked of the process that forks for tests (zygote.py), by whoever knows the path of its socket.

A message is its length and its marshalled value, so that launcher.py needs no import. A request is a tuple of the name
of a function there and its arguments, and open files may come with it; an answer is whatever the function returns.
"""

import marshal
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from socket import AF_UNIX, recv_fds, send_fds, socket
from typing import Any, Final

from asof.runtime import fork_server
from asof.runtime.child_process import ChildProcess, Process

LENGTH: Final = 4  # bytes of the length of a message
STDERR: Final = 2
_MOST_FILES: Final = 16  # that come with a message


def connected(path: Path) -> socket:
    """Return a connection. OSError: nobody listens there."""
    connection = socket(AF_UNIX)
    try:
        connection.connect(str(path))
    except BaseException:
        connection.close()
        raise
    return connection


def send(connection: socket, message: Any, files: Sequence[int] = ()) -> None:
    """Send a message, with open files."""
    value = marshal.dumps(message)
    whole = len(value).to_bytes(LENGTH, "big") + value
    sent = send_fds(connection, [whole], files)
    connection.sendall(whole[sent:])


def receive(connection: socket) -> tuple[Any, list[int]]:
    """Return the next message and the files that came with it. EOFError: there is none."""
    length, files, _, _ = recv_fds(connection, LENGTH, _MOST_FILES)
    value, count = b"", int.from_bytes(length, "big")
    while length and len(value) < count:
        piece = connection.recv(count - len(value))
        if not piece:
            break
        value += piece
    if not value:
        raise EOFError
    return marshal.loads(value), files


class Zygote:
    """The process that forks, to be asked by any thread of any process. Its children are not children of who asks."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def start(
        self, arguments: Sequence[str], environment: dict[str, str], folder: str, *files: int, has_children: bool
    ) -> int:
        """Fork an `asof` command whose standard streams are the first three files; return its process id.

        has_children: its children are its own, as where people use it; otherwise forks of the zygote.
        """
        pid: int = self._ask("start", [*arguments], environment, folder, has_children, files=files)
        return pid

    def fork(self, *inherited: int) -> int:
        """Fork a child of this process, as fork_server.ForkServer does."""
        pid: int = self._ask("child", dict(os.environ), str(Path.cwd()), [*sys.path], files=(*inherited, STDERR))
        return pid

    def poll(self, pid: int) -> int | None:
        """Return the exit code of a process that was forked (negative: the signal); None: it runs."""
        code: int | None = self._ask("poll", pid)
        return code

    def end(self, pid: int) -> int:
        """Kill a process that was forked, unless it has ended; return its exit code."""
        code: int = self._ask("end", pid)
        return code

    def _ask(self, *request: Any, files: Sequence[int] = ()) -> Any:
        with connected(self.path) as connection:
            send(connection, request, files)
            return receive(connection)[0]


def fork_children(forks: fork_server.Forks) -> None:
    """Let all children that are started in this process be forks from now on."""

    def fork(_: ChildProcess, *inherited: int) -> Process:
        return fork_server._Fork(forks, inherited)

    setattr(ChildProcess, "_start", fork)  # noqa: B010
