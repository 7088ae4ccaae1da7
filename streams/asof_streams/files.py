"""Durable files: when a call returns, the bytes and the names are on the disk.

Files and folders that are made here are for their user alone, whatever the umask.
"""

import os
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import Final

from asof_streams.errors import StorageFailed

_OTHERS: Final = 0o077  # the rights of a file's group and of everybody else
_OURS: Final = (
    "*.sqlite*",
    "*.db*",
    "*.json",
    "*.index",
    "*.lock",
    "generations",
    "generations/**/*",
    "ontologies",
    "ontologies/*",
)


def make_folder(path: Path) -> None:
    """Create a folder, and those above it that are missing."""
    missing = [folder for folder in (path, *path.parents) if not folder.exists()]
    for folder in reversed(missing):
        folder.mkdir(mode=0o700, exist_ok=True)
        folder.chmod(0o700)


def make_file(path: Path) -> None:
    """Create an empty file, unless it exists."""
    with suppress(FileExistsError):
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        os.fchmod(descriptor, 0o600)
        os.close(descriptor)


def tighten(directory: Path) -> bool:
    """Take the rights of others from a data directory that was made when it had them.

    Return False where others keep them, as this user may not change it. A directory that is closed is left as it is.
    """
    if not directory.stat().st_mode & _OTHERS:
        return True
    try:
        for path in (directory, *(path for pattern in _OURS for path in directory.glob(pattern))):
            mode = path.stat().st_mode
            path.chmod(mode & ~_OTHERS & 0o7777)
    except FileNotFoundError:  # another process finished with it meanwhile; the directory is closed by now
        return True
    except OSError:
        return False
    return True


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
        fresh.unlink(missing_ok=True)
        make_file(fresh)
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
