"""The file of a vector index: replaced in one step, and read only if its checksums are right.

    sha256 of the next line, in hexadecimal, and a newline
    one line of JSON: format, model_id, dimensions, count, position, sha256 of the rest
    count ids, 8 bytes each, ascending; then count vectors, 2 bytes a dimension; all little-endian

The same content gives the same bytes.
"""

import hashlib
import json
import os
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Final

from asof_streams.errors import DamagedView, StorageFailed
from asof_streams.files import replace_file

FORMAT: Final = 1
ID_BYTES: Final = 8
CODE_BYTES: Final = 2
_LINE_MAX: Final = 4096


@dataclass(frozen=True, slots=True)
class Header:
    """The size of a file's content, its model, and its position in the log."""

    model_id: str
    dimensions: int
    count: int
    position: int
    sha256: str
    format: int = FORMAT

    @property
    def size(self) -> int:
        """Bytes of the ids and the vectors."""
        return self.count * (ID_BYTES + CODE_BYTES * self.dimensions)


def digest(parts: Iterable[memoryview]) -> str:
    """Return the sha256 of the parts, one after the other."""
    sha256 = hashlib.sha256()
    for part in parts:
        sha256.update(part)
    return sha256.hexdigest()


def write(path: Path, header: Header, body: Sequence[memoryview]) -> None:
    """Replace the file durably. StorageFailed: the old file is still there."""
    line = json.dumps(asdict(header)).encode() + b"\n"
    replace_file(path, [_seal(line), line, *body])


def read(path: Path, room: Callable[[Header], Sequence[memoryview]]) -> None:
    """Read the ids and the vectors into the buffers that `room` returns.

    FileNotFoundError; StorageFailed; DamagedView: the file is damaged, and so is the content of the buffers.
    """
    damaged = DamagedView(f"{path} is not what was written there in format {FORMAT}")
    try:
        with path.open("rb") as file:
            seal, line = file.readline(_LINE_MAX), file.readline(_LINE_MAX)
            if seal != _seal(line) or (fields := json.loads(line))["format"] != FORMAT:
                raise damaged
            header = Header(**fields)
            if header.size != os.fstat(file.fileno()).st_size - file.tell():
                raise damaged
            buffers = room(header)
            for buffer in buffers:
                file.readinto(buffer)
    except FileNotFoundError:
        raise
    except OSError as error:
        raise StorageFailed(f"{path} cannot be read: {error.strerror}") from None
    if digest(buffers) != header.sha256:
        raise damaged


def _seal(line: bytes) -> bytes:
    return hashlib.sha256(line).hexdigest().encode() + b"\n"
