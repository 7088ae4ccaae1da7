"""The name under which a worker is a static member of its consumer group: the same again when it is started again.

Kafka then gives a worker that died and came back its partitions at once, instead of waiting for the session of the dead
one to time out.
"""

import fcntl
import os
import platform
from contextlib import suppress
from hashlib import sha256
from itertools import count
from pathlib import Path
from secrets import token_hex

from asof_streams.files import make_folder


class Membership:
    """A name that no other running worker has: it is of the machine, the directory, and a file of the worker's there.

    Each of several workers in one directory locks a file of its own, until its process ends. What the file holds tells
    apart directories that have one path on machines of one name, as containers may.
    """

    def __init__(self, root: Path) -> None:
        make_folder(root)
        for number in count():
            self._file = os.open(root / f"member-{number}.lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
            with suppress(BlockingIOError):
                fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            os.close(self._file)
        own = os.pread(self._file, 32, 0)
        if not own:
            own = token_hex(16).encode()
            os.pwrite(self._file, own, 0)
        self.name = sha256(b"\0".join((platform.node().encode(), bytes(root.resolve()), own))).hexdigest()[:32]

    def release(self) -> None:
        """Let another worker have the name."""
        os.close(self._file)
