"""The socket of a directory, by which the processes of agents share the one that writes there.

It is in the directory, which is for its user alone. Each connection begins with one line of JSON from each side: who
connects says which group and which tools it wants, and is answered that it may go on, or why not. From then on
both send messages of MCP, one a line.
"""

import os
import socket
from pathlib import Path
from typing import Final

from pydantic import BaseModel, ConfigDict

from asof.operations.errors import InvalidInput
from asof.operations.process import version as own_version

NAME: Final = "mcp.socket"
LOCK: Final = "mcp.lock"
LOG: Final = "mcp.log"
READY: Final = "ready"
BUSY: Final = "busy"
LONGEST_LINE: Final = 16 * 1024 * 1024  # bytes of a message
_LONGEST_PATH: Final = 100  # bytes that every system takes as the address of a socket


class Hello(BaseModel):
    """What a process asks for when it connects. `settings` are digests of its own, by name."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    version: str
    settings: dict[str, str]
    ontology: str | None
    group: str
    profile: str
    read_only: bool
    instructions: str | None


class _Version(BaseModel):
    version: str


def hello_of(line: bytes) -> Hello:
    """Return what a process asks for; of one of another version its version alone. ValidationError: it is none."""
    version = _Version.model_validate_json(line).version
    if version != own_version():
        return Hello(
            version=version, settings={}, ontology=None, group="", profile="", read_only=True, instructions=None
        )
    return Hello.model_validate_json(line)


class Welcome(BaseModel):
    """The answer: an error, or none, and then messages follow. `settings_not_used` are those that are others here."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    error: str | None = None
    settings_not_used: tuple[str, ...] = ()


def connected(data: Path) -> socket.socket:
    """Return a connection with the process of a directory. OSError: there is none."""
    connection = socket.socket(socket.AF_UNIX)
    try:
        with _Address(data) as address:
            connection.connect(address)
    except BaseException:
        connection.close()
        raise
    return connection


def listening(data: Path) -> socket.socket:
    """Return a socket that listens in a directory, in place of one that is left over. The caller holds its lock."""
    listener = socket.socket(socket.AF_UNIX)
    try:
        (data / NAME).unlink(missing_ok=True)
        with _Address(data) as address:
            listener.bind(address)
        (data / NAME).chmod(0o600)
        listener.listen()
    except BaseException:
        listener.close()
        raise
    return listener


class _Address:
    """The address of a directory's socket, as short as the system takes it, while the context lasts."""

    def __init__(self, data: Path) -> None:
        self._data = data
        self._folder: int | None = None

    def __enter__(self) -> str:
        path = str(self._data / NAME)
        if len(os.fsencode(path)) <= _LONGEST_PATH:
            return path
        if not Path("/proc/self/fd").is_dir():
            raise InvalidInput("--data: the path is too long for a socket: name a directory with a shorter one")
        self._folder = os.open(self._data, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        return f"/proc/self/fd/{self._folder}/{NAME}"

    def __exit__(self, *_: object) -> None:
        if self._folder is not None:
            os.close(self._folder)
