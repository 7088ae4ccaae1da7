"""The lock that admits one writer to a data directory; the operating system frees it when its holder dies."""

import fcntl
import logging
import os
import time
from pathlib import Path
from typing import Final, Self

from asof_streams.errors import StorageFailed, WriterBusy
from asof_streams.files import expect_own_files, make_folder, tighten
from asof_streams.polling import looks

NAME: Final = "writer.lock"
AGENT: Final = (
    "agent.lock"  # of the agent that a folder belongs to: whoever else writes there lets it, as soon as it can
)
RESPONDER: Final = "responder.lock"  # of the agent that answers from a directory, beside those that fill it
REPLIES: Final = "replies.lock"  # of whoever writes the conversation log of a copy of topics

log = logging.getLogger(__name__)


class WriterLock:
    """Locks a directory from construction until release(). WriterBusy: another process, or this one, holds the lock.

    patience: the seconds to wait for the lock before WriterBusy is raised. name: that of the file. DamagedFile: a name
    in the directory leads elsewhere. The file stays behind with the last holder's process id, for people to read; it
    is not the lock.
    """

    def __init__(self, directory: Path, *, patience: float = 0.0, name: str = NAME) -> None:
        path = directory / name
        expect_own_files(directory)
        try:
            make_folder(directory)
            self._file: int | None = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
            try:
                _wait(self._file, directory, patience)
                if not tighten(directory):
                    log.warning("other users may open %s, and this one may not change that: chmod 700 it", directory)
            except BaseException:
                os.close(self._file)
                raise
        except OSError as error:
            raise StorageFailed(f"{path}: {error.strerror}") from error

    def release(self) -> None:
        """Release the lock. A second call does nothing."""
        if self._file is not None:
            os.close(self._file)
            self._file = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.release()


def is_held(directory: Path, name: str = NAME) -> bool:
    """Return whether a process holds a lock of a directory."""
    try:
        file = os.open(directory / name, os.O_RDONLY | os.O_CLOEXEC)
    except FileNotFoundError:
        return False
    try:
        fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    finally:
        os.close(file)
    return False


def _wait(file: int, directory: Path, patience: float) -> None:
    for pause in looks(patience):
        try:
            _lock(file, directory)
        except WriterBusy:
            if pause == 0:
                raise
            time.sleep(pause)
        else:
            return


def _lock(file: int, directory: Path) -> None:
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        pid = os.pread(file, 20, 0).decode("ascii", "replace").strip()
        holder = "this process" if pid == str(os.getpid()) else f"process {pid or '(unknown)'}"
        raise WriterBusy(
            f"{directory}: {holder} is writing here, and only one may: stop it or wait for it; reading needs no lock"
        ) from None
    os.ftruncate(file, 0)
    os.pwrite(file, f"{os.getpid()}\n".encode(), 0)
