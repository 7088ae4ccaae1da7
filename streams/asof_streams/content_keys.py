"""Throw-away keys: content that is not to be kept lies in a log encrypted, and unreadable once its key is destroyed.

An acknowledged message has to survive a crash before it is read, so it cannot wait in memory alone. And a database file
keeps copies of what it once held, in write-ahead logs and free space, that only a rewrite of the whole file removes. A
key of 32 bytes in a file of its own is overwritten at once, for any number of messages that were accepted together.
"""

import os
from hashlib import shake_256
from pathlib import Path
from secrets import token_bytes
from struct import Struct
from typing import Final

from asof_streams.files import replace_file, sync

_KEY_BYTES: Final = 32
_STOP: Final = Struct(">q")
CLEAR: Final = b"{"  # how an encoded event begins that is not encrypted
_MARK: Final = b"\x00"  # before bytes that are encrypted here; asof_streams.sealer has another


def is_encrypted(payload: bytes) -> bool:
    """Return whether a payload is encrypted, by a throw-away key or as asof_streams.sealer does."""
    return not payload.startswith(CLEAR)


def is_throw_away(payload: bytes) -> bool:
    """Return whether a payload is encrypted by a throw-away key, and so is to be dropped once it was read."""
    return payload.startswith(_MARK)


def encrypt(key: bytes, position: int, payload: bytes) -> bytes:
    """Return a payload encrypted for one position. A key encrypts one payload at each position, so no stream twice."""
    return _MARK + _combine(key, position, payload)


def decrypt(key: bytes, position: int, payload: bytes) -> bytes:
    """Return what `encrypt` was given."""
    return _combine(key, position, payload[len(_MARK) :])


def _combine(key: bytes, position: int, content: bytes) -> bytes:
    stream = shake_256(key + _STOP.pack(position)).digest(len(content))
    return (int.from_bytes(content) ^ int.from_bytes(stream)).to_bytes(len(content))


class ContentKeys:
    """The keys of one log, in a folder beside it: a file for each batch, named by its first position."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._last = range(0), b""  # the batch that was found last, and its key

    def make(self, start: int, stop: int) -> bytes:
        """Return a new key for the positions [start, stop), which is on the disk. One that a crash left is replaced."""
        key = token_bytes(_KEY_BYTES)
        if not self._folder.exists():
            self._folder.mkdir()
            sync(self._folder.parent)
        replace_file(self._folder / str(start), [key, _STOP.pack(stop)])
        return key

    def find(self, position: int) -> bytes | None:
        """Return the key of a position; None: it was destroyed."""
        batch, key = self._last
        if position in batch:
            return key
        start = max((start for start in self._starts() if start <= position), default=None)
        if start is None or position not in (found := self._read(start))[0]:
            return None
        self._last = found
        return found[1]

    def destroy(self, stop: int) -> None:
        """Destroy the keys of the batches that end before a position."""
        self._last = range(0), b""
        for start in [start for start in self._starts() if start < stop]:
            batch, _ = self._read(start)
            if batch.stop <= stop:
                path = self._folder / str(start)
                with path.open("r+b") as file:
                    file.write(bytes(_KEY_BYTES))
                    file.flush()
                    os.fsync(file.fileno())
                path.unlink()

    def __bool__(self) -> bool:
        """Whether there are keys."""
        return bool(self._starts())

    def _starts(self) -> list[int]:
        if not self._folder.exists():
            return []
        return [int(path.name) for path in self._folder.iterdir() if path.name.isdigit()]

    def _read(self, start: int) -> tuple[range, bytes]:
        """Return a batch and its key; of none, where another process has just destroyed it."""
        try:
            content = (self._folder / str(start)).read_bytes()
        except FileNotFoundError:
            return range(0), b""
        return range(start, _STOP.unpack(content[_KEY_BYTES:])[0]), content[:_KEY_BYTES]
