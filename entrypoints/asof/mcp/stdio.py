"""MCP over standard input and output: finds or starts the process of a directory, and passes messages to and fro.

So several editors share a memory, of which only one process may write. This one loads little, and starts at once.
"""

import gc
import os
import pickle
import socket
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from pathlib import Path
from threading import Thread
from typing import BinaryIO, Final

from asof.mcp.local_settings import fingerprints, of_settings
from asof.mcp.local_socket import BUSY, LOCK, LOG, READY, Hello, Welcome, connected
from asof.operations.errors import InvalidInput, UnavailableError, WriterBusy
from asof.operations.process import can_fork, fork, locked_file, make_private_folder, version
from asof.settings import Settings

_PATIENCE_SECONDS: Final = 15.0  # for a process that writes there, and may be about to end
_PAUSE_SECONDS: Final = 0.2
_SERVING: Final = "import gc; gc.disable(); from asof.mcp.local_process import main; main()"  # until all is loaded
_LONGEST_LOG: Final = 1024 * 1024  # bytes
_PIECE: Final = 65_536  # bytes
_STARTED: Final[list["subprocess.Popen[bytes]"]] = []  # it outlives this process, so nobody waits for it


def run(settings: Settings, group: str, started: Callable[[], None]) -> int:
    """Serve an agent until its input ends; return the exit code. `started` is called once messages can pass.

    InvalidInput, UnavailableError: the directory cannot be served. WriterBusy: another program writes there.
    """
    settings = settings.model_copy(update={"data": settings.data.absolute()})
    hello = Hello(
        version=version(),
        settings=fingerprints(settings),
        ontology=settings.ontology if "ontology" in settings.model_fields_set else None,
        group=group,
        profile=settings.mcp_profile,
        read_only=settings.mcp_read_only,
        instructions=settings.mcp_instructions,
    )
    connection, welcome = _found_or_started(settings, hello)
    if welcome.settings_not_used:
        _say(of_settings(welcome.settings_not_used))
    started()
    return _pass_messages(connection)


def _found_or_started(settings: Settings, hello: Hello) -> tuple[socket.socket, Welcome]:
    """Return a connection with the process of a directory, which is started if there is none, and its welcome."""
    deadline = time.monotonic() + _PATIENCE_SECONDS
    make_private_folder(settings.data)
    while True:
        with locked_file(settings.data / LOCK):  # one starts it, and the others wait
            if (welcomed := _welcomed(settings.data, hello)) is not None:
                return welcomed
            kind, _, reason = _start(settings).partition(" ")
        if kind not in (READY, BUSY):
            raise UnavailableError(reason or f"the process that serves {settings.data} did not start: see {LOG} there")
        if kind == BUSY:  # one that is about to end, or another program
            if time.monotonic() >= deadline:
                raise WriterBusy(reason)
            time.sleep(_PAUSE_SECONDS)


def _welcomed(data: Path, hello: Hello) -> tuple[socket.socket, Welcome] | None:
    """Return a connection that was welcomed; None: nobody listens, or is about to end. InvalidInput: it was refused."""
    try:
        connection = connected(data)
    except OSError:
        return None
    try:
        connection.sendall(hello.model_dump_json().encode() + b"\n")
        line = _line_of(connection)
    except OSError:
        line = b""
    if not line:
        connection.close()
        return None
    welcome = Welcome.model_validate_json(line)
    if welcome.error is not None:
        connection.close()
        raise InvalidInput(welcome.error)
    return connection, welcome


def _line_of(connection: socket.socket) -> bytes:
    """Return the first line, and nothing behind it: messages follow only once this side has sent some."""
    line = b""
    while not line.endswith(b"\n"):
        piece = connection.recv(_PIECE)
        if not piece:
            return b""
        line += piece
    return line


def _start(settings: Settings) -> str:
    """Start the process of a directory, which outlives this one; return what it says once it listens, or cannot."""
    ours, theirs = os.pipe()
    with os.fdopen(ours, "rb") as told:
        try:
            with _log(settings.data / LOG) as errors:
                wait = _started(settings, theirs, errors.fileno())
        finally:
            os.close(theirs)
        said = told.readline().decode("utf-8", "replace").strip()
    if said != READY:
        wait()
    return said


def _started(settings: Settings, stdout: int, errors: int) -> Callable[[], object]:
    """Start it with these files; return what waits for its end. A fork need not import again what is imported here."""
    if can_fork():
        return partial(os.waitpid, fork(partial(_serve, settings), stdout=stdout, stderr=errors), 0)
    process = subprocess.Popen(  # noqa: S603 - a program of our own
        [sys.executable, "-P", "-c", _SERVING],
        stdin=subprocess.PIPE,
        stdout=stdout,
        stderr=errors,
        start_new_session=True,
    )
    _STARTED.append(process)
    assert process.stdin is not None
    with suppress(BrokenPipeError):
        process.stdin.write(pickle.dumps(settings))
        process.stdin.close()
    return process.wait


def _serve(settings: Settings) -> None:
    gc.disable()  # until all is loaded
    from asof.mcp.local_process import serve

    serve(settings)


def _log(path: Path) -> BinaryIO:
    """Open the log to be appended to; one that became long begins anew."""
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)
    if os.fstat(descriptor).st_size > _LONGEST_LOG:
        os.ftruncate(descriptor, 0)
    return os.fdopen(descriptor, "ab", buffering=0)


def _pass_messages(connection: socket.socket) -> int:
    """Pass messages both ways until the input ends and the last answer is out. 1: the other side ended first."""
    ended = False

    def answers() -> None:
        _copy(connection.recv, sys.stdout.buffer)
        if not ended:
            _say("the process that serves this directory has ended: start again")
            os._exit(1)  # the input may never end

    passing = Thread(target=answers, daemon=True)
    passing.start()
    with suppress(OSError):
        while piece := os.read(sys.stdin.fileno(), _PIECE):
            connection.sendall(piece)
    ended = True
    with suppress(OSError):
        connection.shutdown(socket.SHUT_WR)
    passing.join()
    connection.close()
    return 0


def _say(sentence: str) -> None:
    print(f"asof: {sentence}", file=sys.stderr, flush=True)  # noqa: T201


def _copy(receive: Callable[[int], bytes], output: BinaryIO) -> None:
    with suppress(OSError):
        while piece := receive(_PIECE):
            output.write(piece)
            output.flush()
