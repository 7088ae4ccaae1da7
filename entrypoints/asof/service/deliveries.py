"""Which answers were handed out to platforms: a file of ids, each written before its answer is handed out."""

import os
from pathlib import Path
from typing import Final

from asof_streams.files import replace_file
from asof_streams.instants import DAY

_KEPT: Final = DAY  # for which an id is kept: what is older is not handed out any more


class Deliveries:
    """The ids, and since when they are written down, in UTC microseconds. now: the same, of this moment."""

    def __init__(self, path: Path, now: int) -> None:
        lines = [line.split() for line in path.read_text("utf-8").splitlines()] if path.exists() else []
        whole = [(int(line[0]), line[1]) for line in lines if len(line) == 2 and line[0].isdigit()]
        self.begun: Final = whole[0][0] if whole else now
        kept = [(at, id_) for at, id_ in whole[1:] if at >= now - _KEPT]
        replace_file(path, [f"{at} {id_}\n".encode() for at, id_ in [(self.begun, "begun"), *kept]])
        self._ids = {id_ for _, id_ in kept}
        self._file = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CLOEXEC)

    def has(self, id_: str) -> bool:
        """Return whether an id was written down."""
        return id_ in self._ids

    def note(self, id_: str, now: int) -> bool:
        """Write an id down, durably; return False, and do not, where it was before."""
        if self.has(id_):
            return False
        os.write(self._file, f"{now} {id_}\n".encode())
        os.fsync(self._file)
        self._ids.add(id_)
        return True

    def close(self) -> None:
        """Close the file."""
        os.close(self._file)
