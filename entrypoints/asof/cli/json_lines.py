"""The JSON lines that commands read, from a file or from standard input as they come."""

import json
import os
import select
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final, TextIO

from asof.cli import show
from asof.operations.errors import InvalidInput

_READ_BYTES: Final = 65_536  # of a pipe, at once
_COUNTED_BYTES: Final = 1 << 20  # of a file, at once
_MOMENT_SECONDS: Final = 0.1  # without a line, until what has come is processed


@contextmanager
def lines_of(file: str) -> Iterator[Iterable[bytes]]:
    """Open the lines to read."""
    if file == "-":
        if sys.stdin is None:
            raise InvalidInput("standard input is closed: give a FILE, or lines on standard input")
        yield _arriving(sys.stdin)
        return
    path = Path(file)
    try:
        opened = path.open("rb")
    except OSError as error:
        raise InvalidInput(f"{path} cannot be read: {error.strerror}") from None
    with opened:
        yield opened


@contextmanager
def counted(
    label: str, file: str, count: Callable[[Path], int | None] | None = None
) -> Iterator[Callable[[int], None]]:
    """Show how many items of a file are done, as it is told, where there is a terminal to show it on.

    count: of how many; its lines that are not empty, if left out.
    """
    with show.progress(label) as told:
        if told is None:
            yield lambda _: None
            return
        path = Path(file)
        total = (count or _count)(path) if file != "-" and path.is_file() else None  # a pipe is read once
        told(0, total)
        yield lambda done: told(done, total)


def _count(path: Path) -> int:
    """Count the lines that are not empty, piece by piece, so that a line of any length takes no memory."""
    lines, is_filled = 0, False
    with path.open("rb") as file:
        for piece in iter(lambda: file.read(_COUNTED_BYTES), b""):
            first, *others = piece.split(b"\n")
            is_filled = is_filled or bool(first.strip())
            for line in others:
                lines += is_filled
                is_filled = bool(line.strip())
    return lines + is_filled


def objects_of(lines: Iterable[bytes]) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield each line as its number, from 1, and its JSON object; empty lines are passed over."""
    number = 0
    for line in lines:
        if not line:  # no more is there to read just now
            continue
        number += 1
        if not line.strip():
            continue
        try:
            fields = json.loads(line)
        except (ValueError, RecursionError):
            raise InvalidInput("not JSON", f"line {number}") from None
        if not isinstance(fields, dict):
            raise InvalidInput("it must be one JSON object", f"line {number}")
        yield number, fields


def _arriving(stream: TextIO) -> Iterator[bytes]:
    """Yield the lines of a pipe as they come, and nothing (b"") whenever it has none for a moment."""
    file, begun = stream.fileno(), bytearray()
    while True:
        if not select.select([file], [], [], _MOMENT_SECONDS)[0]:
            yield b""
            continue
        read = os.read(file, _READ_BYTES)
        *ends, rest = read.split(b"\n")
        for end in ends:
            yield bytes(begun) + end + b"\n"
            begun.clear()
        begun += rest
        if not read:
            break
    if begun:
        yield bytes(begun)
