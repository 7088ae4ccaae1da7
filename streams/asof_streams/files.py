"""Making files last: what is written, or renamed, is on the disk when a call returns."""

import os
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

from asof_streams.errors import StorageFailed


def sync(path: Path) -> None:
    """Put a file on the disk; or a folder, whose content is the names in it, so that a rename lasts."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def replace_file(path: Path, parts: Iterable[bytes | memoryview]) -> None:
    """Write a file whole or not at all: beside it, then renamed over it. StorageFailed: what was there still is."""
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
