"""Durable files: when a call returns, the bytes and the names are on the disk."""

import os
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

from asof_streams.errors import StorageFailed


def sync(path: Path) -> None:
    """Flush a file to the disk, or a folder: its content is the names in it, so a rename becomes durable."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def replace_file(path: Path, parts: Iterable[bytes | memoryview]) -> None:
    """Write a file whole or not at all: a new file beside it, then a rename. StorageFailed: the old file is intact."""
    fresh = path.with_name(path.name + ".new")
    try:
        with fresh.open("wb") as file:
            file.writelines(parts)
            file.flush()
            os.fsync(file.fileno())
        fresh.replace(path)
        sync(path.parent)
    except OSError as error:
        with suppress(OSError):
            fresh.unlink()
        raise StorageFailed(f"{path} cannot be written: {error.strerror}") from None
