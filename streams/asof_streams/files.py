"""Durable files: when a call returns, the bytes and the names are on the disk.

Files and folders that are made here are for their user alone, whatever the umask.
"""

import errno
import fcntl
import os
import shutil
import stat
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

from asof_streams.errors import DamagedFile, StorageFailed

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
    "messages.keys",
    "messages.keys/*",
    "replays",
    "replays/*",
    "partition-*",
)  # a folder before what is in it
_NAMES_ANOTHER: Final = bytes.fromhex("d9d505f920a163d7")  # the end of a journal of SQLite that names a further file


def make_folder(path: Path) -> None:
    """Create a folder, and those above it that are missing."""
    missing = [folder for folder in (path, *path.parents) if not folder.exists()]
    for folder in reversed(missing):
        folder.mkdir(mode=0o700, exist_ok=True)
        folder.chmod(0o700)


@contextmanager
def locked_folder(path: Path) -> Iterator[None]:
    """Let several processes make the same files of a folder one after another; each looks first what is there."""
    with _locked(os.open(path, os.O_RDONLY | os.O_CLOEXEC)):
        yield


@contextmanager
def locked_file(path: Path) -> Iterator[None]:
    """Wait for the lock of a file, which is made if it is missing, and hold it; a process that dies frees it."""
    with _locked(os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)):
        yield


def wait_for_lock(path: Path) -> None:
    """Wait until no process holds the lock of a file. FileNotFoundError: there is none."""
    with _locked(os.open(path, os.O_RDONLY | os.O_CLOEXEC)):
        pass


@contextmanager
def _locked(descriptor: int) -> Iterator[None]:
    """Hold the lock of what is open, and close it."""
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)


def remove_folder(path: Path) -> None:
    """Remove a folder, though another process may still remove files in it, or make some; there need be none."""
    while path.exists():
        try:
            shutil.rmtree(path)
        except FileNotFoundError:
            pass
        except OSError as error:
            if error.errno != errno.ENOTEMPTY:
                raise


def make_file(path: Path) -> None:
    """Create an empty file, unless it exists."""
    with suppress(FileExistsError):
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        os.fchmod(descriptor, 0o600)
        os.close(descriptor)


def expect_own_files(directory: Path) -> None:
    """Refuse a data directory in which a name of a memory leads elsewhere. DamagedFile: which one.

    Somebody else may have made it: as a part of a repository that was cloned, or of an archive. What asof writes,
    removes or closes to others would be whatever a link leads to, and SQLite deletes the file that a journal names.
    """
    for path in (path for pattern in _OURS for path in _found(directory, pattern)):
        with suppress(FileNotFoundError):  # another process has just finished with it
            if _leads_elsewhere(path):
                raise DamagedFile(
                    f"{path} leads elsewhere, and asof makes no links: put the file itself there, or do not trust "
                    f"{directory}"
                )


def _found(directory: Path, pattern: str) -> list[Path]:
    """Return the paths that fit a pattern; looked for again where another process removes a folder meanwhile."""
    while True:
        with suppress(FileNotFoundError):
            return list(directory.glob(pattern))


def _leads_elsewhere(path: Path) -> bool:
    status = path.lstat()
    mode = status.st_mode
    if stat.S_ISREG(mode) and path.name.endswith("-journal"):
        with path.open("rb") as journal:
            journal.seek(-min(len(_NAMES_ANOTHER), status.st_size), os.SEEK_END)
            return journal.read() == _NAMES_ANOTHER
    return not (stat.S_ISREG(mode) or stat.S_ISDIR(mode))


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
    """Write a file whole or not at all. StorageFailed: it cannot be written, and the old file is intact."""
    try:
        write_whole(path, parts)
    except OSError as error:
        raise StorageFailed(f"{path} cannot be written: {error.strerror}") from None


def write_whole(path: Path, parts: Iterable[bytes | memoryview]) -> None:
    """Write a file as a new one beside it, flush it, and rename it. OSError: the old file, if any, is intact."""
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
    except OSError:
        with suppress(OSError):
            fresh.unlink()
        raise


def stamp(path: Path | str) -> tuple[int, int]:
    """Return the identity of a file's content, which `replace_file` changes; (0, 0): there is no such file."""
    try:
        found = os.stat(path)  # noqa: PTH116 - a third of the cost of Path.stat, which shows in a question's time
    except FileNotFoundError:
        return (0, 0)
    return found.st_ino, found.st_mtime_ns
