"""The file of a backup: gzip over JSON lines, with the logs of a directory record by record.

    {"format": "asof backup", "version": 1, "release": "0.1.0", "after": null}
    {"file": "catalog.json", "text": "..."}
    {"log": "messages.sqlite", "start": 0, "end": 1, "hash": "...", "checkpoint": 1, "term": 1}
    [0, "default", 1700000000000000, 0, 0, 1, 1, "message.sent", 2, "<hash>", "<salt>", null, "{...}"]
    {"sha256": "..."}

A record has the columns of its row, with bytes in hexadecimal, so that a log is restored bit for bit and its chain of
hashes proves it; `hash` is the chain's over all of its records. `after` is the digest of the backup that
this one continues; the last line is the digest of all lines before it. The lines alone are read as well.
"""

import gzip
import json
import zlib
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from hashlib import sha256
from io import BufferedIOBase
from pathlib import Path
from typing import Any, Final

from asof_streams.chain import Row
from asof_streams.content_keys import is_encrypted
from asof_streams.errors import DamagedFile, StorageFailed
from asof_streams.files import make_file, sync
from asof_streams.json_document import read_json

FORMAT: Final = "asof backup"
VERSION: Final = 2
CLEAR: Final = 1  # the version where no content is encrypted, which earlier releases read, too
_GZIP: Final = b"\x1f\x8b"  # what every file of gzip begins with, and no JSON
_PAYLOAD: Final = 12
_BYTES: Final = (9, 10, 11)  # hash, salt and seal of a row

Line = dict[str, Any] | list[Any]


class BackupWriter:
    """Writes the lines of a backup."""

    def __init__(self, file: gzip.GzipFile) -> None:
        self._file = file
        self._digest = sha256()

    def write(self, line: Mapping[str, Any]) -> None:
        """Write one line."""
        self._write(line)

    def write_rows(self, rows: Iterable[Row]) -> None:
        """Write the rows of a log."""
        for row in rows:
            self._write(_to_json(row))

    def finish(self) -> str:
        """Write the last line; return the digest in it."""
        digest = self._digest.hexdigest()
        self._write({"sha256": digest})
        return digest

    def _write(self, line: Any) -> None:
        encoded = json.dumps(line, ensure_ascii=False, separators=(",", ":")).encode() + b"\n"
        self._digest.update(encoded)
        self._file.write(encoded)


@contextmanager
def written_backup(path: Path) -> Iterator[BackupWriter]:
    """Write a backup, whole or not at all. StorageFailed: what was there is intact."""
    beside = path.with_name(path.name + ".new")
    try:
        beside.unlink(missing_ok=True)
        make_file(beside)
        with beside.open("wb") as raw:
            with gzip.GzipFile(fileobj=raw, filename="", mode="wb", compresslevel=6, mtime=0) as file:
                yield BackupWriter(file)
            raw.flush()
        sync(beside)
        beside.replace(path)
        sync(path.parent)
    except OSError as error:
        raise StorageFailed(f"{path} cannot be written: {error.strerror}") from None
    finally:
        beside.unlink(missing_ok=True)


def read_backup(path: Path) -> Iterator[Line]:
    """Yield the lines of a backup, the last one included, of its file or of what `zcat` makes of that.

    DamagedFile: it is none, is cut short, or was changed.

    That it was changed may be known at its end alone: keep nothing of it before.
    """
    digest, last = sha256(), None
    try:
        with _opened(path) as file:
            for encoded in file:
                last = read_json(encoded)
                if isinstance(last, dict) and "sha256" in last:
                    break
                digest.update(encoded)
                yield last
            if last != {"sha256": digest.hexdigest()} or file.read(1):
                raise ValueError("another digest")
        yield last
    except (gzip.BadGzipFile, EOFError, zlib.error, ValueError):
        raise DamagedFile(f"{path} is no backup, is cut short, or was changed: take another copy of it") from None
    except OSError as error:
        raise StorageFailed(f"{path} cannot be read: {error.strerror}") from None


@contextmanager
def _opened(path: Path) -> Iterator[BufferedIOBase]:
    """Open a backup once, for it may be a pipe."""
    with path.open("rb") as file:
        if file.peek(len(_GZIP))[: len(_GZIP)] == _GZIP:
            with gzip.open(file) as unpacked:
                yield unpacked
        else:
            yield file


def row_of(line: list[Any]) -> Row:
    """Return the row in a line. ValueError, TypeError or IndexError: it holds none."""
    row: list[Any] = [
        bytes.fromhex(value) if at in _BYTES and value is not None else value for at, value in enumerate(line)
    ]
    payload = row[_PAYLOAD]
    if payload is not None:
        row[_PAYLOAD] = bytes.fromhex(payload["hex"]) if isinstance(payload, dict) else payload.encode()
    return tuple(row)


def _to_json(row: Row) -> list[Any]:
    line = [value.hex() if at in _BYTES and value is not None else value for at, value in enumerate(row)]
    payload = row[_PAYLOAD]
    if payload is not None:
        line[_PAYLOAD] = {"hex": payload.hex()} if is_encrypted(payload) else payload.decode()
    return line
