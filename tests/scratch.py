"""Where tests keep their files: in memory, where the machine has enough of it."""

import os
import re
import tempfile
from pathlib import Path

from effort import NIGHTLY

_IN_MEMORY = Path("/dev/shm")
_FREE_BYTES = 6 << 30  # a run keeps the files of the tests under way, and of those that failed


def keep_in_memory() -> None:
    """Let this process, and those it starts, make temporary files in memory, unless TMPDIR says where they belong.

    Hundreds of tests make data directories, and wait for a disk most of their time. A process that is killed loses
    nothing that it wrote, on a disk or in memory; at night the disk is tried as well.
    """
    if "TMPDIR" not in os.environ and not NIGHTLY and _has_room(_IN_MEMORY):
        os.environ["TMPDIR"] = str(_IN_MEMORY)
        tempfile.tempdir = None  # asked for before, maybe


def _has_room(folder: Path) -> bool:
    """Whether files in a folder of a memory file system may be run, and there is space and memory for them."""
    try:
        status = os.statvfs(folder)
        memory = re.search(r"^MemAvailable: +(\d+) kB$", Path("/proc/meminfo").read_text("utf-8"), re.MULTILINE)
    except OSError:
        return False
    is_usable = os.access(folder, os.W_OK) and not status.f_flag & (os.ST_RDONLY | os.ST_NOEXEC)
    available = int(memory[1]) << 10 if memory else 0
    return is_usable and min(status.f_bavail * status.f_frsize, available) >= _FREE_BYTES
