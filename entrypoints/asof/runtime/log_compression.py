"""Compression of the logs of a directory, beside whoever writes to them."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from asof.runtime.layout import DirectoryLayout
from asof.runtime.replica_manifest import is_copy
from asof.runtime.wiring import Progress, existing
from asof_streams.compression import compress
from asof_streams.errors import InvalidInput


@dataclass(frozen=True, slots=True)
class LogCompression:
    """How many records of a log were compressed, and the size of its files before and after, in bytes."""

    log: str
    records: int
    before: int
    after: int


def compress_logs(places: DirectoryLayout, progress: Progress | None = None) -> Iterator[LogCompression]:
    """Compress the older records of each log. InvalidInput: the directory is a copy of topics. DamagedLog."""
    if is_copy(places.root):
        raise InvalidInput(f"{places.root} is a copy of topics, which the broker compresses: set it there")
    generations = existing(places).generations
    paths = [places.messages, places.episodic, *(places.semantic(info.name) for info in generations)]
    paths += [places.conversation] if places.conversation.exists() else []
    for done, path in enumerate(paths, 1):
        before = _size(path)
        records = compress(path)
        yield LogCompression(path.stem, records, before, _size(path))
        if progress:
            progress(done, len(paths))


def _size(path: Path) -> int:
    files = (path, path.with_name(f"{path.name}-wal"))
    return sum(file.stat().st_size for file in files if file.exists())
